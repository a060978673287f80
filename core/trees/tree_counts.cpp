#include "trees/tree_counts.hpp"

#include <algorithm>
#include <cmath>

#include "base/pool.hpp"

namespace fishernet {
namespace {

constexpr double most_cells = 1 << 20;  // numbers of one block's messages: they stay in the cache

// Rows of numbers, `width` a row.
class Rows {
public:
    Rows(std::int64_t rows, std::int64_t width)
        : width_(width), m_(static_cast<std::size_t>(rows * width)), e_(static_cast<std::size_t>(rows * width)) {}
    MessageRow operator[](std::int64_t row) { return {m_.data() + row * width_, e_.data() + row * width_}; }

private:
    std::int64_t width_;
    std::vector<double> m_;
    std::vector<std::int64_t> e_;
};

// The strings of one block, up the tree and down again, in scaled numbers. Nodes come before those below them, so that
// counting backwards goes up.
class TwoWays {
public:
    TwoWays(const TreeModel& model, std::int64_t width)
        : model_(model), width_(width), states_(model.states), up_(std::int64_t{model.shape.n_nodes()} * states_, width),
          passed_(model.shape.n_edges() * states_, width), down_(std::int64_t{model.shape.n_nodes()} * states_, width),
          others_((widest() + 1) * states_, width), most_(static_cast<std::size_t>(width)),
          total_(1, width), codes_(static_cast<std::size_t>(model.shape.n_leaves * width)) {}

    // Calls visit(edge) for every edge when others(edge, state) are known, parents' edges first.
    template <class Visit>
    void run(const std::int32_t* codes, Visit visit) {
        for (std::int32_t l = 0; l < model_.shape.n_leaves; ++l) {
            for (std::int64_t i = 0; i < width_; ++i) {
                codes_[static_cast<std::size_t>(l * width_ + i)] = codes[i * model_.shape.n_leaves + l];
            }
        }
        for (auto v = model_.shape.n_nodes(); v-- > 0;) go_up(v);
        math_.mix(total_[0], model_.of_root, 0, 1, model_.states, [&](std::int32_t a) { return up(0, a); },
                  most_.data(), width_);
        for (std::int32_t a = 0; a < model_.states; ++a) {
            math_.fill(down(0, a), 1.0, width_);
            math_.multiply(down(0, a), model_.of_root, a, width_);
            if (!model_.is_allowed(0, a)) math_.fill(down(0, a), 0.0, width_);
            math_.settle(down(0, a), width_);
        }
        for (std::int32_t v = 0; v < model_.shape.n_nodes(); ++v) go_down(v, visit);
    }

    // P(symbols below the node | its state)
    MessageRow up(std::int32_t node, std::int32_t state) { return up_[std::int64_t{node} * states_ + state]; }
    // P(state, symbols elsewhere)
    MessageRow down(std::int32_t node, std::int32_t state) { return down_[std::int64_t{node} * states_ + state]; }
    // P(state above the edge, symbols that are not below the edge); of the edges of the node visited last
    MessageRow others(std::int64_t edge, std::int32_t state) {
        return others_[(edge - first_edge_) * states_ + state];
    }
    MessageRow total() { return total_[0]; }
    const std::int32_t* symbols(std::int32_t leaf) const { return codes_.data() + leaf * width_; }
    std::int64_t width() const { return width_; }

private:
    std::int64_t widest() const {
        std::int64_t most = 0;
        for (std::size_t v = 0; v + 1 < model_.shape.first.size(); ++v) {
            most = std::max(most, model_.shape.first[v + 1] - model_.shape.first[v]);
        }
        return most;
    }

    MessageRow passed(std::int64_t edge, std::int32_t state) { return passed_[edge * states_ + state]; }

