// Best order score search (Andrews et al. 2023): an order of the variables stands for the graph in which everyone's
// parents are grown and shrunk among its predecessors.
//
// One variable after the other is taken out and put where the graph's score is best, until no such move raises the
// score. Restarts put some variables of the best order in random places and search on.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/draws.hpp"
#include "counts/families.hpp"
#include "search/parent_trees.hpp"
#include "search/search_rules.hpp"

namespace fishernet {

// A variable put after another one, or first (-1). Of the random moves of a restart, the last has the gain of all.
struct Move {
    std::int32_t variable, after;
    double gain;
};

class OrderSearch {
public:
    // The start is acyclic and keeps the rules. Each restart puts `perturb` variables in random places.
    OrderSearch(Rules rules, const ParentLists& start, std::int64_t restarts, std::int64_t perturb, std::uint64_t key);
    OrderSearch(const OrderSearch&) = delete;  // the trees look at the rules
    OrderSearch& operator=(const OrderSearch&) = delete;

    // What it wants to know next. Empty: finished.
    const FamilyList& wanted() const { return breath_.children.empty() ? trees_.wanted() : breath_; }
    void tell(std::span<const double> scores);

    // Of the best order so far; the start and NaN before the first order is scored.
    ParentLists parents() const;
    double score() const { return leads() ? score_ : best_score_; }
    const std::vector<Move>& moves() const { return leads() ? moves_ : best_moves_; }  // from the start's order
    std::int64_t n_moves() const { return n_moves_; }  // that were made, the vain ones too

private:
    enum class Phase : std::uint8_t { enter, improve, finished };
    struct Slot {  // a place for the variable that is moved
        std::int32_t place;  // between those before this place and the others
        std::int32_t own;    // where the variable's walk ends there
    };

    bool leads() const;  // whether the present order is better than the best that was kept
    void advance();
    bool breathe();
    bool enter();
    bool improve();
    bool try_variable(std::int32_t variable);
    void open_slots(std::int32_t variable);
    bool walk_all(std::int32_t variable);
    void move_to_best(std::int32_t variable);
    void move(std::int32_t variable, std::int32_t place, double gain);
    std::pair<std::int32_t, std::int32_t> bounds(std::int32_t variable) const;
    void keep_best();
    void restart();

    Rules rules_;
    ParentTrees trees_;
    ParentLists children_, required_children_;  // of each variable: who may, and must, have it as parent
    std::int64_t restarts_, perturb_;
    Draws draws_;

    Phase phase_ = Phase::enter;
    std::int64_t walks_ = 0;  // since something was asked for
    FamilyList breath_;       // a family known already, asked for so that the caller can look at the clock
    std::vector<std::int32_t> order_, place_, end_;  // the order, where each variable is in it, where its walk ends
    double score_ = std::numeric_limits<double>::quiet_NaN();
    std::vector<std::int32_t> round_;  // the variables in the order of the round
    std::size_t next_ = 0;             // of the round
    std::size_t idle_ = 0;             // variables tried in a row that stayed where they were
    bool opened_ = false;              // whether the slots are those of the next variable
    std::vector<Slot> slots_;
    std::vector<std::int32_t> other_end_;  // of the walk of each child, were the variable on its other side
    std::vector<Move> moves_, best_moves_;
    std::int64_t n_moves_ = 0;
    std::vector<std::int32_t> best_order_;
    ParentLists best_parents_;
    double best_score_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace fishernet
