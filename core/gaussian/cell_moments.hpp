// Sums and centred products of numbers in the cells of labels, of rows that come a block at a time.
#pragma once

#include <cstdint>
#include <span>

namespace fishernet {

// Rows of d numbers, (rows, d), the cell of each, and their weights; without weights each counts once.
struct NumberBlock {
    std::span<const double> values;
    std::span<const std::int64_t> cells;
    std::span<const double> weights;
    std::int64_t d;
};

// Adds the weighted numbers of each cell to its sums, (cells, d).
void add_sums(const NumberBlock& block, std::span<double> sums);

// Adds the products of what the numbers are apart from the centre of their cell, (cells, d), to (cells, d, d): the lower
// triangles alone.
void add_products(const NumberBlock& block, std::span<const double> centres, std::span<double> products);

}  // namespace fishernet
