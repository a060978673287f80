#include <cmath>
#include <vector>

#include "test/check.hpp"
#include "trees/tree_counts.hpp"
#include "trees/tree_gram.hpp"

namespace fishernet {
namespace {

// A chain of inner nodes, each with a leaf; the last has two.
TreeModel chain(std::int32_t n_leaves, double small) {
    TreeShape shape;
    shape.first = {0};
    shape.n_leaves = n_leaves;
    for (std::int32_t v = 0; v + 1 < n_leaves; ++v) {
        shape.child.push_back(~v);
        shape.child.push_back(v + 2 < n_leaves ? v + 1 : ~(n_leaves - 1));
        shape.first.push_back(static_cast<std::int64_t>(shape.child.size()));
    }
    shape.table.assign(shape.child.size(), 0);
    const std::vector<double> move{1 - small, small, small, 1 - small};
    return TreeModel(shape, 2, 2, std::vector<std::uint8_t>(static_cast<std::size_t>(2 * n_leaves - 2), 1), {0.5, 0.5},
                     move, move);
}

bool near(double a, double b) { return std::fabs(a - b) <= 1e-12 * std::fabs(b); }

// Sums over the labellings of the inner nodes.
double enumerated(const TreeModel& model, const std::int32_t* s, const std::int32_t* t) {
    const auto n = model.shape.n_nodes();
    double total = 0;
    for (std::int32_t h = 0; h < 1 << n; ++h) {
        double p = 0.5;
        for (std::int32_t v = 0; v < n; ++v) {
            const auto a = h >> v & 1;
            for (auto e = model.shape.first[v]; e < model.shape.first[v + 1]; ++e) {
                const auto child = model.shape.child[e];
                const auto of = [&](std::int32_t b) { return model.of_transition.values[a * 2 + b]; };
                p *= child >= 0 ? of(h >> child & 1) : of(s[~child]) * (t == nullptr ? 1.0 : of(t[~child]));
            }
        }
        total += p;
    }
    return total;
}

void against_enumeration() {
    const std::int32_t leaves = 5;
    const auto model = chain(leaves, 0.2);
    std::vector<std::int32_t> codes;
    for (std::int32_t s = 0; s < 32; ++s) {
        for (std::int32_t l = 0; l < leaves; ++l) codes.push_back(s >> l & 1);
    }
    const TreeStrings all{codes, 32};
    std::vector<double> gram(32 * 32), logs(32), diagonal(32);
    tree_gram(model, all, all, true, {}, false, gram.data(), nullptr);
    tree_log_prob(model, all, logs.data(), nullptr);
    tree_diagonal(model, all, {}, false, diagonal.data(), nullptr);
    double total = 0;
    for (std::size_t i = 0; i < 32; ++i) {
        for (std::size_t j = 0; j < 32; ++j) {
            CHECK(near(gram[i * 32 + j], enumerated(model, &codes[i * 5], &codes[j * 5])));
            CHECK(gram[i * 32 + j] == gram[j * 32 + i]);
            total += gram[i * 32 + j];
        }
        CHECK(near(std::exp(logs[i]), enumerated(model, &codes[i * 5], nullptr)));
        CHECK(near(diagonal[i], gram[i * 33]));
    }
    CHECK(near(total, 1.0));
    tree_gram(model, all, all, false, {1.0, 1.0}, true, gram.data(), nullptr);
    const auto counts = tree_quotients(model, all, true, nullptr);
    CHECK(counts.columns == 10 && counts.log_prob.size() == 32);
    for (std::size_t i = 0; i < 32; ++i) {
        CHECK(near(counts.log_prob[i], logs[i]));
        double leaves_seen = 0;
        for (std::size_t c = 0; c < 4; ++c) leaves_seen += counts.values[i * 10 + c] * model.of_transition.values[c];
        CHECK(near(leaves_seen, 5.0));
    }
}

void long_chains_keep_their_exponents() {
    const std::int32_t leaves = 3000;
    const auto model = chain(leaves, 1e-3);
    const std::vector<std::int32_t> codes(static_cast<std::size_t>(leaves), 0);
    double log_kernel = 0;
    tree_gram(model, {codes, 1}, {codes, 1}, true, {}, true, &log_kernel, nullptr);
    // Never leaving state 0 is nearly the whole sum.
    const double stay = std::log(0.5) + (leaves - 2) * std::log1p(-1e-3) + 2 * leaves * std::log1p(-1e-3);
    CHECK(log_kernel > stay && log_kernel < stay + 0.01);
    CHECK(!plain_range(model, {}).watched.empty());
    std::vector<double> posteriors(static_cast<std::size_t>(2 * (leaves - 1)));
    tree_posteriors(model, {codes, 1}, posteriors.data(), nullptr);
    for (std::size_t v = 0; v + 1 < static_cast<std::size_t>(leaves); ++v) {
        CHECK(near(posteriors[2 * v] + posteriors[2 * v + 1], 1.0));
    }
}

void scaled_rows_settle() {
    std::vector<double> m{0.0, 1.0, 3.0, 1024.0};
    std::vector<std::int64_t> e{5, 5, 5, 5};
    scaled_kernels().settle(m.data(), e.data(), 4);
    CHECK((m == std::vector<double>{0.0, 1.0, 1.5, 1.0}));
    CHECK((e == std::vector<std::int64_t>{exponent_of_zero, 5, 6, 15}));
    CHECK(scaled_kernels().smallest_positive(m.data(), 4) == 1.0);
}

}  // namespace
}  // namespace fishernet

TEST(tree_kernels_equal_enumeration) { fishernet::against_enumeration(); }
TEST(long_chains_keep_their_exponents) { fishernet::long_chains_keep_their_exponents(); }
TEST(scaled_rows_settle) { fishernet::scaled_rows_settle(); }
