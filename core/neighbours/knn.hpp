// Mutual information from nearest neighbours (Leppä-aho, 2020, Eq. 3.9, and its conditional form), under many orders of the rows of y.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/interrupt.hpp"
#include "neighbours/near_rows.hpp"

namespace fishernet {

// What the estimate sees of a row: how many others lie strictly within the distance of its k-th neighbour (in the maximum
// norm over x, y and z) in three marginal spaces: x, y and none; or, with z: (x, z), (y, z) and z.
using RowCounts = std::array<std::int32_t, 3>;

class KnnInformation {
public:
    // x, y and z have the same rows, at least k + 1; z may have no columns.
    KnnInformation(const Points& x, const Points& y, const Points& z, int k);

    std::int64_t n() const { return base_.n(); }
    bool conditional() const { return !marginal_; }

    // The counts of every row under an order: row i has y of row order[i].
    std::vector<RowCounts> counts(std::span<const std::int32_t> order, StopCheck check) const;

    // The estimates in nats under some orders, one after the other. Equal counts, in whatever rows, give equal bits.
    // Without z every order holds every row once.
    std::vector<double> estimate(std::span<const std::int32_t> orders, StopCheck check) const;

private:
    struct Marginal {  // y by itself: an order does not change it
        SortedPoints points;
        std::vector<std::int32_t> position_of;  // a row's
    };
    class Permuted;
    class Scan;

    template <class Work>
    void scan_rows(const Permuted& y, StopCheck check, Work work) const;
    std::int64_t term(const RowCounts& counts) const;

    int k_, y_dims_;
    SortedPoints base_;                // z, then x; or x alone
    std::vector<double> y_;            // as given
    std::optional<Marginal> marginal_;  // where there is no z
    double scale_;
    std::vector<std::int64_t> psi_;  // psi(i + 1) in units of 1 / scale_: whole numbers, whose sums have no order
    double constant_;
};

// The k nearest others of every row by (distance, row), row after row.
struct Nearest {
    std::vector<std::int32_t> rows;
    std::vector<double> distances;
};
Nearest nearest_others(const Points& points, int k, StopCheck check);

// Random orders of n rows, one after the other; number i (from `first` on) is a function of (key, i).
std::vector<std::int32_t> draw_orders(std::int64_t n, std::int64_t count, std::uint64_t key, std::uint32_t first);

// Random orders that keep rows near where they were [J. Runge, AISTATS 2018]: every row, in random order, takes a random
// one among itself and its nearest that nobody has taken, or the last when all are taken. `nearest` is (n, k).
std::vector<std::int32_t> draw_local_orders(std::span<const std::int32_t> nearest, std::int64_t n, std::int64_t count,
                                            std::uint64_t key, std::uint32_t first);

}  // namespace fishernet
