// The state of a local search over directed acyclic graphs: add, remove or reverse one arc (P2, Algorithm 7).
//
// The search never sees data. It says which families it wants scored, takes the scores and makes the best step. For
// every child and everyone who may be its parent it keeps what toggling that one parent would change; reversing an arc
// is two toggles. Whether a step closes a cycle is read from reachability bits.
//
// With patience it is tabu search: the best step is made even when the score falls, arcs that were just changed stay as
// they are, and it ends when the best score was not bettered for a while. Restarts go back to the best graph, make some
// random steps and search on.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/draws.hpp"
#include "base/resumable.hpp"
#include "counts/families.hpp"
#include "search/reach.hpp"
#include "search/search_rules.hpp"

namespace fishernet {

enum class Kind : std::int32_t { add = 0, remove = 1, reverse = 2 };

struct Step {
    Kind kind;
    std::int32_t parent, child;  // the arc as it was (or as it comes, for an addition)
    double gain;
};

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
    HillClimb(const HillClimb&) = delete;
    HillClimb& operator=(const HillClimb&) = delete;

    // What it wants to know next: the families of some children, not too many at once. Empty: finished.
    const FamilyList& wanted() const { return wanted_; }
    void tell(std::span<const double> scores);  // one for each wanted family

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
    bool full(std::int32_t child) const {
        return static_cast<std::int32_t>(parents_[child].size()) >= rules_.max_parents;
    }
    double change(std::int32_t parent, std::int32_t child) const;
    bool may_add(std::int32_t parent, std::int32_t child) const;
    bool may_reverse(std::int32_t parent, std::int32_t child) const;
    bool is_legal(const Step& step) const;
    bool is_tabu(const Step& step) const;

    Resumable climb();
    bool asks() const { return !wanted_.children.empty(); }
    void ask();
    void want(std::int32_t child);
    void take(std::span<const double> scores);

    std::optional<Step> best_step();
    std::optional<Step> random_step();
    void refresh_best(std::int32_t child);
    double best_gain(std::int32_t child);
    void make(const Step& step);
    void go_back();
    template <class Visit>
    void visit_steps(std::int32_t child, Visit visit) const;
    void add_arc(std::int32_t parent, std::int32_t child);
    void remove_arc(std::int32_t parent, std::int32_t child);
    template <class Mark>
    void mark_around(std::int32_t v, Mark mark);

    Rules rules_;
    Escape escape_;
    Draws draws_;
    ParentLists parents_, children_;
    Reach reaches_;
    std::vector<double> family_score_;        // of each child's present family
    std::vector<std::vector<double>> change_; // of each child: of toggling each of the allowed parents
    std::vector<Best> best_;                  // of each child's steps
    std::vector<std::int32_t> stale_;         // children whose families are to be asked for, the next one last
    std::vector<std::int32_t> refreshed_;     // children whose families are wanted now
    FamilyList wanted_;
    std::vector<Step> steps_;
    double score_ = std::numeric_limits<double>::quiet_NaN();
    double best_score_ = std::numeric_limits<double>::quiet_NaN();
    std::size_t best_length_ = 0;  // how many of the steps lead to the best graph
    std::int64_t n_steps_ = 0, idle_ = 0;
    Resumable search_;
};

}  // namespace fishernet
