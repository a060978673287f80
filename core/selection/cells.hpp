// Where each row of a table falls in the conditionals of a model: cell = first cell of the conditional
// + group * states + state. Cells of different conditionals are different numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/columns.hpp"
#include "base/interrupt.hpp"
#include "networks/conditionals.hpp"

namespace fishernet {

struct CellRows {
    std::int64_t n_rows = 0;
    std::vector<std::int64_t> firsts;           // the first cell of every conditional; their number at the end
    std::vector<std::int32_t> states;           // of every conditional's child
    std::vector<std::uint32_t> cells;           // conditional by conditional

    std::size_t n_conditionals() const { return states.size(); }
    std::int64_t n_cells() const { return firsts.back(); }
    const std::uint32_t* of(std::size_t conditional) const {
        return cells.data() + static_cast<std::int64_t>(conditional) * n_rows;
    }
    std::uint32_t at(std::size_t conditional, std::int64_t row) const { return of(conditional)[row]; }

    // The first cell of the group that a cell belongs to.
    std::uint32_t group_start(std::size_t conditional, std::uint32_t cell) const {
        const auto within = cell - static_cast<std::uint32_t>(firsts[conditional]);
        return cell - within % static_cast<std::uint32_t>(states[conditional]);
    }
};

CellRows find_cell_rows(const Columns& table, std::span<const FlatConditional> conditionals, StopCheck check);

// counts[cell] += the number of rows in it, or the sum of their weights.
void count_cells(const CellRows& rows, const std::int64_t* weights, std::span<double> counts, StopCheck check);

// sums[cell] += the factors of the rows in it, in the order of the rows.
void sum_cells(const CellRows& rows, std::span<const double> factors, std::span<double> sums);

}  // namespace fishernet
