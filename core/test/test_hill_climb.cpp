#include "../hill_climb.hpp"

#include <cmath>
#include <random>

#include "check.hpp"

using namespace fishernet;

namespace {

// Whether a graph has no cycle, by taking roots away.
bool acyclic(const std::vector<std::vector<std::int32_t>>& parents) {
    std::vector<bool> gone(parents.size(), false);
    for (std::size_t round = 0; round < parents.size(); ++round) {
        for (std::size_t v = 0; v < parents.size(); ++v) {
            bool root = true;
            for (const auto p : parents[v]) root &= gone[static_cast<std::size_t>(p)];
            if (root) gone[v] = true;
        }
    }
    for (const bool g : gone) if (!g) return false;
    return true;
}

// A score that is a hash of the family: any landscape at all.
double any_score(std::uint64_t seed, std::int32_t child, std::span<const std::int32_t> parents) {
    std::uint64_t h = seed * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(child);
    for (const auto p : parents) h = (h ^ static_cast<std::uint64_t>(p + 1)) * 0xD6E8FEB86659FD93u, h ^= h >> 29;
    h *= 0xD6E8FEB86659FD93u;
    return static_cast<double>(h >> 40) - 4e6 * static_cast<double>(parents.size());
}

void climbs_stay_acyclic_and_rise(std::uint64_t seed, std::int32_t n, std::int32_t most) {
    Rules rules{n, most, std::vector<std::uint8_t>(static_cast<std::size_t>(n * n)),
                std::vector<std::uint8_t>(static_cast<std::size_t>(n * n))};
    HillClimb climb(rules, std::vector<std::vector<std::int32_t>>(static_cast<std::size_t>(n)));
    CHECK(std::isnan(climb.score()));
    double last = -INFINITY;
    while (climb.wanted().view().size()) {
        const Families families = climb.wanted().view();
        std::vector<double> scores;
        for (std::size_t f = 0; f < families.size(); ++f) {
            scores.push_back(any_score(seed, families.children[f], families.parents_of(f)));
        }
        climb.tell(scores);
        CHECK(climb.score() > last || climb.wanted().view().size() == 0);
        last = climb.score();
        CHECK(acyclic(climb.parents()));
    }
    double total = 0;
    for (std::int32_t v = 0; v < n; ++v) {
        const auto& parents = climb.parents()[static_cast<std::size_t>(v)];
        CHECK(static_cast<std::int32_t>(parents.size()) <= most);
        total += any_score(seed, v, parents);
    }
    CHECK(std::abs(total - climb.score()) < 1e-6);
}

}  // namespace

void test_hill_climb() {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        climbs_stay_acyclic_and_rise(seed, 1 + static_cast<std::int32_t>(seed % 9), 3);
    }
    climbs_stay_acyclic_and_rise(3, 70, 4);
}
