#include "networks/conditionals.hpp"

#include <algorithm>
#include <functional>

#include "base/pool.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t block_rows = 4096;

template <class Code, class Index>
void add_codes(const void* codes, std::int64_t n, Index stride, Index* into) {
    const auto* from = static_cast<const Code*>(codes);
    for (std::int64_t i = 0; i < n; ++i) into[i] += stride * from[i];
}

// into[i] += stride * code of row begin + i
template <class Index>
void add_strided(const Column& column, std::int64_t begin, std::int64_t n, Index stride, Index* into) {
    const void* codes = codes_from(column, begin);
    switch (column.width) {
        case 1: return add_codes<std::uint8_t>(codes, n, stride, into);
        case 2: return add_codes<std::uint16_t>(codes, n, stride, into);
        default: return add_codes<std::uint32_t>(codes, n, stride, into);
    }
}

// Where in its table of values each row of a block looks; the child counts with `child_stride` (0: not at all).
template <class Index>
void find_cells(const Columns& table, const FlatConditional& c, std::int64_t begin, std::int64_t n, Index child_stride,
                Index* cells) {
    std::fill_n(cells, n, Index{0});
    if (!c.tree.empty()) {
        for (std::int64_t i = 0; i < n; ++i) {
            cells[i] = static_cast<Index>(
                c.tree.group([&](std::int32_t v) { return code_at(table.columns[v], begin + i); }));
        }
    }
    for (std::size_t p = c.tree.empty() ? 0 : c.parents.size(); p < c.parents.size(); ++p) {
        add_strided(table.columns[c.parents[p]], begin, n, static_cast<Index>(c.strides[p]), cells);
    }
    if (!c.map.empty()) {
        for (std::int64_t i = 0; i < n; ++i) cells[i] = static_cast<Index>(c.map[cells[i]]);
    }
    if (child_stride == 0) return;
    for (std::int64_t i = 0; i < n; ++i) cells[i] *= static_cast<Index>(c.states);
    add_strided(table.columns[c.child], begin, n, child_stride, cells);
}

bool fits_32_bits(const FlatConditional& c) { return c.n_groups * c.states < std::int64_t{1} << 31 && c.map.empty(); }

template <class Index>
void look_up_block(const Columns& table, const FlatConditional& c, const double* values, std::int64_t begin,
                   std::int64_t n, std::vector<Index>& cells, bool sum, double* out, std::int64_t stride) {
    cells.resize(block_rows);
    find_cells<Index>(table, c, begin, n, 1, cells.data());
    if (sum) {
        for (std::int64_t i = 0; i < n; ++i) out[i] += values[cells[i]];
    } else {
        for (std::int64_t i = 0; i < n; ++i) out[i * stride] = values[cells[i]];
    }
}

// The share of a conditional with a tree in `target_scores`.
void add_tree_scores(const Columns& table, const FlatConditional& c, const double* values, std::int32_t target,
                     std::int32_t states, std::int64_t begin, std::int64_t n, double* out) {
    const bool own = c.child == target;
    if (!own && std::find(c.parents.begin(), c.parents.end(), target) == c.parents.end()) return;
    for (std::int64_t i = begin; i < begin + n; ++i) {
        for (std::int32_t k = 0; k < states; ++k) {
            const auto group = c.tree.group([&](std::int32_t v) {
                return v == target ? static_cast<std::uint32_t>(k) : code_at(table.columns[v], i);
            });
            const std::int64_t state = own ? k : code_at(table.columns[c.child], i);
            out[i * states + k] += values[std::int64_t{group} * c.states + state];
        }
    }
}

void for_blocks(const Columns& table, StopCheck check, const std::function<void(std::int64_t, std::int64_t)>& work) {
    const std::int64_t blocks = (table.n_rows + block_rows - 1) / block_rows;
    run_tasks(blocks, [&](std::int64_t block) {
        const std::int64_t begin = block * block_rows;
        work(begin, std::min(block_rows, table.n_rows - begin));
    }, check, table.n_rows * static_cast<std::int64_t>(table.columns.size()) > 200000);
}

}  // namespace

void find_cells(const Columns& table, const FlatConditional& conditional, std::int64_t begin, std::int64_t n,
                std::uint32_t* cells) {
    find_cells<std::uint32_t>(table, conditional, begin, n, 1, cells);
}

void find_groups(const Columns& table, const FlatConditional& conditional, std::int64_t begin, std::int64_t n,
                 std::int64_t* groups) {
    find_cells<std::int64_t>(table, conditional, begin, n, 0, groups);
}

void look_up(const Columns& table, std::span<const FlatConditional> conditionals,
             std::span<const double* const> values, bool sum, double* out, StopCheck check) {
    const auto width = static_cast<std::int64_t>(conditionals.size());
    for_blocks(table, check, [&](std::int64_t begin, std::int64_t n) {
        thread_local std::vector<std::uint32_t> narrow;
        thread_local std::vector<std::int64_t> wide;
        if (sum) std::fill_n(out + begin, n, 0.0);
        for (std::int64_t c = 0; c < width; ++c) {
            double* to = sum ? out + begin : out + begin * width + c;
            if (fits_32_bits(conditionals[c])) {
                look_up_block(table, conditionals[c], values[c], begin, n, narrow, sum, to, width);
            } else {
                look_up_block(table, conditionals[c], values[c], begin, n, wide, sum, to, width);
            }
        }
    });
}

void target_scores(const Columns& table, std::span<const FlatConditional> conditionals,
                   std::span<const double* const> values, std::int32_t target, std::int32_t states, double* out,
                   StopCheck check) {
    for_blocks(table, check, [&](std::int64_t begin, std::int64_t n) {
        std::fill_n(out + begin * states, n * states, 0.0);
        std::vector<std::int64_t> cells(n);
        for (std::size_t c = 0; c < conditionals.size(); ++c) {
            if (!conditionals[c].tree.empty()) {
                add_tree_scores(table, conditionals[c], values[c], target, states, begin, n, out);
                continue;
            }
            FlatConditional others = conditionals[c];  // the same without the target: its share is added below
            const double* table_values = values[c];
            std::int64_t target_stride = 0;
            const auto where = std::find(others.parents.begin(), others.parents.end(), target);
            const bool own = others.child == target;
            if (!own && where == others.parents.end()) continue;
            if (!own) {
                const auto at = where - others.parents.begin();
                target_stride = others.strides[at];
                others.parents.erase(where);
                others.strides.erase(others.strides.begin() + at);
            }
            const std::vector<std::int32_t> map = std::move(others.map);
            others.map.clear();
            find_cells<std::int64_t>(table, others, begin, n, 0, cells.data());
            for (std::int64_t i = 0; i < n; ++i) {
                for (std::int32_t k = 0; k < states; ++k) {
                    std::int64_t group = cells[i] + (own ? 0 : k * target_stride);
                    if (!map.empty()) group = map[group];
                    const std::int64_t state = own ? k : code_at(table.columns[others.child], begin + i);
                    out[(begin + i) * states + k] += table_values[group * others.states + state];
                }
            }
        }
    });
}

}  // namespace fishernet
