// The order of some variables that loses least, where lists say what each loses by each of its parent sets.
//
// Local search finds a good order; charges for clusters say how much less any can lose, and by which parent sets none that
// is better can come. Where what is left says nothing yet, the shortest way through the subsets decides.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/interrupt.hpp"
#include "search/cluster_bound.hpp"
#include "search/list_orders.hpp"
#include "search/shortest_way.hpp"

namespace fishernet {

class ListSearch {
public:
    // An order is better that loses less by more than a tie. Without bounds it ends with a good order.
    ListSearch(LossLists lists, std::vector<int> start, double tie, bool bounded);

    bool finished() const { return finished_; }
    void advance(StopCheck check);
    double least_loss() const;  // no order loses less, but for a tie
    double bytes() const { return way_ ? way_->bytes() : 0; }
    std::size_t n_nodes() const { return way_ ? way_->n_nodes() : 0; }
    double work() const;  // so far, in units that take about a nanosecond; the same on every machine

    double loss() const { return orders_.loss(); }  // of the best order so far
    bool is_better_than(double loss) const { return orders_.loss() < loss - tie_; }
    std::vector<std::uint64_t> before() const { return orders_.before(); }  // of every variable in it, those before it

private:
    double limit() const { return orders_.loss() - tie_; }
    void raise_bound(StopCheck check);
    void drop_hopeless(StopCheck check);

    LossLists lists_;
    double tie_;
    bool bounded_;
    ListOrders orders_;
    int rounds_ = 0;

    LossLists left_;     // what may be part of a better order
    double taken_ = 0;   // any of these loses so much, which their lists no longer tell
    double bound_ = 0, work_before_ = 0;
    std::unique_ptr<ClusterBound> clusters_;
    std::unique_ptr<ShortestWay> way_;
    bool finished_ = false;
};

}  // namespace fishernet
