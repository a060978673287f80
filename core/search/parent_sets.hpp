// The parent sets of every child that may be part of a best network, where there are too many variables to look at all.
//
// A set is left out when one of its subsets is as good. Sets grow by one variable at a time; one grows no further when
// its supersets cannot be better than it (or its subsets) already is: their fit is at most that with all variables as
// parents, and their penalty at least its own. Scores are asked for, and told, as in any search.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/interrupt.hpp"
#include "counts/families.hpp"
#include "search/best_parents.hpp"

namespace fishernet {

// What is known of a score beforehand; all of it may be infinite, and then nothing is cut.
struct ScoreBounds {
    std::vector<double> best_fit;   // of each child: no set of parents fits better
    // n_rows times H(y | u, v) at (y n + u) n + v for u <= v, which may be equal; y, y is nothing
    std::vector<double> entropies;
    double price = -1;              // of a parameter, where the penalty is price (r - 1) q; negative: it is another
};

struct ParentSet {
    std::uint64_t set;
    double score;
};

// A hash map from sets to numbers. No set is all ones.
class SetNumbers {
public:
    explicit SetNumbers(std::size_t size = 0);
    void insert(std::uint64_t set, double number);
    const double* find(std::uint64_t set) const;

private:
    static constexpr std::uint64_t free_slot = ~std::uint64_t{0};
    std::size_t slot_of(std::uint64_t set) const;

    std::vector<std::uint64_t> keys_;
    std::vector<double> numbers_;
};

class ParentSets {
public:
    // Gives up when it would ask for more than `most` families. With slack, sets are kept that are worse than a subset by
    // less than that: those of networks that are nearly as good as the best.
    ParentSets(std::vector<double> cardinalities, std::vector<ParentRule> rules, ScoreBounds bounds, std::size_t most,
               double slack = 0);

    // The families to be scored next: of one child, all with so many parents; first those of all children with no parent,
    // then those with one, so that children share the sets that are counted for them. Empty: finished.
    const FamilyList& wanted() const { return wanted_; }
    // Their scores; where the penalty is not known beforehand, also their fits (scores without a penalty).
    void tell(std::span<const double> scores, std::span<const double> fits, StopCheck check);

    std::size_t n_wanted() const { return n_wanted_; }  // families asked for so far
    bool gave_up() const { return n_wanted_ > most_; }
    int n_parents() const { return level_; }  // of the sets that are looked at
    double bound() const;  // no network has a higher score, whatever sets are not looked at yet
    const std::vector<std::vector<ParentSet>>& found() const { return found_; }  // the best first

private:
    struct Growing {  // a set that may have better supersets
        std::uint64_t set;
        double best;  // the score of it or of a subset
    };

    // What is known of a child's sets of the level before.
    struct Child {
        std::vector<Growing> growing;
        SetNumbers best;  // the same as a map
    };

    void next_wanted(StopCheck check);
    void grow(StopCheck check);
    void want(std::uint64_t set, double best);
    bool known_subsets(std::uint64_t set, double& best) const;
    bool hopeless(std::uint64_t set, double best) const;
    double enough(double best) const;
    double most_entropy(int y, std::uint64_t given) const;
    double penalty(int child, std::uint64_t set) const;
    double cells(std::uint64_t set) const;

    int n_;
    std::vector<double> cardinalities_;
    std::vector<ParentRule> rules_;
    ScoreBounds bounds_;
    std::size_t most_, n_wanted_ = 0;
    double slack_;
    int child_ = -1, level_ = 0;
    FamilyList wanted_;
    std::vector<Growing> candidates_;  // what is wanted, and the best of its subsets
    std::vector<Child> children_;
    std::vector<std::vector<ParentSet>> found_;
};

}  // namespace fishernet
