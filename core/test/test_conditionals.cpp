#include "networks/conditionals.hpp"

#include <algorithm>
#include <cmath>

#include "test/check.hpp"
#include "test/data.hpp"

using namespace fishernet;

namespace {

// What conditionals with the target in them add where every variable has a code.
template <class Code>
double literal_score(const std::vector<FlatConditional>& list, const std::vector<std::vector<double>>& tables,
                     std::int32_t target, const Code& code) {
    double sum = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto& c = list[i];
        if (c.child != target && std::find(c.parents.begin(), c.parents.end(), target) == c.parents.end()) continue;
        std::int64_t group = 0;
        for (std::size_t p = 0; p < c.parents.size(); ++p) group += c.strides[p] * code(c.parents[p]);
        if (!c.map.empty()) group = c.map[static_cast<std::size_t>(group)];
        sum += tables[i][static_cast<std::size_t>(group * c.states + code(c.child))];
    }
    return sum;
}

}  // namespace

// Few rows look where values lie; for many, values are ordered by the target's states first.
TEST(scores_of_a_target_are_the_sums_for_each_of_its_states) {
    const std::vector<int> sizes{3, 40, 1, 5};
    std::vector<FlatConditional> list{{1, 40, 1, {}, {}, {}, {}},
                                      {2, 1, 120, {0, 1}, {40, 1}, {}, {}},
                                      {3, 5, 120, {0, 2, 1}, {40, 40, 1}, {}, {}},
                                      {0, 3, 7, {3, 1}, {40, 1}, {}, {}},
                                      {3, 5, 120, {1, 0}, {3, 1}, {}, {}}};
    for (int configuration = 0; configuration < 200; ++configuration) list[3].map.push_back(configuration * 5 % 7);
    std::vector<std::vector<double>> tables;
    std::vector<const double*> values;
    for (const auto& c : list) {
        std::vector<double> table(static_cast<std::size_t>(c.n_groups * c.states));
        for (std::size_t cell = 0; cell < table.size(); ++cell) table[cell] = std::sin(3.0 * static_cast<double>(cell));
        tables.push_back(std::move(table));
        values.push_back(tables.back().data());
    }
    for (const std::int64_t n : {2, 9000}) {
        const TestTable table(4, n, sizes);
        for (std::int32_t target = 0; target < 4; ++target) {
            const int size = sizes[static_cast<std::size_t>(target)];
            const auto states = static_cast<std::size_t>(size);
            std::vector<double> found(static_cast<std::size_t>(n) * states);
            target_scores(table.columns, list, values, target, size, found.data(), nullptr);
            for (std::size_t cell = 0; cell < found.size(); ++cell) {
                const auto code = [&](std::int32_t v) -> std::int64_t {
                    if (v == target) return static_cast<std::int64_t>(cell % states);
                    return table.codes[static_cast<std::size_t>(v)][cell / states];
                };
                CHECK(found[cell] == literal_score(list, tables, target, code));
            }
        }
    }
}

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
