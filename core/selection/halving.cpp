#include "selection/halving.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/draws.hpp"
#include "base/pool.hpp"

namespace fishernet {
namespace {

// The signed sum of features of the pairs that were split, as counts of cells and of groups.
class SignedSum {
public:
    SignedSum(const CellRows& rows, const CellKernel& kernel)
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

// Splits one part, in place: its first half and its second.
void halve(const CellRows& rows, const CellKernel& kernel, std::span<std::int64_t> part, double delta, Draws& draws,
           std::vector<std::int64_t>& second) {
    SignedSum sum(rows, kernel);
    second.clear();
    const std::size_t pairs = part.size() / 2;
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
        const double drawn = static_cast<double>(draws.below(std::int64_t{1} << 31)) / static_cast<double>(std::int64_t{1} << 31);
        const bool keep = drawn < to_first;
        part[p] = keep ? x : y;
        second.push_back(keep ? y : x);
        sum.add(x, keep ? 1 : -1);
        sum.add(y, keep ? -1 : 1);
    }
    std::copy(second.begin(), second.end(), part.begin() + static_cast<std::ptrdiff_t>(pairs));
}

}  // namespace

void halve_rows(const CellRows& rows, const CellKernel& kernel, std::span<std::int64_t> order, std::int32_t rounds,
                double delta, std::uint64_t key, StopCheck check) {
    for (std::int32_t round = 0; round < rounds; ++round) {
        const std::int64_t parts = std::int64_t{1} << round;
        const auto size = static_cast<std::int64_t>(order.size()) / parts;
        const double share = 2 * delta / (static_cast<double>(rounds) * static_cast<double>(order.size()));
        run_tasks(parts, [&](std::int64_t part) {
            Draws draws(key, static_cast<std::uint32_t>(parts + part));
            std::vector<std::int64_t> second;
            halve(rows, kernel, order.subspan(static_cast<std::size_t>(part * size), static_cast<std::size_t>(size)),
                  share, draws, second);
        }, check, order.size() > 4096);
    }
}

}  // namespace fishernet
