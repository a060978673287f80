#include "search/order_search.hpp"

#include <cmath>
#include <stdexcept>

#include "test/any_score.hpp"
#include "test/check.hpp"

using namespace fishernet;

namespace {

void orders_rise_and_keep_the_rules(std::uint64_t seed, std::int32_t n, std::int32_t most, OrderOptions options) {
    Rules rules = no_rules(n, most);
    ParentLists start(static_cast<std::size_t>(n));
    if (n > 2) {  // the last variable comes before the first
        start[0] = rules.required[0] = {n - 1};
    }
    OrderSearch search(rules, start, options);
    CHECK(std::isnan(search.score()));
    double last = -INFINITY;
    const auto look = [&] {
        if (std::isnan(search.score())) return;
        CHECK(search.score() >= last);
        last = search.score();
        const auto parents = search.parents();
        CHECK(acyclic(parents));
        CHECK(std::abs(any_total(seed, parents) - last) < 1e-6);
        CHECK(n <= 2 || holds(parents[0], n - 1));
        for (const auto& list : parents) CHECK(static_cast<std::int32_t>(list.size()) <= most);
        double way = any_total(seed, start);
        for (const Step& step : search.steps()) way += step.gain;
        CHECK(std::abs(way - last) < 1e-6);
    };
    AnyScorer scorer(seed, look);
    search.run(scorer, nullptr);
    look();
    CHECK(!std::isnan(search.score()));
}

// What a scorer throws ends the search; the best so far is a graph that keeps the rules.
void stopped_searches_keep_their_best(std::uint64_t seed, int calls) {
    OrderSearch search(no_rules(9, 3), ParentLists(9), {3, {2}, {3}, seed, true, 4, 5, 3});
    AnyScorer scorer(seed, [&] {
        if (calls-- == 0) throw std::runtime_error("enough");
    });
    bool thrown = false;
    try {
        search.run(scorer, nullptr);
    } catch (const std::runtime_error&) {
        thrown = true;
    }
    CHECK(thrown);
    CHECK(acyclic(search.parents()));
    CHECK(std::isnan(search.score()) || std::abs(any_total(seed, search.parents()) - search.score()) < 1e-6);
}

}  // namespace

TEST(orders_rise_and_keep_the_rules) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const auto n = 1 + static_cast<std::int32_t>(seed % 9);
        const auto restarts = static_cast<std::int64_t>(seed % 4);
        orders_rise_and_keep_the_rules(seed, n, 3, {restarts, {3}, {2, 1}, seed, false, 0, 0, 0});
        orders_rise_and_keep_the_rules(seed, n, 3, {restarts, {3, 1}, {2}, seed, true, 4, 6, 3});
    }
    orders_rise_and_keep_the_rules(3, 40, 4, {2, {3}, {4}, 3, true, 10, 20, 5});
}

TEST(stopped_order_searches_keep_their_best) {
    for (int calls = 0; calls < 40; ++calls) stopped_searches_keep_their_best(5, calls);
}
