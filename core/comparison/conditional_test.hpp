// An exact test that a conditional is the same in groups of rows: rows change places within configurations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/count_draws.hpp"
#include "base/interrupt.hpp"
#include "comparison/shift.hpp"

namespace fishernet {

// Whether groups, and states, come in an order in which a trend is looked for.
struct Ordered {
    bool groups = false, states = false;
};

// Counts of (groups, configurations, states); what each configuration has of a state, and of a group, is held.
// Configurations that tell nothing are left out: those that one group alone has, or in which one state alone occurs.
class ConditionalTest {
public:
    ConditionalTest(std::span<const std::int64_t> counts, std::size_t n_groups, std::size_t n_configurations,
                    std::size_t n_states, Ordered ordered);

    std::span<const std::int64_t> told() const { return told_; }  // the configurations that are left
    std::span<const double> degrees() const { return degrees_; }  // of freedom, of each
    std::size_t n_groups() const { return n_groups_; }            // that have a row
    std::size_t n_states() const { return n_states_; }            // that occur
    std::size_t n_cells() const { return n_groups_ * told_.size() * n_states_; }

    // Many tables are drawn; table t is a function of the key and of t alone.
    static constexpr std::size_t n_statistics = 5;
    // Of what is observed: G, large cells, common shift, largest deviation, and trend, 0 where there is no order.
    std::vector<double> statistics() const;
    std::size_t trend_degrees() const { return trend_.degrees(); }
    // The rank of each table among so many draws and the observed one, which comes first, as a share: (1 + n_draws,).
    std::vector<double> p_values(std::uint64_t key, std::int64_t n_draws, StopCheck check) const;
    // The same among tables half of which lie farther apart than chance draws them, each with the weight that makes up
    // for it: ranks may be far smaller than one in so many.
    std::vector<double> dispersed_p_values(std::uint64_t key, std::int64_t n_draws, StopCheck check) const;
    // How much each configuration deviates, as a normal score: (1 + n_draws, told), of the observed table first.
    std::vector<double> deviations(std::uint64_t key, std::int64_t n_draws, StopCheck check) const;
    // Of two groups, how far apart the conditionals fitted to them are, summed over the later rows: (1 + n_draws,).
    std::vector<double> divergences(std::uint64_t key, std::int64_t n_draws, StopCheck check) const;
    // The drawn tables, (n_draws, groups, told, states).
    std::vector<std::int64_t> drawn(std::uint64_t key, std::int64_t n_draws, StopCheck check) const;

private:
    // What a configuration has, of its own groups and of its own states: most have few of them.
    struct Part {
        std::int64_t total;
        std::span<const std::int64_t> counts, sizes, pooled;  // of cells (groups, states), of groups, of states
        std::span<const std::size_t> order;                   // of the states in which they are drawn
        std::span<const double> expected, by_cell;            // of the cells that are seen
        std::span<const std::size_t> place;                   // of these among all (groups, states)
    };
    struct Sums;  // of a table, one configuration after the other
    struct Ratios;
    struct Start {
        std::size_t cell, seen, group, state;
    };

    std::size_t n_told() const { return told_.size(); }
    bool says_one_thing() const { return n_told() == 1 && trend_.degrees() == 0; }  // whatever the statistic
    std::size_t n_seen() const { return n_groups_ == 2 ? 1 : n_groups_; }  // of two groups the first is looked at
    Part part(std::size_t j) const;
    void add_part(std::span<const std::int64_t> cells, std::span<const std::size_t> groups,
                  std::span<const std::size_t> states);
    Shift shift(bool rank_groups, bool rank_states) const;
    void draw(std::size_t j, std::int64_t* table, double variance, Draws& draws) const;
    template <class See>
    static void each_count(const Part& part, std::int64_t* table, See see);
    void add_ratios(std::size_t j, std::int64_t* table, Ratios& ratios) const;
    void deal(const Part& part, std::int64_t* table, Draws& draws) const;
    double deviation(std::size_t j, double chi_squared) const;
    double chi_squared(const Part& part, const std::int64_t* table) const;
    void add(std::size_t j, const std::int64_t* table, Sums& sums) const;
    void finish(const Sums& sums, double* statistics) const;
    std::vector<double> joined(std::span<const double> statistics, std::span<const double> weights) const;
    // see(which table, which configuration, its counts), for each configuration of each drawn table.
    template <class See>
    void each(std::uint64_t key, std::int64_t n_draws, StopCheck check, See see) const;
    // variance(which configuration, draws): how many times that of chance, 0 for chance itself.
    template <class Variance, class See>
    void each(std::uint64_t key, std::int64_t n_draws, StopCheck check, Variance variance, See see) const;

    std::size_t n_groups_ = 0, n_states_ = 0, most_cells_ = 0;
    std::vector<std::int64_t> told_, totals_;
    std::vector<Start> starts_;                       // of each configuration in what follows, and the end
    std::vector<std::int64_t> counts_, sizes_, pooled_;
    std::vector<std::size_t> order_, place_;
    std::vector<double> expected_, by_cell_;
    std::vector<double> by_state_;                    // (seen, states), of all configurations
    std::vector<double> degrees_, off_, scale_;       // (told,)
    double of_margins_ = 0;                           // what G has of them
    std::vector<double> log_margins_;                 // (told,): what the logarithm of 1 / the chance of a table has
    std::vector<ManyHypergeometric> first_;           // (told,): of the first group and the first state in order
    Shift shift_, trend_;
};

}  // namespace fishernet
