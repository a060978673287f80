#include "selection/halving.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/draws.hpp"
#include "base/pool.hpp"

namespace fishernet {
namespace {

// The signed sum of features of the pairs that were split, as counts of cells and of groups.
class SumOfCells {
public:
    SumOfCells(const CellRows& rows, const CellKernel& kernel)
        : rows_(rows), kernel_(kernel), cells_(static_cast<std::size_t>(rows.n_cells()), 0),
          groups_(static_cast<std::size_t>(rows.n_cells()), 0) {}

    // Its kernel with a row.
    double with(std::int64_t row) const {
        double sum = 0;
        for (std::size_t c = 0; c < rows_.n_conditionals(); ++c) {
            const auto cell = rows_.at(c, row);
            const auto start = rows_.group_start(c, cell);
            sum += (cells_[cell] * kernel_.inverse_theta[cell] - groups_[start]) * kernel_.inverse_group[cell];
        }
        return sum;
    }

    // One row goes to the first half, the other to the second.
    void split(std::int64_t first, std::int64_t second) {
        add(first, 1);
        add(second, -1);
    }

    void add(std::int64_t row, double sign) {
        for (std::size_t c = 0; c < rows_.n_conditionals(); ++c) {
            const auto cell = rows_.at(c, row);
            cells_[cell] += sign;
            groups_[rows_.group_start(c, cell)] += sign;
        }
    }

    // |phi(x) - phi(y)|^2
    double apart(std::int64_t x, std::int64_t y) const {
        double sum = 0;
        for (std::size_t c = 0; c < rows_.n_conditionals(); ++c) {
            const auto a = rows_.at(c, x), b = rows_.at(c, y);
            if (a == b) continue;
            const bool together = rows_.group_start(c, a) == rows_.group_start(c, b);
            sum += own(a) + own(b) + (together ? 2 * kernel_.inverse_group[a] : 0.0);
        }
        return sum;
    }

private:
    double own(std::uint32_t cell) const { return (kernel_.inverse_theta[cell] - 1) * kernel_.inverse_group[cell]; }

