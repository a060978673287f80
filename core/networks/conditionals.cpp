#include "networks/conditionals.hpp"

#include <algorithm>
#include <functional>

#include "base/pool.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t block_rows = 4096;
constexpr std::int64_t scores_at_once = 2048;  // 16 KB: they stay in the nearest cache while conditionals add to them

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

// What a conditional with the target in it adds to `target_scores`.
struct TargetShare {
    FlatConditional rest;  // without the target among its parents; one with a tree is as it was
    const double* values;
    std::int64_t target_stride = 0;      // 0: the target is the child
    std::vector<std::int32_t> map = {};  // from configurations with the target to groups; empty: none
    std::vector<double> by_target = {};  // (configurations of the rest, states of the child, states of the target)
};

bool has_target(const FlatConditional& c, std::int32_t target) {
    return c.child == target || std::find(c.parents.begin(), c.parents.end(), target) != c.parents.end();
}

// The values in an order in which those of all the target's states follow one another.
std::vector<double> ordered_by_target(const TargetShare& share, std::int64_t configurations, std::int32_t states) {
    const std::int64_t below = share.target_stride, child_states = share.rest.states;
    std::vector<double> out;
    out.reserve(static_cast<std::size_t>(configurations * child_states));
    for (std::int64_t rest = 0; rest < configurations / states; ++rest) {
        const std::int64_t first = rest / below * below * states + rest % below;
        for (std::int64_t state = 0; state < child_states; ++state) {
            for (std::int32_t k = 0; k < states; ++k) {
                std::int64_t group = first + k * below;
                if (!share.map.empty()) group = share.map[static_cast<std::size_t>(group)];
                out.push_back(share.values[group * child_states + state]);
            }
        }
    }
    return out;
}

TargetShare share_of(const FlatConditional& c, const double* values, std::int32_t target, std::int32_t states,
                     std::int64_t n_rows) {
    TargetShare share{c, values};
    if (!c.tree.empty() || c.child == target) return share;
    auto& rest = share.rest;
    const auto at = std::find(c.parents.begin(), c.parents.end(), target) - c.parents.begin();
    share.target_stride = c.strides[static_cast<std::size_t>(at)];
    rest.parents.erase(rest.parents.begin() + at);
    rest.strides.erase(rest.strides.begin() + at);
    share.map = std::move(rest.map);
    rest.map.clear();
    const auto configurations = share.map.empty() ? c.n_groups : static_cast<std::int64_t>(share.map.size());
    if (configurations * c.states > n_rows * states) return share;  // more to order than to add
    share.by_target = ordered_by_target(share, configurations, states);
    for (auto& stride : rest.strides) {
        if (stride > share.target_stride) stride /= states;
    }
    return share;
}

// The share of a conditional with a tree.
void add_tree_scores(const Columns& table, const TargetShare& share, std::int32_t target, std::int32_t states,
                     std::int64_t begin, std::int64_t n, double* out) {
    const FlatConditional& c = share.rest;
    const bool own = c.child == target;
    for (std::int64_t i = begin; i < begin + n; ++i) {
        for (std::int32_t k = 0; k < states; ++k) {
            const auto group = c.tree.group([&](std::int32_t v) {
                return v == target ? static_cast<std::uint32_t>(k) : code_at(table.columns[v], i);
            });
            const std::int64_t state = own ? k : code_at(table.columns[c.child], i);
            out[i * states + k] += share.values[std::int64_t{group} * c.states + state];
        }
    }
}

// The share of a conditional whose values for the target's states lie apart.
void add_scattered_scores(const Columns& table, const TargetShare& share, std::int32_t states, std::int64_t begin,
                          std::int64_t n, std::int64_t* cells, double* out) {
    const FlatConditional& c = share.rest;
    find_cells<std::int64_t>(table, c, begin, n, 0, cells);
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t state = code_at(table.columns[c.child], begin + i);
        for (std::int32_t k = 0; k < states; ++k) {
            std::int64_t group = cells[i] + k * share.target_stride;
            if (!share.map.empty()) group = share.map[static_cast<std::size_t>(group)];
            out[(begin + i) * states + k] += share.values[group * c.states + state];
        }
    }
}

// The share of a conditional whose values for the target's states follow one another.
void add_row_scores(const Columns& table, const TargetShare& share, std::int32_t states, std::int64_t begin,
                    std::int64_t n, std::int64_t* cells, double* out) {
    const bool own = share.target_stride == 0;
    find_cells<std::int64_t>(table, share.rest, begin, n, own ? 0 : 1, cells);
    const double* values = own ? share.values : share.by_target.data();
    for (std::int64_t i = 0; i < n; ++i) {
        const double* __restrict from = values + cells[i] * states;
        double* __restrict to = out + (begin + i) * states;
        for (std::int32_t k = 0; k < states; ++k) to[k] += from[k];
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
    std::vector<TargetShare> shares;
    for (std::size_t c = 0; c < conditionals.size(); ++c) {
        if (!has_target(conditionals[c], target)) continue;
        shares.push_back(share_of(conditionals[c], values[c], target, states, table.n_rows));
    }
    const std::int64_t at_once = std::clamp(scores_at_once / states, std::int64_t{32}, block_rows);
    for_blocks(table, check, [&](std::int64_t first, std::int64_t length) {
        std::vector<std::int64_t> cells(static_cast<std::size_t>(at_once));
        for (std::int64_t begin = first; begin < first + length; begin += at_once) {
            const std::int64_t n = std::min(at_once, first + length - begin);
            std::fill_n(out + begin * states, n * states, 0.0);
            for (const auto& share : shares) {
                if (!share.rest.tree.empty()) {
                    add_tree_scores(table, share, target, states, begin, n, out);
                } else if (share.target_stride != 0 && share.by_target.empty()) {
                    add_scattered_scores(table, share, states, begin, n, cells.data(), out);
                } else {
                    add_row_scores(table, share, states, begin, n, cells.data(), out);
                }
            }
        }
    });
}

}  // namespace fishernet
