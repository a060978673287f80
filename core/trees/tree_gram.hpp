// Kernels of hidden trees for all pairs of strings (Shawe-Taylor and Cristianini, 2004, algorithm 12.17), and probabilities of strings.
#pragma once

#include <cstdint>
#include <span>

#include "base/interrupt.hpp"
#include "trees/tree_messages.hpp"

namespace fishernet {

// Strings as codes (rows, n_leaves), one after the other; `symbols` stands for a missing one.
struct TreeStrings {
    std::span<const std::int32_t> codes;
    std::int64_t n = 0;
};

// out (x, y): the kernel of all pairs, or its logarithms. With `symmetric`, y is x.
void tree_gram(const TreeModel& model, TreeStrings x, TreeStrings y, bool symmetric, Pruning pruning, bool log,
               double* out, StopCheck check);

// out (x,): the kernel of each string with itself, or its logarithm.
void tree_diagonal(const TreeModel& model, TreeStrings x, Pruning pruning, bool log, double* out, StopCheck check);

// out (x,): the logarithm of each string's probability.
void tree_log_prob(const TreeModel& model, TreeStrings x, double* out, StopCheck check);

}  // namespace fishernet
