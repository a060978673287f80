#include "networks/conditionals.hpp"

#include <cmath>

#include "test/check.hpp"
#include "test/data.hpp"

using namespace fishernet;

TEST(conditionals_look_up_what_the_rows_say) {
    const TestTable table(2, 9000, {2, 3, 4});
    FlatConditional root{0, 2, 1, {}, {}, {}, {}}, full{1, 3, 2, {0}, {1}, {}, {}};
    FlatConditional merged{2, 4, 2, {0, 1}, {3, 1}, {0, 1, 1, 0, 0, 1}, {}};
    const std::vector<FlatConditional> list{root, full, merged};
    const std::vector<double> a{1, 2}, b{3, 4, 5, 6, 7, 8}, c{10, 11, 12, 13, 20, 21, 22, 23};
    const std::vector<const double*> values{a.data(), b.data(), c.data()};
    std::vector<double> terms(9000 * 3), sums(9000), targets(9000 * 2);
    look_up(table.columns, list, values, false, terms.data(), nullptr);
    look_up(table.columns, list, values, true, sums.data(), nullptr);
    target_scores(table.columns, list, values, 0, 2, targets.data(), nullptr);
    for (std::size_t row = 0; row < 9000; ++row) {
        const int x = table.codes[0][row], y = table.codes[1][row], z = table.codes[2][row];
        const auto sum = [&](int state) {
            const int group = merged.map[static_cast<std::size_t>(3 * state + y)];
            return a[static_cast<std::size_t>(state)] + b[static_cast<std::size_t>(3 * state + y)] +
                   c[static_cast<std::size_t>(4 * group + z)];
        };
        CHECK(terms[3 * row] == a[static_cast<std::size_t>(x)]);
        CHECK(terms[3 * row] + terms[3 * row + 1] + terms[3 * row + 2] == sums[row]);
        CHECK(sums[row] == sum(x));
        CHECK(targets[2 * row] == sum(0) && targets[2 * row + 1] == sum(1));
    }
    std::vector<std::int64_t> groups(100);
    find_groups(table.columns, merged, 50, 100, groups.data());
    for (std::size_t i = 0; i < 100; ++i) {
        CHECK(groups[i] == merged.map[static_cast<std::size_t>(3 * table.codes[0][50 + i] + table.codes[1][50 + i])]);
    }
}
