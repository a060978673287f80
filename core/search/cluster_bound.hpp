// Charges for clusters that bound a loss well.
//
// The best charges solve a linear program. From clusters that a greedy ascent charges, the volume algorithm (Barahona and
// Anbil 2000) goes near it: charges move along an average of what the cheapest choices of earlier charges lack or have too
// much of each cluster, and the same average of choices, which are shares of a nearly best solution, shows clusters that
// are not known yet.
#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "base/interrupt.hpp"
#include "search/clusters.hpp"

namespace fishernet {

class ClusterBound {
public:
    // The bound need not rise above `enough`.
    ClusterBound(const LossLists& lists, double enough, StopCheck check);
    // With the clusters that another one found for longer lists.
    ClusterBound(const LossLists& lists, const ClusterBound& other);

    void advance(int n_steps, double enough, StopCheck check);
    bool at_rest() const { return at_rest_; }  // more steps would hardly raise the bound
    double bound() const { return bound_; }
    double n_charged() const { return n_charged_; }  // choices that were charged, each time
    std::vector<int> order() const;                  // in which the shares place the variables

    // Ends the steps: gives the charges of the best bound to the choices. What follows goes by these.
    void settle(double enough, StopCheck check);
    const std::vector<Cluster>& clusters() const { return clusters_; }
    // Whether an order with this choice loses less than the limit, for all that is known.
    bool may_be(std::uint32_t choice, double limit) const { return bound_ + costs_[choice] < limit; }

private:
    void begin_with(const std::vector<Cluster>& found);
    double charge(const std::vector<double>& charges);
    void take_step(double enough);
    bool find_clusters();
    Cluster& cluster(std::uint64_t members);

    Choices choices_;
    std::vector<Cluster> clusters_;  // their charges are those of the best bound
    std::unordered_map<std::uint64_t, std::size_t> known_;  // which has these members
    double bound_ = -std::numeric_limits<double>::infinity();

    std::vector<double> costs_;  // of each choice, and which is the cheapest of each variable
    std::vector<std::uint32_t> cheapest_;
    std::vector<double> lacking_, mean_lacking_;  // of each cluster, one less how many cheapest choices count for it
    std::vector<double> shares_;                  // of each choice
    double stride_ = 1, bound_before_ = 0, n_charged_ = 0;
    int n_steps_ = 0, in_vain_ = 0;
    bool at_rest_ = false;
};

}  // namespace fishernet
