// A hidden tree model (Shawe-Taylor and Cristianini, 2004, 12.1.6): states at the internal nodes of a fixed tree, symbols at its leaves.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "trees/scaled_kernels.hpp"

namespace fishernet {

// Numbers, and each as a mantissa in [1, 2) with an exponent of two.
struct ScaledTable {
    ScaledTable() = default;
    explicit ScaledTable(std::vector<double> numbers);

    std::vector<double> values, mantissas;
    std::vector<std::int64_t> exponents;
    double lowest = 0;  // log2 of the smallest positive value
};

// Edges are numbered by their upper node, in the order of its children. A child is an internal node, or ~leaf.
struct TreeShape {
    std::vector<std::int64_t> first;   // (n_nodes + 1,) the first edge of every internal node; the root is node 0
    std::vector<std::int32_t> child;   // (n_edges,) a node comes after the one above it
    std::vector<std::int32_t> table;   // (n_edges,) which tables belong to the edge
    std::int32_t n_leaves = 0;

    std::int32_t n_nodes() const { return static_cast<std::int32_t>(first.size()) - 1; }
    std::int64_t n_edges() const { return static_cast<std::int64_t>(child.size()); }
};

class TreeModel {
public:
    // allowed (n_nodes, states), root (states,), transition (tables, states, states) as [above, below], emission
    // (tables, states, symbols).
    TreeModel(TreeShape tree, std::int32_t n_states, std::int32_t n_symbols, std::vector<std::uint8_t> allowed_states,
              std::vector<double> root, std::vector<double> transition, std::vector<double> emission);

    std::int64_t transition_at(std::int64_t edge) const { return std::int64_t{shape.table[edge]} * states * states; }
    // Of a table with a column more, in which a missing symbol has probability 1.
    std::int64_t emission_at(std::int64_t edge) const { return std::int64_t{shape.table[edge]} * states * columns(); }
    std::int32_t columns() const { return symbols + 1; }
    bool is_allowed(std::int32_t node, std::int32_t state) const {
        return allowed[static_cast<std::size_t>(node) * states + state] != 0;
    }

    TreeShape shape;
    std::int32_t states, symbols;
    std::vector<std::uint8_t> allowed;
    ScaledTable of_root, of_transition, of_emission, of_squared_emission;
    std::vector<std::int64_t> edge_to;       // (n_nodes,) the edge that ends in the node; -1 for the root
    std::vector<std::int32_t> parent;        // (n_nodes,) -1 for the root
    std::vector<std::int32_t> bottom_up;     // nodes after all below them, those with the most below first

private:
    void arrange();
};

// m * 2^e; 0 or infinity beyond the range of a double.
inline double scaled_value(double m, std::int64_t e) {
    return std::ldexp(m, static_cast<int>(e < -4000 ? -4000 : e > 4000 ? 4000 : e));
}

inline double scaled_log(double m, std::int64_t e) {
    return m > 0 ? std::log(m) + static_cast<double>(e) * 0.693147180559945309417 : -HUGE_VAL;
}

}  // namespace fishernet
