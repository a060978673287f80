// Scores of families over rows with missing cells: each on the rows that are complete in it.
#pragma once

#include <cstdint>
#include <span>

#include "base/columns.hpp"
#include "base/interrupt.hpp"
#include "counts/families.hpp"

namespace fishernet {

// How a family's score is made of its counts. `unit` is what a weight of 1 stands for.
struct AverageRule {
    double total;  // of all rows
    double price;  // of a free parameter
    double least;  // the same of a family that all rows know
    double unit;
};

// scores[f] = total / n I(child; parents) - price q (r - 1) - dearer (q - 1) (r - 1), where the information, n times the
// mutual one, is that of the n rows that are complete in the family, and what parents cost is dearer by least total / n - price
// where that is more than 0. Both are 0 of a family that no row knows. Families have at most 2^62 cells.
void node_average_scores(const Columns& table, const Families& families, const AverageRule& rule,
                         std::span<double> scores, StopCheck check);

}  // namespace fishernet
