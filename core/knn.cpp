#include "knn.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "draws.hpp"
#include "knn_kernels.hpp"
#include "pool.hpp"

namespace fishernet {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double euler = 0.57721566490153286060651209008240243;
constexpr std::int64_t rows_a_task = 16;
constexpr std::int64_t most_permuted = std::int64_t{1} << 21;  // numbers of permuted y held at once

// psi(1), ..., psi(n): minus Euler's constant and the harmonic sums, with compensation.
std::vector<double> digammas(std::int64_t n) {
    std::vector<double> values;
    double sum = -euler, lost = 0;
    for (std::int64_t i = 1; i <= n; ++i) {
        values.push_back(sum);
        const double term = 1 / static_cast<double>(i) - lost;
        const double next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    return values;
}

// The largest power of two by which 3 n digammas can be multiplied and still be summed in 64 bits.
double scale_for(std::int64_t n) {
    return std::ldexp(1.0, 62 - static_cast<int>(std::ceil(std::log2(3.0 * 64.0 * static_cast<double>(n)))));
}

Points none(std::int64_t n) { return {{}, n, 0}; }

// Puts values in random order.
void shuffle(std::span<std::int32_t> values, Draws& draws) {
    for (auto i = static_cast<std::int64_t>(values.size()); i > 1; --i) {
        std::swap(values[static_cast<std::size_t>(i - 1)], values[static_cast<std::size_t>(draws.below(i))]);
    }
}

// How many points of a window have |column - center| < radius in some columns; where `also` is given, these distances
// are below the radius, too.
template <class Column>
std::int64_t count_around(Window window, double radius, int dims, std::int64_t center, Column column,
                          const double* also, std::vector<double>& scratch) {
    const auto& kernels = knn_kernels();
    const auto n = window.size();
    const auto from = window.first;
    if (dims == 1) {
        const double* values = column(0);
        if (also == nullptr) return kernels.count_near(values + from, values[center], radius, n);
        return kernels.count_both(also, values + from, values[center], radius, n);
    }
    if (also != nullptr) std::copy(also, also + n, scratch.data());
    if (also == nullptr) std::fill(scratch.data(), scratch.data() + n, 0.0);
    for (int c = 0; c < dims; ++c) {
        const double* values = column(c);
        kernels.farther(scratch.data(), values + from, values[center], n);
    }
    return kernels.count_below(scratch.data(), radius, n);
}

}  // namespace

// y under some orders, in the order of the base's positions.
class KnnInformation::Permuted {
public:
    Permuted(const KnnInformation& of, std::span<const std::int32_t> orders, StopCheck check)
        : n_(of.n()), dims_(of.y_dims_), count_(static_cast<std::int64_t>(orders.size()) / n_), orders_(orders.data()),
          values_(static_cast<std::size_t>(count_ * n_ * dims_)) {
        run_tasks(count_, [&](std::int64_t t) {
            double* into = values_.data() + t * n_ * dims_;
            for (int c = 0; c < dims_; ++c) {
                const double* from = of.y_.data() + c * n_;
                for (std::int64_t s = 0; s < n_; ++s) *into++ = from[row(t, of.base_.order()[s])];
            }
        }, check);
    }

    std::int64_t count() const { return count_; }
    std::int32_t row(std::int64_t t, std::int64_t of) const { return orders_[t * n_ + of]; }
    const double* column(std::int64_t t, int c) const { return values_.data() + (t * dims_ + c) * n_; }

private:
    std::int64_t n_;
    int dims_;
    std::int64_t count_;
    const std::int32_t* orders_;
    std::vector<double> values_;
};

// Looks at one position after the other, and at each under one order after the other.
class KnnInformation::Scan {
public:
    Scan(const KnnInformation& of, const Permuted& y)
        : of_(of), y_(y), near_(of.base_), best_(static_cast<std::size_t>(of.k_)),
          scratch_(static_cast<std::size_t>(of.y_dims_ > 1 ? of.n() : 0)) {
        const auto n = static_cast<double>(of.n());
        const double share = std::pow(of.k_ / n, 1.0 / (of.base_.dims() + of.y_dims_));
        about_ = static_cast<std::int64_t>(n * share) + of.k_;  // the positions of the axis in a usual neighbourhood
    }

    void begin(std::int64_t position) {
        const double guess = farthest_ > 0 ? farthest_ * 1.05 : near_.guess_radius(position, about_);
        near_.begin(position, guess);
        position_ = position;
        farthest_ = 0;
    }

