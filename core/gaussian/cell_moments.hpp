// Sums and centred products of numbers in the cells of labels: of rows that come a block at a time, and of groups of cells.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/columns.hpp"
#include "base/interrupt.hpp"

namespace fishernet {

// Rows of numbers, (rows, width), of which d members count, the cell of each row, and their weights; without weights each
// counts once.
struct NumberBlock {
    std::span<const double> values;
    std::span<const std::int64_t> cells;
    std::span<const double> weights;
    std::int64_t width;
    std::span<const std::int32_t> members;

    std::size_t d() const { return members.size(); }
};

// The rows in each cell of some labels: their weight (q), the means of d numbers (q, d), and the centred sums of their
// products, (q, d (d + 1) / 2): of each number with itself and those before it.
struct CellMoments {
    std::span<const double> weights;
    std::span<const double> means;
    std::span<const double> products;
    std::int32_t d;

    std::size_t size() const { return weights.size(); }

    // How many products a cell of d numbers has, and the place of that of two numbers among them.
    static constexpr std::size_t n_products(std::size_t d) { return d * (d + 1) / 2; }
    static constexpr std::size_t place(std::size_t i, std::size_t k) { return n_products(std::max(i, k)) + std::min(i, k); }
};

// The same, with its numbers.
struct OwnedMoments {
    std::vector<double> weights, means, products;
    std::int32_t d = 0;

    CellMoments cells() const { return {weights, means, products, d}; }
};

// The moments of some of the numbers, ascending, in groups of cells; a group without rows has zeros.
OwnedMoments pooled(const CellMoments& cells, std::span<const std::int32_t> members, std::span<const std::int64_t> groups,
                    std::size_t n_groups);

// The same in one group of all cells, of some of the numbers or of all.
OwnedMoments pooled(const CellMoments& cells, std::span<const std::int32_t> members);
OwnedMoments pooled(const CellMoments& cells);

// The moments of some of a table's numbers in the configurations of some of its labels that occur, in lexicographic order,
// and the states of these, (q, labels). Labels and numbers are positions in the table, ascending.
struct LabelMoments {
    std::vector<std::int32_t> labels, numbers;
    std::vector<std::uint32_t> cardinalities, states;
    OwnedMoments moments;

    std::size_t size() const { return moments.products.size(); }
};

// The places of some positions among others, ascending, that hold them.
std::vector<std::int32_t> places(std::span<const std::int32_t> some, std::span<const std::int32_t> all);

// The same moments of some of these labels and numbers, ascending.
LabelMoments within(const LabelMoments& held, std::span<const std::int32_t> labels, std::span<const std::int32_t> numbers);

// A table of labels and numbers that lacks no cell: its columns, those of them that are numbers, ascending, and a row of
// their values after the other, (n, d).
struct LabelledNumbers {
    std::span<const Column> columns;
    std::span<const std::int32_t> numbers;
    std::span<const double> values;
    std::span<const double> weights;  // empty: each row counts once

    std::size_t d() const { return numbers.size(); }
    std::size_t n() const { return values.size() / d(); }
};

// Labels in whose configurations, fewer than 2**31, the moments of some numbers are asked for: positions of columns,
// ascending.
struct MomentsAsked {
    std::vector<std::int32_t> labels, numbers;
};

std::vector<LabelMoments> moments_within(const LabelledNumbers& rows, std::span<const MomentsAsked> asked, StopCheck check);

// Adds the weighted numbers of each cell to its sums, (cells, d).
void add_sums(const NumberBlock& block, std::span<double> sums);

// Adds the products of what the numbers are apart from the centre of their cell, (cells, d), to (cells, d, d).
void add_products(const NumberBlock& block, std::span<const double> centres, std::span<double> products);

}  // namespace fishernet
