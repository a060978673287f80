// Random splits of the rows of two tables, and the distance between the parts' mean features under each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interrupt.hpp"
#include "comparison/split_loops.hpp"
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

// How many rows of the first part are in every cell, under each of some splits; the rows come some at a time.
class SplitCounts {
public:
    // Of the splits first .. first + count, where `first` is a multiple of split_lanes; cells are as those of `like`.
    SplitCounts(const CellRows& like, const Splits& splits, std::int64_t first, std::int64_t count);

    // Adds the rows that come after those added before. When it is stopped, nothing can be added any more.
    void add(const CellRows& rows, StopCheck check);

    // Whether rows may be added that are so many and have such cells.
    bool takes(const CellRows& rows) const;
    bool is_complete() const { return done_ == splits_.n_rows; }
    std::int64_t n_cells() const { return firsts_.back(); }
    std::size_t n_conditionals() const { return states_.size(); }
    std::size_t n_groups() const;

    // Of all rows.
    SplitDistances distances(std::span<const double> theta, std::span<const double> weights, bool by_group) const;

private:
    std::int64_t n_blocks() const { return (count_ + split_lanes - 1) / split_lanes; }

    std::vector<std::int64_t> firsts_;
    std::vector<std::int32_t> states_;
    Splits splits_;
    std::int64_t first_, count_;
    std::int64_t done_ = 0;               // rows that were added; -1 when that was stopped
    std::vector<std::uint32_t> needed_;   // (blocks, lanes): rows that the first part still takes
    std::vector<std::uint32_t> counts_;   // (blocks, cells, lanes)
    std::vector<double> totals_;          // (cells,): all rows
};

}  // namespace fishernet
