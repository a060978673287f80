// Lower bounds on what variables are still to lose when some are placed in an order.
//
// Within a group of variables the bound is exact, as if all variables of other groups were there (Yuan and Malone 2013,
// static pattern databases). Clusters of several groups add their charges while none of their members is placed, and then the
// groups' losses are those that the charges leave. Whichever of the two, with or without charges, is more, holds.
#pragma once

#include <cstdint>
#include <vector>

#include "base/interrupt.hpp"
#include "search/clusters.hpp"
#include "search/loss_lists.hpp"

namespace fishernet {

class LossBound {
public:
    LossBound(const LossLists& lists, const std::vector<Cluster>& clusters, StopCheck check);
    double operator()(std::uint64_t present) const;

private:
    struct Group {
        std::vector<int> members;
        // Of each subset of the members: what is still lost when just these are not there, and what charges leave of it.
        std::vector<double> loss, charged;
    };

    std::vector<Group> groups_;
    std::vector<Cluster> crossing_;  // clusters of several groups
};

}  // namespace fishernet
