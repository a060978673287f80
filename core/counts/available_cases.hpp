// What parents tell over rows with missing cells: each on the rows that are complete in it.
#pragma once

#include <cstdint>
#include <span>

#include "base/columns.hpp"
#include "base/interrupt.hpp"
#include "counts/families.hpp"

namespace fishernet {

// told[f] = n I(child; parents), where the information is that of the rows that are complete in the family, and n their
// weight, which is weights[f]; `unit` is what a weight of 1 stands for. Families have at most 2^62 cells.
void told_by_parents(const Columns& table, const Families& families, double unit, std::span<double> told,
                     std::span<double> weights, StopCheck check);

}  // namespace fishernet
