#include "search/hill_climb.hpp"

#include <cmath>
#include <random>

#include "test/any_score.hpp"
#include "test/check.hpp"
#include "test/going_on.hpp"

using namespace fishernet;

namespace {

void searches_stay_acyclic_and_rise(std::uint64_t seed, std::int32_t n, std::int32_t most, Escape escape) {
    HillClimb climb(no_rules(n, most), ParentLists(static_cast<std::size_t>(n)), escape);
    CHECK(std::isnan(climb.score()));
    double last = -INFINITY;
    AnyScorer scorer(seed, [&] {
        CHECK(std::isnan(climb.score()) || climb.score() >= last);
        if (!std::isnan(climb.score())) last = climb.score();
        CHECK(acyclic(climb.parents()));
    });
    climb.run(scorer, nullptr);
    CHECK(climb.score() >= last);
    double way = any_total(seed, ParentLists(static_cast<std::size_t>(n)));
    for (const Step& step : climb.steps()) way += step.gain;
    const auto parents = climb.parents();
    for (const auto& list : parents) CHECK(static_cast<std::int32_t>(list.size()) <= most);
    CHECK(std::abs(any_total(seed, parents) - climb.score()) < 1e-6);
    CHECK(std::abs(way - climb.score()) < 1e-6);
}

// Families of few cells: two and three states, at most twelve cells.
void cells_are_few(std::uint64_t seed, std::int32_t n, Escape escape) {
    Rules rules = no_rules(n, n);
    for (std::int32_t v = 0; v < n; ++v) rules.states.push_back(2 + v % 2);
    rules.max_cells = 12;
    HillClimb climb(rules, ParentLists(static_cast<std::size_t>(n)), escape);
    AnyScorer scorer(seed, [&] {
        const auto parents = climb.parents();
        for (std::int32_t v = 0; v < n; ++v) {
            double cells = rules.states[static_cast<std::size_t>(v)];
            for (const auto p : parents[static_cast<std::size_t>(v)]) cells *= rules.states[static_cast<std::size_t>(p)];
            CHECK(cells <= 12);
        }
    });
    climb.run(scorer, nullptr);
}

// Arcs that come and go at random, against paths followed one by one.
void reach_is_what_paths_say(std::uint64_t seed, std::int32_t n) {
    std::mt19937_64 random(seed);
    const auto size = static_cast<std::size_t>(n);
    ParentLists parents(size), children(size);
    Reach reach(n);
    std::vector<std::vector<bool>> before(size, std::vector<bool>(size, false));
    for (int change = 0; change < 200; ++change) {
        const auto a = static_cast<std::int32_t>(random() % size), b = static_cast<std::int32_t>(random() % size);
        std::vector<bool> told(size, false);
        const auto tell = [&](std::int32_t v) { told[static_cast<std::size_t>(v)] = true; };
        auto &up = parents[static_cast<std::size_t>(b)], &down = children[static_cast<std::size_t>(a)];
        if (holds(up, a)) {
            erase_sorted(up, a), erase_sorted(down, b);
            reach.remove(a, parents, children, tell);
        } else if (a != b && !reach(b, a)) {
            insert_sorted(up, a), insert_sorted(down, b);
            reach.add(a, b, parents, tell);
        }
        for (std::size_t v = 0; v < size; ++v) {
            std::vector<bool> seen(size, false);
            std::vector<std::int32_t> open{static_cast<std::int32_t>(v)};
            while (!open.empty()) {
                const auto u = static_cast<std::size_t>(open.back());
                open.pop_back();
                for (const auto c : children[u]) {
                    if (!seen[static_cast<std::size_t>(c)]) open.push_back(c);
                    seen[static_cast<std::size_t>(c)] = true;
                }
            }
            for (std::size_t u = 0; u < size; ++u) {
                CHECK(reach(static_cast<std::int32_t>(v), static_cast<std::int32_t>(u)) == seen[u]);
            }
            CHECK(told[v] == (seen != before[v]));
            before[v] = seen;
        }
    }
}

}  // namespace

TEST(climbs_stay_acyclic_and_rise) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const auto n = 1 + static_cast<std::int32_t>(seed % 9);
        searches_stay_acyclic_and_rise(seed, n, 3, {});
        searches_stay_acyclic_and_rise(seed, n, 3, {12, 4, 0, 0, 0});
        searches_stay_acyclic_and_rise(seed, n, 3, {0, 0, 5, 4, seed});
        searches_stay_acyclic_and_rise(seed, n, 2, {6, 3, 3, 2, seed});
    }
    searches_stay_acyclic_and_rise(3, 70, 4, {});
}

TEST(families_keep_to_their_cells) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) cells_are_few(seed, 7, {12, 4, 2, 3, seed});
}

TEST(climbs_go_on_from_everywhere) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto n = 1 + static_cast<std::int32_t>(seed % 7);
        for (const Escape escape : {Escape{}, {0, 0, 5, 4, seed}, {12, 4, 0, 0, 0}, {6, 3, 3, 70, seed}}) {
            Rules rules = no_rules(n, 3);
            ParentLists start(static_cast<std::size_t>(n));
            if (n > 2) start[0] = rules.required[0] = {n - 1};
            const auto make = [&] { return HillClimb(rules, start, escape); };
            goes_on_from_everywhere(seed, make);
            for (int calls = 0; calls < 30; ++calls) keeps_its_state_when_stopped(seed, calls, make);
        }
    }
}

TEST(climbs_refuse_what_is_no_state) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        refuses_or_goes_on(seed, [&] { return HillClimb(no_rules(6, 3), ParentLists(6), {6, 3, 3, 5, seed}); });
    }
}

TEST(reach_is_what_paths_say) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) reach_is_what_paths_say(seed, 2 + static_cast<std::int32_t>(seed % 9));
    reach_is_what_paths_say(1, 70);
}
