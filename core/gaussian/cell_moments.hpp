// Sums and centred products of numbers in the cells of labels, of rows that come a block at a time.
#pragma once

#include <cstdint>
#include <span>

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

// Adds the weighted numbers of each cell to its sums, (cells, d).
void add_sums(const NumberBlock& block, std::span<double> sums);

// Adds the products of what the numbers are apart from the centre of their cell, (cells, d), to (cells, d, d): the lower
// triangles alone.
void add_products(const NumberBlock& block, std::span<const double> centres, std::span<double> products);

}  // namespace fishernet
