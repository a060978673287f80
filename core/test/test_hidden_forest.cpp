#include <cmath>
#include <random>
#include <vector>

#include "base/pool.hpp"
#include "inference/hidden_forest.hpp"
#include "test/check.hpp"
#include "test/data.hpp"

namespace fishernet {
namespace {

// Two hidden variables, the second below the first and more of them than fit into one tile, and columns below both.
const std::vector<int> cardinalities{3, 10, 2, 4, 3};
const std::vector<std::int32_t> parents{-1, 0, 0, 1, 1};
const std::vector<std::uint8_t> hidden{1, 1, 0, 0, 0};

std::vector<double> random_tables(const HiddenForest& forest) {
    std::mt19937 random(5);
    std::vector<double> cells(static_cast<std::size_t>(forest.starts().back()));
    for (auto& cell : cells) cell = static_cast<double>(random() % 1000) / 1000;
    return cells;
}

// What all states of the hidden variables say of a row: its probability, and that of each cell of the tables with it.
double enumerated(const HiddenForest& forest, const std::vector<double>& cells, const TestTable& table, std::size_t row,
                  std::vector<double>& counts) {
    std::vector<double> joint(cells.size());
    double total = 0;
    for (int a = 0; a < cardinalities[0]; ++a) {
        for (int b = 0; b < cardinalities[1]; ++b) {
            std::vector<int> states{a, b, 0, 0, 0};
            std::vector<std::size_t> at;
            double p = 1;
            for (std::size_t v = 0; v < states.size(); ++v) {
                if (v >= 2) states[v] = table.codes[v][row];
                const auto above = parents[v] < 0 ? 0 : states[static_cast<std::size_t>(parents[v])];
                at.push_back(static_cast<std::size_t>(forest.starts()[v] + above * cardinalities[v] + states[v]));
                p *= cells[at.back()];
            }
            total += p;
            for (const auto cell : at) joint[cell] += p;
        }
    }
    for (std::size_t cell = 0; cell < cells.size(); ++cell) counts[cell] += total > 0 ? joint[cell] / total : 0;
    return total;
}

TEST(messages_of_a_hidden_forest_are_sums_over_all_states) {
    for (const std::int64_t n_rows : {1, 63, 200}) {
        const TestTable table(7, n_rows, cardinalities);
        const HiddenForest forest(table.columns, parents, hidden);
        const auto cells = random_tables(forest);
        const auto found = forest.expected(cells, {}, 0, n_rows, nullptr);
        const auto alone = forest.log_prob(cells, 0, n_rows, nullptr);
        std::vector<double> counts(cells.size());
        for (std::size_t row = 0; row < static_cast<std::size_t>(n_rows); ++row) {
            const double p = enumerated(forest, cells, table, row, counts);
            CHECK(std::fabs(found.log_prob[row] - std::log(p)) < 1e-12 * std::fabs(std::log(p)) + 1e-12);
            CHECK(found.log_prob[row] == alone[row]);
        }
        for (std::size_t cell = 0; cell < counts.size(); ++cell) {
            CHECK(std::fabs(found.cells[cell] - counts[cell]) < 1e-9);
        }
    }
}

TEST(messages_of_a_hidden_forest_do_not_depend_on_threads) {
    const TestTable table(9, 5000, cardinalities);
    const HiddenForest forest(table.columns, parents, hidden);
    const auto cells = random_tables(forest);
    set_threads(1);
    const auto one = forest.expected(cells, {}, 0, 5000, nullptr);
    set_threads(4);
    const auto four = forest.expected(cells, {}, 0, 5000, nullptr);
    set_threads(2);
    CHECK(one.cells == four.cells);
    CHECK(one.log_prob == four.log_prob);
}

}  // namespace
}  // namespace fishernet
