// How far a set of k rows is from the whole table, through the counts of cells alone.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "selection/cells.hpp"

namespace fishernet {

class Criterion {
public:
    virtual ~Criterion() = default;

    // The value of the set with these counts of cells.
    virtual double value(std::span<const std::int32_t> counts) const = 0;

    // Brings `addends` up to date after the counts of the cells of distinct row `kind` have changed: adding a row to
    // the set then gives some constant and the addends of the row's cells.
    virtual void update(std::span<const std::int32_t> counts, std::int64_t kind) = 0;
    virtual void update_all(std::span<const std::int32_t> counts) = 0;

    std::vector<double> addends;
};

// What the table holds, and the size of the sets. The rows must outlive the criterion.
struct Target {
    const CellRows& rows;
    std::span<const double> counts;  // of every cell
    double total;                    // of one conditional's counts
    std::int64_t k;
};

// The squared maximum mean discrepancy (Leppä-aho et al., 2020, Eq. 10) under a Fisher kernel, of whose cells the inverse of theta and of
// the group's probability are given; 0 where a probability is 0.
std::unique_ptr<Criterion> squared_distance(const Target& target, std::vector<double> inverse_theta,
                                            std::vector<double> inverse_group);

// Minus the sum over variables of the log-probability that chi-square is greater than the statistic of the set's
// counts (Leppä-aho et al., 2020, 7.1). Every conditional has no parents.
std::unique_ptr<Criterion> chi_square_tails(const Target& target);

}  // namespace fishernet
