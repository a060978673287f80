#include "counts/set_terms.hpp"

#include <cmath>
#include <map>

#include "test/check.hpp"
#include "test/data.hpp"

using namespace fishernet;

namespace {

double naive(const TestTable& table, std::int32_t child, std::span<const std::int32_t> parents) {
    std::map<std::vector<int>, double> joint, marginal;
    for (std::size_t row = 0; row < static_cast<std::size_t>(table.columns.n_rows); ++row) {
        std::vector<int> cell;
        for (const auto p : parents) cell.push_back(table.codes[p][row]);
        marginal[cell] += static_cast<double>(table.weight(row));
        cell.push_back(table.codes[child][row]);
        joint[cell] += static_cast<double>(table.weight(row));
    }
    long double score = 0;
    for (const auto& [cell, n] : joint) score += n > 0 ? n * std::log(static_cast<long double>(n)) : 0;
    for (const auto& [cell, n] : marginal) score -= n > 0 ? n * std::log(static_cast<long double>(n)) : 0;
    return static_cast<double>(score);
}

}  // namespace

TEST(family_scores_are_those_of_the_rows) {
    FamilyList families;
    for (std::int32_t child = 0; child < 5; ++child) {
        for (std::int32_t subset = 0; subset < 32; ++subset) {
            if (subset & (1 << child)) continue;
            std::vector<std::int32_t> parents;
            for (std::int32_t v = 0; v < 5; ++v) if (subset & (1 << v)) parents.push_back(v);
            families.add(child, parents);
        }
    }
    for (const std::int64_t n : {1, 65, 8193, 60000}) {
        for (const bool weighted : {false, true}) {
            const TestTable table(9, n, {2, 3, 40, 1, 5}, weighted);
            SetTerms terms(table.columns, Measure::likelihood, 0.5);
            std::vector<double> scores(families.view().size()), again(scores.size());
            terms.family_scores(families.view(), scores, nullptr);
            terms.family_scores(families.view(), again, nullptr);
            CHECK(scores == again);
            for (std::size_t f = 0; f < scores.size(); ++f) {
                const auto child = families.view().children[f];
                const auto parents = families.view().parents_of(f);
                double q = 1;
                for (const auto p : parents) q *= table.columns.columns[p].cardinality;
                const double expected =
                    naive(table, child, parents) - 0.5 * q * (table.columns.columns[child].cardinality - 1.0);
                CHECK(std::abs(scores[f] - expected) <= 1e-10 + 1e-12 * std::abs(expected));
            }
        }
    }
}
