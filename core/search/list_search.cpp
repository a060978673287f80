#include "search/list_search.hpp"

#include <algorithm>

namespace fishernet {
namespace {

constexpr int rounds_of_orders = 40;  // of so many orders each, before bounds are asked for
constexpr int orders_of_a_round = 25;
constexpr int steps_of_a_round = 20;
constexpr std::size_t nodes_of_a_round = 1024;  // beside which one more order is looked at
constexpr double fewer = 0.95;  // choices, so that they are worth another bound
constexpr double work_of_a_look = 10, work_of_a_node = 4000, work_of_tables = 1e8;

std::size_t n_choices(const LossLists& lists) {
    std::size_t sum = 0;
    for (const auto& choices : lists.choices) sum += choices.size();
    return sum;
}

}  // namespace

ListSearch::ListSearch(LossLists lists, std::vector<int> start, double tie, bool bounded)
    : lists_(std::move(lists)), tie_(tie), bounded_(bounded), orders_(lists_), left_(lists_) {
    orders_.descend(std::move(start));
    finished_ = limit() <= 0;
}

double ListSearch::work() const {
    const double charged = clusters_ ? clusters_->n_charged() : 0;
    const double reached = way_ ? work_of_tables + work_of_a_node * static_cast<double>(way_->n_nodes()) : 0;
    return work_before_ + work_of_a_look * orders_.n_looks() + charged + reached;
}

double ListSearch::least_loss() const {
    if (finished_) return loss();
    return std::min(loss(), std::max(bound_, taken_ + (way_ ? way_->least_loss() : 0)));
}

void ListSearch::advance(StopCheck check) {
    if (rounds_ < rounds_of_orders) {
        ++rounds_;
        orders_.perturb(orders_of_a_round);
        finished_ = limit() <= 0 || (!bounded_ && rounds_ == rounds_of_orders);
    } else if (!way_) {
        raise_bound(check);
    } else {
        orders_.perturb(1);
        way_->tighten(limit() - taken_);
        way_->advance(nodes_of_a_round);
        if (!way_->finished()) return;
        finished_ = true;
        if (way_->found()) orders_.descend(way_->order());
    }
}

void ListSearch::raise_bound(StopCheck check) {
    const double enough = limit() - taken_;
    if (!clusters_) clusters_ = std::make_unique<ClusterBound>(left_, enough, check);
    clusters_->advance(steps_of_a_round, enough, check);
    bound_ = std::max(bound_, taken_ + clusters_->bound());
    orders_.descend(clusters_->order());
    if (clusters_->at_rest() || bound_ >= limit()) drop_hopeless(check);
}

// Bounds again while many choices are dropped.
void ListSearch::drop_hopeless(StopCheck check) {
    const double enough = limit() - taken_;
    clusters_->settle(enough, check);
    bound_ = std::max(bound_, taken_ + clusters_->bound());
    finished_ = bound_ >= limit();
    if (finished_) return;
    LossLists kept;
    double taken = 0;
    std::uint32_t choice = 0;
    for (const auto& choices : left_.choices) {
        auto& few = kept.choices.emplace_back();
        for (const auto& one : choices) {
            if (clusters_->may_be(choice++, enough)) few.push_back(one);
        }
        finished_ |= few.empty();
        if (few.empty()) return;
        const double least = few.front().loss;
        for (auto& one : few) one.loss -= least;
        taken += least;
    }
    const bool again = static_cast<double>(n_choices(kept)) < fewer * static_cast<double>(n_choices(left_));
    left_ = std::move(kept);
    taken_ += taken;
    work_before_ += clusters_->n_charged();
    clusters_ = std::make_unique<ClusterBound>(left_, *clusters_);
    if (again) return;
    clusters_->settle(limit() - taken_, check);
    way_ = std::make_unique<ShortestWay>(left_, clusters_->clusters(), limit() - taken_, check);
}

}  // namespace fishernet
