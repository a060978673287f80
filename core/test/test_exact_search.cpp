#include "search/exact_search.hpp"

#include <cmath>
#include <limits>

#include "counts/set_terms.hpp"
#include "search/sparse_search.hpp"
#include "test/check.hpp"
#include "test/data.hpp"

using namespace fishernet;

namespace {

double score_of(SetTerms& terms, const std::vector<std::vector<std::int32_t>>& parents) {
    FamilyList families;
    for (std::size_t v = 0; v < parents.size(); ++v) families.add(static_cast<std::int32_t>(v), parents[v]);
    std::vector<double> scores(parents.size());
    terms.family_scores(families.view(), scores, nullptr);
    double sum = 0;
    for (const double score : scores) sum += score;
    return sum;
}

double best_by_tables(const TestTable& table, const Rules& rules, SetTerms& terms) {
    ExactSearch search(table.columns, Measure::likelihood, 1, rules);
    double done = -1;
    while (!search.finished()) {
        CHECK(search.done() >= done);
        done = search.done();
        search.advance(nullptr);
    }
    CHECK(search.done() == search.total());
    CHECK(std::abs(score_of(terms, search.parents()) - search.score()) < 1e-8);
    return search.score();
}

double best_by_few_sets(const TestTable& table, const Rules& rules, SetTerms& terms) {
    const int n = rules.n;
    std::vector<double> cardinalities;
    std::vector<ParentRule> allowed;
    for (int v = 0; v < n; ++v) {
        cardinalities.push_back(table.columns.columns[v].cardinality);
        allowed.push_back({(std::uint64_t{1} << n) - 1 - (std::uint64_t{1} << v), 0, rules.max_parents});
    }
    const double unknown = std::numeric_limits<double>::infinity();
    ParentSets sets(cardinalities, allowed, {std::vector<double>(n, unknown), {}, -1}, 1 << 20);
    while (sets.wanted().children.size() > 0) {
        std::vector<double> scores(sets.wanted().children.size());
        terms.family_scores(sets.wanted().view(), scores, nullptr);
        sets.tell(scores, {}, nullptr);
    }
    SparseSearch search(sets.found(), std::vector<std::uint64_t>(n, 0), 1e9, true);
    while (!search.finished()) search.advance(nullptr);
    std::vector<std::vector<std::int32_t>> parents(n);
    for (int v = 0; v < n; ++v) {
        for (int p = 0; p < n; ++p) {
            if (search.parents()[v] >> p & 1) parents[v].push_back(p);
        }
    }
    return score_of(terms, parents);
}

}  // namespace

TEST(both_exact_searches_find_the_same_score) {
    for (unsigned seed = 0; seed < 6; ++seed) {
        const TestTable table(seed, 150, {2, 3, 2, 4, 1, 3, 2, 2, 3}, seed % 2 == 1);
        for (const std::int32_t most : {1, 3, 9}) {
            Rules rules{9, most, ParentLists(9), ParentLists(9)};
            for (std::int32_t child = 0; child < 9; ++child) {
                for (std::int32_t parent = 0; parent < 9; ++parent) {
                    if (parent != child) rules.allowed[child].push_back(parent);
                }
            }
            SetTerms terms(table.columns, Measure::likelihood, 1);
            const double best = best_by_tables(table, rules, terms);
            CHECK(std::abs(best - best_by_few_sets(table, rules, terms)) < 1e-7);
        }
    }
}
