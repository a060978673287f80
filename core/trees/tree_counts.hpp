// Upward and downward messages of a hidden tree for single strings: what each parameter contributes to a string's
// probability, and the distribution of every node's state given the string.
#pragma once

#include <cstdint>
#include <vector>

#include "base/interrupt.hpp"
#include "trees/tree_gram.hpp"

namespace fishernet {

struct TreeQuotients {
    std::int64_t columns = 0;       // emission (tables, states, symbols), transition (tables, states, states), root
    std::vector<double> values;     // (rows, columns) d log P / d parameter: expected count / parameter
    std::vector<double> log_prob;   // (n,) of the strings
};

// One row a string; or one a block of strings, with sums. An impossible string has only zeros.
TreeQuotients tree_quotients(const TreeModel& model, TreeStrings strings, bool by_string, StopCheck check);

// out (n, n_nodes, states): P(state of a node | string); an impossible string has only zeros.
void tree_posteriors(const TreeModel& model, TreeStrings strings, double* out, StopCheck check);

}  // namespace fishernet
