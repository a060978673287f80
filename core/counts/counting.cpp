#include "counts/counting.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <numeric>

#include "base/kernels.hpp"
#include "base/packed.hpp"
#include "base/pool.hpp"
#include "base/sizes.hpp"

namespace fishernet {
namespace {

using View = std::span<const std::int32_t>;

constexpr std::int64_t block_rows = 4096;
constexpr std::int64_t chunk_rows = 64 * block_rows;
constexpr std::int64_t most_plane_cells = 32;  // so their columns are narrow
constexpr std::size_t most_copied = 1 << 18;     // cells that a chunk counts apart, to be added under a lock
constexpr std::int64_t small_table = 2048;  // cells; four of these fit the first cache

constexpr std::int64_t most_slots = std::int64_t{1} << 32;

// How the cells of a set are numbered. A column with missing cells has one slot more, cut out at the end.
struct Layout {
    std::vector<std::uint32_t> states, slots;
    std::int64_t cells = 1;
    bool dense = true;

    Layout(const Columns& table, View set, std::int64_t most_dense) {
        for (const auto v : set) {
            states.push_back(table.columns[v].cardinality);
            slots.push_back(states.back() + (table.columns[v].has_missing ? 1 : 0));
        }
        cells = product_within(slots, most_slots);
        dense = product_within(states, most_dense) <= most_dense && cells <= most_slots;
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
void drop_missing(const Layout& layout, JointCounts& result) {
    if (layout.states == layout.slots) return;
    std::vector<std::uint32_t> state(layout.slots.size(), 0);
    std::size_t kept = 0;
    for (const std::int64_t n : result.counts) {
        bool complete = true;
        for (std::size_t i = 0; i < state.size(); ++i) complete &= state[i] < layout.states[i];
        if (complete) result.counts[kept++] = n;
        else result.left_out += n;
        for (std::size_t i = state.size(); i-- > 0 && ++state[i] == layout.slots[i];) state[i] = 0;
    }
    result.counts.resize(kept);
}

// Few cells, all of narrow columns without a missing cell: AND the planes and count ones.
bool suits_planes(const Columns& table, const Layout& layout) {
    return table.weights == nullptr && !layout.slots.empty() && layout.cells <= most_plane_cells &&
           layout.states == layout.slots;
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

// Orders rows by their states in a column and keeps the order of equal ones: through a place for every state while those
// are not many more than the rows.
void sort_rows(const Column& column, std::vector<std::int64_t>& rows, std::vector<std::int64_t>& other) {
    constexpr int few_states = 1 << 16;
    if (column.cardinality > std::max<std::int64_t>(few_states, 4 * std::ssize(rows))) {
        std::stable_sort(rows.begin(), rows.end(),
                         [&](auto a, auto b) { return code_at(column, a) < code_at(column, b); });
        return;
    }
    std::vector<std::int64_t> place(std::size_t{column.cardinality} + 1, 0);
    for (const auto row : rows) ++place[code_at(column, row) + 1];
    std::partial_sum(place.begin(), place.end(), place.begin());
    for (const auto row : rows) other[place[code_at(column, row)]++] = row;
    rows.swap(other);
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
    for (std::size_t i = set.size(); i-- > 0;) {  // the last variable first
        sort_rows(table.columns[set[i]], rows, other);
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
    std::size_t for_planes = 0;
    for (std::size_t s = 0; s < sets.size(); ++s) {
        layouts.emplace_back(table, sets[s], most_dense);
        if (!layouts[s].dense) {
            results[s] = count_sparse(table, sets[s], check);
            continue;
        }
        results[s].counts.assign(static_cast<std::size_t>(layouts[s].cells), 0);
        dense.push_back(s);
        for_planes += suits_planes(table, layouts[s]);
    }
    // making the planes is a pass over every column: worth it when about as many sets are counted from them
    const Packed* packed = 2 * for_planes > table.columns.size() ? &table.packed(check) : nullptr;
    const auto add = [&](std::size_t s, std::int64_t begin, std::int64_t end, std::int64_t* cells) {
        if (packed != nullptr && suits_planes(table, layouts[s])) {
            add_planes(table, *packed, sets[s], begin, end, cells);
        } else {
            add_rows(table, sets[s], layouts[s], begin, end, cells);
        }
    };
    const std::int64_t chunks = std::max<std::int64_t>(1, (table.n_rows + chunk_rows - 1) / chunk_rows);
    std::mutex merging;
    run_tasks(chunks * static_cast<std::int64_t>(dense.size()), [&](std::int64_t task) {
        const std::size_t s = dense[task / chunks];
        const std::int64_t begin = task % chunks * chunk_rows;
        const std::int64_t end = std::min(begin + chunk_rows, table.n_rows);
        auto& counts = results[s].counts;
        if (chunks == 1) return add(s, begin, end, counts.data());
        if (counts.size() > most_copied) {
            const std::lock_guard lock(merging);
            return add(s, begin, end, counts.data());
        }
        std::vector<std::int64_t> part(counts.size(), 0);
        add(s, begin, end, part.data());
        const std::lock_guard lock(merging);
        std::transform(part.begin(), part.end(), counts.begin(), counts.begin(), std::plus<>());
    }, check, static_cast<std::int64_t>(dense.size()) * table.n_rows > 200000);
    for (const auto s : dense) drop_missing(layouts[s], results[s]);
    return results;
}

}  // namespace fishernet
