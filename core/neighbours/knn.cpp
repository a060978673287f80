#include "neighbours/knn.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/draws.hpp"
#include "base/pool.hpp"
#include "neighbours/knn_kernels.hpp"

namespace fishernet {
namespace {

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

constexpr int few = 8;

// The k-th smallest of values, k at most `few`. Insertion without branches, which nobody could foresee.
double smallest_of_few(const double* values, std::int64_t n, int k) {
    std::array<double, few> best;
    best.fill(std::numeric_limits<double>::infinity());
    for (std::int64_t i = 0; i < n; ++i) {
        const double value = values[i];
        for (std::size_t j = few - 1; j > 0; --j) best[j] = std::min(best[j], std::max(best[j - 1], value));
        best[0] = std::min(best[0], value);
    }
    return best[static_cast<std::size_t>(k - 1)];
}

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
        : of_(of), y_(y), near_(of.base_),
          scratch_(static_cast<std::size_t>(of.n())) {
        const auto n = static_cast<double>(of.n());
        const double share = std::pow(of.k_ / n, 1.0 / (of.base_.dims() + of.y_dims_));
        about_ = static_cast<std::int64_t>(n * share) + of.k_;  // the positions of the axis in a usual neighbourhood
    }

    void begin(std::int64_t position) {
        // Neighbours on the axis are alike. With some room, most orders need level 0 alone.
        const double usual = n_radii_ > 0 ? 1.2 * sum_of_radii_ / static_cast<double>(n_radii_) : 0;
        near_.begin(position, usual > 0 ? usual : near_.guess_radius(position, about_));
        position_ = position;
        sum_of_radii_ = 0;
        n_radii_ = 0;
    }

    RowCounts counts(std::int64_t t) {
        const auto& level = farther_than_k(t);
        const double radius = kth_smallest();
        sum_of_radii_ += radius;
        ++n_radii_;
        if (!(radius > 0)) return {0, 0, 0};
        const auto base = knn_kernels().count_below(level.distances.data(), radius, level.size());
        if (of_.marginal_) return {static_cast<std::int32_t>(base), of_y(t, radius), 0};
        const auto window = of_.base_.near(position_, radius, level.window);
        const double* also = nullptr;  // distances by z, where the axis is not all of it
        if (of_.base_.n_by() > 1) also = level.by.data() + (window.first - level.window.first);
        const auto of_z = also == nullptr ? window.size() : knn_kernels().count_below(also, radius, window.size());
        const auto of_yz = count_around(
            window, radius, of_.y_dims_, position_, [&](int c) { return y_.column(t, c); }, also, scratch_);
        return {static_cast<std::int32_t>(base), static_cast<std::int32_t>(of_yz - 1),
                static_cast<std::int32_t>(of_z - 1)};
    }

private:
    // The first neighbourhood whose radius k distances over base and y stay below; scratch_ begins with these.
    const Neighbourhood& farther_than_k(std::int64_t t) {
        const auto& kernels = knn_kernels();
        for (std::size_t l = 0;; ++l) {
            const auto& level = near_.level(l);
            if (level.size() < of_.k_) continue;
            const double* distances = level.distances.data();
            for (int c = 0; c < of_.y_dims_; ++c) {
                const double* y = y_.column(t, c);
                kernels.gather_farther(scratch_.data(), distances, level.positions.data(), y, y[position_], level.size());
                distances = scratch_.data();
            }
            n_closer_ = kernels.keep_below(scratch_.data(), level.radius, level.size());
            if (n_closer_ >= of_.k_) return level;
        }
    }

    double kth_smallest() {
        double* values = scratch_.data();
        if (of_.k_ <= few && n_closer_ <= 8 * few) return smallest_of_few(values, n_closer_, of_.k_);
        std::nth_element(values, values + of_.k_ - 1, values + n_closer_);
        return values[of_.k_ - 1];
    }

    std::int32_t of_y(std::int64_t t, double radius) {
        const auto& [points, position_of] = *of_.marginal_;
        const auto row = y_.row(t, of_.base_.order()[position_]);
        const auto center = position_of[static_cast<std::size_t>(row)];
        const auto window = points.near(center, radius, points.all());
        if (points.dims() == 1) return static_cast<std::int32_t>(window.size() - 1);
        const auto found = count_around(
            window, radius, points.dims(), center, [&](int c) { return points.column(c); }, nullptr, scratch_);
        return static_cast<std::int32_t>(found - 1);
    }

    const KnnInformation& of_;
    const Permuted& y_;
    NearRows near_;
    std::vector<double> scratch_;
    std::int64_t position_ = 0, about_, n_closer_ = 0;
    double sum_of_radii_ = 0;  // at this position
    std::int64_t n_radii_ = 0;
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
            std::size_t l = 0;
            while (near.level(l).size() < k) ++l;
            const auto& level = near.level(l);
            order.clear();
            for (std::size_t i = 0; i < level.positions.size(); ++i) {
                order.emplace_back(level.distances[i], sorted.order()[level.positions[i]]);
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
