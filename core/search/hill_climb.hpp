// Local search over directed acyclic graphs: add, remove or reverse one arc (Takabatake and Akaho, 2021, Algorithm 7).
//
// The search never sees data, it calls a scorer. For every child and everyone who may be its parent it keeps what
// toggling that one parent would change; reversing an arc is two toggles. Whether a step closes a cycle is read from
// reachability bits.
//
// With patience it is tabu search: the best step is made even when the score falls, arcs that were just changed stay as
// they are, and it ends when the best score was not bettered for a while. Restarts go back to the best graph, make some
// random steps and search on.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/draws.hpp"
#include "base/interrupt.hpp"
#include "counts/families.hpp"
#include "search/reach.hpp"
#include "search/saved_state.hpp"
#include "search/scorer.hpp"
#include "search/search_rules.hpp"

namespace fishernet {

// What a step does: to an arc, or (in a search over orders) to the order that a graph stands for.
enum class Kind : std::int32_t { add = 0, remove = 1, reverse = 2, order = 3, move = 4 };

// An arc as it was (or as it comes, for an addition); of a move the variable is the child, and the parent is the one that
// it was put after, or -1. The step to the graph of a graph's order has neither.
struct Step {
    Kind kind;
    std::int32_t parent, child;
    double gain;
};

void save_steps(SavedState& state, std::span<const Step> steps);
std::vector<Step> read_steps(StateReader& state, std::int32_t n);

// How a local optimum is left. The default never leaves one.
struct Escape {
    std::int64_t patience = 0;  // how many steps in a row may fail to better the best score
    std::int64_t tenure = 0;    // for how many steps an arc that was changed stays as it is, unless that makes a best graph
    std::int64_t restarts = 0, perturb = 0;
    std::uint64_t key = 0;
};

class HillClimb {
public:
    // The start is acyclic and keeps the rules.
    HillClimb(Rules rules, const ParentLists& start, Escape escape = {});

    // Climbs, with all its restarts. What the scorer or the check throws ends it; the best graph so far remains.
    void run(Scorer& scorer, StopCheck check);

    // The parts of it, for searches that do other things in between. Moving to a graph makes it the start. A perturbation
    // is so many random steps, which the next climb makes first.
    void move_to(const ParentLists& graph);
    void perturb(std::int64_t times, const Draws& draws);
    void climb(Scorer& scorer, Patience& patience);

    // What going on later needs, whole whenever the scorer or the check is called, and when they threw. It is given to a
    // search with the same rules, start and escape that has not begun; running that goes on.
    void save(SavedState& state) const;
    void restore(StateReader& state);

    // The best graph so far, its score (NaN before the first scores) and the way there from the start.
    ParentLists parents() const;
    double score() const { return best_score_; }
    std::span<const Step> steps() const { return {steps_.data(), best_length_}; }
    std::int64_t n_steps() const { return n_steps_; }  // that were made, the vain ones too

private:
    // The best step of one child. A doubtful one may have become illegal, but no other has become legal.
    struct Best {
        Step step;
        bool dirty, doubtful;
    };

    bool has(std::int32_t parent, std::int32_t child) const { return holds(parents_[child], parent); }
    bool fits(std::int32_t parent, std::int32_t child) const { return rules_.states_of(parent) <= room_[child]; }
    double change(std::int32_t parent, std::int32_t child) const;
    bool may_add(std::int32_t parent, std::int32_t child) const;
    bool may_reverse(std::int32_t parent, std::int32_t child) const;
    bool is_legal(const Step& step) const;
    bool is_possible(const Step& step) const;
    bool is_tabu(const Step& step) const;

    void forget_scores();
    void refresh(Scorer& scorer);
    void want(std::int32_t child);
    void take(std::span<const double> scores);

    bool step();
    bool random_step();
    void refresh_best(std::int32_t child);
    double best_gain(std::int32_t child);
    void apply(const Step& step);
    void change_arcs(const Step& step);
    void set_graph(const ParentLists& graph);
    void go_back();
    template <class Visit>
    void visit_steps(std::int32_t child, Visit visit) const;
    void add_arc(std::int32_t parent, std::int32_t child);
    void remove_arc(std::int32_t parent, std::int32_t child);
    template <class Mark>
    void mark_around(std::int32_t v, Mark mark);

    Rules rules_;
    Escape escape_;
    ParentLists parents_, children_;
    std::vector<double> room_;                // of each child: how many states one parent more may have
    Reach reaches_;
    std::vector<double> family_score_;        // of each child's present family
    std::vector<std::vector<double>> change_; // of each child: of toggling each of the allowed parents
    std::vector<Best> best_;                  // of each child's steps
    std::vector<std::int32_t> stale_;         // children whose families are to be scored, the next one last
    std::vector<std::int32_t> refreshed_;     // children whose families are wanted now
    FamilyList wanted_;
    std::vector<Step> steps_;
    double score_ = std::numeric_limits<double>::quiet_NaN();
    double best_score_ = std::numeric_limits<double>::quiet_NaN();
    std::size_t best_length_ = 0;  // how many of the steps lead to the best graph
    std::int64_t n_steps_ = 0, idle_ = 0;
    std::int64_t restarts_ = 0;     // that were begun
    std::int64_t random_left_ = 0;  // random steps that are still to be made
    Draws draws_;
};

}  // namespace fishernet
