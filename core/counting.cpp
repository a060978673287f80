#include "counting.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <numeric>

#include "kernels.hpp"
#include "packed.hpp"
#include "pool.hpp"

namespace fishernet {
namespace {

using View = std::span<const std::int32_t>;

constexpr std::int64_t block_rows = 4096;
constexpr std::int64_t chunk_rows = 64 * block_rows;
constexpr std::int64_t most_plane_cells = 32;
constexpr std::int64_t small_table = 2048;  // cells; four of these fit the first cache

// How the cells of a set are numbered. A column with missing cells has one slot more, cut out at the end.
struct Layout {
    std::vector<std::uint32_t> slots;
    std::int64_t cells = 1;  // or `limit + 1` when there are more than the limit

    Layout(const Columns& table, View set, std::int64_t limit) {
        for (const auto v : set) {
            slots.push_back(table.columns[v].cardinality + (table.columns[v].has_missing ? 1 : 0));
            cells = cells > limit / slots.back() ? limit + 1 : cells * slots.back();
        }
    }
};

void make_ids(const Columns& table, View set, const Layout& layout, std::int64_t begin, std::int64_t n,
              std::uint32_t* ids) {
    std::fill_n(ids, n, 0u);
    for (std::size_t i = 0; i < set.size(); ++i) {
        const Column& column = table.columns[set[i]];
        kernels().extend_ids(ids, codes_from(column, begin), column.width, n, layout.slots[i]);
    }
}

// Adds some rows to a table of cells. Neighbouring rows go to different copies of a small table, so that equal ones
// need not wait for each other.
void add_rows(const Columns& table, View set, const Layout& layout, std::int64_t begin, std::int64_t end,
              std::int64_t* cells) {
    std::vector<std::uint32_t> ids(block_rows);
    const bool small = layout.cells <= small_table && table.weights == nullptr;
    std::vector<std::uint32_t> copies(small ? 4 * layout.cells : 0, 0);
    for (std::int64_t row = begin; row < end; row += block_rows) {
        const std::int64_t n = std::min(block_rows, end - row);
        make_ids(table, set, layout, row, n, ids.data());
        std::int64_t i = 0;
        if (small) {
            for (; i + 4 <= n; i += 4) {
                for (int copy = 0; copy < 4; ++copy) ++copies[4 * ids[i + copy] + copy];
            }
        }
        for (; i < n; ++i) cells[ids[i]] += table.weights ? table.weights[row + i] : 1;
    }
    for (std::size_t i = 0; i < copies.size(); ++i) cells[i / 4] += copies[i];
}

// Cuts the slots of missing cells out, and says how many rows they held.
void drop_missing(const Columns& table, View set, const Layout& layout, JointCounts& result) {
    const auto has_missing = [&](std::int32_t v) { return table.columns[v].has_missing; };
    if (std::none_of(set.begin(), set.end(), has_missing)) return;
    std::vector<std::uint32_t> state(set.size(), 0);
    std::size_t kept = 0;
    for (const std::int64_t n : result.counts) {
        bool complete = true;
        for (std::size_t i = 0; i < set.size(); ++i) complete &= state[i] < table.columns[set[i]].cardinality;
        if (complete) result.counts[kept++] = n;
        else result.left_out += n;
        for (std::size_t i = set.size(); i-- > 0 && ++state[i] == layout.slots[i];) state[i] = 0;
    }
    result.counts.resize(kept);
}

// Few cells, all of narrow columns without a missing cell: AND the planes and count ones.
bool suits_planes(const Columns& table, View set, const Layout& layout) {
    return table.weights == nullptr && !set.empty() && layout.cells <= most_plane_cells &&
           std::none_of(set.begin(), set.end(), [&](std::int32_t v) { return table.columns[v].has_missing; });
}

void add_planes(const Columns& table, const Packed& packed, View set, std::int64_t begin, std::int64_t end,
                std::int64_t* cells) {
    constexpr int words = 64;
    std::array<std::uint64_t, most_plane_cells * words> planes;
    std::array<std::uint32_t, most_plane_cells> counts{};
    for (std::int64_t word = begin / 64; word < (end + 63) / 64; word += words) {
        const int n = static_cast<int>(std::min<std::int64_t>(words, packed.words - word));
        std::copy_n(packed.plane(packed.ones_lane) + word, n, planes.data());
        int made = 1;
        for (std::size_t i = 0; i + 1 < set.size(); ++i) {
            const int r = static_cast<int>(table.columns[set[i]].cardinality);
            for (int cell = made * r - 1; cell >= 0; --cell) {
                const std::uint64_t* plane = packed.plane(packed.first_lane[set[i]] + cell % r) + word;
                const std::uint64_t* from = planes.data() + cell / r * n;
                for (int w = 0; w < n; ++w) planes[cell * n + w] = from[w] & plane[w];
            }
            made *= r;
        }
        const int r = static_cast<int>(table.columns[set.back()].cardinality);
        for (int k = 0; k < r; ++k) {
            const std::uint64_t* plane = packed.plane(packed.first_lane[set.back()] + k) + word;
            kernels().plane_counts(planes.data(), made, plane, n, counts.data() + k, r);
        }
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i]) cells[i] += counts[i];
    }
}

