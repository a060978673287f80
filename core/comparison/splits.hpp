// Random splits of the rows of two tables, and the distance between the parts' mean features under each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interrupt.hpp"
#include "selection/cells.hpp"

namespace fishernet {

// Splits of rows into a first part of a given size and the rest. Split 0 takes the first rows, the others are drawn
// uniformly, with an error of at most 2^-32 at each row: split s is a function of the key and s alone.
struct Splits {
    std::int64_t n_rows = 0, n_first = 0;  // below 2^32
    std::uint64_t key = 0;
};

// taken[i * count + j] = whether split first + j takes row i. `first` is a multiple of split_lanes.
void draw_splits(const Splits& splits, std::int64_t first, std::int64_t count, std::span<std::uint8_t> taken,
                 StopCheck check);

// |mean feature of the first part - mean feature of the rest|^2 of every split, by conditional and by group, where the
// feature of a cell is ([the row is in it] - theta [the row is in its group]) sqrt(weight).
struct SplitDistances {
    std::vector<double> by_conditional;  // (splits, conditionals)
    std::vector<double> by_group;        // (splits, groups), or empty
};

SplitDistances split_distances(const CellRows& rows, std::span<const double> theta, std::span<const double> weights,
                               const Splits& splits, std::int64_t n_splits, bool by_group, StopCheck check);

}  // namespace fishernet
