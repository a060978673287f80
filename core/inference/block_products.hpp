// Products and sums over one block of a table, in one of three kinds of numbers: as they are, their logarithms, or
// logarithms with the maximum in place of the sum.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "base/float_kernels.hpp"
#include "inference/table_walk.hpp"

namespace fishernet {

inline constexpr double no_chance = -std::numeric_limits<double>::infinity();  // the logarithm of 0

struct Linear {
    static constexpr bool logarithmic = false;
    static constexpr bool keeps_tables = false;  // a message can be summed while its table is being made
};

struct Logarithmic {
    static constexpr bool logarithmic = true;
    static constexpr bool keeps_tables = true;
    static constexpr bool sums = true;
};

struct Maximal {
    static constexpr bool logarithmic = true;
    static constexpr bool keeps_tables = true;
    static constexpr bool sums = false;
};

inline std::int64_t place(const Operand& operand, std::int64_t i) {
    return operand.kind == Operand::Kind::constant     ? 0
           : operand.kind == Operand::Kind::contiguous ? i
                                                       : operand.offsets[static_cast<std::size_t>(i)];
}

// block[i] *= the cell of `by` that the operand says.
inline void multiply_block(double* block, std::int64_t n, const Operand& operand, const double* by) {
    constexpr std::int32_t worth_a_loop = 8;  // shorter runs are multiplied faster by gathering
    const auto& kernels = float_kernels();
    if (operand.kind == Operand::Kind::constant) {
        kernels.scale(block, *by, n);
    } else if (operand.kind == Operand::Kind::contiguous) {
        kernels.multiply(block, by, n);
    } else if (operand.run >= worth_a_loop) {
        kernels.multiply_runs(block, by, operand.offsets.data(), operand.run, operand.steady, n);
    } else {
        kernels.multiply_gathered(block, by, operand.offsets.data(), n);
    }
}

// into[...] += block[i], wherever the operand says.
inline void sum_block(const double* block, std::int64_t n, const Operand& operand, double* into) {
    const auto& kernels = float_kernels();
    switch (operand.kind) {
        case Operand::Kind::constant: *into += kernels.sum(block, n); return;
        case Operand::Kind::contiguous: kernels.add(into, block, n); return;
        case Operand::Kind::scattered:
            kernels.add_runs(into, block, operand.offsets.data(), operand.run, operand.steady, n);
    }
}

// The product of the inputs over one block of the table.
template <class Domain>
void fill_block(double* block, std::int64_t n, std::span<const Operand> operands, std::span<const double* const> inputs,
                const Odometer& at) {
    const auto& kernels = float_kernels();
    double factor = Domain::logarithmic ? 0 : 1;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (operands[i].kind != Operand::Kind::constant) continue;
        const double value = inputs[i][at.position(i)];
        factor = Domain::logarithmic ? factor + value : factor * value;
    }
    if (!Domain::logarithmic && factor == 0) {  // nothing that follows changes that
        std::fill(block, block + n, 0.0);
        return;
    }
    bool begun = false;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const double* from = inputs[i] + at.position(i);
        const auto& operand = operands[i];
        if (operand.kind == Operand::Kind::constant) continue;
        if (!begun) {
            begun = true;
            if (operand.kind == Operand::Kind::contiguous) {
                std::copy(from, from + n, block);
            } else {
                kernels.gather(block, from, operand.offsets.data(), n);
            }
        } else if constexpr (Domain::logarithmic) {
            for (std::int64_t k = 0; k < n; ++k) block[k] += from[place(operand, k)];
        } else {
            multiply_block(block, n, operand, from);
        }
    }
    if (!begun) {
        std::fill(block, block + n, factor);
    } else if constexpr (Domain::logarithmic) {
        for (std::int64_t k = 0; k < n; ++k) block[k] += factor;
    } else if (factor != 1) {
        kernels.scale(block, factor, n);
    }
}

}  // namespace fishernet
