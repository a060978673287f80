#include "neighbours/knn.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/draws.hpp"
#include "base/pool.hpp"
#include "test/check.hpp"

using namespace fishernet;

namespace {

std::vector<double> numbers(std::int64_t n, std::uint32_t task, double step) {
    Draws draws(7, task);
    std::vector<double> values;
    for (std::int64_t i = 0; i < n; ++i) {
        const double value = static_cast<double>(draws.below(1 << 20)) / (1 << 20);
        values.push_back(step > 0 ? std::floor(value / step) * step : 1 / (value + 1e-3));
    }
    return values;
}

// The largest difference of rows i and j over the columns.
double far(const Points& points, std::int64_t i, std::int64_t j) {
    double most = 0;
    for (int c = 0; c < points.dims; ++c) {
        const double* column = points.values.data() + c * points.n;
        most = std::max(most, std::fabs(column[i] - column[j]));
    }
    return most;
}

RowCounts by_definition(const Points& x, const Points& y, const Points& z, int k, std::int64_t i) {
    std::vector<double> distances;
    const auto base = [&](std::int64_t j) { return std::max(far(x, i, j), far(z, i, j)); };
    for (std::int64_t j = 0; j < x.n; ++j) {
        if (j != i) distances.push_back(std::max(base(j), far(y, i, j)));
    }
    std::sort(distances.begin(), distances.end());
    const double radius = distances[static_cast<std::size_t>(k - 1)];
    RowCounts counts{0, 0, 0};
    for (std::int64_t j = 0; j < x.n; ++j) {
        if (j == i) continue;
        counts[0] += base(j) < radius;
        counts[1] += std::max(far(y, i, j), far(z, i, j)) < radius;
        counts[2] += z.dims > 0 && far(z, i, j) < radius;
    }
    return counts;
}

void counts_are_those_of_the_definition(double step, int x_dims, int y_dims, int z_dims) {
    const std::int64_t n = 70;
    const auto x = numbers(n * x_dims, 1, step), y = numbers(n * y_dims, 2, step), z = numbers(n * z_dims, 3, step);
    const Points of_x{x, n, x_dims}, of_y{y, n, y_dims}, of_z{z, n, z_dims};
    std::vector<std::int32_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    for (const int k : {1, 3, 9, 69}) {
        const KnnInformation information(of_x, of_y, of_z, k);
        const auto counts = information.counts(order, nullptr);
        for (std::int64_t i = 0; i < n; ++i) {
            CHECK(counts[static_cast<std::size_t>(i)] == by_definition(of_x, of_y, of_z, k, i));
        }
    }
}

void threads_change_nothing() {
    const std::int64_t n = 300;
    const auto x = numbers(n, 1, 0), y = numbers(n, 2, 0), z = numbers(2 * n, 3, 0);
    const KnnInformation information({x, n, 1}, {y, n, 1}, {z, n, 2}, 4);
    const auto orders = draw_orders(n, 6, 3, 0);
    set_threads(1);
    const auto one = information.estimate(orders, nullptr);
    set_threads(3);
    CHECK(one == information.estimate(orders, nullptr));
}

}  // namespace

TEST(neighbour_counts_are_those_of_the_definition) {
    for (const double step : {0.0, 0.125, 0.5}) {
        counts_are_those_of_the_definition(step, 1, 1, 0);
        counts_are_those_of_the_definition(step, 2, 3, 0);
        counts_are_those_of_the_definition(step, 1, 1, 1);
        counts_are_those_of_the_definition(step, 1, 2, 3);
    }
}

TEST(threads_change_no_neighbours) { threads_change_nothing(); }
