#include "neighbours/near_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "neighbours/knn_kernels.hpp"

namespace fishernet {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// The mean distance from the mean.
double spread(const double* column, std::int64_t n) {
    const auto count = static_cast<double>(n);
    const double mean = std::accumulate(column, column + n, 0.0, [&](double s, double v) { return s + v / count; });
    return std::accumulate(column, column + n, 0.0, [&](double s, double v) { return s + std::fabs(v - mean) / count; });
}

int widest(const Points& points) {
    int best = 0;
    double most = -1;
    for (int c = 0; c < points.dims; ++c) {
        const double wide = spread(points.values.data() + c * points.n, points.n);
        if (wide > most) {
            most = wide;
            best = c;
        }
    }
    return best;
}

// How many of n values come before the first that a condition does not hold for. Without a branch on the values, which
// nobody could foresee.
template <class Condition>
std::int64_t count_leading(const double* values, std::int64_t n, Condition holds) {
    const double* first = values;
    while (n > 1) {
        const auto half = n / 2;
        first += holds(first[half - 1]) ? half : 0;
        n -= half;
    }
    return first - values + (n == 1 && holds(*first) ? 1 : 0);
}

}  // namespace

SortedPoints::SortedPoints(const Points& by, const Points& rest)
    : n_(by.n), n_by_(by.dims), dims_(by.dims + rest.dims), order_(static_cast<std::size_t>(by.n)) {
    const int axis = widest(by);
    const double* keys = by.values.data() + axis * n_;
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
        return keys[a] < keys[b] || (keys[a] == keys[b] && a < b);
    });
    values_.reserve(static_cast<std::size_t>(dims_ * n_));
    const auto append = [&](const Points& points, int c) {
        const double* column = points.values.data() + c * n_;
        for (const auto row : order_) values_.push_back(column[row]);
    };
    append(by, axis);
    for (int c = 0; c < by.dims; ++c) {
        if (c != axis) append(by, c);
    }
    for (int c = 0; c < rest.dims; ++c) append(rest, c);
}

Window SortedPoints::near(std::int64_t position, double radius, Window inside) const {
    // A rounded difference does not fall where the exact one rises, so the differences themselves may be searched.
    const double* axis = values_.data();
    const double center = axis[position];
    const auto before = count_leading(axis + inside.first, position - inside.first,
                                      [=](double v) { return !(center - v < radius); });
    const auto after = count_leading(axis + position, inside.last - position,
                                     [=](double v) { return v - center < radius; });
    return {inside.first + before, position + after};
}

NearRows::NearRows(const SortedPoints& points) : points_(points) {}

void NearRows::begin(std::int64_t position, double radius) {
    position_ = position;
    next_radius_ = radius;
    n_found_ = 0;
}

double NearRows::guess_radius(std::int64_t position, std::int64_t positions) const {
    const double* axis = points_.column(0);
    for (std::int64_t wide = std::max<std::int64_t>(1, positions / 2);; wide *= 2) {
        const auto low = std::max<std::int64_t>(0, position - wide);
        const auto high = std::min(points_.n() - 1, position + wide);
        const double radius = std::max(axis[high] - axis[position], axis[position] - axis[low]);
        if (radius > 0) return radius;
        if (low == 0 && high == points_.n() - 1) return infinite;
    }
}

void NearRows::find_next() {
    if (n_found_ == levels_.size()) levels_.emplace_back();
    auto& level = levels_[n_found_++];
    const auto& kernels = knn_kernels();
    const auto center = [&](int c) { return points_.column(c)[position_]; };
    level.radius = next_radius_;
    level.window = points_.near(position_, level.radius, points_.all());
    const auto first = level.window.first;
    const auto n = static_cast<std::size_t>(level.window.size());
    all_.resize(std::max(all_.size(), n));
    picked_.resize(std::max(picked_.size(), n));
    double* all = all_.data();
    kernels.distances(all, points_.column(0) + first, center(0), level.window.size());
    for (int c = 1; c < points_.dims(); ++c) {
        if (c == points_.n_by() && c > 1) level.by.assign(all, all + n);
        kernels.farther(all, points_.column(c) + first, center(c), level.window.size());
    }
    all[position_ - first] = infinite;  // the row itself is none of the others
    const auto count = static_cast<std::size_t>(
        kernels.collect(picked_.data(), all, level.radius, level.window.size()));
    level.positions.resize(count);
    level.distances.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        level.distances[i] = all[picked_[i]];
        level.positions[i] = picked_[i] + static_cast<std::int32_t>(first);
    }
    next_radius_ *= 1.5;
}

}  // namespace fishernet
