// Iterated local search over orders and graphs: best order score search and tabu search, each from the best graph so far.
//
// A tabu search leads to the first order, so that the result is never below it, and another one goes on from the order's
// graph: it finds the parents that help only together, which growing them one at a time cannot. Then restarts: one puts
// some variables of the best order in random places and climbs over orders, the next searches over graphs from where that
// ended, or every fourth time from some random steps away from the best graph. Each has random numbers of its own, so that
// the first so many restarts are the same however many there are.
//
// Every second restart over orders, and the first order, look further for parents (wide trees): they begin with parent sets
// that neighbours have in the best graph, and exchange one parent for another.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "search/hill_climb.hpp"
#include "search/order_climb.hpp"

namespace fishernet {

struct OrderOptions {
    std::int64_t restarts = 0;
    // How many variables a restart over orders moves, and how many random steps one over graphs makes: these numbers in
    // turn, for what a local optimum needs to be left is not known beforehand.
    std::vector<std::int64_t> moves{1}, steps{1};
    std::uint64_t key = 0;
    bool graphs = true;           // without graphs, orders alone
    std::size_t pairs_among = 0;  // see parent_trees.hpp
    bool wide = true;             // whether some searches over orders have wide trees
    std::int64_t patience = 0, tenure = 0;  // of the searches over graphs
    // Restarts ask for so many families at most, by what a graph of as many arcs needs; the first few are made whatever
    // they need. A search over orders that would ask for far more ends before no variable moves.
    std::int64_t most_families = std::numeric_limits<std::int64_t>::max(), least_restarts = 0;
};

class OrderSearch {
public:
    // The start is acyclic and keeps the rules.
    OrderSearch(Rules rules, const ParentLists& start, OrderOptions options);

    // What the scorer or the check throws ends it; the best graph so far remains.
    void run(Scorer& scorer, StopCheck check);

    // What going on later needs, as in HillClimb.
    void save(SavedState& state) const;
    void restore(StateReader& state);

    // The best graph so far, its score (NaN before the first scores) and the way there from the start.
    ParentLists parents() const;
    double score() const { return betters() ? stage_score() : score_; }
    std::vector<Step> steps() const;
    std::int64_t n_steps() const { return n_steps_ + (begun_ ? stage_steps() : 0); }

private:
    bool over_graphs() const { return options_.graphs && stage_ % 2 == 0; }
    std::int64_t restart() const { return stage_ - (options_.graphs ? 3 : 1); }  // its number; negative before the first
    bool is_wide() const { return options_.graphs && options_.wide && (restart() < 0 || restart() / 2 % 2 == 1); }
    const OrderClimb& orders() const { return is_wide() ? wide_ : narrow_; }
    OrderClimb& orders() { return is_wide() ? wide_ : narrow_; }
    // Whether a restart over graphs goes on from where the one over orders before it ended, in place of the best graph.
    bool chains() const { return restart() >= 0 && restart() / 2 % 4 != 3 && !last_.empty(); }
    double stage_score() const { return over_graphs() ? graph_.score() : orders().score(); }
    std::int64_t stage_steps() const { return over_graphs() ? graph_.n_steps() : orders().n_steps(); }
    Draws draws() const;
    std::vector<Step> steps_over_orders() const;
    bool betters() const;
    void score_start(Scorer& scorer);
    void begin();
    void end();
    std::int64_t families_of_turns() const;
    std::int64_t restarts_within_reach() const;
    std::int64_t turns_within_reach() const;

    Rules rules_;
    OrderOptions options_;
    HillClimb graph_;
    OrderClimb narrow_, wide_;
    // A stage is one search over graphs or over orders. Before it ends, what it found is with it alone.
    std::int64_t stage_ = 0;
    bool begun_ = false;
    ParentLists best_;
    // Where the last search over orders ended, and the way there from the best graph; empty after one over graphs.
    ParentLists last_;
    std::vector<Step> last_steps_;
    std::vector<std::int32_t> order_;  // of the best graph
    double score_ = std::numeric_limits<double>::quiet_NaN();
    std::vector<Step> steps_;
    std::int64_t n_steps_ = 0, restarts_;
};

}  // namespace fishernet
