// Products and sums over the whole table of a clique, block by block, in one of the three kinds of numbers. Large tables are
// cut into parts for several threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/float_kernels.hpp"
#include "base/interrupt.hpp"
#include "inference/block_products.hpp"
#include "inference/schedule.hpp"
#include "inference/table_walk.hpp"

namespace fishernet {

// How a clique's table is made: `inputs` lie where `operands` say, and the sums go where `out` says.
struct TableProduct {
    const Shape& shape;
    std::span<const Operand> operands;
    std::span<const double* const> inputs;
    const Operand& out;
    std::int64_t out_cells;

    std::vector<const Operand*> walked() const {
        std::vector<const Operand*> all;
        for (const auto& operand : operands) all.push_back(&operand);
        all.push_back(&out);
        return all;
    }
};

// Every cell becomes the product of the inputs.
template <class Domain>
void fill_table(const TableProduct& product, double* table, bool parallel, StopCheck check) {
    const auto& shape = product.shape;
    const auto walked = product.walked();
    for_chunks(count_chunks(shape, 0), shape.blocks, parallel, check,
               [&](std::int64_t, std::int64_t first, std::int64_t last) {
                   Odometer at(shape, walked, first);
                   for (auto b = first; b < last; ++b, at.next()) {
                       fill_block<Domain>(table + b * shape.block, shape.block, product.operands, product.inputs, at);
                   }
               });
}

// The product and its sums in one pass; the table is kept where there is one.
inline std::vector<double> multiply_and_sum(const TableProduct& product, double* table, bool parallel, StopCheck check) {
    const auto& shape = product.shape;
    const auto walked = product.walked();
    const auto n = shape.block;
    const auto work = [&](double* sums, std::int64_t first, std::int64_t last) {
        thread_local std::vector<double> scratch;
        if (table == nullptr) scratch.resize(static_cast<std::size_t>(n));
        Odometer at(shape, walked, first);
        for (auto b = first; b < last; ++b, at.next()) {
            double* block = table != nullptr ? table + b * n : scratch.data();
            fill_block<Linear>(block, n, product.operands, product.inputs, at);
            sum_block(block, n, product.out, sums + at.position(product.inputs.size()));
        }
    };
    // The separator varies slowest: parts of whole separator cells write to different sums.
    const std::int64_t rest = shape.cells() / product.out_cells;
    const std::int64_t whole = std::max<std::int64_t>(1, rest / n);  // blocks that share a separator cell
    const std::int64_t units = shape.blocks / whole;
    if (units < 8) return sum_chunks(shape, product.out_cells, parallel, check, work);
    std::vector<double> sums(static_cast<std::size_t>(product.out_cells), 0.0);
    for_chunks(std::min(count_chunks(shape, 0), units), units, parallel, check,
               [&](std::int64_t, std::int64_t first, std::int64_t last) {
                   work(sums.data(), first * whole, last * whole);
               });
    return sums;
}

// Multiplies a table by a smaller one.
template <class Domain>
void multiply_table(const Shape& shape, double* table, const Operand& operand, const double* by, bool parallel,
                    StopCheck check) {
    const Operand* walked[] = {&operand};
    const auto work = [&](std::int64_t, std::int64_t first, std::int64_t last) {
        Odometer at(shape, walked, first);
        for (auto b = first; b < last; ++b, at.next()) {
            double* block = table + b * shape.block;
            const double* factor = by + at.position(0);
            if constexpr (Domain::logarithmic) {
                for (std::int64_t i = 0; i < shape.block; ++i) block[i] += factor[place(operand, i)];
            } else {
                multiply_block(block, shape.block, operand, factor);
            }
        }
    };
    for_chunks(count_chunks(shape, 0), shape.blocks, parallel, check, work);
}

// visit(value, the cell of the operand's table), cell by cell.
template <class Visit>
void for_cells(const Shape& shape, const double* table, const Operand& operand, Visit visit) {
    const Operand* walked[] = {&operand};
    Odometer at(shape, walked, 0);
    for (std::int64_t b = 0; b < shape.blocks; ++b, at.next()) {
        const double* block = table + b * shape.block;
        for (std::int64_t i = 0; i < shape.block; ++i) {
            visit(block[i], static_cast<std::size_t>(at.position(0) + place(operand, i)));
        }
    }
}

// The sums (or what stands for them) of a table over all axes that the operand does not have.
template <class Domain>
std::vector<double> table_sums(const Shape& shape, const double* table, const Operand& operand, std::int64_t out_cells,
                               bool parallel, StopCheck check) {
    if constexpr (Domain::logarithmic) {
        std::vector<double> tops(static_cast<std::size_t>(out_cells), no_chance);
        for_cells(shape, table, operand, [&](double value, std::size_t out) { tops[out] = std::max(tops[out], value); });
        if constexpr (Domain::sums) {
            std::vector<double> sums(tops.size(), 0.0);
            for_cells(shape, table, operand, [&](double value, std::size_t out) {
                if (value > no_chance) sums[out] += std::exp(value - tops[out]);
            });
            for (std::size_t i = 0; i < tops.size(); ++i) tops[i] += std::log(sums[i]);
        }
        return tops;
    } else {
        const Operand* walked[] = {&operand};
        return sum_chunks(shape, out_cells, parallel, check, [&](double* sums, std::int64_t first, std::int64_t last) {
            Odometer at(shape, walked, first);
            for (auto b = first; b < last; ++b, at.next()) {
                sum_block(table + b * shape.block, shape.block, operand, sums + at.position(0));
            }
        });
    }
}

// As probabilities that sum to 1.
template <class Domain>
std::vector<double> normalized(std::vector<double> values) {
    if constexpr (Domain::logarithmic) {
        const double top = *std::max_element(values.begin(), values.end());
        for (auto& value : values) value = std::exp(value - top);
    }
    constexpr std::size_t block = 1024;  // sums of sums: a table may have millions of cells
    std::vector<double> sums;
    for (std::size_t first = 0; first < values.size(); first += block) {
        const auto n = std::min(block, values.size() - first);
        sums.push_back(float_kernels().sum(values.data() + first, static_cast<std::int64_t>(n)));
    }
    const double total = float_kernels().sum(sums.data(), static_cast<std::int64_t>(sums.size()));
    for (auto& value : values) value /= total;
    return values;
}

}  // namespace fishernet
