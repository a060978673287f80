// An exact test that a conditional is the same in groups of rows: rows change places within configurations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/count_draws.hpp"
#include "base/interrupt.hpp"

namespace fishernet {

// Counts of (groups, configurations, states); what each configuration has of a state, and of a group, is held.
// Configurations that tell nothing are left out: those that one group alone has, or in which one state alone occurs.
class ConditionalTest {
public:
    ConditionalTest(std::span<const std::int64_t> counts, std::size_t n_groups, std::size_t n_configurations,
                    std::size_t n_states);

    std::span<const std::int64_t> told() const { return told_; }  // the configurations that are left
    std::span<const double> degrees() const { return degrees_; }  // of freedom, of each
    std::size_t n_groups() const { return n_groups_; }            // that have a row
    std::size_t n_states() const { return n_states_; }            // that occur
    std::size_t n_cells() const { return counts_.size(); }

    // Many tables are drawn; table t is a function of the key and of t alone.
    static constexpr std::size_t n_statistics = 4;
    std::vector<double> statistics() const;  // of what is observed: G, large cells, common shift, largest deviation
    // The rank of each table among so many draws and the observed one, which comes first, as a share: (1 + n_draws,).
    std::vector<double> p_values(std::uint64_t key, std::int64_t n_draws, StopCheck check) const;
    // How much each configuration deviates, as a normal score: (1 + n_draws, told), of the observed table first.
    std::vector<double> deviations(std::uint64_t key, std::int64_t n_draws, StopCheck check) const;
    // Of two groups, how far apart the conditionals fitted to them are, summed over the later rows: (1 + n_draws,).
    std::vector<double> divergences(std::uint64_t key, std::int64_t n_draws, StopCheck check) const;
    // The drawn tables, (n_draws, groups, told, states).
    std::vector<std::int64_t> drawn(std::uint64_t key, std::int64_t n_draws, StopCheck check) const;

private:
    struct Sums;  // of a table, one configuration after the other

    std::size_t n_told() const { return told_.size(); }
    std::int64_t count(std::size_t g, std::size_t j, std::size_t k) const {
        return counts_[(g * n_told() + j) * n_states_ + k];
    }
    void invert_shift();
    void draw(std::size_t j, std::int64_t* table, Draws& draws) const;
    void deal(std::size_t j, std::int64_t* table, Draws& draws) const;
    Sums no_sums() const;
    double chi_squared(std::size_t j, const std::int64_t* table) const;
    double deviation(std::size_t j, double chi_squared) const;
    double terms(const std::int64_t* table) const;
    void add(std::size_t j, const std::int64_t* table, Sums& sums) const;
    void finish(const Sums& sums, double* statistics) const;
    void observe(std::size_t j, std::int64_t* table) const;
    // see(which table, which configuration, its counts (groups, states)), for each configuration of each drawn table.
    template <class See>
    void each(std::uint64_t key, std::int64_t n_draws, StopCheck check, See see) const;

    std::size_t n_groups_ = 0, n_states_ = 0, n_seen_ = 0;  // of two groups the first is looked at
    std::vector<std::int64_t> told_, counts_;               // (groups, told, states)
    std::vector<std::int64_t> pooled_, sizes_, totals_;     // (told, states), (told, groups), (told,)
    std::vector<double> expected_, by_cell_;                // (told, seen, states)
    std::vector<double> by_state_;                          // (seen, states)
    std::vector<double> degrees_, off_, scale_;             // (told,)
    double of_margins_ = 0;                                 // what G has of them
    std::vector<std::size_t> order_;                        // of the states in which they are drawn, (told, states)
    std::vector<ManyHypergeometric> first_;                 // (told,): of the first group and the first of that order
    std::vector<std::size_t> pivots_;                       // of the shifts' covariance
    std::vector<double> root_;                              // its Cholesky factor, a column after the other, (pivots, pivots)
};

}  // namespace fishernet