    const CellRows& rows_;
    const CellKernel& kernel_;
    std::vector<double> cells_, groups_;  // of a group at its first cell
};

// x . y, in eight sums, so that they can be added side by side.
double inner(const double* x, const double* y, std::size_t width) {
    double sums[8] = {};
    std::size_t i = 0;
    for (; i + 8 <= width; i += 8) {
        for (std::size_t lane = 0; lane < 8; ++lane) sums[lane] += x[i + lane] * y[i + lane];
    }
    for (; i < width; ++i) sums[0] += x[i] * y[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

double squared_distance(const double* x, const double* y, std::size_t width) {
    double sums[8] = {};
    std::size_t i = 0;
    for (; i + 8 <= width; i += 8) {
        for (std::size_t lane = 0; lane < 8; ++lane) {
            const double apart = x[i + lane] - y[i + lane];
            sums[lane] += apart * apart;
        }
    }
    for (; i < width; ++i) sums[0] += (x[i] - y[i]) * (x[i] - y[i]);
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

double between(const MatrixKernel& kernel, std::int64_t x, std::int64_t y) {
    return kernel.matrix[static_cast<std::size_t>(x) * kernel.n + static_cast<std::size_t>(y)];
}

double between(const GaussianKernel& kernel, std::int64_t x, std::int64_t y) {
    const double squared = squared_distance(kernel.points.at(x), kernel.points.at(y), kernel.points.width);
    return std::exp(-squared / (2 * kernel.bandwidth * kernel.bandwidth));
}

double between(const InnerProduct& kernel, std::int64_t x, std::int64_t y) {
    return inner(kernel.points.at(x), kernel.points.at(y), kernel.points.width);
}

// The signed sum as the list of the pairs, for kernels that are known by their values.
template <class Kernel>
class SumOfPairs {
public:
    explicit SumOfPairs(const Kernel& kernel) : kernel_(kernel) {}

    double with(std::int64_t row) const {
        double sum = 0;
        for (std::size_t pair = 0; pair < first_.size(); ++pair) {
            sum += between(kernel_, row, first_[pair]) - between(kernel_, row, second_[pair]);
        }
        return sum;
    }

    void split(std::int64_t first, std::int64_t second) {
        first_.push_back(first);
        second_.push_back(second);
    }

    double apart(std::int64_t x, std::int64_t y) const {
        return std::max(between(kernel_, x, x) + between(kernel_, y, y) - 2 * between(kernel_, x, y), 0.0);
    }

private:
    const Kernel& kernel_;
    std::vector<std::int64_t> first_, second_;
};

// The signed sum of the points themselves.
class SumOfPoints {
public:
    explicit SumOfPoints(const InnerProduct& kernel) : points_(kernel.points), sum_(kernel.points.width, 0.0) {}

    double with(std::int64_t row) const { return inner(sum_.data(), points_.at(row), points_.width); }

    void split(std::int64_t first, std::int64_t second) {
        const double *x = points_.at(first), *y = points_.at(second);
        for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += x[i] - y[i];
    }

    double apart(std::int64_t x, std::int64_t y) const {
        return squared_distance(points_.at(x), points_.at(y), points_.width);
    }

private:
    const DensePoints& points_;
    std::vector<double> sum_;
};

// Splits one part, in place: its first half and its second. `drawn` gives the next number from 0 to 1.
template <class Sum, class Drawn>
void halve(Sum sum, std::span<std::int64_t> part, double delta, Drawn drawn) {
    std::vector<std::int64_t> second;
    const std::size_t pairs = part.size() / 2;
    second.reserve(pairs);
    const double log_term = std::sqrt(2 * std::log(2 / delta));
    double variance = 0;  // of what the sum may be in any direction
    for (std::size_t p = 0; p < pairs; ++p) {
        const auto x = part[2 * p], y = part[2 * p + 1];
        const double squared = sum.apart(x, y);
        const double threshold = std::max(std::sqrt(squared * variance) * log_term, squared);
        double to_first = 0.5;
        if (threshold > 0) {
            const double along = sum.with(x) - sum.with(y);
            to_first = std::clamp(0.5 * (1 - along / threshold), 0.0, 1.0);
            variance += std::max(squared * (1 + (squared - 2 * threshold) * variance / (threshold * threshold)), 0.0);
        }
        const bool keep = drawn() < to_first;
        part[p] = keep ? x : y;
        second.push_back(keep ? y : x);
        sum.split(part[p], second.back());
    }
    std::copy(second.begin(), second.end(), part.begin() + static_cast<std::ptrdiff_t>(pairs));
}

// Calls work(part, delta, number of the part among those of all rounds, pairs before it in all rounds) for all parts of
// all rounds; those of one round at the same time.
template <class Work>
void halve_parts(std::span<std::int64_t> order, const Halving& how, StopCheck check, Work work) {
    const double delta = 2 * how.delta / (how.rounds * static_cast<double>(order.size()));
    for (std::int32_t round = 0; round < how.rounds; ++round) {
        const std::int64_t parts = how.parts << round;
        const std::size_t size = order.size() / static_cast<std::size_t>(parts);
        const std::size_t before = static_cast<std::size_t>(round) * (order.size() / 2);
        run_tasks(parts, [&](std::int64_t number) {
            const std::size_t first = static_cast<std::size_t>(number) * size;
            work(order.subspan(first, size), delta, parts + number, before + first / 2);
        }, check, order.size() > 4096);
    }
}

// Replaces each row of the first half, one after the other, by the one of the part that brings the mean of the half
// nearest to that of the part. `order` has positions in the matrix, n x n.
void exchange_rows(const std::vector<double>& matrix, std::span<std::int64_t> order) {
    const std::size_t n = order.size(), half = n / 2;
    const double k = static_cast<double>(half);
    std::vector<double> means(n, 0.0), sums(n, 0.0);
    std::vector<char> is_in(n, 0);
    for (std::size_t place = 0; place < n; ++place) {
        const double* row = matrix.data() + static_cast<std::size_t>(order[place]) * n;
        for (std::size_t x = 0; x < n; ++x) means[x] += row[x];
        if (place >= half) continue;
        is_in[static_cast<std::size_t>(order[place])] = 1;
        for (std::size_t x = 0; x < n; ++x) sums[x] += row[x];
    }
    for (std::size_t place = 0; place < half; ++place) {
        const auto old = static_cast<std::size_t>(order[place]);
        const double* from = matrix.data() + old * n;
        const auto value = [&](std::size_t x) {
            return (2 * (sums[x] - from[x]) + matrix[x * n + x]) / k - 2 * means[x] / static_cast<double>(n);
        };
        std::size_t best = old;
        double least = value(old);
        for (std::size_t x = 0; x < n; ++x) {
            if (is_in[x]) continue;
            if (const double found = value(x); found < least) best = x, least = found;
        }
        const double* to = matrix.data() + best * n;
        for (std::size_t x = 0; x < n; ++x) sums[x] += to[x] - from[x];
        is_in[old] = 0;
        is_in[best] = 1;
        order[place] = static_cast<std::int64_t>(best);
    }
    std::size_t place = half;
    for (std::size_t x = 0; x < n; ++x) {
        if (!is_in[x]) order[place++] = static_cast<std::int64_t>(x);
    }
}

// Splits a part by the matrix between its rows, exchanges rows of the first half, and draws which half is the first.
template <class Kernel>
void halve_with_exchanges(const Kernel& kernel, std::span<std::int64_t> part, double delta, const double* draws,
                          double coin) {
    const std::size_t n = part.size();
    std::vector<double> matrix(n * n);
    std::vector<std::int64_t> order(n), found(n);
    for (std::size_t x = 0; x < n; ++x) {
        order[x] = static_cast<std::int64_t>(x);
        for (std::size_t y = 0; y <= x; ++y) matrix[x * n + y] = matrix[y * n + x] = between(kernel, part[x], part[y]);
    }
    const MatrixKernel known{matrix, n};
    halve(SumOfPairs<MatrixKernel>(known), order, delta, [draws]() mutable { return *draws++; });
    exchange_rows(matrix, order);
    if (coin < 0.5) std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n / 2), order.end());
    for (std::size_t place = 0; place < n; ++place) found[place] = part[static_cast<std::size_t>(order[place])];
    std::copy(found.begin(), found.end(), part.begin());
}

template <class Sum, class Kernel>
void halve_by_values(const Kernel& kernel, std::span<std::int64_t> order, const Halving& how,
                     std::span<const double> draws, StopCheck check) {
    if (how.exchanges) {
        const double* coins = draws.data() + order.size() / 2;
        halve_parts(order, how, check, [&](auto part, double delta, std::int64_t number, std::size_t before) {
            halve_with_exchanges(kernel, part, delta, draws.data() + before, coins[number - how.parts]);
        });
        return;
    }
    halve_parts(order, how, check, [&](auto part, double delta, std::int64_t, std::size_t before) {
        halve(Sum(kernel), part, delta, [next = draws.data() + before]() mutable { return *next++; });
    });
}

}  // namespace

void halve_rows(const CellRows& rows, const CellKernel& kernel, std::span<std::int64_t> order, const Halving& how,
                std::uint64_t key, StopCheck check) {
    halve_parts(order, how, check, [&](auto part, double delta, std::int64_t number, std::size_t) {
        halve(SumOfCells(rows, kernel), part, delta, [draws = Draws(key, static_cast<std::uint32_t>(number))]() mutable {
            constexpr std::int64_t steps = std::int64_t{1} << 31;
            return static_cast<double>(draws.below(steps)) / static_cast<double>(steps);
        });
    });
}

void halve_rows(const MatrixKernel& kernel, std::span<std::int64_t> order, const Halving& how,
                std::span<const double> draws, StopCheck check) {
    halve_by_values<SumOfPairs<MatrixKernel>>(kernel, order, how, draws, check);
}

void halve_rows(const GaussianKernel& kernel, std::span<std::int64_t> order, const Halving& how,
                std::span<const double> draws, StopCheck check) {
    halve_by_values<SumOfPairs<GaussianKernel>>(kernel, order, how, draws, check);
}

void halve_rows(const InnerProduct& kernel, std::span<std::int64_t> order, const Halving& how,
                std::span<const double> draws, StopCheck check) {
    halve_by_values<SumOfPoints>(kernel, order, how, draws, check);
}

}  // namespace fishernet
