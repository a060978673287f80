#include "trees/scaled_kernels.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t least_power = -1000;

double smallest_positive(const double* values, std::int64_t n) {
    constexpr int strands = 8;
    constexpr double infinite = __builtin_huge_val();
    double least[strands];
    for (int s = 0; s < strands; ++s) least[s] = infinite;
    std::int64_t i = 0;
    for (; i + strands <= n; i += strands) {
        for (int s = 0; s < strands; ++s) {
            const double value = values[i + s] > 0 ? values[i + s] : infinite;
            least[s] = value < least[s] ? value : least[s];
        }
    }
    for (; i < n; ++i) {
        if (values[i] > 0 && values[i] < least[0]) least[0] = values[i];
    }
    for (int s = 1; s < strands; ++s) least[0] = least[s] < least[0] ? least[s] : least[0];
    return least[0];
}

void add(std::int64_t* __restrict exponents, const std::int64_t* __restrict by, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) exponents[i] += by[i];
}

void add_one(std::int64_t* exponents, std::int64_t by, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) exponents[i] += by;
}

void gather(std::int64_t* __restrict into, const std::int64_t* __restrict from, const std::int32_t* __restrict offsets,
            std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) into[i] = from[offsets[i]];
}

void raise(std::int64_t* __restrict most, const std::int64_t* __restrict exponents, std::int64_t by, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t exponent = exponents[i] + by;
        most[i] = exponent > most[i] ? exponent : most[i];
    }
}

// The double whose exponent field this is: 2^power.
inline double power_of_two(std::int64_t power) { return __builtin_bit_cast(double, (power + 1023) << 52); }

void add_aligned(double* __restrict into, const double* __restrict mantissas, const std::int64_t* __restrict exponents,
                 double by, std::int64_t by_exponent, const std::int64_t* __restrict most, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t power = exponents[i] + by_exponent - most[i];
        into[i] += by * mantissas[i] * power_of_two(power > least_power ? power : least_power);
    }
}

void settle(double* __restrict mantissas, std::int64_t* __restrict exponents, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
        const auto bits = __builtin_bit_cast(std::int64_t, mantissas[i]);
        const bool zero = bits == 0;
        const std::int64_t settled = (bits & ((std::int64_t{1} << 52) - 1)) | (std::int64_t{1023} << 52);
        exponents[i] = zero ? exponent_of_zero : exponents[i] + (bits >> 52) - 1023;
        mantissas[i] = __builtin_bit_cast(double, zero ? std::int64_t{0} : settled);
    }
}

constexpr ScaledKernels loops = {
    &smallest_positive, &add, &add_one, &gather, &raise, &add_aligned, &settle,
};

}  // namespace

const ScaledKernels ScaledKernels::FISHERNET_ISA = loops;

}  // namespace fishernet
