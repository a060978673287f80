#include "counts/counting.hpp"

#include <map>
#include <numeric>

#include "test/check.hpp"
#include "test/data.hpp"

using namespace fishernet;

namespace {

using Set = std::vector<std::int32_t>;

std::map<std::vector<std::uint32_t>, std::int64_t> naive(const TestTable& table, const Set& set) {
    std::map<std::vector<std::uint32_t>, std::int64_t> counts;
    for (std::int64_t row = 0; row < table.columns.n_rows; ++row) {
        std::vector<std::uint32_t> cell;
        for (const auto v : set) cell.push_back(code_at(table.columns.columns[v], row));
        if (table.weight(static_cast<std::size_t>(row))) counts[cell] += table.weight(static_cast<std::size_t>(row));
    }
    return counts;
}

void compare(const TestTable& table, const Set& set, const JointCounts& counts) {
    const auto expected = naive(table, set);
    if (!counts.dense) {
        CHECK(counts.counts.size() == expected.size());
        std::size_t i = 0;
        for (const auto& [cell, n] : expected) {
            CHECK(counts.counts[i] == n);
            for (std::size_t v = 0; v < set.size(); ++v) CHECK(counts.states[i * set.size() + v] == cell[v]);
            ++i;
        }
        return;
    }
    CHECK(std::accumulate(counts.counts.begin(), counts.counts.end(), std::int64_t{0}) == table.columns.total);
    for (const auto& [cell, n] : expected) {
        std::size_t at = 0;
        for (std::size_t v = 0; v < set.size(); ++v) at = at * table.columns.columns[set[v]].cardinality + cell[v];
        CHECK(counts.counts[at] == n);
    }
}

}  // namespace

TEST(joint_counts_are_those_of_the_rows) {
    const std::vector<Set> sets{{}, {0}, {1, 3}, {0, 1, 2}, {0, 1, 2, 3, 4}, {2, 4}};
    for (const std::int64_t n : {1, 64, 4097, 300000}) {
        for (const bool weighted : {false, true}) {
            if (n > 5000 && weighted) continue;
            const TestTable table(static_cast<unsigned>(n), n, {2, 3, 40, 1, 5}, weighted);
            for (const std::int64_t most_dense : {std::int64_t{1}, std::int64_t{100000}}) {
                if (n > 5000 && most_dense == 1) continue;
                const auto counts = count_sets(table.columns, sets, most_dense, nullptr);
                for (std::size_t s = 0; s < sets.size(); ++s) compare(table, sets[s], counts[s]);
            }
        }
    }
}
