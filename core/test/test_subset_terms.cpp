#include "counts/subset_terms.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "counts/set_terms.hpp"
#include "test/check.hpp"
#include "test/data.hpp"

using namespace fishernet;

namespace {

struct Terms {
    std::vector<double> joint;
    std::vector<std::vector<double>> marginals;
};

Terms all_terms(const TestTable& table, ScoreTerm& score_term, const std::vector<std::int32_t>& order,
                const std::vector<std::uint32_t>& children) {
    const std::size_t n_sets = std::size_t{1} << order.size();
    Terms terms{std::vector<double>(n_sets, NAN), {children.size(), std::vector<double>(n_sets, NAN)}};
    SubsetOutputs out{terms.joint.data(), {}};
    for (auto& marginal : terms.marginals) out.marginals.push_back(marginal.data());
    const SubsetTerms counting(table.columns, order, static_cast<int>(order.size()), score_term, children);
    for (std::int64_t task = 0; task < counting.n_tasks(); ++task) counting.run(task, out);
    return terms;
}

// Every family's score from the terms of all sets is its score from its own sets.
void check_families(const TestTable& table, Measure measure, double parameter, const std::vector<std::int32_t>& order) {
    const auto n = static_cast<std::int32_t>(order.size());
    ScoreTerm score_term(measure, parameter, table.columns.total, 256);
    std::vector<std::uint32_t> states;
    if (score_term.knows_child()) states = {2, 3, 5};
    const Terms terms = all_terms(table, score_term, order, states);
    FamilyList families;
    std::vector<double> expected;
    for (int child = 0; child < n; ++child) {
        const std::uint32_t r = table.columns.columns[order[child]].cardinality;
        for (std::uint64_t set = 0; set < std::uint64_t{1} << n; ++set) {
            if (set >> child & 1) continue;
            std::vector<std::int32_t> parents;
            double q = 1;
            for (int place = 0; place < n; ++place) {
                if (set >> place & 1) parents.push_back(order[place]);
                if (set >> place & 1) q *= table.columns.columns[order[place]].cardinality;
            }
            std::sort(parents.begin(), parents.end());
            const auto kind = std::find(states.begin(), states.end(), r) - states.begin();
            if (score_term.knows_child() && kind == static_cast<std::ptrdiff_t>(states.size())) continue;
            families.add(order[child], parents);
            const double marginal = score_term.knows_child() ? terms.marginals[kind][set] : terms.joint[set];
            expected.push_back(terms.joint[set | std::uint64_t{1} << child] - marginal - score_term.price() * (r - 1) * q);
        }
    }
    SetTerms one_by_one(table.columns, measure, parameter);
    std::vector<double> scores(expected.size());
    one_by_one.family_scores(families.view(), scores, nullptr);
    for (std::size_t f = 0; f < scores.size(); ++f) {
        CHECK(std::abs(scores[f] - expected[f]) <= 1e-9 + 1e-12 * std::abs(expected[f]));
    }
}

void check_classes() {
    const TestTable table(3, 500, {2, 3, 4, 1}, true);
    const std::vector<std::int32_t> order{3, 0, 2, 1};
    const RowClasses classes = row_classes(table.columns, order);
    CHECK(std::accumulate(classes.weights.begin(), classes.weights.end(), std::int64_t{0}) == table.columns.total);
    for (std::size_t level = 1; level < classes.levels.size(); ++level) {
        const auto& [code, next, states] = classes.levels[level];
        for (std::size_t c = 1; c < code.size(); ++c) {
            CHECK(code[c - 1] < code[c] || (code[c - 1] == code[c] && next[c - 1] < next[c]));
        }
    }
}

}  // namespace

TEST(equal_rows_are_one_class) { check_classes(); }

TEST(terms_of_all_subsets_are_those_of_families) {
    const std::pair<Measure, double> measures[] = {{Measure::likelihood, 0.7}, {Measure::bdeu, 2.0}, {Measure::k2, 0},
                                                   {Measure::fnml, 0},         {Measure::qnml, 0},   {Measure::bdq, 0.5}};
    const std::vector<std::int64_t> sizes = thread_sanitizer ? std::vector<std::int64_t>{300}
                                                             : std::vector<std::int64_t>{0, 1, 7, 300, 5000};
    for (const auto& [measure, parameter] : measures) {
        for (const std::int64_t n : sizes) {
            for (const bool weighted : {false, true}) {
                check_families(TestTable(5, n, {2, 3, 5, 1, 2}, weighted), measure, parameter, {3, 0, 4, 1, 2});
                check_families(TestTable(6, n, {3, 2, 2, 40, 2, 3, 5, 2, 2}, weighted), measure, parameter,
                               {1, 2, 4, 7, 8, 0, 5, 6, 3});
            }
        }
    }
    check_families(TestTable(7, 2000, {250, 200, 150}), Measure::bdeu, 1, {0, 1, 2});
}