    RowCounts counts(std::int64_t t) {
        std::int64_t closer = 0;
        const double radius = kth_distance(t, closer);
        if (!(radius > 0)) return {0, 0, 0};
        farthest_ = std::max(farthest_, radius);
        const auto base = static_cast<std::int32_t>(closer);
        if (of_.marginal_) return {base, of_y(t, radius), 0};
        const auto window = of_.base_.near(of_.base_.column(0)[position_], radius, near_.window());
        const double* also = nullptr;  // distances by z, where the axis is not all of it
        if (of_.base_.n_by() > 1) also = near_.by_distances() + (window.first - near_.window().first);
        const auto of_z = also == nullptr ? window.size() : knn_kernels().count_below(also, radius, window.size());
        const auto of_yz = count_around(
            window, radius, of_.y_dims_, position_, [&](int c) { return y_.column(t, c); }, also, scratch_);
        return {base, static_cast<std::int32_t>(of_yz - 1), static_cast<std::int32_t>(of_z - 1)};
    }

private:
    // The distance of the k-th neighbour; `closer` is how many of the base are strictly closer than that.
    double kth_distance(std::int64_t t, std::int64_t& closer) {
        std::fill(best_.begin(), best_.end(), infinite);
        const double* y = y_.column(t, 0);
        std::int64_t i = 0;
        for (;;) {
            if (i == near_.size()) {
                if (near_.complete() || near_.radius() >= best_.back()) break;
                near_.extend();
                continue;
            }
            double distance = near_.distances()[i];
            if (distance >= best_.back()) break;
            const auto other = near_.positions()[i++];
            distance = std::max(distance, std::fabs(y[other] - y[position_]));
            for (int c = 1; c < of_.y_dims_; ++c) {
                const double* more = y_.column(t, c);
                distance = std::max(distance, std::fabs(more[other] - more[position_]));
            }
            if (distance < best_.back()) offer(distance);
        }
        while (i > 0 && near_.distances()[i - 1] >= best_.back()) --i;
        closer = i;
        return best_.back();
    }

    void offer(double distance) {
        std::size_t at = best_.size() - 1;
        for (; at > 0 && best_[at - 1] > distance; --at) best_[at] = best_[at - 1];
        best_[at] = distance;
    }

    std::int32_t of_y(std::int64_t t, double radius) {
        const auto& [points, position_of] = *of_.marginal_;
        const auto row = y_.row(t, of_.base_.order()[position_]);
        const auto center = position_of[static_cast<std::size_t>(row)];
        auto window = points.near(points.column(0)[center], radius, points.all());
        if (points.dims() == 1) return static_cast<std::int32_t>(window.size() - 1);
        const auto found = count_around(
            window, radius, points.dims(), center, [&](int c) { return points.column(c); }, nullptr, scratch_);
        return static_cast<std::int32_t>(found - 1);
    }

