// Whether rows of some groups have other states throughout: deviations summed over all configurations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fishernet {

// The sums are of counts less those that are expected. They are taken of each group but the last, and of each state;
// groups, or states, with scores count by these instead, so that a single sum tells whether high goes with high.
class Shift {
public:
    Shift() = default;
    Shift(std::vector<double> group_scores, std::size_t n_groups, std::vector<double> state_scores,
          std::size_t n_states);

    // Adds a configuration, whose rows change places: its groups (of two the first) and states, with their rows.
    void add(std::span<const std::size_t> groups, std::span<const std::int64_t> sizes,
             std::span<const std::size_t> states, std::span<const std::int64_t> pooled, std::int64_t total);
    // After the last: the covariance may be singular. It is that of as many sums as are independent.
    void factor();

    std::size_t degrees() const { return pivots_.size(); }
    // The squared length of sums in units of their covariance, of deviations (groups, states), of two groups the first.
    double squared(std::span<const double> deviations) const;

private:
    std::size_t size() const { return by_group_ * by_state_; }

    std::vector<double> group_scores_, state_scores_;
    std::size_t n_states_ = 0, by_group_ = 0, by_state_ = 0;  // and how many sums there are, (by group, by state)
    std::vector<double> covariance_;
    std::vector<std::size_t> pivots_;
    std::vector<double> root_;  // its Cholesky factor, a column after the other, (pivots, pivots)
};

// The mean rank of each state, or group, among so many rows of each, as a share.
std::vector<double> mean_ranks(std::span<const std::int64_t> rows);

}  // namespace fishernet
