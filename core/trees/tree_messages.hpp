// Messages towards the root of a hidden tree: rows of numbers, one a string, for every state (Shawe-Taylor and Cristianini, 2004, algorithm 12.17).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trees/tree_model.hpp"
#include "trees/tree_patterns.hpp"

namespace fishernet {

// A row of numbers: doubles, or (with exponents) mantissas.
struct MessageRow {
    double* m = nullptr;
    std::int64_t* e = nullptr;
};

// Arithmetic on rows, plain or scaled.
class RowMath {
public:
    explicit RowMath(bool scaled) : scaled_(scaled) {}
    bool scaled() const { return scaled_; }

    void fill(MessageRow to, double value, std::int64_t n) const;
    void copy(MessageRow to, MessageRow from, std::int64_t n) const;
    void gather(MessageRow to, MessageRow from, const std::int32_t* offsets, std::int64_t n) const;
    // to[i] = table[at + offsets[i]]
    void look_up(MessageRow to, const ScaledTable& table, std::int64_t at, const std::int32_t* offsets,
                 std::int64_t n) const;
    void multiply(MessageRow to, MessageRow by, std::int64_t n) const;
    void multiply(MessageRow to, const ScaledTable& table, std::int64_t at, std::int64_t n) const;
    void settle(MessageRow row, std::int64_t n) const;

    // to = the sum over b of table[at + b * step] * from(b), for b below `terms`; settled. `most` has room for n.
    template <class From>
    void mix(MessageRow to, const ScaledTable& table, std::int64_t at, std::int64_t step, std::int32_t terms, From from,
             std::int64_t* most, std::int64_t n) const;

private:
    void add_plain(double* to, double by, const double* from, std::int64_t n) const;
    void raise(std::int64_t* most, const std::int64_t* exponents, std::int64_t by, std::int64_t n) const;
    void add_scaled(double* to, MessageRow from, double by, std::int64_t by_exponent, const std::int64_t* most,
                    std::int64_t n) const;

    bool scaled_;
};

template <class From>
void RowMath::mix(MessageRow to, const ScaledTable& table, std::int64_t at, std::int64_t step, std::int32_t terms,
                  From from, std::int64_t* most, std::int64_t n) const {
    fill(to, 0.0, n);
    if (!scaled_) {
        for (std::int32_t b = 0; b < terms; ++b) {
            const double by = table.values[at + b * step];
            if (by > 0) add_plain(to.m, by, from(b).m, n);
        }
        return;
    }
    for (std::int64_t i = 0; i < n; ++i) most[i] = 2 * exponent_of_zero;
    for (std::int32_t b = 0; b < terms; ++b) {
        const auto cell = at + b * step;
        if (table.values[cell] > 0) raise(most, from(b).e, table.exponents[cell], n);
    }
    for (std::int32_t b = 0; b < terms; ++b) {
        const auto cell = at + b * step;
        if (table.values[cell] > 0) {
            add_scaled(to.m, from(b), table.mantissas[cell], table.exponents[cell], most, n);
        }
    }
    for (std::int64_t i = 0; i < n; ++i) to.e[i] = most[i];
    settle(to, n);
}

// Rows for every pattern of the one side and every state: `width` numbers each.
struct MessageBlock {
    MessageRow row(std::int64_t pattern, std::int32_t state) {
        const auto at = (pattern * states + state) * width;
        return {m.get() + at, e == nullptr ? nullptr : e.get() + at};
    }

    std::int64_t states = 0, width = 0;
    std::unique_ptr<double[]> m;
    std::unique_ptr<std::int64_t[]> e;
};

// What a string gives by itself to the upper end of the edge to every node: [node][state][pattern].
struct SingleMessages {
    MessageRow row(std::int32_t node, std::int32_t state) {
        const auto at = first[node] + static_cast<std::int64_t>(state) * (first[node + 1] - first[node]) / states;
        return {m.data() + at, e.empty() ? nullptr : e.data() + at};
    }

    std::int32_t states = 0;
    std::vector<std::int64_t> first;
    std::vector<double> m;
    std::vector<std::int64_t> e;
};

// Weights of going on into the subtree below an edge, and of cutting it off (remark 12.21).
struct Pruning {
    double keep = 1, cut = 0;
};

// Whether doubles will do, and how small a message may become before they will not.
struct PlainRange {
    bool possible = false;
    double least = 0;                  // a positive message below this is too small
    std::vector<bool> watched;         // (n_nodes,) whether the message of the node could become so
};
PlainRange plain_range(const TreeModel& model, Pruning pruning);

class UpwardPass {
public:
    UpwardPass(const TreeModel& model, bool scaled, Pruning pruning, bool squared, const PlainRange& range);

    // The sums over the states of the root, by pattern of x and then of y; false when plain numbers became too small.
    // The messages of each string are needed where subtrees are cut off; with `record`, they are what is recorded.
    bool run(const TreePatterns& x, const TreePatterns& y, SingleMessages* of_x, SingleMessages* of_y,
             SingleMessages* record);

    MessageRow result(std::int64_t x_pattern) { return result_.row(x_pattern, 0); }

private:
    MessageBlock open(std::int64_t patterns, std::int64_t width, std::int64_t states) const;
    void fold(MessageBlock& source, std::int32_t node, std::int64_t edge);
    void fold_leaf(std::int32_t node, std::int64_t edge);
    void multiply_into(std::int32_t node, std::int64_t pattern, MessageBlock& source, std::int64_t source_pattern);
    bool pass_edge(std::int32_t node);
    void add_cut(std::int32_t node, std::int64_t pattern, std::int32_t state, MessageRow to);
    void finish_node(std::int32_t node);

    const TreeModel& model_;
    RowMath math_;
    Pruning pruning_;
    ScaledTable weights_;  // keep, cut
    bool squared_;
    const PlainRange& range_;
    const TreePatterns* x_ = nullptr;
    const TreePatterns* y_ = nullptr;
    SingleMessages *of_x_ = nullptr, *of_y_ = nullptr, *record_ = nullptr;
    std::vector<MessageBlock> products_;       // (n_nodes,) of the children seen so far
    std::vector<std::int32_t> factors_;        // (n_nodes,) how many those are
    MessageBlock result_;
    std::vector<std::int32_t> slot_;           // (symbols + 1,)
};

}  // namespace fishernet
