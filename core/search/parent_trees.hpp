// Grow-shrink trees (Andrews et al. 2023): for every variable, what was found about its parents for any set of
// predecessors, so that the next set costs a walk down the tree.
//
// A node is a set of parents grown one at a time. Its branches are the variables that would raise its score, best first,
// whether or not they precede. A walk takes the first branch that precedes, until there is none; what it has grown is
// then shrunk: the worst parent is taken out while that raises the score. Both are functions of the node alone.
//
// The best pair need not hold the best single parent. Where pairs are looked at, a second walk begins with the best pair of
// which both precede, among the variables that are the best single parents; the better end of the two counts.
//
// Wide trees look further. A third walk begins with the best of the parent sets that are borrowed from other variables of
// a graph: what several variables depend on together is hard to grow for each of them anew. And where the walks end, one
// parent is exchanged for another as long as that raises the score.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "counts/families.hpp"
#include "search/scorer.hpp"
#include "search/search_rules.hpp"

namespace fishernet {

class ParentTrees {
public:
    // The rules must outlive the object. Pairs are looked at among so many variables.
    explicit ParentTrees(const Rules& rules, std::size_t pairs_among = 0, bool wide = false);

    // Of wide trees: the parent sets of a variable's neighbours in a graph are where its walks may begin.
    void borrow(const ParentLists& graph);

    // Where the walk of a variable ends whose predecessors u have place[u] < before. Negative when a node on the way was
    // never scored: it is noted, and the walk is to be repeated when all that was noted is scored.
    std::int32_t walk(std::int32_t variable, std::span<const std::int32_t> place, std::int32_t before);

    // Whether another variable is of any account for a variable's parents, as far as its tree is grown: where walks end does
    // not depend on others.
    bool matters(std::int32_t other, std::int32_t variable) const { return matters_[variable][other]; }

    // Of the end of a walk: the parents left after shrinking, and the score with them.
    const std::vector<std::int32_t>& parents(std::int32_t node) const { return nodes_[node].kept; }
    double score(std::int32_t node) const { return nodes_[node].kept_score; }

    std::size_t n_nodes() const { return nodes_.size(); }

    void score_noted(Scorer& scorer);

private:
    enum class Stage : std::uint8_t { unknown, noted, known };
    enum class Task : std::uint8_t { grow, shrink, swap, pair, start };
    struct Branch {
        std::int32_t variable, node;  // the node is -1 until the first walk comes there
        double score;
    };
    struct Swap {
        std::int32_t out, in, node;
        double score;
    };
    struct Node {
        std::int32_t variable, last;  // the parent that came last, or -1
        std::vector<std::int32_t> parents, kept;
        double score, kept_score;
        std::vector<Branch> branches;
        std::vector<Swap> swaps;  // of the parents kept: what raises the score
        Stage grown = Stage::unknown, shrunk = Stage::unknown, swapped = Stage::unknown;
    };
    struct Pair {
        std::int32_t first, second, node;
        double score;
    };
    struct Pairs {
        std::vector<std::int32_t> singles;  // the best single parents, ascending
        std::vector<double> single_scores;
        std::vector<Pair> pairs;            // those better than their members, best first
        Stage known = Stage::unknown;
    };
    struct Start {
        std::vector<std::int32_t> parents;
        std::int32_t node;
        double score;
    };
    struct Starts {
        std::vector<Start> sets;  // when they are known, best first
        Stage known = Stage::unknown;
    };
    struct Question {
        std::int32_t node;
        Task task;
    };

    std::int32_t make_node(std::int32_t variable, std::vector<std::int32_t> parents, std::int32_t last, double score);
    std::int32_t walk_from(std::int32_t at, std::span<const std::int32_t> place, std::int32_t before);
    std::int32_t walk_from_pair(std::int32_t variable, std::int32_t other, std::span<const std::int32_t> place,
                                std::int32_t before);
    std::int32_t walk_from_start(std::int32_t variable, std::int32_t other, std::span<const std::int32_t> place,
                                 std::int32_t before);
    std::int32_t walk_by_swaps(std::int32_t at, std::span<const std::int32_t> place, std::int32_t before);
    bool is_known(std::int32_t at, Task task);
    bool knows_pairs(std::int32_t variable);
    bool knows_starts(std::int32_t variable);
    bool may_have(std::int32_t variable, const std::vector<std::int32_t>& parents) const;
    template <class Visit>
    void visit_growth(const Node& node, Visit visit) const;
    template <class Visit>
    void visit_removals(const Node& node, Visit visit) const;
    template <class Visit>
    void visit_pairs(std::int32_t variable, Visit visit) const;
    template <class Visit>
    void visit_swaps(const Node& node, Visit visit) const;
    void want(const Question& question);
    std::size_t take(const Question& question, std::span<const double> scores);
    void choose_singles(const Node& node, std::span<const double> scores);
    std::size_t take_pairs(std::int32_t variable, std::span<const double> scores);
    std::size_t take_growth(Node& node, std::span<const double> scores);
    std::size_t take_removals(Node& node, std::span<const double> scores);
    std::size_t take_swaps(Node& node, std::span<const double> scores);
    std::size_t take_starts(std::int32_t variable, std::span<const double> scores);

    const Rules& rules_;
    std::size_t pairs_among_;
    bool wide_;
    std::vector<Node> nodes_;            // the roots first, one a variable
    std::vector<Pairs> pairs_;           // of each variable
    std::vector<Starts> starts_;
    std::vector<std::vector<bool>> matters_;
    std::vector<Question> noted_;
    FamilyList wanted_;
};

}  // namespace fishernet
