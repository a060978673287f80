#include "search/loss_bound.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/pool.hpp"

namespace fishernet {
namespace {

using Groups = std::vector<std::vector<int>>;

// What two variables lose when the other is not there.
std::vector<double> need_of_each_other(const LossLists& lists) {
    const int n = lists.size();
    constexpr double at_most = 1e6;  // of a required parent
    std::vector<double> need(static_cast<std::size_t>(n) * n, 0);
    for (int v = 0; v < n; ++v) {
        for (int p = 0; p < n; ++p) {
            if (p == v) continue;
            const std::uint64_t others = lists.all() & ~(std::uint64_t{1} << v) & ~(std::uint64_t{1} << p);
            const double loss = std::min(lists.loss(v, others), at_most);
            need[v * n + p] += loss;
            need[p * n + v] += loss;
        }
    }
    return need;
}

// Joins the groups that need each other most, while they fit.
Groups group_by_need(const LossLists& lists, int most_in_group) {
    const int n = lists.size();
    const auto need = need_of_each_other(lists);
    Groups groups;
    for (int v = 0; v < n; ++v) groups.push_back({v});
    for (;;) {
        double most = -1;
        std::size_t a = 0, b = 0;
        for (std::size_t i = 0; i < groups.size(); ++i) {
            for (std::size_t j = i + 1; j < groups.size(); ++j) {
                if (groups[i].size() + groups[j].size() > static_cast<std::size_t>(most_in_group)) continue;
                double sum = 0;
                for (const int v : groups[i]) {
                    for (const int w : groups[j]) sum += need[v * n + w];
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

}  // namespace

double LossLists::loss(int v, std::uint64_t available) const {
    for (const auto& [set, loss] : choices[v]) {
        if ((set & ~available) == 0) return loss;
    }
    return std::numeric_limits<double>::infinity();
}

LossBound::LossBound(const LossLists& lists, int most_in_group, StopCheck check) {
    for (auto& members : group_by_need(lists, most_in_group)) {
        groups_.push_back({std::move(members), {}});
        fill(groups_.back(), lists, check);
    }
}

// The first of the missing members to come has everything but the missing ones; then it is no longer missing.
void LossBound::fill(Group& group, const LossLists& lists, StopCheck check) const {
    const auto size = group.members.size();
    group.loss.assign(std::size_t{1} << size, std::numeric_limits<double>::infinity());
    group.loss[0] = 0;
    Patience patience(check);
    for (std::size_t missing = 1; missing < group.loss.size(); ++missing) {
        std::uint64_t available = lists.all();
        for (std::size_t left = missing; left != 0; left &= left - 1) {
            available &= ~(std::uint64_t{1} << group.members[std::countr_zero(left)]);
        }
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t left = missing; left != 0; left &= left - 1) {
            const std::size_t first = left & ~(left - 1);
            const double rest = group.loss[missing ^ first];
            if (rest < least) least = std::min(least, rest + lists.loss(group.members[std::countr_zero(first)], available));
        }
        group.loss[missing] = least;
        if ((missing & 255) == 0) patience.ask();
    }
}

double LossBound::operator()(std::uint64_t present) const {
    double sum = 0;
    for (const Group& group : groups_) {
        std::size_t missing = 0;
        for (std::size_t m = 0; m < group.members.size(); ++m) {
            missing |= static_cast<std::size_t>(~present >> group.members[m] & 1) << m;
        }
        sum += group.loss[missing];
    }
    return sum;
}

}  // namespace fishernet
