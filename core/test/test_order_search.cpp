#include "search/order_search.hpp"

#include <cmath>
#include <stdexcept>

#include "test/any_score.hpp"
#include "test/check.hpp"
#include "test/going_on.hpp"

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
    OrderSearch search(no_rules(9, 3), ParentLists(9), {3, {2}, {3}, seed, true, 4, true, 5, 3});
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
        orders_rise_and_keep_the_rules(seed, n, 3, {restarts, {3}, {2, 1}, seed, false, 0, false, 0, 0});
        orders_rise_and_keep_the_rules(seed, n, 3, {restarts, {3, 1}, {2}, seed, true, 4, seed % 3 != 0, 6, 3});
    }
    orders_rise_and_keep_the_rules(3, 40, 4, {2, {3}, {4}, 3, true, 10, true, 20, 5});
}

TEST(order_searches_go_on_from_everywhere) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto n = 1 + static_cast<std::int32_t>(seed % 7);
        for (const bool graphs : {true, false}) {
            Rules rules = no_rules(n, 3);
            ParentLists start(static_cast<std::size_t>(n));
            if (n > 2) start[0] = rules.required[0] = {n - 1};
            const OrderOptions options{5, {3, 1}, {2, 70}, seed, graphs, graphs ? 4u : 0u, seed % 3 != 0, 6, 3};
            const auto make = [&] { return OrderSearch(rules, start, options); };
            goes_on_from_everywhere(seed, make);
            for (int calls = 0; calls < 30; ++calls) keeps_its_state_when_stopped(seed, calls, make);
        }
    }
}

TEST(order_searches_make_fewer_restarts_where_each_takes_long) {
    const auto found = [](std::int64_t restarts, std::int64_t most_families, std::int64_t least) {
        OrderOptions options{restarts, {3, 1}, {2}, 7, true, 4u, false, 6, 3};
        options.most_families = most_families;
        options.least_restarts = least;
        const auto make = [&] { return OrderSearch(no_rules(7, 3), ParentLists(7), options); };
        goes_on_from_everywhere(7, make);
        auto search = make();
        AnyScorer scorer(7, [] {});
        search.run(scorer, nullptr);
        return search.n_steps();
    };
    CHECK(found(9, 0, 2) == found(2, 0, 2));
    CHECK(found(3, 1 << 30, 2) == found(3, 1 << 30, 0));
    CHECK(found(9, 0, 2) < found(9, 1 << 30, 0));
}

TEST(order_climbs_end_where_turns_are_over) {
    const Rules rules = no_rules(9, 3);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        OrderClimb whole(rules), part(rules);
        AnyScorer scorer(seed, [] {});
        Patience patience(nullptr);
        std::vector<std::int32_t> order(9);
        std::iota(order.begin(), order.end(), 0);
        whole.move_to(order);
        whole.climb(scorer, patience);
        part.move_to(order);
        double score = -std::numeric_limits<double>::infinity();
        for (std::int64_t turns = 0; turns < 2000 && score < whole.score(); ++turns) {
            part.climb(scorer, patience, turns);  // goes on from where it is
            CHECK(std::abs(part.score() - any_total(seed, part.parents())) < 1e-6);
            CHECK(part.score() >= score);
            score = part.score();
        }
        CHECK(part.order() == whole.order());
    }
}

TEST(order_searches_refuse_what_is_no_state) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const OrderOptions options{4, {3}, {2}, seed, seed % 2 == 0, 4, seed % 4 < 2, 6, 3};
        refuses_or_goes_on(seed, [&] { return OrderSearch(no_rules(6, 3), ParentLists(6), options); });
    }
}

TEST(stopped_order_searches_keep_their_best) {
    for (int calls = 0; calls < 40; ++calls) stopped_searches_keep_their_best(5, calls);
}
