#include "near_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "knn_kernels.hpp"

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

Window SortedPoints::near(double center, double radius, Window inside) const {
    // A rounded difference does not fall where the exact one rises, so the differences themselves may be searched.
    const double* axis = values_.data();
    const auto* first = std::partition_point(axis + inside.first, axis + inside.last,
                                             [=](double v) { return v < center && !(center - v < radius); });
    const auto* last = std::partition_point(first, axis + inside.last,
                                            [=](double v) { return v <= center || v - center < radius; });
    return {first - axis, last - axis};
}

NearRows::NearRows(const SortedPoints& points)
    : points_(points), by_(static_cast<std::size_t>(points.n_by() > 1 ? points.n() : 0)),
      all_(static_cast<std::size_t>(points.n())), picked_(static_cast<std::size_t>(points.n())) {}

void NearRows::begin(std::int64_t position, double guess) {
    position_ = position;
    radius_ = 0;
    next_ = guess;
    window_ = {position, position};
    distances_.clear();
    positions_.clear();
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

void NearRows::extend() {
    const auto& kernels = knn_kernels();
    const double* axis = points_.column(0);
    window_ = points_.near(axis[position_], next_, {0, points_.n()});
    const auto from = static_cast<std::size_t>(window_.first);
    const auto n = window_.size();
    const auto center = [&](int c) { return points_.column(c)[position_]; };
    double* all = all_.data();
    kernels.distances(all, axis + from, center(0), n);
    for (int c = 1; c < points_.dims(); ++c) {
        if (c == points_.n_by() && c > 1) std::copy(all, all + n, by_.data());
        kernels.farther(all, points_.column(c) + from, center(c), n);
    }
    const auto count = kernels.collect(picked_.data(), all, radius_, next_, n);
    found_.clear();
    for (std::int64_t i = 0; i < count; ++i) {
        const auto at = picked_[static_cast<std::size_t>(i)];
        const auto position = static_cast<std::int32_t>(window_.first) + at;
        if (position != position_) found_.push_back({all[at], position});
    }
    std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) { return a.distance < b.distance; });
    for (const auto& one : found_) {
        distances_.push_back(one.distance);
        positions_.push_back(one.position);
    }
    radius_ = next_;
    next_ *= 2;
}

}  // namespace fishernet