    void go_up(std::int32_t v) {
        const auto& shape = model_.shape;
        for (auto e = shape.first[v]; e < shape.first[v + 1]; ++e) {
            for (std::int32_t a = 0; a < model_.states; ++a) {
                pass(e, a);
                if (e == shape.first[v]) {
                    math_.copy(up(v, a), passed(e, a), width_);
                } else {
                    math_.multiply(up(v, a), passed(e, a), width_);
                    math_.settle(up(v, a), width_);
                }
            }
        }
        for (std::int32_t a = 0; a < model_.states; ++a) {
            if (!model_.is_allowed(v, a)) math_.fill(up(v, a), 0.0, width_);
        }
    }

    // P(symbols below the edge | state above it)
    void pass(std::int64_t e, std::int32_t a) {
        const auto child = model_.shape.child[e];
        if (child < 0) {
            math_.look_up(passed(e, a), model_.of_emission, model_.emission_at(e) + a * model_.columns(),
                          symbols(~child), width_);
        } else {
            math_.mix(passed(e, a), model_.of_transition, model_.transition_at(e) + a * states_, 1, model_.states,
                      [&](std::int32_t b) { return up(child, b); }, most_.data(), width_);
        }
    }

    // For each child the product of what comes from everywhere else: from above and from the children to its left,
    // then, from the right, from the others. No division, so that zeros are no exception.
    template <class Visit>
    void go_down(std::int32_t v, Visit visit) {
        const auto& shape = model_.shape;
        first_edge_ = shape.first[v];
        const auto last = shape.first[v + 1] - 1;
        for (std::int32_t a = 0; a < model_.states; ++a) {
            math_.copy(others(first_edge_, a), down(v, a), width_);
            for (auto e = first_edge_; e < last; ++e) {
                math_.copy(others(e + 1, a), others(e, a), width_);
                math_.multiply(others(e + 1, a), passed(e, a), width_);
                math_.settle(others(e + 1, a), width_);
            }
            const auto right = others(last + 1, a);
            math_.copy(right, passed(last, a), width_);
            for (auto e = last; e-- > first_edge_;) {
                math_.multiply(others(e, a), right, width_);
                math_.settle(others(e, a), width_);
                math_.multiply(right, passed(e, a), width_);
                math_.settle(right, width_);
            }
        }
        for (auto e = first_edge_; e <= last; ++e) {
            visit(e);
            const auto child = shape.child[e];
            if (child < 0) continue;
            for (std::int32_t b = 0; b < model_.states; ++b) {
                math_.mix(down(child, b), model_.of_transition, model_.transition_at(e) + b, states_, model_.states,
                          [&](std::int32_t a) { return others(e, a); }, most_.data(), width_);
                if (!model_.is_allowed(child, b)) math_.fill(down(child, b), 0.0, width_);
            }
        }
    }

    const TreeModel& model_;
    std::int64_t width_, states_, first_edge_ = 0;
    RowMath math_{true};
    Rows up_, passed_, down_, others_;
    std::vector<std::int64_t> most_;
    Rows total_;
    std::vector<std::int32_t> codes_;
};

std::int64_t block_size(const TreeModel& model) {
    const double nodes = 2.0 * model.shape.n_nodes() + 2.0 * static_cast<double>(model.shape.n_edges()) + 2;
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(most_cells / (nodes * model.states)), 1, 128);
}

// work(block, ways) for blocks of strings.
template <class Work>
void for_blocks(const TreeModel& model, TreeStrings strings, StopCheck check, Work work) {
    const auto size = block_size(model);
    run_tasks((strings.n + size - 1) / size, [&](std::int64_t block) {
        TwoWays ways(model, std::min(size, strings.n - block * size));
        work(block, block * size, strings.codes.data() + block * size * model.shape.n_leaves, ways);
    }, check);
}

// x / total, where total is not 0.
double part(double m, std::int64_t e, MessageRow total, std::int64_t i) {
    return total.m[i] > 0 ? scaled_value(m / total.m[i], e - total.e[i]) : 0.0;
}

// Adds the quotients of one block; string i's row is rows + i * stride.
class Quotients {
public:
    Quotients(const TreeModel& model, TwoWays& ways, double* rows, std::int64_t stride)
        : model_(model), ways_(ways), rows_(rows), stride_(stride),
          transitions_(static_cast<std::int64_t>(model.of_emission.values.size()) / model.columns() * model.symbols),
          root_(transitions_ + static_cast<std::int64_t>(model.of_transition.values.size())) {}

