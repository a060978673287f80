#include "search/list_search.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "search/loss_bound.hpp"
#include "test/check.hpp"

using namespace fishernet;

namespace {

constexpr double tie = 1e-9;

// Random sets of up to four parents, of which the cheapest hang together in cycles; some variables need a parent.
LossLists random_lists(unsigned seed, int n, int n_sets) {
    std::mt19937 random(seed);
    std::exponential_distribution<double> loss(0.2);
    LossLists lists;
    for (int v = 0; v < n; ++v) {
        auto& choices = lists.choices.emplace_back();
        for (int k = 0; k < n_sets; ++k) {
            std::uint64_t set = 0;
            for (unsigned parents = 1 + random() % 4; parents > 0; --parents) set |= std::uint64_t{1} << random() % n;
            choices.push_back({set & ~(std::uint64_t{1} << v), loss(random)});
        }
        const bool alone = random() % 4 != 0 || v == 0;
        choices.push_back({alone ? 0 : std::uint64_t{1} << (v - 1), 20});
        std::sort(choices.begin(), choices.end(), [](auto& a, auto& b) { return a.loss < b.loss; });
        const double least = choices.front().loss;
        for (auto& choice : choices) choice.loss -= least;
    }
    return lists;
}

// The least loss over each set of variables, when all others come after them.
std::vector<double> least_by_tables(const LossLists& lists) {
    std::vector<double> least(std::size_t{1} << lists.size(), std::numeric_limits<double>::infinity());
    least[0] = 0;
    for (std::uint64_t set = 1; set < least.size(); ++set) {
        for (std::uint64_t left = set; left != 0; left &= left - 1) {
            const std::uint64_t rest = set & ~(left & ~(left - 1));
            least[set] = std::min(least[set], least[rest] + lists.loss(std::countr_zero(left), rest));
        }
    }
    return least;
}

// What is lost when the variables that are not in the set follow those that are.
std::vector<double> least_after(const LossLists& lists) {
    std::vector<double> least(std::size_t{1} << lists.size(), std::numeric_limits<double>::infinity());
    least[lists.all()] = 0;
    for (std::uint64_t set = lists.all(); set-- > 0;) {
        for (std::uint64_t left = lists.all() & ~set; left != 0; left &= left - 1) {
            const std::uint64_t v = left & ~(left - 1);
            least[set] = std::min(least[set], least[set | v] + lists.loss(std::countr_zero(v), set));
        }
    }
    return least;
}

double loss_of(const LossLists& lists, const std::vector<std::uint64_t>& before) {
    double sum = 0;
    for (int v = 0; v < lists.size(); ++v) sum += lists.loss(v, before[v]);
    return sum;
}

std::vector<int> backwards(int n) {
    std::vector<int> order;
    while (n > 0) order.push_back(--n);
    return order;
}

}  // namespace

TEST(list_search_finds_the_least_loss_and_its_bound_never_exceeds_it) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        const int n = 2 + static_cast<int>(seed % 11);
        const LossLists lists = random_lists(seed, n, 4 + static_cast<int>(seed % 7) * 12);
        const double least = least_by_tables(lists).back();
        ListSearch search(lists, backwards(n), tie, true);
        for (int steps = 0; !search.finished(); ++steps) {
            CHECK(search.least_loss() <= least + 1e-8);
            CHECK(search.loss() >= least - 1e-8);
            CHECK(steps < 100'000);
            search.advance(nullptr);
        }
        CHECK(std::abs(search.loss() - least) < 1e-8);
        CHECK(std::abs(search.least_loss() - least) < 1e-8);
        CHECK(std::abs(loss_of(lists, search.before()) - least) < 1e-8);
    }
}

TEST(list_search_without_bounds_ends_with_an_order) {
    for (unsigned seed = 0; seed < 10; ++seed) {
        const LossLists lists = random_lists(seed, 10, 20);
        const double start = loss_of(lists, [] {
            std::vector<std::uint64_t> before(10, 0);
            for (int v = 0; v < 10; ++v) before[v] = ~std::uint64_t{0} << (v + 1) & 1023;
            return before;
        }());
        ListSearch search(lists, backwards(10), tie, false);
        while (!search.finished()) search.advance(nullptr);
        CHECK(search.loss() <= start);
        CHECK(std::abs(loss_of(lists, search.before()) - search.loss()) < 1e-9);
        CHECK(search.loss() < least_by_tables(lists).back() + 1e-8);  // as few as ten are easy
    }
}

TEST(cluster_bounds_stay_below_the_least_loss_and_rise) {
    for (unsigned seed = 100; seed < 130; ++seed) {
        const LossLists lists = random_lists(seed, 12, 60);
        const double least = least_by_tables(lists).back();
        ClusterBound clusters(lists, least, nullptr);
        double before = clusters.bound();
        while (!clusters.at_rest()) {
            CHECK(clusters.bound() <= least + 1e-8);
            clusters.advance(7, least, nullptr);
            CHECK(clusters.bound() >= before - 1e-8);
            before = clusters.bound();
        }
        clusters.settle(least, nullptr);
        CHECK(clusters.bound() <= least + 1e-8 && clusters.bound() >= before - 1e-8);
        CHECK(clusters.bound() > 0.5 * least);
        for (const Cluster& cluster : clusters.clusters()) CHECK(cluster.charge > 0);
    }
}

TEST(choices_of_a_best_order_are_never_hopeless) {
    for (unsigned seed = 200; seed < 230; ++seed) {
        const LossLists lists = random_lists(seed, 10, 30);
        ListSearch search(lists, backwards(10), tie, true);
        while (!search.finished()) search.advance(nullptr);
        ClusterBound clusters(lists, search.loss(), nullptr);
        clusters.advance(300, search.loss(), nullptr);
        clusters.settle(search.loss(), nullptr);
        std::uint32_t choice = 0;
        for (int v = 0; v < 10; ++v) {
            const double own = lists.loss(v, search.before()[v]);
            bool chosen = false;
            for (const auto& [set, loss] : lists.choices[v]) {
                const bool may_be = clusters.may_be(choice++, search.loss() + 1e-7);
                chosen |= may_be && loss == own && (set & ~search.before()[v]) == 0;
            }
            CHECK(chosen);
        }
    }
}

TEST(bounds_of_what_is_left_never_exceed_it) {
    for (unsigned seed = 300; seed < 306; ++seed) {
        for (const int n : {11, 20}) {  // one group, and two with clusters between them
            const LossLists lists = random_lists(seed, n, 12);
            ClusterBound clusters(lists, 1e9, nullptr);
            clusters.advance(200, 1e9, nullptr);
            clusters.settle(1e9, nullptr);
            const LossBound bound(lists, clusters.clusters(), nullptr);
            const auto least = least_after(lists);
            double together = 0;
            for (std::uint64_t set = 0; set < least.size(); set += n == 20 ? 7 : 1) {
                CHECK(bound(set) <= least[set] + 1e-8);
                if (n == 11) CHECK(std::abs(bound(set) - least[set]) < 1e-8);
                together += bound(set);
            }
            CHECK(together > 0);
        }
    }
}
