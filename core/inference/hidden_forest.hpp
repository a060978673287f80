// Rows of a network whose hidden variables form a forest and whose observed ones are its leaves: what each row is
// probable by, and how often every cell of the tables is expected. Messages go up and down the forest for many rows at
// once, as products of matrices (Pearl, 1988).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/columns.hpp"
#include "base/interrupt.hpp"

namespace fishernet {

struct ForestCounts {
    std::vector<double> cells;
    std::vector<double> log_prob;  // one a row, -infinity where it is impossible: such a row is not counted
};

class HiddenForest {
public:
    // The parent of each variable, -1 of a root, which is hidden; parents are hidden. Codes of hidden variables are not
    // looked at. The columns must outlive it.
    HiddenForest(const Columns& columns, std::span<const std::int32_t> parents, std::span<const std::uint8_t> hidden);

    std::size_t size() const { return starts_.size() - 1; }
    std::int64_t n_rows() const { return columns_.n_rows; }

    // Where the table of each variable begins among the cells, one variable after the other: [state of the parent]
    // [state], of a root one row; and how many cells there are.
    const std::vector<std::int64_t>& starts() const { return starts_; }

    // Of the rows from begin to end, which count by their weights, where there are some, one a row of them.
    ForestCounts expected(std::span<const double> cells, std::span<const double> weights, std::int64_t begin,
                          std::int64_t end, StopCheck check) const;
    std::vector<double> log_prob(std::span<const double> cells, std::int64_t begin, std::int64_t end, StopCheck check) const;

    struct Node {
        std::int32_t variable = 0, parent = -1;  // the parent is a node
        std::int64_t states = 0, width = 0;      // padded to whole tiles
        std::int64_t above = 1;                  // the width of the parent
        std::int64_t at = 0;                     // see padded_cells
        std::vector<std::int32_t> leaves;        // variables
        std::vector<std::int32_t> children;      // nodes
    };
    const Columns& columns() const { return columns_; }
    const std::vector<Node>& nodes() const { return nodes_; }  // parents before their children

    // The tables in whole tiles, one after the other: of a node (above, width), and of a leaf, from leaf_at on, one row a
    // symbol and one for what is missing, of its parent's width.
    std::int64_t padded_cells() const { return padded_cells_; }
    std::int64_t leaf_at(std::int32_t v) const { return leaf_at_[static_cast<std::size_t>(v)]; }

    std::int64_t cardinality(std::int32_t v) const { return columns_.columns[static_cast<std::size_t>(v)].cardinality; }

private:
    std::int64_t rows_at_once(std::int64_t n) const;  // of n

    const Columns& columns_;
    std::vector<std::int64_t> starts_, leaf_at_;
    std::int64_t padded_cells_ = 0;
    std::vector<Node> nodes_;
};

}  // namespace fishernet
