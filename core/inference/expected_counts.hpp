// Counts of rows with missing cells: what is known of a row counts once, what it lacks with its probability.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/columns.hpp"
#include "inference/completion.hpp"

namespace fishernet {

// Calls found(factor, cell) for every factor all of whose variables the row knows.
template <class Found>
void visit_known(const Columns& table, std::span<const Factor> factors, std::int64_t row, Found found) {
    for (std::size_t f = 0; f < factors.size(); ++f) {
        std::int64_t cell = 0;
        bool known = true;
        for (std::size_t axis = 0; known && axis < factors[f].scope.size(); ++axis) {
            const auto& column = table.columns[static_cast<std::size_t>(factors[f].scope[axis])];
            const auto code = code_at(column, row);
            known = code < column.cardinality;
            cell += factors[f].strides[axis] * code;
        }
        if (known) found(f, cell);
    }
}

// The log-probability of what each row knows, from the log-sums of its questions.
std::vector<double> log_probabilities(const Columns& table, const FactorModel& model, const MissingComponents& components,
                                      std::span<const double> log_sums, StopCheck check);

// counts[factor][cell] of the rows that know all variables of the factor. No weights: each row counts once.
void add_known(const Columns& table, const FactorModel& model, std::span<const double> weights,
               std::span<double* const> counts, StopCheck check);

// The weight of the rows that ask each question.
std::vector<double> question_weights(const MissingComponents& components, std::span<const double> weights);

// The probability of every cell of every factor in each row, as a sparse matrix by rows: the factors' cells lie one after
// the other. An impossible row has none of the cells that it lacks.
struct Indicators {
    std::vector<std::int64_t> first;  // of every row, and one more
    std::vector<std::int32_t> cells;
    std::vector<double> probabilities;
};
Indicators expected_indicators(const Columns& table, const FactorModel& model, const Completion& completion,
                               StopCheck check);

// The probability of each state of a variable that all rows lack, and the log-probability of what each row knows. Its
// conditional is one of the factors. An impossible row has no probabilities but 0.
struct TargetAnswers {
    std::vector<double> probabilities;  // (rows, states)
    std::vector<double> log_probabilities;
};
TargetAnswers target_answers(const Columns& table, const FactorModel& model, const Completion& completion,
                             std::int32_t target, StopCheck check);

// Expected counts of a set of variables (ascending): all cells, the last variable fastest, or those with a positive count,
// ascending.
struct SetCounts {
    std::vector<std::int64_t> cells;  // empty: all
    std::vector<double> counts;
};
SetCounts expected_counts(const Columns& table, const MissingComponents& components, const Completed& completed,
                          std::span<const double> weights, const Scope& set, std::int64_t most_dense);

}  // namespace fishernet
