#include "neighbours/knn_kernels.hpp"

#include <cmath>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace fishernet {
namespace {

void distances(double* __restrict into, const double* __restrict column, double center, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) into[i] = std::fabs(column[i] - center);
}

void farther(double* __restrict into, const double* __restrict column, double center, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
        const double d = std::fabs(column[i] - center);
        into[i] = d > into[i] ? d : into[i];
    }
}

std::int64_t count_near(const double* column, double center, double radius, std::int64_t n) {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < n; ++i) count += std::fabs(column[i] - center) < radius ? 1 : 0;
    return count;
}

std::int64_t count_below(const double* values, double radius, std::int64_t n) {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < n; ++i) count += values[i] < radius ? 1 : 0;
    return count;
}

std::int64_t count_both(const double* distances, const double* column, double center, double radius, std::int64_t n) {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        count += static_cast<int>(distances[i] < radius) & static_cast<int>(std::fabs(column[i] - center) < radius);
    }
    return count;
}

std::int64_t collect(std::int32_t* into, const double* values, double limit, std::int64_t n) {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        into[count] = static_cast<std::int32_t>(i);  // written over unless it belongs there
        count += values[i] < limit ? 1 : 0;
    }
    return count;
}

void gather_farther(double* __restrict into, const double* __restrict distances, const std::int32_t* __restrict positions,
                    const double* __restrict column, double center, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
        const double d = std::fabs(column[positions[i]] - center);
        into[i] = d > distances[i] ? d : distances[i];
    }
}

std::int64_t keep_below(double* values, double limit, std::int64_t n) {
    std::int64_t count = 0;
    std::int64_t i = 0;
#if defined(__AVX512F__)
    for (; i + 8 <= n; i += 8) {
        const __m512d value = _mm512_loadu_pd(values + i);
        const __mmask8 below = _mm512_cmp_pd_mask(value, _mm512_set1_pd(limit), _CMP_LT_OQ);
        _mm512_storeu_pd(values + count, _mm512_maskz_compress_pd(below, value));  // at most over what was read
        count += __builtin_popcount(below);
    }
#endif
    for (; i < n; ++i) {
        const double value = values[i];
        values[count] = value;
        count += value < limit ? 1 : 0;
    }
    return count;
}

constexpr KnnKernels loops = {
    &distances, &farther, &count_near, &count_below, &count_both, &collect, &gather_farther, &keep_below,
};

}  // namespace

const KnnKernels KnnKernels::FISHERNET_ISA = loops;

}  // namespace fishernet
