// The rows of each cell of a table, one cell after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fishernet {

class RowsByCell {
public:
    // The cells are those of the rows; rows of one cell keep their order.
    template <class Cell>
    RowsByCell(std::span<const Cell> cells, std::size_t n_cells) : ends_(n_cells + 1), rows_(cells.size()) {
        for (const auto cell : cells) ++ends_[static_cast<std::size_t>(cell) + 1];
        for (std::size_t cell = 0; cell < n_cells; ++cell) ends_[cell + 1] += ends_[cell];
        auto next = ends_;
        for (std::size_t row = 0; row < cells.size(); ++row) {
            rows_[next[static_cast<std::size_t>(cells[row])]++] = static_cast<std::uint32_t>(row);
        }
    }

    std::span<const std::uint32_t> of(std::size_t cell) const {
        return std::span(rows_).subspan(ends_[cell], ends_[cell + 1] - ends_[cell]);
    }

    // The end of the rows of all cells.
    const std::uint32_t* end() const { return rows_.data() + rows_.size(); }

private:
    std::vector<std::size_t> ends_;
    std::vector<std::uint32_t> rows_;
};

}  // namespace fishernet
