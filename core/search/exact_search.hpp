// The network with the highest score of all, by dynamic programming over the subsets of the variables.
//
// The work is a row of stages, each of them tasks that do not depend on each other; whoever runs the search asks for a
// piece of work at a time, and can see the clock in between.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/columns.hpp"
#include "base/interrupt.hpp"
#include "counts/score_term.hpp"
#include "counts/subset_terms.hpp"
#include "search/best_networks.hpp"
#include "search/best_parents.hpp"
#include "search/hill_climb.hpp"

namespace fishernet {

// The rules with the variables in other places.
std::vector<ParentRule> parent_rules(const Rules& rules, const std::vector<std::int32_t>& order);

class ExactSearch {
public:
    // The table must outlive the search and have no missing cell. Memory is taken when work begins.
    ExactSearch(const Columns& table, Measure measure, double parameter, const Rules& rules);

    // From the terms of all sets, as bit masks over the variables: f's, and g's for each of the kinds of children.
    // They must outlive the search. Each child pays its price for every configuration of its parents.
    ExactSearch(const Rules& rules, const double* joint, std::vector<const double*> marginals,
                std::span<const std::int32_t> kind_of_child, std::span<const double> prices);

    double n_scores() const;                 // families that are looked at

    double done() const;
    double total() const { return total_; }
    bool finished() const { return stage_ == stages_.size(); }
    void advance(StopCheck check);  // works for some hundredths of a second

    // When it has finished:
    double score() const { return networks_.score(); }
    std::vector<std::vector<std::int32_t>> parents() const;

private:
    struct Stage {
        double units;  // of all its tasks together
        std::function<std::int64_t()> begin;  // returns the number of tasks
        std::function<void(std::int64_t)> work;
    };

    void plan_counting();
    void plan_scoring(std::vector<int> children);
    void plan_networks();
    void add(Stage stage);
    ChildTerms terms_of(int child) const;

    int n_;
    std::vector<std::int32_t> order_;  // the variable in each place
    std::vector<double> cardinalities_;
    BestParents best_;
    BestNetworks networks_;

    const Columns* table_ = nullptr;
    std::optional<ScoreTerm> score_term_;
    std::optional<SubsetTerms> counting_;
    Buffer joint_;
    std::vector<Buffer> marginals_;
    std::vector<ChildTerms> terms_;  // of each place
    std::vector<std::uint64_t> layer_;

    std::vector<Stage> stages_;
    std::size_t stage_ = 0;
    std::int64_t task_ = 0, n_tasks_ = -1;  // -1: the stage has not begun
    double units_before_ = 0, total_ = 0;
};

}  // namespace fishernet
