// Decision trees of one variable on others, grown by the log-likelihood of their leaves less a price for each parameter
// (Heckerman et al., 2000; Chickering, Heckerman and Meek, 1997).
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/columns.hpp"
#include "base/interrupt.hpp"

namespace fishernet {

struct GrowthRules {
    double unit = 1;  // what a weight of 1 stands for
    double price = 0;        // of a free parameter
    double split_price = 0;  // of a split, beside the parameters that it adds
    bool multiway = false;         // a branch for each state, not a set of states against the rest
    double max_inputs = INFINITY;  // different variables that a tree asks
    double max_cells = INFINITY;   // the product of their states and the child's
};

// Nodes stand before those below them, branch after branch. Leaves are numbered in that order.
struct GrownTree {
    std::vector<std::int32_t> variables;  // that each node asks; -1: a leaf
    std::vector<std::int32_t> branches;   // of each state of the variable, node after node that asks one
    std::vector<double> counts;           // (leaves, states of the child), weighted
    double score = 0;
};

// The trees of several children, on all threads; may_ask is (children, variables). A leaf is split where that raises
// the score most; where nothing does, the best split is tried, and kept if those below make up for it. A split is judged
// on the rows that know its variable, and rows that do not are left out below it.
std::vector<GrownTree> grow_trees(const Columns& table, std::span<const std::int32_t> children,
                                  std::span<const std::uint8_t> may_ask, const GrowthRules& rules, StopCheck check);

}  // namespace fishernet
