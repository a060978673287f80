// What tests of searches share: scores without any meaning, and rules without any limit.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "counts/families.hpp"
#include "search/scorer.hpp"
#include "search/search_rules.hpp"
#include "test/check.hpp"

// A score that is a hash of the family: any landscape at all.
inline double any_score(std::uint64_t seed, std::int32_t child, std::span<const std::int32_t> parents) {
    std::uint64_t h = seed * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(child);
    for (const auto p : parents) h = (h ^ static_cast<std::uint64_t>(p + 1)) * 0xD6E8FEB86659FD93u, h ^= h >> 29;
    h *= 0xD6E8FEB86659FD93u;
    return static_cast<double>(h >> 40) - 4e6 * static_cast<double>(parents.size());
}

inline std::vector<double> any_scores(std::uint64_t seed, const fishernet::Families& families) {
    std::vector<double> scores;
    for (std::size_t f = 0; f < families.size(); ++f) {
        scores.push_back(any_score(seed, families.children[f], families.parents_of(f)));
    }
    return scores;
}

// Scores without meaning, and a look at the search before each answer.
class AnyScorer : public fishernet::Scorer {
public:
    AnyScorer(std::uint64_t seed, std::function<void()> look) : seed_(seed), look_(std::move(look)) {}
    void score(const fishernet::Families& families, std::span<double> scores) override {
        look_();
        const auto answer = any_scores(seed_, families);
        std::copy(answer.begin(), answer.end(), scores.begin());
    }

private:
    std::uint64_t seed_;
    std::function<void()> look_;
};

inline double any_total(std::uint64_t seed, const fishernet::ParentLists& parents) {
    double total = 0;
    for (std::size_t v = 0; v < parents.size(); ++v) total += any_score(seed, static_cast<std::int32_t>(v), parents[v]);
    return total;
}

// Everyone may be everyone's parent.
inline fishernet::Rules no_rules(std::int32_t n, std::int32_t most) {
    const auto size = static_cast<std::size_t>(n);
    fishernet::Rules rules{n, most, fishernet::ParentLists(size), fishernet::ParentLists(size)};
    for (std::int32_t child = 0; child < n; ++child) {
        for (std::int32_t p = 0; p < n; ++p) {
            if (p != child) rules.allowed[static_cast<std::size_t>(child)].push_back(p);
        }
    }
    return rules;
}

// Whether a graph has no cycle, by taking roots away.
inline bool acyclic(const fishernet::ParentLists& parents) {
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
