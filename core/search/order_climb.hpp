// Best order score search (Andrews et al. 2023): an order of the variables stands for the graph in which everyone's
// parents are grown and shrunk among its predecessors.
//
// One variable after the other is taken out and put where the graph's score is best, until no such move raises the
// score.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/draws.hpp"
#include "base/interrupt.hpp"
#include "search/hill_climb.hpp"
#include "search/parent_trees.hpp"
#include "search/scorer.hpp"
#include "search/search_rules.hpp"

namespace fishernet {

class OrderClimb {
public:
    // The rules must outlive the object. Pairs of parents are looked at among so many variables (parent_trees.hpp).
    explicit OrderClimb(const Rules& rules, std::size_t pairs_among = 0, bool wide = false);
    OrderClimb(const OrderClimb&) = delete;  // the trees look at the rules
    OrderClimb& operator=(const OrderClimb&) = delete;

    // Of wide trees: see there.
    void borrow(const ParentLists& graph) { trees_.borrow(graph); }

    // An order to go on from: required parents before their children.
    void move_to(std::vector<std::int32_t> order);
    // Of a graph: parents before children, and of the variables that may come next the first, or one at random.
    static std::vector<std::int32_t> order_of(const ParentLists& graph, Draws* draws = nullptr);

    void perturb(std::int64_t times, Draws& draws);  // puts variables in random places
    // Until no variable moves, or so many had their turn.
    void climb(Scorer& scorer, Patience& patience, std::int64_t most_turns = std::numeric_limits<std::int64_t>::max());

    // What going on later needs, as in HillClimb; what is known of parents is found again.
    void save(SavedState& state) const;
    void restore(StateReader& state);

    // Of the present order; the score is NaN until it is known.
    const std::vector<std::int32_t>& order() const { return order_; }
    ParentLists parents() const;
    double score() const { return score_; }
    // The way since the order that was moved to. Its first step is the one to that order's graph; what a perturbation
    // gained is counted there.
    const std::vector<Step>& steps() const { return steps_; }
    std::int64_t n_steps() const { return static_cast<std::int64_t>(steps_.size()) - 1; }

private:
    struct Slot {  // a place for the variable that is moved
        std::int32_t place;   // between those before this place and the others
        std::int32_t passed;  // the last of those before it
        std::int32_t own;     // where the variable's walk ends there
    };

    void enter(Scorer& scorer);
    bool try_variable(std::int32_t variable, Scorer& scorer);
    void open_slots(std::int32_t variable);
    bool walk_all(std::int32_t variable);
    bool move_to_best(std::int32_t variable);
    void move(std::int32_t variable, std::int32_t place, double gain);
    std::pair<std::int32_t, std::int32_t> bounds(std::int32_t variable) const;
    void add_up();

    const Rules& rules_;
    ParentTrees trees_;
    ParentLists children_, required_children_;  // of each variable: who may, and must, have it as parent
    std::vector<std::vector<bool>> may_be_;     // [child][parent]
    std::vector<std::int32_t> order_, place_, end_;  // the order, where each variable is in it, where its walk ends
    double score_ = std::numeric_limits<double>::quiet_NaN();
    std::vector<Slot> slots_;
    std::vector<std::int32_t> other_end_;  // of the walk of each child, were the variable on its other side
    std::vector<Step> steps_;
    std::vector<std::int32_t> turns_;  // the variables in the order in which they are tried, until all had their turn
    std::size_t turn_ = 0, idle_ = 0;  // whose turn it is, and how many in a row did not move
    std::int64_t n_turns_ = 0;         // since the order that was moved to
};

}  // namespace fishernet
