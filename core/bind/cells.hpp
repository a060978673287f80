// The bound form of the cells of a table's rows.
#pragma once

#include "bind/arrays.hpp"
#include "selection/cells.hpp"

namespace fishernet::bind {

struct BoundCells {
    CellRows rows;
};

// A number for every cell.
inline std::span<const double> check_cell_values(const CellRows& rows, const In<double>& values) {
    if (static_cast<std::int64_t>(values.size()) != rows.n_cells()) refuse("a value for every cell is needed");
    return view(values);
}

}  // namespace fishernet::bind