    const KnnInformation& of_;
    const Permuted& y_;
    NearRows near_;
    std::vector<double> best_;  // the k smallest distances so far, ascending
    std::vector<double> scratch_;
    std::int64_t position_ = 0, about_;
    double farthest_ = 0;  // of the last position's radii
};

KnnInformation::KnnInformation(const Points& x, const Points& y, const Points& z, int k)
    : k_(k), y_dims_(y.dims), base_(z.dims > 0 ? z : x, z.dims > 0 ? x : none(x.n)),
      y_(y.values.begin(), y.values.end()), scale_(scale_for(x.n)) {
    if (z.dims == 0) {
        marginal_.emplace(Marginal{{y, none(y.n)}, std::vector<std::int32_t>(static_cast<std::size_t>(y.n))});
        for (std::int32_t s = 0; s < y.n; ++s) {
            marginal_->position_of[static_cast<std::size_t>(marginal_->points.order()[s])] = s;
        }
    }
    const auto psi = digammas(x.n);
    for (const double value : psi) psi_.push_back(std::llround(value * scale_));
    constant_ = psi[static_cast<std::size_t>(k - 1)] + (marginal_ ? psi.back() : 0);
}

std::int64_t KnnInformation::term(const RowCounts& counts) const {
    const auto psi = [&](std::size_t i) { return psi_[static_cast<std::size_t>(counts[i])]; };
    return marginal_ ? -psi(0) - psi(1) : psi(2) - psi(0) - psi(1);
}

// work(scan, first position, the position after the last) for all positions, in parallel.
template <class Work>
void KnnInformation::scan_rows(const Permuted& y, StopCheck check, Work work) const {
    run_tasks((n() + rows_a_task - 1) / rows_a_task, [&](std::int64_t task) {
        Scan scan(*this, y);
        work(scan, task * rows_a_task, std::min(n(), (task + 1) * rows_a_task));
    }, check);
}

std::vector<RowCounts> KnnInformation::counts(std::span<const std::int32_t> order, StopCheck check) const {
    const Permuted y(*this, order, check);
    std::vector<RowCounts> found(static_cast<std::size_t>(n()));
    scan_rows(y, check, [&](Scan& scan, std::int64_t first, std::int64_t last) {
        for (auto s = first; s < last; ++s) {
            scan.begin(s);
            found[static_cast<std::size_t>(base_.order()[s])] = scan.counts(0);
        }
    });
    return found;
}

std::vector<double> KnnInformation::estimate(std::span<const std::int32_t> orders, StopCheck check) const {
    const auto n_orders = static_cast<std::int64_t>(orders.size()) / n();
    const auto at_once = std::max<std::int64_t>(1, most_permuted / (n() * y_dims_));
    std::vector<double> estimates;
    for (std::int64_t first = 0; first < n_orders; first += at_once) {
        const auto count = std::min(at_once, n_orders - first);
        const Permuted y(*this, orders.subspan(static_cast<std::size_t>(first * n()), static_cast<std::size_t>(count * n())),
                         check);
        std::vector<std::atomic<std::int64_t>> sums(static_cast<std::size_t>(count));
        scan_rows(y, check, [&](Scan& scan, std::int64_t from, std::int64_t to) {
            std::vector<std::int64_t> part(sums.size(), 0);
            for (auto s = from; s < to; ++s) {
                scan.begin(s);
                for (std::size_t t = 0; t < part.size(); ++t) part[t] += term(scan.counts(static_cast<std::int64_t>(t)));
            }
            for (std::size_t t = 0; t < part.size(); ++t) sums[t] += part[t];
        });
        for (const auto& sum : sums) {
            estimates.push_back(constant_ + static_cast<double>(sum) / scale_ / static_cast<double>(n()));
        }
    }
    return estimates;
}

Nearest nearest_others(const Points& points, int k, StopCheck check) {
    const SortedPoints sorted(points, none(points.n));
    const auto n = points.n;
    const auto cells = static_cast<std::size_t>(n * k);
    Nearest found{std::vector<std::int32_t>(cells), std::vector<double>(cells)};
    run_tasks((n + rows_a_task - 1) / rows_a_task, [&](std::int64_t task) {
        NearRows near(sorted);
        std::vector<std::pair<double, std::int32_t>> order;
        for (auto s = task * rows_a_task; s < std::min(n, (task + 1) * rows_a_task); ++s) {
            near.begin(s, near.guess_radius(s, 2 * k));
            while (near.size() < k) near.extend();
            order.clear();
            for (std::int64_t i = 0; i < near.size(); ++i) {
                order.emplace_back(near.distances()[i], sorted.order()[near.positions()[i]]);
            }
            std::sort(order.begin(), order.end());
            const auto into = static_cast<std::size_t>(sorted.order()[s]) * static_cast<std::size_t>(k);
            for (std::size_t i = 0; i < static_cast<std::size_t>(k); ++i) {
                std::tie(found.distances[into + i], found.rows[into + i]) = order[i];
            }
        }
    }, check);
    return found;
}

std::vector<std::int32_t> draw_orders(std::int64_t n, std::int64_t count, std::uint64_t key, std::uint32_t first) {
    std::vector<std::int32_t> orders(static_cast<std::size_t>(n * count));
    for (std::int64_t t = 0; t < count; ++t) {
        const std::span order(orders.data() + t * n, static_cast<std::size_t>(n));
        Draws draws(key, first + static_cast<std::uint32_t>(t));
        std::iota(order.begin(), order.end(), 0);
        shuffle(order, draws);
    }
    return orders;
}

std::vector<std::int32_t> draw_local_orders(std::span<const std::int32_t> nearest, std::int64_t n, std::int64_t count,
                                            std::uint64_t key, std::uint32_t first) {
    const auto k = static_cast<std::int64_t>(nearest.size()) / n;
    std::vector<std::int32_t> orders(static_cast<std::size_t>(n * count));
    std::vector<std::int32_t> turns(static_cast<std::size_t>(n));
    std::vector<std::int32_t> near(static_cast<std::size_t>(k + 1));
    for (std::int64_t t = 0; t < count; ++t) {
        Draws draws(key, first + static_cast<std::uint32_t>(t));
        std::iota(turns.begin(), turns.end(), 0);
        shuffle(turns, draws);
        std::vector<bool> taken(static_cast<std::size_t>(n), false);
        for (const auto row : turns) {
            near[0] = row;
            std::copy_n(nearest.begin() + row * k, k, near.begin() + 1);
            shuffle(near, draws);
            auto chosen = near.back();
            for (const auto other : near) {
                if (!taken[static_cast<std::size_t>(other)]) {
                    chosen = other;
                    break;
                }
            }
            taken[static_cast<std::size_t>(chosen)] = true;
            orders[static_cast<std::size_t>(t * n + row)] = chosen;
        }
    }
    return orders;
}

}  // namespace fishernet
