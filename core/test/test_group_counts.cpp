#include "counts/group_counts.hpp"

#include "test/check.hpp"
#include "test/data.hpp"

using namespace fishernet;

TEST(group_counts_are_those_of_a_loop_over_rows) {
    for (const std::int64_t n : {0, 1, 700}) {
        for (const bool weighted : {false, true}) {
            TestTable table(7, n, {2, 5, 1}, weighted);
            table.columns.columns[1].cardinality = 4;  // so that code 4 is a missing cell
            std::vector<std::int64_t> rows;
            std::vector<std::int64_t> offsets{0};
            for (const std::int64_t step : {1, 3, 1000}) {
                for (std::int64_t row = step == 1000 ? n : 0; row < n; row += step) rows.push_back(row);
                offsets.push_back(static_cast<std::int64_t>(rows.size()));
            }
            const std::vector<std::int32_t> columns{1, 0, 2};
            const auto found = count_in_groups(table.columns, columns, {offsets, rows}, nullptr);
            for (std::size_t c = 0; c < columns.size(); ++c) {
                const auto v = static_cast<std::size_t>(columns[c]);
                const std::size_t width = table.columns.columns[v].cardinality + 1;
                std::vector<std::int64_t> expected(3 * width);
                for (std::size_t group = 0; group < 3; ++group) {
                    for (auto i = offsets[group]; i < offsets[group + 1]; ++i) {
                        const auto row = static_cast<std::size_t>(rows[static_cast<std::size_t>(i)]);
                        expected[group * width + table.codes[v][row]] += table.weight(row);
                    }
                }
                CHECK(found[c] == expected);
            }
        }
    }
}
