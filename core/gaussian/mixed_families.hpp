// The likelihood of a number that has a regression on other numbers in every configuration of its parents' labels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interrupt.hpp"
#include "counts/families.hpp"
#include "gaussian/available_moments.hpp"
#include "gaussian/cell_moments.hpp"
#include "gaussian/moment_store.hpp"

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

// The same of families whose parents are labels and numbers, by moments that a store has or counts.
std::vector<double> mixed_likelihoods(MomentStore& store, std::span<const double> floors, const Families& families,
                                      StopCheck check);

// What the parents tell of each family's child, a number: its likelihood by regressions on them less that of the child
// alone, both on the rows that lack nothing of the family, and how much weight these have.
struct Told {
    std::vector<double> likelihoods, weights;
};
// Parents' labels have fewer than 2**31 configurations.
Told told_by_parents(AvailableMoments& rows, std::span<const double> floors, const Families& families, StopCheck check);

}  // namespace fishernet
