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

// Rows under the kernel whose matrix is given, n x n, row by row; it is symmetric.
struct MatrixKernel {
    std::span<const double> matrix;
    std::size_t n;
};

// Rows that are points, n x width, row by row.
struct DensePoints {
    std::span<const double> values;
    std::size_t width;
    const double* at(std::int64_t row) const { return values.data() + static_cast<std::size_t>(row) * width; }
};

// exp(-|x - y|^2 / (2 bandwidth^2))
struct GaussianKernel {
    DensePoints points;
    double bandwidth;
};

// x . y
struct InnerProduct {
    DensePoints points;
};

// How a list of rows is split: it has parts of equal length that follow one another, each of which is halved in every
// round. The signed sums of features stay near 0 with a probability of 1 - delta in all.
struct Halving {
    std::int64_t parts = 1;
    std::int32_t rounds = 1;
    double delta = 0.5;
    // Also exchange rows of the first half for others of its part, and draw which half is the first; in one round, by the
    // values between the rows of a part.
    bool exchanges = false;
};

// Splits a list of rows again and again: after a round, the first half of a part is followed by its second. Pairs of rows
// that follow one another go to different halves; which one to which is drawn, so that the signed sum of features stays
// near 0. The length of `order` is a multiple of parts 2^rounds.
void halve_rows(const CellRows& rows, const CellKernel& kernel, std::span<std::int64_t> order, const Halving& how,
                std::uint64_t key, StopCheck check);

// The same with numbers from 0 to 1 that are drawn beforehand: one for every pair of every round in turn, and where rows
// are exchanged one more for every part.
void halve_rows(const MatrixKernel& kernel, std::span<std::int64_t> order, const Halving& how,
                std::span<const double> draws, StopCheck check);
void halve_rows(const GaussianKernel& kernel, std::span<std::int64_t> order, const Halving& how,
                std::span<const double> draws, StopCheck check);
void halve_rows(const InnerProduct& kernel, std::span<std::int64_t> order, const Halving& how,
                std::span<const double> draws, StopCheck check);

}  // namespace fishernet
