// The fractional marginal likelihood of Gaussian families (Leppä-aho, 2020, Eq. 3.6): a number for the size of the set, and a weight
// times the logarithm of a determinant.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/interrupt.hpp"
#include "counts/families.hpp"
#include "gaussian/regression.hpp"

namespace fishernet {

// The score of a column given p others that leave `residual` of it unexplained: of_size[p] - weight log(residual). A
// blanket has fewer members than of_size has numbers.
struct BlanketScore {
    std::span<const double> of_size;
    double weight;

    std::int32_t most() const { return static_cast<std::int32_t>(of_size.size()) - 1; }
    double operator()(std::int32_t p, double residual) const { return of_size[p] - weight * std::log(residual); }
};

// Scores that differ by less are equal.
inline constexpr double score_tie = 1e-9;

// A column of which others leave no more than this unexplained is made of them.
inline constexpr double no_rest = 1e-10;

// A column that others make up, all of them by their numbers.
struct Collinear : std::runtime_error {
    explicit Collinear(std::vector<std::int32_t> which) : std::runtime_error("collinear columns"), columns(std::move(which)) {}
    std::vector<std::int32_t> columns;
};

// Scores of families: of_set[q] - weight log |S_A| for the family's q columns A, less the same for the parents.
std::vector<double> family_scores(Products products, BlanketScore of_set, const Families& families, StopCheck check);

// of_set[q] - weight log |S_A| for all sets A of up to most() columns, by bit masks; 0 for larger sets.
std::vector<double> subset_scores(Products products, BlanketScore of_set, StopCheck check);

}  // namespace fishernet
