#include "trees/tree_messages.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/float_kernels.hpp"

namespace fishernet {
namespace {

constexpr std::int32_t most_factors = 200;  // between two settlings: mantissas stay below 2^800
constexpr double deepest = 1000;            // -log2 of the smallest number that plain arithmetic may meet

}  // namespace

void RowMath::fill(MessageRow to, double value, std::int64_t n) const {
    std::fill(to.m, to.m + n, value);
    if (scaled_) std::fill(to.e, to.e + n, value > 0 ? 0 : exponent_of_zero);
}

void RowMath::copy(MessageRow to, MessageRow from, std::int64_t n) const {
    std::copy(from.m, from.m + n, to.m);
    if (scaled_) std::copy(from.e, from.e + n, to.e);
}

void RowMath::gather(MessageRow to, MessageRow from, const std::int32_t* offsets, std::int64_t n) const {
    float_kernels().gather(to.m, from.m, offsets, n);
    if (scaled_) scaled_kernels().gather(to.e, from.e, offsets, n);
}

void RowMath::look_up(MessageRow to, const ScaledTable& table, std::int64_t at, const std::int32_t* offsets,
                      std::int64_t n) const {
    float_kernels().gather(to.m, (scaled_ ? table.mantissas : table.values).data() + at, offsets, n);
    if (scaled_) scaled_kernels().gather(to.e, table.exponents.data() + at, offsets, n);
}

void RowMath::multiply(MessageRow to, MessageRow by, std::int64_t n) const {
    float_kernels().multiply(to.m, by.m, n);
    if (scaled_) scaled_kernels().add(to.e, by.e, n);
}

void RowMath::multiply(MessageRow to, const ScaledTable& table, std::int64_t at, std::int64_t n) const {
    float_kernels().scale(to.m, (scaled_ ? table.mantissas : table.values)[at], n);
    if (scaled_) scaled_kernels().add_one(to.e, table.exponents[at], n);
}

void RowMath::settle(MessageRow row, std::int64_t n) const {
    if (scaled_) scaled_kernels().settle(row.m, row.e, n);
}

void RowMath::add_plain(double* to, double by, const double* from, std::int64_t n) const {
    float_kernels().add_scaled(to, from, by, n);
}

void RowMath::raise(std::int64_t* most, const std::int64_t* exponents, std::int64_t by, std::int64_t n) const {
    scaled_kernels().raise(most, exponents, by, n);
}

void RowMath::add_scaled(double* to, MessageRow from, double by, std::int64_t by_exponent, const std::int64_t* most,
                         std::int64_t n) const {
    scaled_kernels().add_aligned(to, from.m, from.e, by, by_exponent, most, n);
}

// Bounds of every number on the way, in powers of two. A message is watched where its bound says that it could be below
// 2^-watch; a product of messages that are not is then above 2^-deepest.
PlainRange plain_range(const TreeModel& model, Pruning pruning) {
    const auto& shape = model.shape;
    const auto n = static_cast<std::size_t>(shape.n_nodes());
    double weights = pruning.keep < 1 ? -std::log2(pruning.keep) : 0.0;
    if (pruning.cut > 0 && pruning.cut < 1) weights = std::max(weights, -std::log2(pruning.cut));
    const double step = weights - model.of_transition.lowest - model.of_root.lowest;
    const double leaf = -2 * model.of_emission.lowest;
    const double grown = std::log2(std::max(1.0, pruning.keep + pruning.cut));

    PlainRange range;
    double watch = deepest / 2 - step;  // a message of each of two strings by itself is multiplied, too
    std::vector<double> depth(n, 0), height(n, 0);
    for (const auto v : model.bottom_up) {
        double leaves = 0;
        std::int64_t inner = 0;
        for (auto e = shape.first[v]; e < shape.first[v + 1]; ++e) {
            const auto child = shape.child[e];
            depth[v] += child < 0 ? leaf : depth[child] + step;
            if (child < 0) {
                leaves += leaf;
            } else {
                ++inner;
                height[v] += std::max(0.0, height[child]) + grown;
            }
        }
        watch = std::min(watch, (deepest - step - leaves) / static_cast<double>(std::max<std::int64_t>(inner, 1)));
        if (height[v] > deepest) return range;
    }
    if (watch < 50) return range;
    range.possible = true;
    range.least = std::exp2(-watch);
    for (const double d : depth) range.watched.push_back(d + step > watch);
    return range;
}

UpwardPass::UpwardPass(const TreeModel& model, bool scaled, Pruning pruning, bool squared, const PlainRange& range)
    : model_(model), math_(scaled), pruning_(pruning), weights_({pruning.keep, pruning.cut}), squared_(squared),
      range_(range), products_(static_cast<std::size_t>(model.shape.n_nodes())),
      factors_(static_cast<std::size_t>(model.shape.n_nodes()), 0),
      slot_(static_cast<std::size_t>(model.columns()), -1) {}

MessageBlock UpwardPass::open(std::int64_t patterns, std::int64_t width, std::int64_t states) const {
    const auto cells = static_cast<std::size_t>(patterns * width * states);
    MessageBlock block;
    block.states = states;
    block.width = width;
    block.m = std::make_unique_for_overwrite<double[]>(cells);
    if (math_.scaled()) block.e = std::make_unique_for_overwrite<std::int64_t[]>(cells);
    return block;
}

bool UpwardPass::run(const TreePatterns& x, const TreePatterns& y, SingleMessages* of_x, SingleMessages* of_y,
                     SingleMessages* record) {
    x_ = &x, y_ = &y, of_x_ = of_x, of_y_ = of_y, record_ = record;
    if (record_ != nullptr) {
        record_->states = model_.states;
        record_->first.assign(1, 0);
        for (const auto patterns : y.count) {
            record_->first.push_back(record_->first.back() + std::int64_t{patterns} * model_.states);
        }
        record_->m.assign(static_cast<std::size_t>(record_->first.back()), 0.0);
        if (math_.scaled()) record_->e.assign(record_->m.size(), 0);
    }
    std::fill(factors_.begin(), factors_.end(), 0);
    for (const auto node : model_.bottom_up) {
        finish_node(node);
        if (node != 0 && !pass_edge(node)) return false;
    }
    auto& root = products_[0];
    result_ = open(x.count[0], y.count[0], 1);
    std::vector<std::int64_t> most(math_.scaled() ? static_cast<std::size_t>(root.width) : 0);
    double least = HUGE_VAL;
    for (std::int32_t i = 0; i < x.count[0]; ++i) {
        const auto to = result_.row(i, 0);
        math_.mix(to, model_.of_root, 0, 1, model_.states, [&](std::int32_t a) { return root.row(i, a); }, most.data(),
                  root.width);
        if (!math_.scaled()) least = std::min(least, scaled_kernels().smallest_positive(to.m, root.width));
    }
    root = {};
    return math_.scaled() || least >= std::exp2(-deepest);
}

// The leaves of a node join the product of what lies below it, and states that may not be there get 0.
void UpwardPass::finish_node(std::int32_t node) {
    const auto& shape = model_.shape;
    for (auto e = shape.first[node]; e < shape.first[node + 1]; ++e) {
        if (shape.child[e] < 0) fold_leaf(node, e);
    }
    auto& product = products_[node];
    for (std::int32_t i = 0; i < x_->count[node]; ++i) {
        for (std::int32_t a = 0; a < model_.states; ++a) {
            if (!model_.is_allowed(node, a)) {
                math_.fill(product.row(i, a), 0.0, product.width);
            } else {
                math_.settle(product.row(i, a), product.width);
            }
        }
    }
}

// One pattern's rows of a source (its states in order) times those of a node.
void UpwardPass::multiply_into(std::int32_t node, std::int64_t pattern, MessageBlock& source,
                               std::int64_t source_pattern) {
    auto& product = products_[node];
    const bool settle = factors_[node] % most_factors == most_factors - 1;
    for (std::int32_t a = 0; a < model_.states; ++a) {
        if (factors_[node] == 0) {
            math_.copy(product.row(pattern, a), source.row(source_pattern, a), product.width);
        } else {
            math_.multiply(product.row(pattern, a), source.row(source_pattern, a), product.width);
        }
        if (settle) math_.settle(product.row(pattern, a), product.width);
    }
}

// A child's rows, one a pattern of x, join the product of its parent.
void UpwardPass::fold(MessageBlock& source, std::int32_t node, std::int64_t edge) {
    if (factors_[node] == 0) products_[node] = open(x_->count[node], y_->count[node], model_.states);
    const auto width = products_[node].width;
    MessageBlock spread;
    MessageBlock* rows = &source;
    if (const auto* of_y = y_->map(edge)) {
        const auto patterns = x_->count[model_.shape.child[edge]];
        spread = open(patterns, width, model_.states);
        for (std::int32_t i = 0; i < patterns; ++i) {
            for (std::int32_t a = 0; a < model_.states; ++a) {
                math_.gather(spread.row(i, a), source.row(i, a), of_y, width);
            }
        }
        rows = &spread;
    }
    const auto* of_x = x_->map(edge);
    for (std::int32_t i = 0; i < x_->count[node]; ++i) {
        multiply_into(node, i, *rows, of_x == nullptr ? i : of_x[i]);
    }
    ++factors_[node];
}

// The strings' leaves are independent given the state above: P(s | a) P(t | a).
void UpwardPass::fold_leaf(std::int32_t node, std::int64_t edge) {
    if (factors_[node] == 0) products_[node] = open(x_->count[node], y_->count[node], model_.states);
    const auto width = products_[node].width;
    const auto& table = squared_ ? model_.of_squared_emission : model_.of_emission;
    const auto* of_x = x_->map(edge);
    std::vector<std::int32_t> seen;
    for (std::int32_t i = 0; i < x_->count[node]; ++i) {
        if (slot_[of_x[i]] >= 0) continue;
        slot_[of_x[i]] = static_cast<std::int32_t>(seen.size());
        seen.push_back(of_x[i]);
    }
    MessageBlock rows = open(static_cast<std::int64_t>(seen.size()) + 1, width, model_.states);
    const auto of_y = static_cast<std::int64_t>(seen.size());
    for (std::int32_t a = 0; a < model_.states; ++a) {
        const auto at = model_.emission_at(edge) + std::int64_t{a} * model_.columns();
        math_.look_up(rows.row(of_y, a), table, at, y_->map(edge), width);
        for (std::size_t k = 0; k < seen.size(); ++k) {
            const auto to = rows.row(static_cast<std::int64_t>(k), a);
            math_.copy(to, rows.row(of_y, a), width);
            math_.multiply(to, model_.of_emission, at + seen[k], width);
        }
    }
    for (std::int32_t i = 0; i < x_->count[node]; ++i) multiply_into(node, i, rows, slot_[of_x[i]]);
    for (const auto symbol : seen) slot_[symbol] = -1;
    ++factors_[node];
}

// From a finished node through the edge above it; false when a plain message became too small.
bool UpwardPass::pass_edge(std::int32_t node) {
    auto& product = products_[node];
    const auto edge = model_.edge_to[node];
    const auto width = product.width;
    const bool watch = !math_.scaled() && range_.watched[node];
    MessageBlock passed = open(x_->count[node], width, model_.states);
    std::vector<std::int64_t> most(math_.scaled() ? static_cast<std::size_t>(width) : 0);
    for (std::int32_t i = 0; i < x_->count[node]; ++i) {
        for (std::int32_t a = 0; a < model_.states; ++a) {
            const auto to = passed.row(i, a);
            math_.mix(to, model_.of_transition, model_.transition_at(edge) + std::int64_t{a} * model_.states, 1,
                      model_.states, [&](std::int32_t b) { return product.row(i, b); }, most.data(), width);
            if (record_ != nullptr) math_.copy(record_->row(node, a), to, width);
            if (pruning_.cut > 0 || pruning_.keep < 1) add_cut(node, i, a, to);
            if (watch && scaled_kernels().smallest_positive(to.m, width) < range_.least) return false;
        }
    }
    product = {};
    fold(passed, model_.parent[node], edge);
    return true;
}

// keep * message + cut * the product of what each string gives by itself.
void UpwardPass::add_cut(std::int32_t node, std::int64_t pattern, std::int32_t state, MessageRow to) {
    const auto width = static_cast<std::int64_t>(y_->count[node]);
    std::vector<double> alone(static_cast<std::size_t>(2 * width));
    std::vector<std::int64_t> exponents(math_.scaled() ? alone.size() + static_cast<std::size_t>(width) : 0);
    const MessageRow both[2] = {{alone.data(), exponents.data()}, {alone.data() + width, exponents.data() + width}};
    math_.copy(both[0], to, width);
    math_.copy(both[1], of_y_->row(node, state), width);
    if (squared_) {
        math_.multiply(both[1], of_y_->row(node, state), width);
    } else {
        const auto of_x = of_x_->row(node, state);
        float_kernels().scale(both[1].m, of_x.m[pattern], width);
        if (math_.scaled()) scaled_kernels().add_one(both[1].e, of_x.e[pattern], width);
    }
    math_.settle(both[1], width);
    math_.mix(to, weights_, 0, 1, 2, [&](std::int32_t b) { return both[b]; }, exponents.data() + 2 * width, width);
}

}  // namespace fishernet