    void add_edge(std::int64_t e) {
        const auto child = model_.shape.child[e];
        const auto p = model_.states;
        for (std::int32_t a = 0; a < p; ++a) {
            const auto above = ways_.others(e, a);
            if (child < 0) {
                const auto at = (std::int64_t{model_.shape.table[e]} * p + a) * model_.symbols;
                const auto* symbols = ways_.symbols(~child);
                for (std::int64_t i = 0; i < ways_.width(); ++i) {
                    if (symbols[i] < model_.symbols) add(i, at + symbols[i], above.m[i], above.e[i]);
                }
                continue;
            }
            for (std::int32_t b = 0; b < p; ++b) {
                const auto below = ways_.up(child, b);
                const auto at = transitions_ + model_.transition_at(e) + std::int64_t{a} * p + b;
                for (std::int64_t i = 0; i < ways_.width(); ++i) {
                    add(i, at, above.m[i] * below.m[i], above.e[i] + below.e[i]);
                }
            }
        }
    }

    void add_root() {
        for (std::int32_t a = 0; a < model_.states; ++a) {
            const auto up = ways_.up(0, a);
            for (std::int64_t i = 0; i < ways_.width(); ++i) add(i, root_ + a, up.m[i], up.e[i]);
        }
    }

private:
    void add(std::int64_t i, std::int64_t column, double m, std::int64_t e) {
        if (m > 0) rows_[i * stride_ + column] += part(m, e, ways_.total(), i);
    }

    const TreeModel& model_;
    TwoWays& ways_;
    double* rows_;
    std::int64_t stride_, transitions_, root_;
};

}  // namespace

TreeQuotients tree_quotients(const TreeModel& model, TreeStrings strings, bool by_string, StopCheck check) {
    const auto size = block_size(model);
    const std::int64_t p = model.states;
    const auto tables = static_cast<std::int64_t>(model.of_transition.values.size()) / (p * p);
    TreeQuotients out;
    out.columns = tables * p * (model.symbols + p) + p;
    const auto rows = by_string ? strings.n : (strings.n + size - 1) / size;
    out.values.assign(static_cast<std::size_t>(rows * out.columns), 0.0);
    out.log_prob.assign(static_cast<std::size_t>(strings.n), 0.0);
    for_blocks(model, strings, check, [&](std::int64_t block, std::int64_t begin, const std::int32_t* codes, TwoWays& ways) {
        double* to = out.values.data() + (by_string ? begin : block) * out.columns;
        Quotients quotients(model, ways, to, by_string ? out.columns : 0);
        ways.run(codes, [&](std::int64_t edge) { quotients.add_edge(edge); });
        quotients.add_root();
        for (std::int64_t i = 0; i < ways.width(); ++i) {
            out.log_prob[static_cast<std::size_t>(begin + i)] = scaled_log(ways.total().m[i], ways.total().e[i]);
        }
    });
    return out;
}

void tree_posteriors(const TreeModel& model, TreeStrings strings, double* out, StopCheck check) {
    const std::int64_t n_nodes = model.shape.n_nodes();
    const std::int64_t p = model.states;
    for_blocks(model, strings, check, [&](std::int64_t, std::int64_t begin, const std::int32_t* codes, TwoWays& ways) {
        ways.run(codes, [](std::int64_t) {});
        for (std::int32_t v = 0; v < n_nodes; ++v) {
            for (std::int32_t a = 0; a < p; ++a) {
                const auto up = ways.up(v, a);
                const auto down = ways.down(v, a);
                for (std::int64_t i = 0; i < ways.width(); ++i) {
                    const double m = up.m[i] * down.m[i];
                    out[((begin + i) * n_nodes + v) * p + a] =
                        m > 0 ? part(m, up.e[i] + down.e[i], ways.total(), i) : 0.0;
                }
            }
        }
    });
}

}  // namespace fishernet
