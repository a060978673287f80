#include "search/near_best.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <limits>

#include "base/pool.hpp"
#include "search/search_rules.hpp"

namespace fishernet {
namespace {

constexpr double none = -std::numeric_limits<double>::infinity();
constexpr std::uint64_t one = 1;

std::uint64_t mixed(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

}  // namespace

NearBest::NearBest(std::vector<std::vector<ParentSet>> sets, double within, std::size_t most, bool equivalent, StopCheck check)
    : n_(static_cast<int>(sets.size())), sets_(std::move(sets)), equivalent_(equivalent), most_(most), parents_(n_) {
    score_subsets(check);
    least_ = best() - within;
    const auto n = static_cast<std::size_t>(n_);
    hashes_.resize(n * n * n);
    for (std::size_t i = 0; i < hashes_.size(); ++i) hashes_[i] = {mixed(2 * i), mixed(2 * i + 1)};
    stack_.push_back({all(), 0, 0, n_, 0});
    next_sink(stack_.back());
}

// The best parents of each variable among every set of the others, then the best network over every set.
void NearBest::score_subsets(StopCheck check) {
    const std::size_t half = std::size_t{1} << (n_ - 1);
    Buffer own = make_buffer(half * static_cast<std::size_t>(n_));
    const auto of_child = [&](std::int64_t v) {
        double* values = own.get() + static_cast<std::size_t>(v) * half;
        std::fill_n(values, half, none);
        for (const auto& [set, score] : sets_[v]) {
            double& value = values[BestParents::squeeze(set, static_cast<int>(v))];
            value = std::max(value, score);
        }
        for (std::size_t bit = 1; bit < half; bit <<= 1) {
            for (std::size_t set = 0; set < half; ++set) {
                if (set & bit) values[set] = std::max(values[set], values[set ^ bit]);
            }
        }
    };
    run_tasks(n_, of_child, check);
    scores_ = make_buffer(2 * half);
    scores_[0] = 0;
    Patience patience(check);
    for (std::uint64_t set = 1; set <= all(); ++set) {
        double best = none;
        for (std::uint64_t left = set; left != 0; left &= left - 1) {
            const int v = std::countr_zero(left);
            const std::uint64_t others = set ^ one << v;
            best = std::max(best, scores_[others] + own[static_cast<std::size_t>(v) * half + BestParents::squeeze(others, v)]);
        }
        scores_[set] = best;
        patience.ask();
    }
}

// Goes on to the sink before, of those that may be one.
void NearBest::next_sink(Step& step) const {
    step.next = 0;
    while (--step.sink >= 0 && !((step.left & ~step.no_sinks) >> step.sink & 1)) {}
}

void NearBest::advance(StopCheck check) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds long_enough(50);
    constexpr int some_steps = 4096;
    const auto began = Clock::now();
    while (!finished() && Clock::now() - began < long_enough) {
        for (int i = 0; i < some_steps && !finished(); ++i) {
            if (!take(stack_.back())) stack_.pop_back();
        }
        if (check) check();
    }
    if (finished()) keep_best(most_);
}

// Takes a sink with its next parent set; false where nothing is left to be tried.
bool NearBest::take(Step& step) {
    while (step.sink >= 0) {
        const std::uint64_t rest = step.left ^ one << step.sink;
        const auto& sets = sets_[step.sink];
        const double enough = least_ - tie_of(least_) - step.score - scores_[rest];
        for (; step.next < sets.size() && sets[step.next].score >= enough; ++step.next) {
            const std::uint64_t parents = sets[step.next].set;
            if ((parents & ~rest) != 0 || (equivalent_ && reversible_backwards(step.sink, parents))) continue;
            const std::uint64_t later = rest >> step.sink << step.sink;
            const std::uint64_t no_sinks = ((step.no_sinks & rest) | later) & ~parents;
            if (rest != 0 && (rest & ~no_sinks) == 0) continue;
            const double score = step.score + sets[step.next++].score;
            parents_[step.sink] = parents;
            if (rest == 0) {
                meet(score);
            } else {
                stack_.push_back({rest, no_sinks, score, n_, 0});
                next_sink(stack_.back());
            }
            return true;
        }
        next_sink(step);
    }
    return false;
}

// Whether an arc from the sink to an earlier variable, which was taken, can be reversed within the class: that has the
// same parents besides.
bool NearBest::reversible_backwards(int sink, std::uint64_t parents) const {
    const std::uint64_t family = parents | one << sink, taken = all() & ~stack_.back().left;
    for (std::uint64_t left = taken & ((one << sink) - 1); left != 0; left &= left - 1) {
        if (parents_[std::countr_zero(left)] == family) return true;
    }
    return false;
}

NearBest::Key NearBest::key() const {
    std::array<std::uint64_t, most_variables> joined{};
    for (int c = 0; c < n_; ++c) {
        joined[c] |= parents_[c];
        for (std::uint64_t left = parents_[c]; left != 0; left &= left - 1) joined[std::countr_zero(left)] |= one << c;
    }
    Key key{};
    const auto add = [&](int c, int a, int b) {
        const Key& hash = hashes_[static_cast<std::size_t>((c * n_ + a) * n_ + b)];
        key[0] += hash[0], key[1] += hash[1];
    };
    for (int c = 0; c < n_; ++c) {
        for (std::uint64_t left = parents_[c]; left != 0; left &= left - 1) {
            const int a = std::countr_zero(left);
            add(std::min(a, c), std::min(a, c), std::max(a, c));
            const std::uint64_t apart = left & (left - 1) & ~joined[a];
            for (std::uint64_t others = apart; others != 0; others &= others - 1) add(c, a, std::countr_zero(others));
        }
    }
    return key;
}

void NearBest::meet(double score) {
    ++n_met_;
    auto& network = found_.try_emplace(key(), Network{none, {}}).first->second;
    if (score > network.score) network = {score, parents_};
    if (found_.size() > 2 * most_ + 1024) keep_best(most_);
}

// Forgets all but the best; nothing below them need be looked for.
void NearBest::keep_best(std::size_t most) {
    if (found_.size() <= most) return;
    std::vector<std::pair<double, Key>> order;
    for (const auto& [key, network] : found_) order.emplace_back(-network.score, key);
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most) - 1, order.end());
    for (std::size_t i = most; i < order.size(); ++i) found_.erase(order[i].second);
    least_ = -order[most - 1].first;
}

std::vector<NearBest::Network> NearBest::found() const {
    std::vector<Network> networks;
    for (const auto& [key, network] : found_) networks.push_back(network);
    std::sort(networks.begin(), networks.end(), [](const Network& a, const Network& b) {
        return a.score != b.score ? a.score > b.score : a.parents < b.parents;
    });
    networks.resize(std::min(networks.size(), most_));
    return networks;
}

}  // namespace fishernet
