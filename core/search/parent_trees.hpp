// Grow-shrink trees (Andrews et al. 2023): for every variable, what was found about its parents for any set of
// predecessors, so that the next set costs a walk down the tree.
//
// A node is a set of parents grown one at a time. Its branches are the variables that would raise its score, best first,
// whether or not they precede. A walk takes the first branch that precedes, until there is none; what it has grown is
// then shrunk: the worst parent is taken out while that raises the score. Both are functions of the node alone.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "counts/families.hpp"
#include "search/search_rules.hpp"

namespace fishernet {

class ParentTrees {
public:
    // The rules must outlive the object.
    explicit ParentTrees(const Rules& rules);

    // Where the walk of a variable ends whose predecessors u have place[u] < before. Negative when a node on the way was
    // never scored: it is asked for, and the walk is to be repeated when the scores are told.
    std::int32_t walk(std::int32_t variable, std::span<const std::int32_t> place, std::int32_t before);

    // Of the end of a walk: the parents left after shrinking, and the score with them.
    const std::vector<std::int32_t>& parents(std::int32_t node) const { return nodes_[node].kept; }
    double score(std::int32_t node) const { return nodes_[node].kept_score; }

    std::size_t n_nodes() const { return nodes_.size(); }

    // The families of what was asked for, not too many at once; empty when all is told.
    const FamilyList& wanted() const { return wanted_; }
    void ask();  // makes the list, when walks have added to it
    void tell(std::span<const double> scores);

private:
    enum class Stage : std::uint8_t { unknown, asked, known };
    enum class Task : std::uint8_t { grow, shrink };
    struct Branch {
        std::int32_t variable, node;  // the node is -1 until the first walk comes there
        double score;
    };
    struct Node {
        std::int32_t variable, last;  // the parent that came last, or -1
        std::vector<std::int32_t> parents, kept;
        double score, kept_score;
        std::vector<Branch> branches;
        Stage grown = Stage::unknown, shrunk = Stage::unknown;
    };
    struct Question {
        std::int32_t node;
        Task task;
    };

    std::int32_t make_node(std::int32_t variable, std::vector<std::int32_t> parents, std::int32_t last, double score);
    bool is_known(std::int32_t at, Task task);
    template <class Visit>
    void visit_growth(const Node& node, Visit visit) const;
    template <class Visit>
    void visit_removals(const Node& node, Visit visit) const;
    void want(const Question& question);
    std::size_t take_growth(Node& node, std::span<const double> scores);
    std::size_t take_removals(Node& node, std::span<const double> scores);

    const Rules& rules_;
    std::vector<Node> nodes_;            // the roots first, one a variable
    std::vector<Question> queue_;        // to be asked, and
    std::vector<Question> asked_;        // asked now
    FamilyList wanted_;
};

}  // namespace fishernet
