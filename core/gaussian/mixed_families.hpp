// The likelihood of a number that has a regression on other numbers in every configuration of its parents' labels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interrupt.hpp"
#include "counts/families.hpp"
#include "gaussian/cell_moments.hpp"

namespace fishernet {

// The largest log-likelihood of each family's child given its parents, all of them numbers, by a regression in each
// configuration. A configuration with fewer rows than a regression has parameters (one intercept, the coefficients and a
// standard deviation), or whose own rows leave no variance, has the regression of all rows: so the likelihood is finite.
// So has the child alone, where all rows are fewer than twice the parameters of one regression.
// Of a child's variance at least `no_rest` is left, and a parent of which others leave no more adds nothing. No variance
// is below the child's number in `floors` (d), which is what rounding leaves of it.
std::vector<double> mixed_likelihoods(const CellMoments& cells, std::span<const double> floors, const Families& families,
                                      StopCheck check);

// Rows that lack cells: a column after the other, (columns, n), of codes and numbers, NaN where they are missing.
struct IncompleteRows {
    std::span<const double> values;
    std::span<const std::int64_t> cardinalities;  // of labels; 0 of numbers
    std::span<const double> weights;              // empty: each counts once
    std::size_t n;

    const double* column(std::int32_t v) const { return values.data() + static_cast<std::size_t>(v) * n; }
    bool number(std::int32_t v) const { return cardinalities[static_cast<std::size_t>(v)] == 0; }
};

// What the parents tell of each family's child, a number: its likelihood by regressions on them less that of the child
// alone, both on the rows that lack nothing of the family, and how much weight these have.
struct Told {
    std::vector<double> likelihoods, weights;
};
Told told_by_parents(const IncompleteRows& rows, std::span<const double> floors, const Families& families, StopCheck check);

}  // namespace fishernet
