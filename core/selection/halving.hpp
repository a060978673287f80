// Rows split into halves whose mean features are near each other (kernel halving, Dwivedi and Mackey, 2021, Algorithm 1a).
#pragma once

#include <cstdint>
#include <span>

#include "base/interrupt.hpp"
#include "selection/cells.hpp"

namespace fishernet {

// The Fisher kernel of rows by their cells: with c the signed number of rows in a cell and n in its group, a combination
// of rows has the kernel (c inverse_theta - n) inverse_group with a row, summed over its cells.
struct CellKernel {
    std::span<const double> inverse_theta, inverse_group;
};

// Splits a list of rows again and again: parts of n / 2^j rows follow one another in `order` after round j. Pairs of rows
// that follow one another go to different halves; which one to which is drawn, so that the signed sum of features stays
// near 0 with a probability of 1 - delta in all. The length of `order` is a multiple of 2^rounds.
void halve_rows(const CellRows& rows, const CellKernel& kernel, std::span<std::int64_t> order, std::int32_t rounds,
                double delta, std::uint64_t key, StopCheck check);

}  // namespace fishernet
