// Exact inference in networks of labels and numbers, for missing cells of a row that share conditionals (a gap). Numbers
// are integrated out first: given the labels they are jointly normal, and what is known of them is a table over the
// missing labels on which they depend. Then labels are summed out, one after the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interrupt.hpp"
#include "inference/elimination.hpp"
#include "inference/label_plan.hpp"

namespace fishernet {

// P(variable | its parents). Its values have an axis for each of its labels, in their order: logarithms of
// probabilities, where the variable has labels and is the last of them; otherwise a regression (level, slope of each of
// its numbers, standard deviation) in each configuration.
struct MixedConditional {
    std::int32_t variable;
    bool number;
    Scope labels;
    Scope numbers;
    std::vector<double> values;
};

struct MixedModel {
    std::vector<std::int64_t> cardinalities;  // of the variables; of a number 1
    std::vector<MixedConditional> conditionals;
};

// Rows of a model's variables: codes of labels, and numbers on their scales. With `intervals` a row goes on with the
// middles of the intervals to which numbers were rounded, there, and then with their widths (0: not rounded).
struct MixedRows {
    const double* cells;  // (n_rows, n_variables), or (n_rows, 3 n_variables)
    std::size_t n_variables;
    std::span<const std::int64_t> rows;  // those that are looked at
    bool intervals = false;

    const double* of(std::size_t at) const {
        return cells + static_cast<std::size_t>(rows[at]) * (intervals ? 3 : 1) * n_variables;
    }
};

// The weights, sums and sums of products (lower triangles) of a family's numbers in each configuration of its labels.
struct MixedSums {
    double* weights;
    double* first;
    double* second;
    std::int64_t* places = nullptr;  // configurations of each row's own sums, (n_rows, expected_states); else rows add up
};

struct MixedAnswer {
    std::vector<double> log_weights;  // (n_rows, states of the scope)
    std::vector<double> mean;         // (n_rows, states, d)
    std::vector<double> covariance;   // (n_rows, states, d, d)
};

class MixedGap {
public:
    // `families` are conditionals, parents before their children; `soft` ones have one label, whose states they weigh.
    MixedGap(const MixedModel& model, Scope missing, std::vector<std::int32_t> families,
             std::vector<MixedConditional> soft);

    const Scope& missing() const { return missing_; }
    const std::vector<std::int32_t>& families() const { return families_; }
    std::size_t n_variables() const { return cardinalities_.size(); }
    bool same_variables(const MixedModel& model) const { return model.cardinalities == cardinalities_; }
    // The known labels of its conditionals, ascending.
    const Scope& border() const { return border_; }
    // The missing labels that tell the components of the distribution of some missing numbers, and those kept; all are
    // ascending.
    Scope mixture_scope(const Scope& wanted, const Scope& keep) const;
    // Of the largest table that is made, of numbers too: there are as many as a mean and a lower triangle of each state.
    double most_cells(const Scope& keep) const;
    // The most joint states of missing labels that are gone through when nothing is kept.
    double most_states() const;

    // The log-probability of what is known with each state of some missing labels, (n_rows, states).
    std::vector<double> joint(const MixedModel& model, const MixedRows& rows, const Scope& keep, StopCheck check) const;
    // The joint distribution of some missing numbers and labels, by the states of their mixture scope.
    MixedAnswer mixture(const MixedModel& model, const MixedRows& rows, const Scope& wanted, const Scope& keep,
                        StopCheck check) const;
    // A value of each missing variable, (n, n_missing): labels that are most probable together, and means. With noise,
    // (n_missing, n), draws: as many of each row, one after the other. Its first rows, of labels, are between 0 and 1, the
    // others standard normal.
    std::vector<double> completed(const MixedModel& model, const MixedRows& rows, std::span<const double> noise,
                                  std::size_t n, StopCheck check) const;
    // The configurations of a family that a row may have.
    std::size_t expected_states(const MixedModel& model, std::size_t family) const;
    // Adds the expected statistics of rows with weights (empty: each counts once) to the sums of the gap's families, in
    // their order, and returns the rows' log-probabilities. A family's labels and numbers are ascending; numbers count
    // from an origin.
    std::vector<double> add_expected(const MixedModel& model, const MixedRows& rows, std::span<const double> weights,
                                     std::span<const double> origin, std::span<const MixedSums> sums,
                                     StopCheck check) const;

private:
    struct Block {
        std::vector<std::int32_t> regressions;  // parents before their children
        Scope known, members;                   // their children
        Scope scope;                            // the missing labels on which they depend

        std::size_t size() const { return known.size() + members.size(); }
    };
    class Reader;
    class Run;

    const MixedConditional& conditional(const MixedModel& model, std::size_t table) const;
    Scope missing_in(Scope scope) const;  // ascending
    // The missing labels that tell the components of a family's mixture.
    Scope family_scope(const MixedConditional& own) const;
    LabelPlan plan(const Scope& keep) const;
    bool is_missing(std::int32_t v) const { return place_[static_cast<std::size_t>(v)] >= 0; }

    std::vector<std::int64_t> cardinalities_;
    Scope missing_, border_;
    std::vector<std::int32_t> place_;  // of every variable: among the missing ones, or -1
    std::vector<std::int32_t> families_;
    std::vector<MixedConditional> soft_;
    std::vector<std::int32_t> tables_;  // conditionals of labels; then the soft ones, beyond those of the model
    std::vector<Scope> scopes_;         // missing labels of each table, then of each block
    std::vector<Block> blocks_;
    std::size_t n_model_;
    LabelOrder order_;  // in which all labels are summed out
};

}  // namespace fishernet
