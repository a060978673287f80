#include "networks/krylov.hpp"

#include <algorithm>
#include <cmath>

#include "base/float_kernels.hpp"
#include "base/pool.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t block = 1 << 15;
constexpr double end_of_space = 1e-14;  // what is left of a vector, below which it is rounding

template <class Work>
void for_blocks(std::int64_t n, StopCheck check, Work work) {
    run_tasks((n + block - 1) / block, [&](std::int64_t b) {
        work(b, b * block, std::min(n, (b + 1) * block));
    }, check, n > 4 * block);
}

}  // namespace

Krylov::Krylov(std::int64_t n, std::size_t most_vectors, Apply apply) : n_(n), apply_(std::move(apply)) {
    for (std::size_t i = 0; i < most_vectors; ++i) vectors_.push_back(make_buffer(static_cast<std::size_t>(n)));
    std::fill(current(), current() + n, 1.0 / static_cast<double>(n));
}

// Parts are added in their order, so that the sum does not depend on the threads.
double Krylov::sum_of(StopCheck check, const std::function<double(std::int64_t, std::int64_t)>& part) const {
    std::vector<double> parts(static_cast<std::size_t>((n_ + block - 1) / block));
    for_blocks(n_, check, [&](std::int64_t b, std::int64_t first, std::int64_t last) {
        parts[static_cast<std::size_t>(b)] = part(first, last);
    });
    return float_kernels().sum(parts.data(), static_cast<std::int64_t>(parts.size()));
}

double Krylov::dot(const double* a, const double* b, StopCheck check) const {
    return sum_of(check, [&](std::int64_t first, std::int64_t last) {
        return float_kernels().dot(a + first, b + first, last - first);
    });
}

void Krylov::scale(double* a, double by, StopCheck check) const {
    for_blocks(n_, check, [&](std::int64_t, std::int64_t first, std::int64_t last) {
        float_kernels().scale(a + first, by, last - first);
    });
}

double Krylov::step(StopCheck check) {
    double* p = current();
    double* next = vectors_[1].get();
    apply_(p, next, check);
    const double change = sum_of(check, [&](std::int64_t first, std::int64_t last) {
        double sum = 0;
        for (auto i = first; i < last; ++i) sum += std::abs(next[i] - p[i]);
        return sum;
    });
    std::swap(vectors_[0], vectors_[1]);
    return change;
}

std::vector<double> Krylov::cycle(std::size_t depth, StopCheck check) {
    depth = std::min(depth, vectors_.size() - 1);
    std::vector<double> columns;
    scale(current(), 1 / std::sqrt(dot(current(), current(), check)), check);
    for (std::size_t j = 0; j < depth; ++j) {
        double* next = vectors_[j + 1].get();
        apply_(vectors_[j].get(), next, check);
        std::vector<double> column(depth + 1, 0.0);
        const double length = std::sqrt(dot(next, next, check));
        for (std::size_t i = 0; i <= j; ++i) {
            const double* earlier = vectors_[i].get();
            const double part = dot(earlier, next, check);
            column[i] = part;
            for_blocks(n_, check, [&](std::int64_t, std::int64_t first, std::int64_t last) {
                float_kernels().add_scaled(next + first, earlier + first, -part, last - first);
            });
        }
        const double left = std::sqrt(dot(next, next, check));
        const bool ended = left <= end_of_space * length;
        column[j + 1] = ended ? 0.0 : left;
        columns.insert(columns.end(), column.begin(), column.end());
        if (ended) break;
        scale(next, 1 / left, check);
    }
    return columns;
}

void Krylov::combine(std::span<const double> weights, StopCheck check) {
    double* p = current();
    for_blocks(n_, check, [&](std::int64_t, std::int64_t first, std::int64_t last) {
        float_kernels().scale(p + first, weights[0], last - first);
        for (std::size_t i = 1; i < weights.size(); ++i) {
            float_kernels().add_scaled(p + first, vectors_[i].get() + first, weights[i], last - first);
        }
    });
    const double total = sum_of(check, [&](std::int64_t first, std::int64_t last) {
        return float_kernels().sum(p + first, last - first);
    });
    scale(p, 1 / total, check);
}

}  // namespace fishernet
