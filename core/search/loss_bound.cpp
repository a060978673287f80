#include "search/loss_bound.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace fishernet {
namespace {

constexpr int most_in_group = 18;  // 2 MB for each bound of a group
constexpr std::uint64_t one = 1;

// How much two variables have to do with each other: what each loses when the other is not there, and the charges of
// clusters in which they are.
std::vector<double> ties_between(const LossLists& lists, const std::vector<Cluster>& clusters) {
    constexpr double most_loss = 1e6;  // of a required parent
    const int n = lists.size();
    std::vector<double> ties(static_cast<std::size_t>(n) * n, 0);
    for (int v = 0; v < n; ++v) {
        for (int p = 0; p < n; ++p) {
            if (p == v) continue;
            const double loss = std::min(most_loss, lists.loss(v, lists.all() & ~(one << v) & ~(one << p)));
            ties[v * n + p] += loss;
            ties[p * n + v] += loss;
        }
    }
    for (const Cluster& cluster : clusters) {
        const double size = std::popcount(cluster.members);
        for (int v = 0; v < n; ++v) {
            for (int w = 0; w < n; ++w) {
                const bool both = (cluster.members >> v & 1) && (cluster.members >> w & 1);
                if (both && v != w) ties[v * n + w] += cluster.charge / (size * (size - 1));
            }
        }
    }
    return ties;
}

// Joins the groups that have most to do with each other, while they fit.
std::vector<std::vector<int>> group_by(int n, const std::vector<double>& ties) {
    std::vector<std::vector<int>> groups;
    for (int v = 0; v < n; ++v) groups.push_back({v});
    for (;;) {
        double most = -1;
        std::size_t a = 0, b = 0;
        for (std::size_t i = 0; i < groups.size(); ++i) {
            for (std::size_t j = i + 1; j < groups.size(); ++j) {
                if (groups[i].size() + groups[j].size() > static_cast<std::size_t>(most_in_group)) continue;
                double sum = 0;
                for (const int v : groups[i]) {
                    for (const int w : groups[j]) sum += ties[v * n + w];
                }
                if (sum > most) {
                    most = sum;
                    a = i;
                    b = j;
                }
            }
        }
        if (most < 0) return groups;
        groups[a].insert(groups[a].end(), groups[b].begin(), groups[b].end());
        groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(b));
    }
}

bool within(const Cluster& cluster, const std::vector<int>& group) {
    std::uint64_t members = 0;
    for (const int v : group) members |= one << v;
    return (cluster.members & ~members) == 0;
}

// What clusters leave of the losses, the smallest first.
LossLists without_charges(LossLists lists, const std::vector<Cluster>& clusters) {
    for (int v = 0; v < lists.size(); ++v) {
        auto& choices = lists.choices[v];
        for (auto& [set, loss] : choices) {
            for (const Cluster& cluster : clusters) {
                if ((cluster.members >> v & 1) && (cluster.members & set) == 0) loss -= cluster.charge;
            }
        }
        std::stable_sort(choices.begin(), choices.end(), [](auto& a, auto& b) { return a.loss < b.loss; });
    }
    return lists;
}

// The first of the missing members to come has everything but the missing ones; then it is no longer missing.
std::vector<double> losses_of_subsets(const LossLists& lists, const std::vector<int>& members, StopCheck check) {
    std::vector<double> losses(std::size_t{1} << members.size(), std::numeric_limits<double>::infinity());
    losses[0] = 0;
    Patience patience(check);
    for (std::size_t missing = 1; missing < losses.size(); ++missing) {
        std::uint64_t available = lists.all();
        for (std::size_t left = missing; left != 0; left &= left - 1) {
            available &= ~(one << members[std::countr_zero(left)]);
        }
        for (std::size_t left = missing; left != 0; left &= left - 1) {
            const int first = members[std::countr_zero(left)];
            const double rest = losses[missing & ~(left & ~(left - 1))], least = lists.choices[first].front().loss;
            if (rest + least >= losses[missing]) continue;
            losses[missing] = std::min(losses[missing], rest + lists.loss(first, available));
        }
        if ((missing & 255) == 0) patience.ask();
    }
    return losses;
}

}  // namespace

LossBound::LossBound(const LossLists& lists, const std::vector<Cluster>& clusters, StopCheck check) {
    for (auto& members : group_by(lists.size(), ties_between(lists, clusters))) {
        groups_.push_back({std::move(members), {}, {}});
    }
    for (const Cluster& cluster : clusters) {
        const auto holds = [&](const Group& group) { return within(cluster, group.members); };
        if (std::none_of(groups_.begin(), groups_.end(), holds)) crossing_.push_back(cluster);
    }
    const LossLists charged = without_charges(lists, crossing_);
    for (Group& group : groups_) {
        group.loss = losses_of_subsets(lists, group.members, check);
        if (!crossing_.empty()) group.charged = losses_of_subsets(charged, group.members, check);
    }
}

double LossBound::operator()(std::uint64_t present) const {
    double losses = 0, charged = 0;
    for (const Group& group : groups_) {
        std::size_t missing = 0;
        for (std::size_t m = 0; m < group.members.size(); ++m) {
            missing |= static_cast<std::size_t>(~present >> group.members[m] & 1) << m;
        }
        losses += group.loss[missing];
        if (!crossing_.empty()) charged += group.charged[missing];
    }
    for (const Cluster& cluster : crossing_) {
        if ((cluster.members & present) == 0) charged += cluster.charge;
    }
    return std::max(losses, charged);
}

}  // namespace fishernet
