#include "search/layer_walk.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "test/check.hpp"

using namespace fishernet;

namespace {

// Most sets of the other variables with scores up to `spread` nats apart, in some of the lists the empty set not among them.
std::vector<ParentChoices> random_choices(unsigned seed, std::int32_t n, double spread) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> score(0, spread);
    std::vector<ParentChoices> choices(n);
    for (std::int32_t v = 0; v < n; ++v) {
        for (std::int32_t u = 0; u < n; ++u) {
            if (u != v) choices[v].others.push_back(u);
        }
        for (std::uint64_t set = 0; set < std::uint64_t{1} << (n - 1); ++set) {
            const bool always = v == 0 ? set == 0 : set == 1;  // of these a network can be made
            if (always || random() % 4 != 0) choices[v].sets.push_back({set, score(random) - 1e4});
        }
        auto& sets = choices[v].sets;
        std::sort(sets.begin(), sets.end(), [](auto& a, auto& b) { return a.score > b.score; });
    }
    return choices;
}

bool is_acyclic(const ParentLists& parents) {
    std::vector<bool> gone(parents.size());
    for (std::size_t turn = 0; turn < parents.size(); ++turn) {
        for (std::size_t v = 0; v < parents.size(); ++v) {
            gone[v] = gone[v] || std::all_of(parents[v].begin(), parents[v].end(), [&](auto p) { return gone[p]; });
        }
    }
    return std::all_of(gone.begin(), gone.end(), [](bool g) { return g; });
}

ParentLists as_lists(const std::vector<ParentChoices>& choices, const std::vector<std::size_t>& chosen) {
    ParentLists parents(choices.size());
    for (std::size_t v = 0; v < choices.size(); ++v) {
        for (std::size_t bit = 0; bit < choices[v].others.size(); ++bit) {
            if (choices[v].sets[chosen[v]].set >> bit & 1) parents[v].push_back(choices[v].others[bit]);
        }
    }
    return parents;
}

// The probability of the arc from p to v, at p n + v, by all networks.
std::vector<double> by_all_networks(const std::vector<ParentChoices>& choices) {
    const std::size_t n = choices.size();
    std::vector<std::size_t> chosen(n, 0);
    std::vector<double> arcs(n * n);
    double total = 0, top = 0;
    for (const auto& of : choices) top += of.sets.front().score;
    for (std::size_t v = 0; v < n;) {
        const auto parents = as_lists(choices, chosen);
        if (is_acyclic(parents)) {
            double score = -top;
            for (std::size_t u = 0; u < n; ++u) score += choices[u].sets[chosen[u]].score;
            total += std::exp(score);
            for (std::size_t u = 0; u < n; ++u) {
                for (const auto p : parents[u]) arcs[p * n + u] += std::exp(score);
            }
        }
        for (v = 0; v < n && ++chosen[v] == choices[v].sets.size(); ++v) chosen[v] = 0;
    }
    for (double& arc : arcs) arc /= total;
    return arcs;
}

// Everyone's only parent is the first variable.
ParentLists start_of(std::int32_t n) {
    ParentLists start(n);
    for (std::int32_t v = 1; v < n; ++v) start[v] = {0};
    return start;
}

void compare(unsigned seed, std::int32_t n, double spread, double room) {
    const auto choices = random_choices(seed, n, spread);
    const auto wanted = by_all_networks(choices);
    LayerWalk walk(choices, start_of(n), 7, seed);
    CHECK(walk.is_possible());
    constexpr std::int64_t sweeps = thread_sanitizer ? 1000 : 10'000;
    while (walk.n_sweeps() < sweeps) walk.step();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        CHECK(std::abs(walk.arcs()[i] / sweeps - wanted[i]) < (thread_sanitizer ? 4 * room : room));
    }
    CHECK(is_acyclic(walk.parents()));
}

}  // namespace

TEST(a_walk_meets_networks_as_often_as_they_are_probable) {
    for (unsigned seed = 0; seed < 4; ++seed) compare(seed, 4, 4, 0.03);
    compare(4, 3, 1500, 0.03);  // weights of many stretches
    compare(5, 2, 1, 0.03);
    compare(6, 1, 1, 0.03);
}

TEST(a_start_with_a_cycle_or_with_other_parents_is_no_start) {
    auto choices = random_choices(1, 3, 1);
    CHECK(!LayerWalk(choices, {{1}, {0}, {0}}, 1, 0).is_possible());
    auto& sets = choices[2].sets;
    std::erase_if(sets, [](const ParentSet& set) { return set.set == 1; });
    CHECK(!LayerWalk(choices, start_of(3), 1, 0).is_possible());
}
