#include "counts/counting.hpp"
#include "counts/set_runs.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "test/check.hpp"
#include "test/data.hpp"

using namespace fishernet;

namespace {

using Set = std::vector<std::int32_t>;

using Rows = std::map<std::vector<std::uint32_t>, std::int64_t>;

using Cells = std::vector<std::pair<std::size_t, std::int64_t>>;

// The cells of a set, ascending, and their counts, without rows that lack one of its cells. A cell is a number, of which
// the last variable of the set is the last digit.
Cells naive(const TestTable& table, const Rows& rows, const Set& set) {
    Cells all, counts;
    for (const auto& [row, n] : rows) {
        std::size_t cell = 0;
        bool known = true;
        for (const auto v : set) {
            const std::size_t cardinality = table.columns.columns[v].cardinality;
            known = known && row[v] < cardinality;
            cell = cell * cardinality + row[v];
        }
        if (known) all.emplace_back(cell, n);
    }
    std::sort(all.begin(), all.end());
    for (const auto& [cell, n] : all) {
        if (counts.empty() || counts.back().first != cell) counts.emplace_back(cell, 0);
        counts.back().second += n;
    }
    return counts;
}

void compare(const TestTable& table, const Cells& expected, const Set& set, const JointCounts& counts) {
    if (!counts.dense) {
        CHECK(counts.counts.size() == expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            CHECK(counts.counts[i] == expected[i].second);
            std::size_t cell = expected[i].first;
            for (std::size_t v = set.size(); v-- > 0;) {
                const std::size_t cardinality = table.columns.columns[set[v]].cardinality;
                CHECK(counts.states[i * set.size() + v] == cell % cardinality);
                cell /= cardinality;
            }
        }
        return;
    }
    std::size_t cells = 1;
    for (const auto v : set) cells *= table.columns.columns[v].cardinality;
    CHECK(counts.counts.size() == cells);
    CHECK(std::accumulate(counts.counts.begin(), counts.counts.end(), counts.left_out) == table.columns.total);
    for (const auto& [cell, n] : expected) CHECK(counts.counts[cell] == n);
}

}  // namespace

TEST(joint_counts_are_those_of_the_rows) {
    const std::vector<Set> sets{{}, {0}, {1, 3}, {0, 1, 2}, {0, 1, 2, 3, 4}, {2, 4}};
    for (const std::int64_t n : {1, 64, 4097, 300000}) {
        for (const bool weighted : {false, true}) {
            if (n > 5000 && weighted) continue;
            const TestTable table(static_cast<unsigned>(n), n, {2, 3, 40, 1, 5}, weighted);
            const Rows rows = table.distinct();
            for (const std::int64_t most_dense : {std::int64_t{1}, std::int64_t{100000}}) {
                if (n > 5000 && most_dense == 1) continue;
                const auto counts = count_sets(table.columns, sets, most_dense, nullptr);
                for (std::size_t s = 0; s < sets.size(); ++s) {
                    compare(table, naive(table, rows, sets[s]), sets[s], counts[s]);
                }
            }
        }
    }
}

// Bases of 0 to 4 variables with each of the others, mixed, some of them twice; columns wide and with missing cells too.
TEST(sets_that_share_a_base_are_counted_together) {
    const std::vector<int> states{2, 3, 40, 1, 5, 4, 3, 2, 32, 7, 3, 2, 4, 2};
    const std::vector<Set> bases{{}, {1}, {4, 9}, {0, 5, 6}, {0, 2}, {1, 4, 8}, {1, 4, 9, 12}, {6, 10}};
    std::vector<Set> sets;
    for (std::int32_t v = 0; v < 14; ++v) {
        for (const Set& base : bases) {
            Set set = base;
            const auto place = std::lower_bound(set.begin(), set.end(), v);
            if (place == set.end() || *place != v) set.insert(place, v);
            sets.push_back(set);
        }
    }
    for (const std::int64_t n : {0, 1, 65, 900, 9000, 57344, 57345, 130001}) {
        if (thread_sanitizer && n != 900 && n != 57345) continue;
        for (const bool has_missing : {false, true}) {
            if (has_missing && n > 60000) continue;
            TestTable table(static_cast<unsigned>(n), n, states);
            if (has_missing) {
                for (const std::size_t v : {5, 10}) {
                    --table.columns.columns[v].cardinality;  // what was the last state is a hole now
                    table.columns.columns[v].has_missing = true;
                }
            }
            const Rows rows = table.distinct();
            const auto counts = count_sets(table.columns, sets, 100000, nullptr);
            const auto sparse = n > 10000 ? std::vector<JointCounts>{} : count_sets(table.columns, sets, 200, nullptr);
            const std::size_t step = n > 10000 ? 11 : 1;  // the naive counts of many rows take long
            for (std::size_t s = 0; s < sets.size(); s += step) {
                const Cells expected = naive(table, rows, sets[s]);
                compare(table, expected, sets[s], counts[s]);
                if (!sparse.empty()) compare(table, expected, sets[s], sparse[s]);
            }
        }
    }
}

TEST(runs_take_each_set_once_and_the_longest_first) {
    const std::vector<Set> sets{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 2, 3}, {0, 1}, {}, {4, 5}};
    const std::vector<std::size_t> some{0, 1, 2, 3, 4, 5, 6, 7};
    const auto runs = find_runs(sets, some, [](const SetRun& run) { return run.sets.size() > 1; });
    CHECK(runs.size() == 1);
    CHECK(runs[0].base == Set{0});
    CHECK((runs[0].candidates == Set{1, 2, 3, 1}));
    CHECK((runs[0].sets == std::vector<std::size_t>{0, 1, 2, 5}));
    const auto every = find_runs(sets, some, [](const SetRun&) { return true; });
    std::vector<int> taken(sets.size(), 0);
    for (const SetRun& run : every) {
        for (std::size_t i = 0; i < run.sets.size(); ++i) {
            ++taken[run.sets[i]];
            Set whole = run.base;
            whole.insert(std::lower_bound(whole.begin(), whole.end(), run.candidates[i]), run.candidates[i]);
            CHECK(whole == sets[run.sets[i]]);
        }
    }
    CHECK((taken == std::vector<int>{1, 1, 1, 1, 1, 1, 0, 1}));
}
