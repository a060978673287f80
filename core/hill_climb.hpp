// The state of a greedy search over directed acyclic graphs: add, remove or reverse one arc (P2, Algorithm 7).
//
// The search never sees data. It says which families it wants scored, takes the scores and makes the best step. For
// every child and every other variable it keeps what toggling that one parent would change; reversing an arc is two
// toggles. Whether a step closes a cycle is read from reachability bits.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "families.hpp"

namespace fishernet {

enum class Kind : std::int32_t { add = 0, remove = 1, reverse = 2 };

struct Step {
    Kind kind;
    std::int32_t parent, child;  // the arc as it was (or as it comes, for an addition)
    double gain;
};

// What the search may do. Matrices are [parent * n + child], 0 or 1.
struct Rules {
    std::int32_t n = 0;
    std::int32_t max_parents = 0;
    std::vector<std::uint8_t> forbidden, required;
};

class HillClimb {
public:
    // The start is acyclic and keeps the rules.
    HillClimb(Rules rules, const std::vector<std::vector<std::int32_t>>& start);

    // What it wants to know next: the families of some children, not too many at once. Empty: finished.
    const FamilyList& wanted() const { return wanted_; }
    void tell(std::span<const double> scores);  // one for each wanted family

    const std::vector<std::vector<std::int32_t>>& parents() const { return parents_; }
    const std::vector<Step>& steps() const { return steps_; }
    double score() const { return score_; }  // NaN before the first scores

private:
    struct Best {
        double gain;
        bool dirty;
    };

    bool has(std::int32_t parent, std::int32_t child) const { return adjacent_[at(parent, child)] != 0; }
    std::size_t at(std::int32_t parent, std::int32_t child) const {
        return static_cast<std::size_t>(parent) * rules_.n + child;
    }
    bool reaches(std::int32_t from, std::int32_t to) const {
        return (reach_[from * words_ + to / 64] >> (to % 64)) & 1;
    }
    bool full(std::int32_t child) const {
        return static_cast<std::int32_t>(parents_[child].size()) >= rules_.max_parents;
    }
    bool may_add(std::int32_t parent, std::int32_t child) const;
    bool may_reverse(std::int32_t parent, std::int32_t child) const;

    void ask();
    void want(std::int32_t child);
    void take(std::span<const double> scores);
    void step();
    void apply(const Step& step);
    template <class Visit>
    void visit_steps(std::int32_t child, Visit visit) const;
    double tolerance() const;
    void toggle(std::int32_t parent, std::int32_t child, bool present);
    void update_reach();

    Rules rules_;
    std::int64_t words_;
    std::vector<std::vector<std::int32_t>> parents_, children_;
    std::vector<std::uint8_t> adjacent_;
    std::vector<std::uint64_t> reach_;    // row v: what v has a directed path to
    std::vector<double> family_score_;    // of each child's present family
    std::vector<double> change_;          // [parent][child]: of toggling this parent
    std::vector<Best> best_;              // of each child's steps
    std::vector<std::int32_t> stale_;     // children whose families are to be asked for, the next one last
    std::vector<std::int32_t> refreshed_; // children whose families are wanted now
    FamilyList wanted_;
    std::vector<Step> steps_;
    double score_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace fishernet
