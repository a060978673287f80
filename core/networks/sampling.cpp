#include "networks/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/kernels.hpp"
#include "base/pool.hpp"

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
void narrow(const std::uint32_t* states, std::int64_t n, void* codes, std::int64_t begin) {
    Code* to = static_cast<Code*>(codes) + begin;
    for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<Code>(states[i]);
}

void store(const std::uint32_t* states, std::int64_t n, const Output& column, std::int64_t begin) {
    switch (column.width) {
        case 1: return narrow<std::uint8_t>(states, n, column.codes, begin);
        case 2: return narrow<std::uint16_t>(states, n, column.codes, begin);
        default: return narrow<std::uint32_t>(states, n, column.codes, begin);
    }
}

const void* codes_from(const Output& column, std::int64_t row) {
    return static_cast<const unsigned char*>(column.codes) + row * column.width;
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
        thread_local std::vector<std::uint32_t> draws(block_rows), groups(block_rows), states(block_rows);
        const std::int64_t begin = block * block_rows;
        const std::int64_t size = std::min(block_rows, n - begin);
        for (const auto i : order) {
            const FlatConditional& c = conditionals[i];
            kernels().draw(key, static_cast<std::uint32_t>(c.child), static_cast<std::uint64_t>(block), draws.data(),
                           block_rows);
            std::fill_n(groups.data(), size, 0u);
            if (!c.tree.empty()) {
                for (std::int64_t row = 0; row < size; ++row) {
                    groups[row] = static_cast<std::uint32_t>(
                        c.tree.group([&](std::int32_t v) { return code_of(columns[v], begin + row); }));
                }
            }
            for (std::size_t p = c.tree.empty() ? 0 : c.parents.size(); p < c.parents.size(); ++p) {
                const Output& parent = columns[c.parents[p]];
                kernels().add_strided(groups.data(), codes_from(parent, begin), parent.width, size,
                                      static_cast<std::uint32_t>(c.strides[p]));
            }
            if (!c.map.empty()) {
                for (std::int64_t row = 0; row < size; ++row) {
                    groups[row] = static_cast<std::uint32_t>(c.map[groups[row]]);
                }
            }
            kernels().choose(draws.data(), groups.data(), limits[i].data(), static_cast<std::uint32_t>(c.states - 1),
                             size, states.data());
            store(states.data(), size, columns[c.child], begin);
        }
    }, check);
}

}  // namespace fishernet