// Only the cells that occur: order the rows by their states in the set and count the equal ones.
JointCounts count_sparse(const Columns& table, View set, StopCheck check) {
    JointCounts result;
    result.dense = false;
    Patience patience(check);
    std::vector<std::int64_t> rows;
    for (std::int64_t row = 0; row < table.n_rows; ++row) {
        const bool complete = std::none_of(set.begin(), set.end(), [&](std::int32_t v) {
            return code_at(table.columns[v], row) == table.columns[v].cardinality;
        });
        const std::int64_t weight = table.weights ? table.weights[row] : 1;
        if (!complete) result.left_out += weight;
        else if (weight > 0) rows.push_back(row);
        if (row % block_rows == 0) patience.ask();
    }
    std::vector<std::int64_t> other(rows.size());
    for (std::size_t i = set.size(); i-- > 0;) {  // stable counting sorts, the last variable first
        const Column& column = table.columns[set[i]];
        std::vector<std::int64_t> place(column.cardinality + 1, 0);
        for (const auto row : rows) ++place[code_at(column, row) + 1];
        std::partial_sum(place.begin(), place.end(), place.begin());
        for (const auto row : rows) other[place[code_at(column, row)]++] = row;
        rows.swap(other);
        patience.ask();
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto differs = [&](std::int32_t v) {
            return code_at(table.columns[v], rows[i]) != code_at(table.columns[v], rows[i - 1]);
        };
        if (i == 0 || std::any_of(set.begin(), set.end(), differs)) {
            for (const auto v : set) result.states.push_back(code_at(table.columns[v], rows[i]));
            result.counts.push_back(0);
        }
        result.counts.back() += table.weights ? table.weights[rows[i]] : 1;
    }
    return result;
}

}  // namespace

std::vector<JointCounts> count_sets(const Columns& table, const std::vector<std::vector<std::int32_t>>& sets,
                                    std::int64_t most_dense, StopCheck check) {
    std::vector<JointCounts> results(sets.size());
    std::vector<Layout> layouts;
    std::vector<std::size_t> dense;
    std::int64_t for_planes = 0;
    for (std::size_t s = 0; s < sets.size(); ++s) {
        // with its slots for missing cells a table may be a little larger than what is allowed
        Layout bare(table, sets[s], most_dense);
        std::int64_t cells = 1;
        for (const auto v : sets[s]) {
            const std::int64_t r = table.columns[v].cardinality;
            cells = cells > most_dense / r ? most_dense + 1 : cells * r;
        }
        layouts.emplace_back(table, sets[s], cells > most_dense ? most_dense : std::int64_t{1} << 40);
        if (cells > most_dense || layouts[s].cells >= std::int64_t{1} << 32) {
            results[s] = count_sparse(table, sets[s], check);
        } else {
            results[s].counts.assign(static_cast<std::size_t>(layouts[s].cells), 0);
            dense.push_back(s);
            for_planes += suits_planes(table, sets[s], layouts[s]);
        }
    }
    // the planes cost a pass over every column: worth it for many sets
    const Packed* packed = for_planes * 4 > static_cast<std::int64_t>(table.columns.size()) * 2 ? &table.packed(check) : nullptr;
    const std::int64_t chunks = std::max<std::int64_t>(1, (table.n_rows + chunk_rows - 1) / chunk_rows);
    std::mutex merging;
    run_tasks(chunks * static_cast<std::int64_t>(dense.size()), [&](std::int64_t task) {
        const std::size_t s = dense[task / chunks];
        const std::int64_t begin = task % chunks * chunk_rows;
        const std::int64_t end = std::min(begin + chunk_rows, table.n_rows);
        const auto add = [&](std::int64_t* cells) {
            const auto narrow = [&](std::int32_t v) { return packed->first_lane[v] >= 0; };
            if (packed && suits_planes(table, sets[s], layouts[s]) && std::all_of(sets[s].begin(), sets[s].end(), narrow)) {
                add_planes(table, *packed, sets[s], begin, end, cells);
            } else {
                add_rows(table, sets[s], layouts[s], begin, end, cells);
            }
        };
        if (chunks == 1) return add(results[s].counts.data());
        std::vector<std::int64_t> part(results[s].counts.size(), 0);
        add(part.data());
        const std::lock_guard lock(merging);
        std::transform(part.begin(), part.end(), results[s].counts.begin(), results[s].counts.begin(), std::plus<>());
    }, check, static_cast<std::int64_t>(dense.size()) * table.n_rows > 200000);
    for (const auto s : dense) drop_missing(table, sets[s], layouts[s], results[s]);
    return results;
}

}  // namespace fishernet
