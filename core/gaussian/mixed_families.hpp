// The likelihood of a number that has a regression on other numbers in every configuration of its parents' labels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/columns.hpp"
#include "base/interrupt.hpp"
#include "counts/families.hpp"
#include "gaussian/cell_moments.hpp"

namespace fishernet {

// The largest log-likelihood of each family's child given its parents, all of them numbers, by a regression in each
// configuration of the labels whose moments it has: their place is in `of_family`. A configuration with fewer rows than a
// regression has parameters (one intercept, the coefficients and a standard deviation), or whose own rows leave no
// variance, has the regression of all rows: so the likelihood is finite. So has the child alone, where all rows are fewer
// than twice the parameters of one regression.
// Of a child's variance at least `no_rest` is left, and a parent of which others leave no more adds nothing. No variance
// is below the number's in `floors`, which is what rounding leaves of it. Families and floors are of the table's columns.
std::vector<double> mixed_likelihoods(std::span<const LabelMoments* const> moments, std::span<const std::int32_t> of_family,
                                      std::span<const double> floors, const Families& families, StopCheck check);

// Rows that lack cells: codes of labels, and of numbers whether they are missing, beside a row of values for each number,
// (numbers, n), whose place among these is given by column; -1 for labels. Missing numbers have any value.
struct IncompleteRows {
    std::span<const Column> columns;
    std::span<const std::int32_t> places;
    std::span<const double> values;
    std::span<const double> weights;  // empty: each counts once
    std::size_t n;

    bool is_number(std::int32_t v) const { return places[static_cast<std::size_t>(v)] >= 0; }
    const double* numbers(std::int32_t v) const {
        return values.data() + static_cast<std::size_t>(places[static_cast<std::size_t>(v)]) * n;
    }
    double weight(std::size_t row) const { return weights.empty() ? 1.0 : weights[row]; }
};

// What the parents tell of each family's child, a number: its likelihood by regressions on them less that of the child
// alone, both on the rows that lack nothing of the family, and how much weight these have.
struct Told {
    std::vector<double> likelihoods, weights;
};
// Parents' labels have fewer than 2**31 configurations.
Told told_by_parents(const IncompleteRows& rows, std::span<const double> floors, const Families& families, StopCheck check);

}  // namespace fishernet
