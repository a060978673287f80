#include "sampling.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels.hpp"
#include "pool.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t block_rows = 4096;
constexpr std::uint32_t top = 0xFFFFFFFFu;  // draws stay below it, so a threshold of this is never reached

// One threshold for each state but the last, for one group.
void group_thresholds(const double* p, std::int32_t states, std::uint32_t* out) {
    const auto positive_after = [&](std::int32_t k) {
        return static_cast<std::uint64_t>(std::count_if(p + k + 1, p + states, [](double x) { return x > 0; }));
    };
    double sum = 0;
    std::uint64_t last = 0;
    for (std::int32_t k = 0; k + 1 < states; ++k) {
        sum += p[k];
        const std::uint64_t room = top - positive_after(k);  // what comes later and is positive needs one draw each
        std::uint64_t limit = last;
        if (p[k] > 0) {
            const double exact = std::ldexp(sum, 32);
            limit = exact >= static_cast<double>(top) ? top : static_cast<std::uint64_t>(std::llround(exact));
            limit = std::min(std::max(limit, last + 1), room);
            if (positive_after(k) == 0) limit = top;
        }
        out[k] = static_cast<std::uint32_t>(limit);
        last = limit;
    }
}

template <class Code>
void choose_states(const std::uint32_t* draws, const std::uint32_t* groups, const std::uint32_t* limits,
                   std::int32_t states, std::int64_t n, Code* out) {
    if (states == 2) {
        for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<Code>(draws[i] >= limits[groups[i]]);
        return;
    }
    const std::int32_t width = states - 1;
    if (states <= 8) {
        for (std::int64_t i = 0; i < n; ++i) {
            const std::uint32_t* row = limits + std::int64_t{groups[i]} * width;
            std::uint32_t state = 0;
            for (std::int32_t k = 0; k < width; ++k) state += draws[i] >= row[k];
            out[i] = static_cast<Code>(state);
        }
        return;
    }
    for (std::int64_t i = 0; i < n; ++i) {
        const std::uint32_t* row = limits + std::int64_t{groups[i]} * width;
        out[i] = static_cast<Code>(std::upper_bound(row, row + width, draws[i]) - row);
    }
}

void store(const Output& column, std::int64_t begin, const std::uint32_t* draws, const std::uint32_t* groups,
           const std::vector<std::uint32_t>& limits, std::int32_t states, std::int64_t n) {
    switch (column.width) {
        case 1: return choose_states(draws, groups, limits.data(), states, n, static_cast<std::uint8_t*>(column.codes) + begin);
        case 2: return choose_states(draws, groups, limits.data(), states, n, static_cast<std::uint16_t*>(column.codes) + begin);
        default: return choose_states(draws, groups, limits.data(), states, n, static_cast<std::uint32_t*>(column.codes) + begin);
    }
}

void add_parent(const Output& column, std::int64_t begin, std::int64_t n, std::int64_t stride, std::uint32_t* groups) {
    const auto add = [&](const auto* codes) {
        for (std::int64_t i = 0; i < n; ++i) groups[i] += static_cast<std::uint32_t>(stride) * codes[i];
    };
    switch (column.width) {
        case 1: return add(static_cast<const std::uint8_t*>(column.codes) + begin);
        case 2: return add(static_cast<const std::uint16_t*>(column.codes) + begin);
        default: return add(static_cast<const std::uint32_t*>(column.codes) + begin);
    }
}

}  // namespace

std::vector<std::uint32_t> thresholds(const double* probabilities, std::int64_t n_groups, std::int32_t states) {
    std::vector<std::uint32_t> out(static_cast<std::size_t>(n_groups) * (states - 1));
    for (std::int64_t g = 0; g < n_groups; ++g) {
        group_thresholds(probabilities + g * states, states, out.data() + g * (states - 1));
    }
    return out;
}

void sample_forward(std::span<const FlatConditional> conditionals, std::span<const std::int32_t> order,
                    std::span<const std::vector<std::uint32_t>> limits, std::span<const Output> columns, std::int64_t n,
                    std::uint64_t key, StopCheck check) {
    const std::int64_t blocks = (n + block_rows - 1) / block_rows;
    run_tasks(blocks, [&](std::int64_t block) {
        thread_local std::vector<std::uint32_t> draws(block_rows), groups(block_rows);
        const std::int64_t begin = block * block_rows;
        const std::int64_t size = std::min(block_rows, n - begin);
        for (const auto i : order) {
            const FlatConditional& c = conditionals[i];
            kernels().draw(key, static_cast<std::uint32_t>(c.child), static_cast<std::uint64_t>(block), draws.data(),
                           block_rows);
            std::fill_n(groups.data(), size, 0u);
            for (std::size_t p = 0; p < c.parents.size(); ++p) {
                add_parent(columns[c.parents[p]], begin, size, c.strides[p], groups.data());
            }
            if (!c.map.empty()) {
                for (std::int64_t row = 0; row < size; ++row) groups[row] = static_cast<std::uint32_t>(c.map[groups[row]]);
            }
            store(columns[c.child], begin, draws.data(), groups.data(), limits[i], c.states, size);
        }
    }, check);
}

}  // namespace fishernet
