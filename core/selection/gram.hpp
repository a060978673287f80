// Kernels that are sums over conditionals: what two rows share in one adds `other` of their group when they are in the
// same group, `same` of their cell when they are in the same cell (Leppä-aho et al., 2020, Theorem 1), and nothing otherwise.
#pragma once

#include <cstdint>
#include <span>

#include "base/interrupt.hpp"
#include "selection/cells.hpp"

namespace fishernet {

// A number for every cell of all conditionals.
struct PairTerms {
    std::span<const double> other;  // where only the group is the same; equal within a group
    std::span<const double> same;
};

// out[x * y.n_rows + y]: the sum over the conditionals, in their order. Exactly symmetric where x is y.
void gram(const CellRows& x, const CellRows& y, PairTerms terms, double* out, StopCheck check);

// out[(c * x.n_rows + x) * y.n_rows + y]: the conditionals one by one.
void gram_terms(const CellRows& x, const CellRows& y, PairTerms terms, double* out, StopCheck check);

}  // namespace fishernet
