// Rows that lack cells: against sums over all joint states.
#include "inference/completion.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "counts/available_cases.hpp"
#include "inference/expected_counts.hpp"
#include "test/check.hpp"
#include "test/data.hpp"
#include "test/network.hpp"

using namespace fishernet;

namespace {

// Rows of a network's variables in which about a share of the cells lacks; the first row lacks all.
struct IncompleteTable {
    std::vector<std::vector<std::uint8_t>> codes;
    Columns columns;

    IncompleteTable(const TestNetwork& network, std::int64_t n_rows, double share) {
        std::mt19937 random(11);
        columns.n_rows = columns.total = n_rows;
        for (const auto r : network.model.cardinalities) {
            auto& column = codes.emplace_back(static_cast<std::size_t>(n_rows));
            for (std::size_t i = 0; i < column.size(); ++i) {
                const bool lacks = i == 0 || static_cast<double>(random() % 1000) < 1000 * share;
                column[i] = static_cast<std::uint8_t>(lacks ? r : random() % static_cast<unsigned>(r));
            }
        }
        for (std::size_t v = 0; v < codes.size(); ++v) {
            columns.columns.push_back(
                {codes[v].data(), 1, static_cast<std::uint32_t>(network.model.cardinalities[v]), true});
        }
    }

    bool agrees(std::size_t row, const std::vector<std::int32_t>& states) const {
        for (std::size_t v = 0; v < codes.size(); ++v) {
            const auto code = codes[v][row];
            if (code < columns.columns[v].cardinality && code != states[v]) return false;
        }
        return true;
    }
};

bool near(double a, double b) { return std::abs(a - b) <= 1e-10 * std::max(1.0, std::abs(b)); }

std::vector<Scope> scopes_of(const FactorModel& model) {
    std::vector<Scope> scopes;
    for (const auto& factor : model.factors) scopes.push_back(factor.scope);
    return scopes;
}

// The probability of what a row knows, and of each cell of the tables given that.
std::pair<double, std::vector<std::vector<double>>> enumerate(const TestNetwork& network, const IncompleteTable& incomplete,
                                                              std::size_t row) {
    double total = 0;
    std::vector<std::vector<double>> cells;
    for (const auto& factor : network.model.factors) cells.emplace_back(static_cast<std::size_t>(factor.cells), 0.0);
    for (std::int64_t cell = 0; cell < network.n_states(); ++cell) {
        const auto states = network.states(cell);
        if (!incomplete.agrees(row, states)) continue;
        const double p = network.probability(states);
        total += p;
        for (std::size_t f = 0; f < cells.size(); ++f) {
            const auto& factor = network.model.factors[f];
            std::int64_t at = 0;
            for (std::size_t axis = 0; axis < factor.scope.size(); ++axis) {
                at += factor.strides[axis] * states[static_cast<std::size_t>(factor.scope[axis])];
            }
            cells[f][static_cast<std::size_t>(at)] += p;
        }
    }
    for (auto& table : cells) {
        for (auto& p : table) p /= total;
    }
    return {std::log(total), cells};
}

void check_rows(double share) {
    const TestNetwork network(5, {2, 3, 2, 3, 2, 3, 2, 3}, 3);  // 1296 states together: more than are enumerated
    const std::int64_t n = thread_sanitizer ? 40 : 150;
    const IncompleteTable incomplete(network, n, share);
    const MissingComponents components(incomplete.columns, scopes_of(network.model), false, -1, nullptr);
    const MissingComponents needed(incomplete.columns, scopes_of(network.model), true, -1, nullptr);
    const Completion completion(components, network.model, 1e9, nullptr);
    const Completion spared(needed, network.model, 1e9, nullptr);
    CHECK(completion.complete() && spared.complete());
    const auto logs = log_probabilities(incomplete.columns, network.model, components, completion.log_sums(nullptr), nullptr);
    const auto again = log_probabilities(incomplete.columns, network.model, needed, spared.log_sums(nullptr), nullptr);
    std::vector<std::vector<double>> counts;
    std::vector<double*> pointers;
    for (const auto& factor : network.model.factors) counts.emplace_back(static_cast<std::size_t>(factor.cells), 0.0);
    for (auto& table : counts) pointers.push_back(table.data());
    add_known(incomplete.columns, network.model, {}, pointers, nullptr);
    completion.add_expected(question_weights(components, {}), pointers, nullptr);
    auto wanted = counts;
    for (auto& table : wanted) std::fill(table.begin(), table.end(), 0.0);
    for (std::size_t row = 0; row < static_cast<std::size_t>(n); ++row) {
        const auto [log_probability, cells] = enumerate(network, incomplete, row);
        CHECK(near(logs[row], log_probability) && near(again[row], log_probability));
        for (std::size_t f = 0; f < cells.size(); ++f) {
            for (std::size_t i = 0; i < cells[f].size(); ++i) wanted[f][i] += cells[f][i];
        }
    }
    for (std::size_t f = 0; f < counts.size(); ++f) {
        for (std::size_t i = 0; i < counts[f].size(); ++i) CHECK(near(counts[f][i], wanted[f][i]));
    }
}

// Drawn and most probable rows agree with what is known, and completions are distributions.
void check_completed() {
    const TestNetwork network(5, {2, 3, 2, 3, 2, 3, 2, 3}, 3);
    const IncompleteTable incomplete(network, 60, 0.5);
    const MissingComponents components(incomplete.columns, scopes_of(network.model), false, -1, nullptr);
    const Completion completion(components, network.model, 1e9, nullptr);
    for (const auto& best : completion.most_probable(nullptr)) CHECK(!best.empty());
    auto filled = incomplete.codes;
    std::vector<Output> outputs;
    for (auto& column : filled) outputs.push_back({column.data(), 1});
    CHECK(completion.draw(3, outputs, nullptr));
    for (std::size_t row = 0; row < 60; ++row) {
        std::vector<std::int32_t> states;
        for (const auto& column : filled) states.push_back(column[row]);
        CHECK(incomplete.agrees(row, states) && network.probability(states) > 0);
    }
    for (const std::int64_t most : {8, 4096}) {
        const auto found = completion.completed(most, 7, nullptr);
        for (std::size_t q = 0; q + 1 < found.first.size(); ++q) {
            const auto* first = found.probabilities.data() + found.first[q];
            const auto* last = found.probabilities.data() + found.first[q + 1];
            CHECK(near(std::accumulate(first, last, 0.0), 1.0));
        }
        const auto counts = expected_counts(incomplete.columns, components, found, {}, {1, 4, 6}, 1000).counts;
        CHECK(near(std::accumulate(counts.begin(), counts.end(), 0.0), 60.0));
    }
}

// Information on the rows that are complete, densely and by sorting, counted naively.
void check_available_cases() {
    const TestNetwork network(2, {2, 3, 4, 50}, 2);
    const IncompleteTable incomplete(network, 500, 0.2);
    const std::vector<std::int32_t> children{0, 1, 2, 3};
    const std::vector<std::int64_t> offsets{0, 0, 1, 3, 6};
    const std::vector<std::int32_t> parents{0, 0, 3, 0, 1, 2};
    std::vector<double> told(4), weights(4);
    told_by_parents(incomplete.columns, {children, offsets, parents}, 1.0, told, weights, nullptr);
    for (std::size_t f = 0; f < 4; ++f) {
        std::map<std::vector<int>, double> joint, of_parents;
        std::map<int, double> of_child;
        double n = 0;
        for (std::size_t row = 0; row < 500; ++row) {
            std::vector<int> configuration;
            bool complete = true;
            const auto look = [&](std::int32_t v) {
                const int code = incomplete.codes[static_cast<std::size_t>(v)][row];
                complete = complete && code < network.model.cardinalities[static_cast<std::size_t>(v)];
                return code;
            };
            for (auto p = offsets[f]; p < offsets[f + 1]; ++p) {
                configuration.push_back(look(parents[static_cast<std::size_t>(p)]));
            }
            const int child = look(children[f]);
            if (!complete) continue;
            ++n;
            ++of_child[child];
            ++of_parents[configuration];
            configuration.push_back(child);
            ++joint[configuration];
        }
        double information = 0;
        for (const auto& [cell, count] : joint) {
            const std::vector<int> configuration(cell.begin(), cell.end() - 1);
            information += count * std::log(count * n / (of_parents[configuration] * of_child[cell.back()]));
        }
        CHECK(weights[f] == n);
        CHECK(std::abs(told[f] - information) < 1e-8 * std::max(1.0, information));
    }
}

}  // namespace

TEST(rows_that_lack_cells_equal_enumeration) {
    check_rows(0.2);
    check_rows(0.7);
}
TEST(completed_rows_agree_with_what_is_known) { check_completed(); }
TEST(available_cases_are_counted) { check_available_cases(); }
