#include "search/cluster_bound.hpp"

#include <algorithm>
#include <bit>

#include "search/lacking_clusters.hpp"

namespace fishernet {
namespace {

constexpr std::uint64_t one = 1;
constexpr double largest_share = 0.1;   // that new choices have in the average
constexpr double longest_stride = 2;    // of the way that would close the gap if the bound were linear
constexpr int patience = 20;            // steps in vain before the stride becomes shorter
constexpr int steps_between = 10;       // searches for clusters
constexpr int steps_of_a_round = 200;   // in which the gap must become so much smaller:
constexpr double worthwhile = 0.02;
constexpr int most_steps = 5000;
constexpr double least_lack = 0.01;     // of a cluster that is worth a charge

}  // namespace

ClusterBound::ClusterBound(const LossLists& lists, double enough, StopCheck check) : choices_(lists) {
    costs_ = choices_.losses();
    std::vector<Cluster> found;
    choices_.raise(costs_, enough, found, check);
    begin_with(found);
}

ClusterBound::ClusterBound(const LossLists& lists, const ClusterBound& other) : choices_(lists) {
    begin_with(other.clusters_);
}

// The cluster with these members, made where it was not known.
Cluster& ClusterBound::cluster(std::uint64_t members) {
    const auto [known, is_new] = known_.emplace(members, clusters_.size());
    if (is_new) clusters_.push_back(choices_.cluster(members));
    return clusters_[known->second];
}

// Of these, some may come more than once.
void ClusterBound::begin_with(const std::vector<Cluster>& found) {
    for (const Cluster& one : found) cluster(one.members).charge += one.charge;
    std::vector<double> charges;
    for (const Cluster& one : clusters_) charges.push_back(one.charge);
    bound_ = bound_before_ = charge(charges);
    mean_lacking_ = lacking_;
    shares_.assign(choices_.size(), 0);
    for (const auto c : cheapest_) shares_[c] = 1;
}

// The bound by some charges, and what their cheapest choices lack of each cluster.
double ClusterBound::charge(const std::vector<double>& charges) {
    costs_ = choices_.losses();
    double bound = 0;
    for (std::size_t k = 0; k < clusters_.size(); ++k) {
        if (charges[k] == 0) continue;
        bound += charges[k];
        for (const auto c : clusters_[k].choices) costs_[c] -= charges[k];
        n_charged_ += static_cast<double>(clusters_[k].choices.size());
    }
    n_charged_ += static_cast<double>(costs_.size());
    cheapest_.resize(choices_.n());
    for (int v = 0; v < choices_.n(); ++v) {
        const auto begin = costs_.begin() + choices_.first(v), end = costs_.begin() + choices_.first(v + 1);
        const auto least = std::min_element(begin, end);
        cheapest_[v] = static_cast<std::uint32_t>(least - costs_.begin());
        bound += *least;
    }
    lacking_.assign(clusters_.size(), 1);
    for (std::size_t k = 0; k < clusters_.size(); ++k) {
        for (std::uint64_t left = clusters_[k].members; left != 0; left &= left - 1) {
            if ((choices_.set(cheapest_[std::countr_zero(left)]) & clusters_[k].members) == 0) lacking_[k] -= 1;
        }
    }
    return bound;
}

void ClusterBound::take_step(double enough) {
    double length = 0;
    for (const double lack : mean_lacking_) length += lack * lack;
    std::vector<double> charges;
    const double stride = length > 0 ? stride_ * (enough - bound_) / length : 0;
    for (std::size_t k = 0; k < clusters_.size(); ++k) {
        charges.push_back(std::max(0.0, clusters_[k].charge + stride * mean_lacking_[k]));
    }
    const double bound = charge(charges);

    // the new choices have the share that makes the average lack least
    double along = 0, between = 0, agreement = 0;
    for (std::size_t k = 0; k < clusters_.size(); ++k) {
        const double change = lacking_[k] - mean_lacking_[k];
        between += change * change;
        along -= change * mean_lacking_[k];
        agreement += lacking_[k] * mean_lacking_[k];
    }
    const double share = between > 0 ? std::clamp(along / between, largest_share / 10, largest_share) : largest_share;
    for (std::size_t k = 0; k < clusters_.size(); ++k) mean_lacking_[k] += share * (lacking_[k] - mean_lacking_[k]);
    for (double& value : shares_) value *= 1 - share;
    for (const auto c : cheapest_) shares_[c] += share;

    if (bound > bound_) {
        bound_ = bound;
        for (std::size_t k = 0; k < clusters_.size(); ++k) clusters_[k].charge = charges[k];
        if (agreement > 0) stride_ = std::min(longest_stride, 1.1 * stride_);
        in_vain_ = 0;
    } else if (++in_vain_ == patience) {
        stride_ *= 2.0 / 3.0;
        in_vain_ = 0;
    }
}

void ClusterBound::advance(int n_steps, double enough, StopCheck check) {
    Patience asking(check);
    for (int step = 0; step < n_steps && !at_rest_; ++step) {
        asking.ask();
        take_step(enough);
        ++n_steps_;
        if (n_steps_ % steps_between == 0 && find_clusters()) stride_ = std::max(stride_, largest_share);
        at_rest_ = bound_ >= enough || n_steps_ == most_steps;
        if (n_steps_ % steps_of_a_round != 0) continue;
        at_rest_ |= bound_ - bound_before_ < worthwhile * (enough - bound_before_);
        bound_before_ = bound_;
    }
}

// Adds clusters that the average choices lack.
bool ClusterBound::find_clusters() {
    const std::size_t before = clusters_.size();
    for (const std::uint64_t members : lacking_clusters(choices_, shares_, least_lack)) cluster(members);
    for (std::size_t k = before; k < clusters_.size(); ++k) {
        double sum = 0;
        for (const auto c : clusters_[k].choices) sum += shares_[c];
        mean_lacking_.push_back(1 - sum);
    }
    return clusters_.size() > before;
}

std::vector<int> ClusterBound::order() const {
    std::vector<int> order;
    for (std::uint64_t left = choices_.all(); left != 0;) {
        int next = -1;
        double most = -1;
        for (std::uint64_t rest = left; rest != 0; rest &= rest - 1) {
            const int v = std::countr_zero(rest);
            double share = 0;
            for (auto c = choices_.first(v); c < choices_.first(v + 1); ++c) {
                if ((choices_.set(c) & left) == 0) share += shares_[c];
            }
            if (share > most) most = share, next = v;
        }
        order.push_back(next);
        left &= ~(one << next);
    }
    return order;
}

void ClusterBound::settle(double enough, StopCheck check) {
    std::erase_if(clusters_, [](const Cluster& cluster) { return cluster.charge == 0; });
    std::vector<double> charges;
    for (const Cluster& cluster : clusters_) charges.push_back(cluster.charge);
    bound_ = charge(charges);
    for (int v = 0; v < choices_.n(); ++v) {
        const double least = costs_[cheapest_[v]];
        for (auto c = choices_.first(v); c < choices_.first(v + 1); ++c) costs_[c] -= least;
    }
    bound_ += choices_.raise(costs_, enough - bound_, clusters_, check);
}

}  // namespace fishernet
