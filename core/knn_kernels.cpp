#include "knn_kernels.hpp"

#include <cmath>

#define FISHERNET_JOIN_(a, b) a##b
#define FISHERNET_JOIN(a, b) FISHERNET_JOIN_(a, b)

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

std::int64_t collect(std::int32_t* into, const double* values, double from, double to, std::int64_t n) {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        into[count] = static_cast<std::int32_t>(i);  // written over unless it belongs there
        count += static_cast<int>(values[i] >= from) & static_cast<int>(values[i] < to);
    }
    return count;
}

}  // namespace

extern const KnnKernels FISHERNET_JOIN(knn_kernels_, FISHERNET_ISA);
const KnnKernels FISHERNET_JOIN(knn_kernels_, FISHERNET_ISA) = {
    &distances, &farther, &count_near, &count_below, &count_both, &collect,
};

}  // namespace fishernet
