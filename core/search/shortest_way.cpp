#include "search/shortest_way.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace fishernet {
namespace {

constexpr std::uint64_t one = 1;

}  // namespace

ShortestWay::ShortestWay(const LossLists& lists, const std::vector<Cluster>& clusters, double limit, StopCheck check)
    : lists_(lists), bound_(lists, clusters, check), limit_(limit), index_(1024, nowhere) {
    reach(take_free(0), 0, 0, nowhere, -1);
}

double ShortestWay::bytes() const {
    return static_cast<double>(nodes_.capacity() * sizeof(Node) + index_.capacity() * sizeof(std::uint32_t) +
                               heap_.capacity() * sizeof(Waiting));
}

// The shorter first; among the equally short those that have come further.
bool ShortestWay::later(const Waiting& a, const Waiting& b) {
    if (a.bound != b.bound) return a.bound > b.bound;
    if (a.loss != b.loss) return a.loss < b.loss;
    return a.node < b.node;
}

std::uint64_t ShortestWay::take_free(std::uint64_t set) const {
    for (std::uint64_t before = ~set; before != set;) {
        before = set;
        for (std::uint64_t left = lists_.all() & ~set; left != 0; left &= left - 1) {
            const int v = std::countr_zero(left);
            if ((lists_.choices[v].front().set & ~set) == 0) set |= one << v;
        }
    }
    return set;
}

void ShortestWay::advance(std::size_t n_steps) {
    for (std::size_t step = 0; step < n_steps && !finished_; ++step) {
        if (heap_.empty() || heap_.front().bound >= limit_) {
            finished_ = true;
            return;
        }
        std::pop_heap(heap_.begin(), heap_.end(), later);
        const Waiting next = heap_.back();
        heap_.pop_back();
        Node& node = nodes_[next.node];
        if (node.done || next.loss > node.loss) continue;  // a shorter way came afterwards
        node.done = true;
        if (node.set == lists_.all()) {
            goal_ = next.node;
            finished_ = true;
            return;
        }
        expand(next.node, next.bound);
    }
}

// No way goes on for less than was known before, though the bound of what is left may say less.
void ShortestWay::expand(std::uint32_t number, double bound) {
    const Node node = nodes_[number];
    for (std::uint64_t left = lists_.all() & ~node.set; left != 0; left &= left - 1) {
        const int v = std::countr_zero(left);
        const double loss = node.loss + lists_.loss(v, node.set);
        if (loss < limit_) reach(take_free(node.set | one << v), loss, bound, number, v);
    }
}

void ShortestWay::reach(std::uint64_t set, double loss, double bound, std::uint32_t from, int added) {
    const std::size_t slot = slot_of(set);
    std::uint32_t number = index_[slot];
    if (number != nowhere && (nodes_[number].done || nodes_[number].loss <= loss)) return;
    bound = std::max(bound, loss + bound_(set));
    if (bound >= limit_) return;
    const Node node{set, loss, from, static_cast<std::int16_t>(added), false};
    if (number == nowhere) {
        if (nodes_.size() >= nowhere - 1) throw std::length_error("too many sets of variables were reached");
        number = index_[slot] = static_cast<std::uint32_t>(nodes_.size());
        nodes_.push_back(node);
        if (2 * nodes_.size() > index_.size()) grow_index();
    } else {
        nodes_[number] = node;
    }
    heap_.push_back({bound, loss, number});
    std::push_heap(heap_.begin(), heap_.end(), later);
}

std::size_t ShortestWay::slot_of(std::uint64_t set) const {
    const std::size_t mask = index_.size() - 1;
    std::size_t slot = ((set * 0x9E3779B97F4A7C15u) >> 20) & mask;
    while (index_[slot] != nowhere && nodes_[index_[slot]].set != set) slot = (slot + 1) & mask;
    return slot;
}

void ShortestWay::grow_index() {
    index_.assign(2 * index_.size(), nowhere);
    for (std::size_t number = 0; number < nodes_.size(); ++number) {
        index_[slot_of(nodes_[number].set)] = static_cast<std::uint32_t>(number);
    }
}

std::vector<int> ShortestWay::order() const {
    std::vector<std::uint32_t> way;
    for (std::uint32_t number = goal_; number != nowhere; number = nodes_[number].from) way.push_back(number);
    std::vector<int> order;
    std::uint64_t set = 0;
    const auto add = [&](int v) {
        order.push_back(v);
        set |= one << v;
    };
    for (auto number = way.rbegin(); number != way.rend(); ++number) {
        const Node& node = nodes_[*number];
        if (node.added >= 0) add(node.added);
        while (set != node.set) {  // what came free, one after the other
            for (std::uint64_t left = node.set & ~set; left != 0; left &= left - 1) {
                const int v = std::countr_zero(left);
                if ((lists_.choices[v].front().set & ~set) == 0) add(v);
            }
        }
    }
    return order;
}

}  // namespace fishernet
