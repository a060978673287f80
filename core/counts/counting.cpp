#include "counts/counting.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <mutex>
#include <numeric>

#include "base/kernels.hpp"
#include "base/packed.hpp"
#include "base/pool.hpp"
#include "base/sizes.hpp"
#include "counts/lane_counts.hpp"
#include "counts/set_runs.hpp"

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

// ------------------------------------------------------------------------------------------------------------- runs

// About how long counting takes, in units of one set through its rows: measured, and only the choice hangs on it.
constexpr double plane_cell = 0.004;  // a cell of a set by planes, for every row
constexpr double lane_group = 1.0;    // 32 lanes for every row
constexpr double lane_cell = 0.1;     // a counter in every chunk of rows
constexpr double packing = 0.5;       // a column, for every row

struct Prices {
    const Columns& table;
    int lanes;

    explicit Prices(const Columns& of) : table(of) {
        int n = 1;
        for (const Column& column : table.columns) n += has_lanes(column) ? static_cast<int>(column.cardinality) : 0;
        lanes = (n + group_lanes - 1) / group_lanes * group_lanes;
    }

    double rows() const { return static_cast<double>(table.n_rows); }
    double of_packing() const {
        return table.is_packed() ? 0.0 : packing * rows() * static_cast<double>(table.columns.size());
    }
    double of_set(const Layout& layout) const {
        if (!suits_planes(table, layout)) return rows();
        const std::uint32_t last = layout.slots.back();  // its planes are counted, those of the others AND-ed before
        return plane_cell * rows() * static_cast<double>(layout.cells + layout.cells / last);
    }
    double of_run(const SetRun& run) const {
        double counted = 1;
        for (const auto v : run.candidates) counted += table.columns[v].cardinality;
        const auto cells = static_cast<double>(cells_within(table, run.base, most_slots));
        const bool by_planes = cells <= most_plane_base;
        const double chunks = 1 + std::floor(rows() / static_cast<double>(lane_chunk_rows));
        const double a_row = by_planes ? plane_cell * cells * counted : 1 + lane_group * lanes / group_lanes;
        return rows() * a_row + lane_cell * cells * (chunks * (by_planes ? counted : lanes) + counted);
    }
};

// Whether a set may be counted with others: each member then is in the base or has lanes.
bool suits_runs(const Columns& table, View set, const Layout& layout) {
    return layout.dense && table.weights == nullptr && !set.empty() && layout.states == layout.slots &&
           std::all_of(set.begin(), set.end(), [&](std::int32_t v) { return has_lanes(table.columns[v]); });
}

// The joint counts of a run's sets, with their axes in ascending order.
void write_run(const Columns& table, const Packed& packed, const SetRun& run, std::span<const std::uint32_t> totals,
               std::vector<JointCounts>& results) {
    const auto lanes = static_cast<std::size_t>(packed.lanes());
    const std::size_t cells = totals.size() / lanes;
    for (std::size_t c = 0; c < run.candidates.size(); ++c) {
        const std::int32_t v = run.candidates[c];
        const std::size_t r = table.columns[v].cardinality;
        std::size_t inner = 1;  // cells of the members behind the candidate
        for (const auto member : run.base) inner *= member > v ? table.columns[member].cardinality : 1;
        const std::uint32_t* from = totals.data() + packed.first_lane[v];
        std::int64_t* to = results[run.sets[c]].counts.data();
        for (std::size_t outer = 0; outer < cells; outer += inner, to += r * inner) {
            for (std::size_t i = 0; i < inner; ++i) {
                for (std::size_t k = 0; k < r; ++k) to[k * inner + i] = from[(outer + i) * lanes + k];
            }
        }
    }
}

void count_runs(const Columns& table, const Packed& packed, const std::vector<SetRun>& runs,
                std::vector<JointCounts>& results, StopCheck check) {
    if (table.n_rows > lane_chunk_rows) {
        std::vector<LaneRun> asked;
        for (const SetRun& run : runs) asked.push_back({run.base, run.candidates});
        const auto write = [&](std::size_t r, std::span<const std::uint32_t> totals) {
            write_run(table, packed, runs[r], totals, results);
        };
        return count_lane_runs(table, packed, asked, write, check);
    }
    const bool worth_it = static_cast<std::int64_t>(runs.size()) * (table.n_rows + 1000) > 20000;
    run_tasks(static_cast<std::int64_t>(runs.size()), [&](std::int64_t i) {
        write_run(table, packed, runs[i], count_lanes(table, packed, runs[i].base, runs[i].candidates), results);
    }, check, worth_it);
}

}  // namespace

std::vector<JointCounts> count_sets(const Columns& table, const std::vector<std::vector<std::int32_t>>& sets,
                                    std::int64_t most_dense, StopCheck check) {
    std::vector<JointCounts> results(sets.size());
    std::vector<Layout> layouts;
    std::vector<std::size_t> dense, for_runs;
    double gain = 0;  // what the packed form of the table saves
    const Prices prices(table);
    for (std::size_t s = 0; s < sets.size(); ++s) {
        layouts.emplace_back(table, sets[s], most_dense);
        if (!layouts[s].dense) {
            results[s] = count_sparse(table, sets[s], check);
            continue;
        }
        results[s].counts.assign(static_cast<std::size_t>(layouts[s].cells), 0);
        dense.push_back(s);
        if (suits_runs(table, sets[s], layouts[s])) for_runs.push_back(s);
        gain += prices.rows() - prices.of_set(layouts[s]);
    }
    std::vector<SetRun> runs = find_runs(sets, for_runs, [&](const SetRun& run) {
        if (run.sets.size() < 2 || !base_fits_lanes(table, run.base, prices.lanes)) return false;
        double saved = -prices.of_run(run);
        for (const auto s : run.sets) saved += prices.of_set(layouts[s]);
        if (saved > 0) gain += saved;
        return saved > 0;
    });
    const Packed* packed = gain > prices.of_packing() ? &table.packed(check) : nullptr;
    if (packed != nullptr && !runs.empty()) {
        count_runs(table, *packed, runs, results, check);
        std::vector<bool> counted(sets.size(), false);
        for (const SetRun& run : runs) for (const auto s : run.sets) counted[s] = true;
        std::erase_if(dense, [&](std::size_t s) { return counted[s]; });
    }
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
