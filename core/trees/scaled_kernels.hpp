// Loops over rows of numbers that neither overflow nor underflow: a mantissa in [1, 2) (more, between two calls of
// settle) and an exponent of two a number. Zero is a mantissa of 0, with an exponent far below all others. Compiled once
// for every instruction set, like float_kernels.hpp; all give the same bits.
#pragma once

#include <cstdint>

#include "base/isa.hpp"

namespace fishernet {

inline constexpr std::int64_t exponent_of_zero = -(std::int64_t{1} << 40);

struct ScaledKernels {
    // The smallest positive one of n non-negative numbers; infinity where there is none.
    double (*smallest_positive)(const double* values, std::int64_t n);

    // exponents[i] += by[i]
    void (*add)(std::int64_t* exponents, const std::int64_t* by, std::int64_t n);

    // exponents[i] += by
    void (*add_one)(std::int64_t* exponents, std::int64_t by, std::int64_t n);

    // into[i] = from[offsets[i]]
    void (*gather)(std::int64_t* into, const std::int64_t* from, const std::int32_t* offsets, std::int64_t n);

    // most[i] = max(most[i], exponents[i] + by)
    void (*raise)(std::int64_t* most, const std::int64_t* exponents, std::int64_t by, std::int64_t n);

    // into[i] += by * mantissas[i] * 2^(exponents[i] + by_exponent - most[i]); what is below 2^-1000 may count as that.
    void (*add_aligned)(double* into, const double* mantissas, const std::int64_t* exponents, double by,
                        std::int64_t by_exponent, const std::int64_t* most, std::int64_t n);

    // Brings mantissas back to [1, 2) or 0. They must be 0 or at least 1.
    void (*settle)(double* mantissas, std::int64_t* exponents, std::int64_t n);

    static const ScaledKernels portable, avx2, avx512;
};

inline const ScaledKernels& scaled_kernels() { return Variants<ScaledKernels>::best(); }

}  // namespace fishernet
