#include "inference/clique_draws.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/kernels.hpp"
#include "base/pool.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t block_rows = 4096;

// Draws the variables of a clique that its parent does not have.
void draw_clique(const CliqueDraw& draw, std::span<const std::int32_t> variables,
                 std::span<const std::int64_t> cardinalities, std::uint32_t number, std::int32_t* row) {
    const auto& own = draw.clique->variables;
    const auto n_separator = static_cast<std::size_t>(draw.clique->n_separator);
    std::int64_t which = 0;
    for (std::size_t axis = 0; axis < n_separator; ++axis) which = which * cardinalities[own[axis]] + row[variables[own[axis]]];
    const double* sums = draw.table + which * draw.slice;
    const double at = (number + 0.5) * 0x1p-32 * sums[draw.slice - 1];
    std::int64_t cell = std::min<std::int64_t>(std::upper_bound(sums, sums + draw.slice, at) - sums, draw.slice - 1);
    for (std::size_t axis = own.size(); axis-- > n_separator;) {
        row[variables[own[axis]]] = static_cast<std::int32_t>(cell % cardinalities[own[axis]]);
        cell /= cardinalities[own[axis]];
    }
}

}  // namespace

void accumulate_slices(const CliqueDraw& draw, bool logarithmic) {
    for (std::int64_t s = 0; s < draw.slices; ++s) {
        double* slice = draw.table + s * draw.slice;
        if (logarithmic) {
            const double top = *std::max_element(slice, slice + draw.slice);
            const bool possible = top > -std::numeric_limits<double>::infinity();
            for (std::int64_t i = 0; i < draw.slice; ++i) slice[i] = possible ? std::exp(slice[i] - top) : 0.0;
        }
        for (std::int64_t i = 1; i < draw.slice; ++i) slice[i] += slice[i - 1];
    }
}

void draw_rows(std::span<const CliqueDraw> cliques, std::span<const std::int32_t> variables,
               std::span<const std::int64_t> cardinalities, std::span<const std::int32_t> states, std::int64_t n,
               std::uint64_t key, std::span<const Output> columns, StopCheck check) {
    const auto width = static_cast<std::int64_t>(states.size());
    run_tasks((n + block_rows - 1) / block_rows, [&](std::int64_t block) {
        const std::int64_t first = block * block_rows;
        const std::int64_t size = std::min(block_rows, n - first);
        std::vector<std::int32_t> rows(static_cast<std::size_t>(size * width));
        for (std::int64_t i = 0; i < size; ++i) std::copy(states.begin(), states.end(), rows.begin() + i * width);
        std::vector<std::uint32_t> draws(block_rows);
        for (std::size_t c = 0; c < cliques.size(); ++c) {
            kernels().draw(key, static_cast<std::uint32_t>(c), static_cast<std::uint64_t>(block), draws.data(), block_rows);
            for (std::int64_t i = 0; i < size; ++i) {
                draw_clique(cliques[c], variables, cardinalities, draws[static_cast<std::size_t>(i)], rows.data() + i * width);
            }
        }
        for (std::int64_t v = 0; v < width; ++v) {
            for (std::int64_t i = 0; i < size; ++i) {
                put_code(columns[static_cast<std::size_t>(v)], first + i,
                         static_cast<std::uint32_t>(rows[static_cast<std::size_t>(i * width + v)]));
            }
        }
    }, check);
}

}  // namespace fishernet
