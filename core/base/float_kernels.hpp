// The innermost loops on doubles; like kernels.hpp compiled once for every instruction set. Sums are made in the same
// order everywhere, so that all give the same bits.
#pragma once

#include <cstdint>

#include "base/isa.hpp"

namespace fishernet {

struct FloatKernels {
    // values[i] *= by[i]
    void (*multiply)(double* values, const double* by, std::int64_t n);

    // into[i] = a[i] * b[i]
    void (*multiply_into)(double* into, const double* a, const double* b, std::int64_t n);

    // values[i] = marks[i] ? values[i] : 0
    void (*keep_marked)(double* values, const std::uint8_t* marks, std::int64_t n);

    // values[i] *= by
    void (*scale)(double* values, double by, std::int64_t n);

    // into[i] = from[offsets[i]]
    void (*gather)(double* into, const double* from, const std::int32_t* offsets, std::int64_t n);

    // values[i] *= by[offsets[i]]
    void (*multiply_gathered)(double* values, const double* by, const std::int32_t* offsets, std::int64_t n);

    // The same, where the offsets come in runs of one value (steady) or of values that follow one another.
    void (*multiply_runs)(double* values, const double* by, const std::int32_t* offsets, std::int32_t run, bool steady,
                          std::int64_t n);

    // into[offsets[i]] += from[i], in runs as above.
    void (*add_runs)(double* into, const double* from, const std::int32_t* offsets, std::int32_t run, bool steady,
                     std::int64_t n);

    // into[i] += from[i]
    void (*add)(double* into, const double* from, std::int64_t n);

    // into[i] += by * from[i]
    void (*add_scaled)(double* into, const double* from, double by, std::int64_t n);

    // The sum of a[i] * b[i], in eight strands.
    double (*dot)(const double* a, const double* b, std::int64_t n);

    // into[k] += the sum of a[i] * b[k][i], in eight strands, for k < m
    void (*add_dots)(double* into, const double* a, const double* const* b, std::int64_t m, std::int64_t n);

    // The sum of n values, in eight strands.
    double (*sum)(const double* values, std::int64_t n);

    // into[i * stride + j] += the sum over n rows of left[i] * right[j], in the order of the rows, for i < 4 and j < 8: rows
    // are `left_width` and `right_width` apart.
    void (*add_tile)(double* into, std::int64_t stride, const double* left, std::int64_t left_width, const double* right,
                     std::int64_t right_width, std::int64_t n);

    // sums[i] += d < states ? (d == state ? same : other) : 0, where d = cells[i] - start
    void (*add_matches)(double* sums, const std::uint32_t* cells, std::uint32_t start, std::uint32_t states,
                        std::uint32_t state, double other, double same, std::int64_t n);

    // One update of a variable with r states in a table of outer x r x inner cells (Takabatake and Akaho, 2021, Eq. 11): with m(a, b) the sum of
    // p over the states, into[a, k, b] += weight * m(a, b) * theta[offsets[a, 0, b] + k]. m has room for inner numbers.
    void (*add_updated)(double* into, const double* p, const double* theta, const std::int32_t* offsets, double weight,
                      std::int64_t outer, std::int64_t r, std::int64_t inner, double* m);

    // The same in the place of p: p[a, k, b] = m(a, b) * theta[offsets[a, 0, b] + k].
    void (*update)(double* p, const double* theta, const std::int32_t* offsets, std::int64_t outer, std::int64_t r,
                 std::int64_t inner, double* m);

    // sums[i] += values[cells[i]]
    void (*add_looked_up)(double* sums, const double* values, const std::uint32_t* cells, std::int64_t n);

    // Of sets (bit masks) within `among` and `own`: sums[2 a + b] += weights[i], where a says whether the set has bits of
    // `own`, b whether it has some of `one_of`; in eight strands.
    void (*add_weights)(double* sums, const std::uint64_t* sets, const double* weights, std::uint64_t own,
                        std::uint64_t among, std::uint64_t one_of, std::int64_t n);

    // Rows of `width` numbers, a multiple of 8. values[i] *= table[codes[i]], for n rows.
    void (*multiply_rows)(double* values, const double* table, const std::int32_t* codes, std::int64_t width, std::int64_t n);

    // table[codes[i]] += values[i], for n rows.
    void (*add_rows)(double* table, const double* values, const std::int32_t* codes, std::int64_t width, std::int64_t n);

    // most[i] = the largest number of row i, or 0 where none is above it.
    void (*largest_of_rows)(const double* values, std::int64_t width, std::int64_t n, double* most);

    // into[i] = by[i] > 0 ? of[i] / by[i] : 0
    void (*divide)(double* into, const double* of, const double* by, std::int64_t n);

    static constexpr std::int64_t tile_rows = 4, tile_columns = 8;

    static const FloatKernels portable, avx2, avx512;
};

inline const FloatKernels& float_kernels() { return Variants<FloatKernels>::best(); }

}  // namespace fishernet
