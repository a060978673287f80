#include "search/order_search.hpp"

#include <cmath>

#include "test/any_score.hpp"
#include "test/check.hpp"

using namespace fishernet;

namespace {

void orders_rise_and_keep_the_rules(std::uint64_t seed, std::int32_t n, std::int32_t most, std::int64_t restarts) {
    Rules rules = no_rules(n, most);
    ParentLists start(static_cast<std::size_t>(n));
    if (n > 2) {  // the last variable comes before the first
        start[0] = rules.required[0] = {n - 1};
    }
    OrderSearch search(rules, start, restarts, 3, seed);
    CHECK(std::isnan(search.score()));
    double last = -INFINITY;
    while (search.wanted().view().size()) {
        search.tell(any_scores(seed, search.wanted().view()));
        if (std::isnan(search.score())) continue;
        CHECK(search.score() >= last);
        last = search.score();
        const auto parents = search.parents();
        CHECK(acyclic(parents));
        CHECK(std::abs(any_total(seed, parents) - last) < 1e-6);
        CHECK(n <= 2 || holds(parents[0], n - 1));
        for (const auto& list : parents) CHECK(static_cast<std::int32_t>(list.size()) <= most);
    }
    CHECK(!std::isnan(search.score()));
}

}  // namespace

TEST(orders_rise_and_keep_the_rules) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        orders_rise_and_keep_the_rules(seed, 1 + static_cast<std::int32_t>(seed % 9), 3, static_cast<std::int64_t>(seed % 4));
    }
    orders_rise_and_keep_the_rules(3, 40, 4, 2);
}
