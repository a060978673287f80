// The best order of some variables as the shortest way through their subsets.
//
// A way begins at the empty set and adds one variable after the other, each with its best parents among those before it.
// Its length is what they lose against their best parents of all. A* takes the shortest ways first, by a lower bound on
// what is still to come (Yuan and Malone 2013). A variable whose best parents are all there is added at once: nothing is
// lost by it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/interrupt.hpp"
#include "search/loss_bound.hpp"

namespace fishernet {

class ShortestWay {
public:
    // Ways that lose `limit` or more are not taken. The lists must outlive the search.
    ShortestWay(const LossLists& lists, const std::vector<Cluster>& clusters, double limit, StopCheck check);

    void tighten(double limit) { limit_ = std::min(limit_, limit); }
    bool finished() const { return finished_; }
    void advance(std::size_t n_steps);
    std::size_t n_nodes() const { return nodes_.size(); }
    double bytes() const;

    // No way loses less, but those at the limit.
    double least_loss() const { return heap_.empty() ? limit_ : std::min(limit_, heap_.front().bound); }

    // When it has finished: whether there is a way below the limit, and in which order it adds the variables.
    bool found() const { return goal_ != nowhere; }
    std::vector<int> order() const;

private:
    static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

    struct Node {
        std::uint64_t set;
        double loss;
        std::uint32_t from;
        std::int16_t added;  // then whatever comes free
        bool done;
    };
    struct Waiting {
        double bound;
        double loss;
        std::uint32_t node;
    };

    std::uint64_t take_free(std::uint64_t set) const;
    void expand(std::uint32_t number, double bound);
    void reach(std::uint64_t set, double loss, double bound, std::uint32_t from, int added);
    std::size_t slot_of(std::uint64_t set) const;
    void grow_index();
    static bool later(const Waiting& a, const Waiting& b);

    const LossLists& lists_;
    LossBound bound_;
    double limit_;
    std::vector<Node> nodes_;
    std::vector<std::uint32_t> index_;  // a node's number by the hash of its set
    std::vector<Waiting> heap_;
    std::uint32_t goal_ = nowhere;
    bool finished_ = false;
};

}  // namespace fishernet
