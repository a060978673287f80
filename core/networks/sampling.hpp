// Forward (ancestral) sampling: every variable is drawn after its parents.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interrupt.hpp"
#include "networks/conditionals.hpp"

namespace fishernet {

// Cumulative probabilities of each group in 32 bits: state = number of thresholds <= a draw from 0 to 2^32 - 2.
// Each is off by at most 2^-32; a state is drawn if and only if its probability is positive.
std::vector<std::uint32_t> thresholds(const double* probabilities, std::int64_t n_groups, std::int32_t states);

// Where a sampled column goes.
struct Output {
    void* codes = nullptr;
    int width = 1;
};

inline std::uint32_t code_of(const Output& column, std::int64_t row) {
    switch (column.width) {
        case 1: return static_cast<const std::uint8_t*>(column.codes)[row];
        case 2: return static_cast<const std::uint16_t*>(column.codes)[row];
        default: return static_cast<const std::uint32_t*>(column.codes)[row];
    }
}

inline void put_code(const Output& column, std::int64_t row, std::uint32_t code) {
    switch (column.width) {
        case 1: static_cast<std::uint8_t*>(column.codes)[row] = static_cast<std::uint8_t>(code); break;
        case 2: static_cast<std::uint16_t*>(column.codes)[row] = static_cast<std::uint16_t>(code); break;
        default: static_cast<std::uint32_t*>(column.codes)[row] = code;
    }
}

// Draws n rows. `order` lists the conditionals, parents first; columns are by variable. Row i of the result is a
// function of (key, i) alone.
void sample_forward(std::span<const FlatConditional> conditionals, std::span<const std::int32_t> order,
                    std::span<const std::vector<std::uint32_t>> limits, std::span<const Output> columns, std::int64_t n,
                    std::uint64_t key, StopCheck check);

}  // namespace fishernet
