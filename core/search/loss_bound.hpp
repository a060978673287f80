// What variables lose when not all their best parents are there, and lower bounds on what they are still to lose.
#pragma once

#include <cstdint>
#include <vector>

#include "base/interrupt.hpp"

namespace fishernet {

// Some variables with what each of them loses by each of its parent sets; the smallest loss, 0, comes first.
struct LossLists {
    struct Choice {
        std::uint64_t set;
        double loss;
    };
    std::vector<std::vector<Choice>> choices;

    int size() const { return static_cast<int>(choices.size()); }
    std::uint64_t all() const { return (std::uint64_t{1} << size()) - 1; }  // fewer than 64 variables
    double loss(int v, std::uint64_t available) const;  // infinite when no set is available
};

// Exact within groups of variables, as if all variables of other groups were there (Yuan and Malone 2013, static pattern
// databases).
class LossBound {
public:
    LossBound(const LossLists& lists, int most_in_group, StopCheck check);
    double operator()(std::uint64_t present) const;

private:
    struct Group {
        std::vector<int> members;
        std::vector<double> loss;  // of each subset of the members: what is still lost when just these are not there
    };
    void fill(Group& group, const LossLists& lists, StopCheck check) const;

    std::vector<Group> groups_;
};

}  // namespace fishernet
