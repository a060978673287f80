// The innermost loops of nearest neighbours in the maximum norm, compiled once for every instruction set. All of them
// compare the same differences, so all give the same counts.
#pragma once

#include <cstdint>

#include "base/isa.hpp"

namespace fishernet {

struct KnnKernels {
    // into[i] = |column[i] - center|
    void (*distances)(double* into, const double* column, double center, std::int64_t n);

    // into[i] = max(into[i], |column[i] - center|)
    void (*farther)(double* into, const double* column, double center, std::int64_t n);

    // How many column[i] have |column[i] - center| < radius.
    std::int64_t (*count_near)(const double* column, double center, double radius, std::int64_t n);

    // How many of n values are < radius.
    std::int64_t (*count_below)(const double* values, double radius, std::int64_t n);

    // How many i have distances[i] < radius and |column[i] - center| < radius.
    std::int64_t (*count_both)(const double* distances, const double* column, double center, double radius,
                               std::int64_t n);

    // The positions i with values[i] < limit, ascending; their number. `into` has room for n.
    std::int64_t (*collect)(std::int32_t* into, const double* values, double limit, std::int64_t n);

    // into[i] = max(distances[i], |column[positions[i]] - center|)
    void (*gather_farther)(double* into, const double* distances, const std::int32_t* positions, const double* column,
                           double center, std::int64_t n);

    // Moves the values below a limit to the front, in their order; their number.
    std::int64_t (*keep_below)(double* values, double limit, std::int64_t n);

    static const KnnKernels portable, avx2, avx512;
};

inline const KnnKernels& knn_kernels() { return Variants<KnnKernels>::best(); }

}  // namespace fishernet
