#include "search/clusters.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace fishernet {
namespace {

constexpr std::uint64_t one = 1;
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double least_charge = 1e-7;  // nats
constexpr double finer = 0.25;         // what is cheap in the next round, as a share of what was

// The sets of the choices that cost at most so much.
CheapSets find_cheap(const Choices& choices, const std::vector<double>& costs, double most) {
    CheapSets cheap(choices.n());
    for (int v = 0; v < choices.n(); ++v) {
        for (std::uint32_t c = choices.first(v); c < choices.first(v + 1); ++c) {
            if (costs[c] <= most) cheap[v].push_back(choices.set(c));
        }
    }
    return cheap;
}

}  // namespace

std::uint64_t blocked(const CheapSets& cheap, std::uint64_t open) {
    for (std::uint64_t before = 0; open != before;) {
        before = open;
        for (std::uint64_t left = open; left != 0; left &= left - 1) {
            const int v = std::countr_zero(left);
            const bool placed = std::any_of(cheap[v].begin(), cheap[v].end(), [&](auto set) { return (set & open) == 0; });
            if (placed) open &= ~(one << v);
        }
    }
    return open;
}

std::uint64_t smallest_blocked(const CheapSets& cheap, std::uint64_t cluster) {
    for (std::uint64_t left = cluster; left != 0; left &= left - 1) {
        const std::uint64_t v = left & ~(left - 1);
        const std::uint64_t fewer = (cluster & v) == 0 ? 0 : blocked(cheap, cluster & ~v);
        if (fewer != 0) cluster = fewer;
    }
    return cluster;
}

Choices::Choices(const LossLists& lists) : first_{0} {
    for (const auto& choices : lists.choices) {
        for (const auto& [set, loss] : choices) {
            sets_.push_back(set);
            losses_.push_back(loss);
        }
        first_.push_back(static_cast<std::uint32_t>(sets_.size()));
    }
}

Cluster Choices::cluster(std::uint64_t members) const {
    Cluster made{members, 0, {}};
    for (std::uint64_t left = members; left != 0; left &= left - 1) {
        const int v = std::countr_zero(left);
        for (std::uint32_t c = first_[v]; c < first_[v + 1]; ++c) {
            if ((sets_[c] & members) == 0) made.choices.push_back(c);
        }
    }
    return made;
}

// What is cheap falls from round to round, so that clusters with large charges come first.
double Choices::raise(std::vector<double>& costs, double enough, std::vector<Cluster>& clusters, StopCheck check) const {
    Patience patience(check);
    double rise = 0;
    for (double most = finer * *std::max_element(costs.begin(), costs.end()); rise < enough; most *= finer) {
        most = std::max(most, least_charge);
        CheapSets cheap = find_cheap(*this, costs, most);
        for (std::uint64_t left = blocked(cheap, all()); left != 0 && rise < enough; left = blocked(cheap, all())) {
            patience.ask();
            Cluster next = cluster(smallest_blocked(cheap, left));
            next.charge = infinite;
            for (const std::uint32_t c : next.choices) next.charge = std::min(next.charge, costs[c]);
            rise += next.charge;
            if (next.charge == infinite) return rise;  // there is no order at all
            for (const std::uint32_t c : next.choices) {
                costs[c] -= next.charge;
                if (costs[c] > most || costs[c] + next.charge <= most) continue;
                const auto after = std::upper_bound(first_.begin(), first_.end(), c);
                cheap[after - first_.begin() - 1].push_back(sets_[c]);
            }
            clusters.push_back(std::move(next));
        }
        if (most == least_charge) break;
    }
    return rise;
}

}  // namespace fishernet
