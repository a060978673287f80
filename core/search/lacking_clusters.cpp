#include "search/lacking_clusters.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace fishernet {
namespace {

constexpr std::uint64_t one = 1;
constexpr double least_in_support = 0.005;

// The choices of each variable that have a share.
using Support = std::vector<std::vector<std::pair<std::uint64_t, double>>>;

double share_of(const Support& support, std::uint64_t members) {
    double sum = 0;
    for (std::uint64_t left = members; left != 0; left &= left - 1) {
        for (const auto& [set, share] : support[std::countr_zero(left)]) {
            if ((set & members) == 0) sum += share;
        }
    }
    return sum;
}

// A cluster that grows from a variable: what lowers the sum of its shares most is added next.
class Growth {
public:
    Growth(const Support& support, int first) : n_(static_cast<int>(support.size())), own_(n_, 0), hits_(n_, 0) {
        for (int v = 0; v < n_; ++v) {
            for (const auto& [set, share] : support[v]) {
                entries_.push_back({set, share, v});
                own_[v] += share;
            }
        }
        add(first);
    }

    // Adds a variable, and says whether there was one that helps.
    bool grow() {
        double least = 0;
        int next = -1;
        for (int w = 0; w < n_; ++w) {
            if (members_ >> w & 1) continue;
            const double change = own_[w] - hits_[w];
            if (next < 0 || change < least) least = change, next = w;
        }
        if (next >= 0) add(next);
        return next >= 0;
    }
    std::uint64_t members() const { return members_; }
    double sum() const { return sum_; }

private:
    struct Entry {
        std::uint64_t set;
        double share;
        int v;
    };

    void add(int w) {
        std::size_t kept = 0;
        for (const Entry& entry : entries_) {
            if (!(entry.set >> w & 1)) {
                entries_[kept++] = entry;
                continue;
            }
            own_[entry.v] -= entry.share;
            if (members_ >> entry.v & 1) count(entry, -entry.share);
        }
        entries_.resize(kept);
        members_ |= one << w;
        for (const Entry& entry : entries_) {
            if (entry.v == w) count(entry, entry.share);
        }
    }

    void count(const Entry& entry, double share) {
        sum_ += share;
        for (std::uint64_t left = entry.set; left != 0; left &= left - 1) hits_[std::countr_zero(left)] += share;
    }

    int n_;
    std::uint64_t members_ = 0;
    double sum_ = 0;
    std::vector<Entry> entries_;        // choices without a parent in the cluster
    std::vector<double> own_, hits_;  // what a variable would add to the sum, and what it would take from it
};

// The first lacking cluster that grows from a variable, and the one that lacks most.
void add_grown(const Support& support, int first, double most, std::vector<std::uint64_t>& found) {
    Growth growth(support, first);
    std::uint64_t lowest = 0;
    while (growth.grow()) {
        if (growth.sum() >= most) continue;
        if (lowest == 0) found.push_back(growth.members());
        lowest = growth.members();
        most = growth.sum();
    }
    if (lowest != 0) found.push_back(lowest);
}

// Clusters of variables that no order of choices with large shares can place.
void add_blocked(const Support& support, std::uint64_t all, double least_share, double most,
                 std::vector<std::uint64_t>& found) {
    CheapSets cheap;
    for (const auto& choices : support) {
        auto& sets = cheap.emplace_back();
        for (const auto& [set, share] : choices) {
            if (share >= least_share) sets.push_back(set);
        }
    }
    for (std::uint64_t left = blocked(cheap, all); left != 0;) {
        const std::uint64_t members = smallest_blocked(cheap, left);
        if (share_of(support, members) < most) found.push_back(members);
        left = blocked(cheap, left & ~members);  // as if an order could place the cluster
    }
}

}  // namespace

std::vector<std::uint64_t> lacking_clusters(const Choices& choices, const std::vector<double>& shares, double lack) {
    constexpr std::array least_shares{0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5};
    Support support(choices.n());
    for (int v = 0; v < choices.n(); ++v) {
        for (auto c = choices.first(v); c < choices.first(v + 1); ++c) {
            if (shares[c] > least_in_support) support[v].push_back({choices.set(c), shares[c]});
        }
    }
    std::vector<std::uint64_t> found;
    for (const double least : least_shares) add_blocked(support, choices.all(), least, 1 - lack, found);
    for (int v = 0; v < choices.n(); ++v) add_grown(support, v, 1 - lack, found);
    return found;
}

}  // namespace fishernet
