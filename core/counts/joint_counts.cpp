#include "counts/joint_counts.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/kernels.hpp"
#include "base/pool.hpp"
#include "base/sizes.hpp"

namespace fishernet {
namespace {

using View = std::span<const std::int32_t>;

constexpr std::int64_t block_rows = 8192;
constexpr std::int64_t chunk_rows = 7 * block_rows;  // below 2^16: a 16-bit counter cannot overflow within one
constexpr std::int64_t most_plane_cells = 24;        // beyond these, lanes row by row are faster than planes
static_assert(most_plane_cells <= most_narrow_states);  // so a base with so few cells has planes for all its columns
constexpr std::int64_t most_lane_cells = std::int64_t{1} << 22;
constexpr std::int64_t most_numbered = std::int64_t{1} << 20;
constexpr std::int64_t most_single_cells = std::int64_t{1} << 24;
constexpr std::int64_t few_single_cells = std::int64_t{1} << 16;

// The number of cells of a set, or `limit + 1` when it is larger than the limit.
std::int64_t cells_within(const Columns& table, View set, std::int64_t limit) {
    std::int64_t cells = 1;
    for (const auto v : set) cells = times_within(cells, table.columns[v].cardinality, limit);
    return cells;
}

// ids[i] of rows begin .. begin + n: the configuration of the set, its last variable fastest.
void make_ids(const Columns& table, View set, std::int64_t begin, std::int64_t n, std::uint32_t* ids) {
    std::fill_n(ids, n, 0u);
    for (const auto v : set) {
        const Column& column = table.columns[v];
        kernels().extend_ids(ids, codes_from(column, begin), column.width, n, column.cardinality);
    }
}

// Memory that a thread uses again and again.
template <class T>
T* scratch(std::vector<T>& memory, std::size_t n) {
    if (memory.size() < n) memory.resize(n);
    return memory.data();
}

// ---------------------------------------------------------------------------------------------------- through lanes

struct LaneJob {
    const Columns& table;
    const Packed& packed;
    const Run& run;
    std::int64_t cells;
    std::vector<std::int32_t> lanes;  // those that planes are counted for

    bool by_planes() const { return cells <= most_plane_cells; }
};

// One AND-ed plane a cell of the base, for some words.
void base_planes(const LaneJob& job, std::int64_t word, int words, std::vector<std::uint64_t>& planes) {
    std::uint64_t* out = scratch(planes, static_cast<std::size_t>(job.cells) * words);
    std::copy_n(job.packed.plane(job.packed.ones_lane) + word, words, out);
    std::int64_t made = 1;
    for (const auto v : job.run.base) {
        const std::int64_t r = job.table.columns[v].cardinality;
        for (std::int64_t cell = made - 1; cell >= 0; --cell) {  // from the back, so that none is overwritten too soon
            const std::uint64_t* from = out + cell * words;
            for (std::int64_t k = r - 1; k >= 0; --k) {
                const std::uint64_t* plane = job.packed.plane(job.packed.first_lane[v] + k) + word;
                std::uint64_t* to = out + (cell * r + k) * words;
                for (int w = 0; w < words; ++w) to[w] = from[w] & plane[w];
            }
        }
        made *= r;
    }
}

void add_by_planes(const LaneJob& job, std::int64_t begin, std::int64_t end, std::uint32_t* counts) {
    thread_local std::vector<std::uint64_t> planes;
    for (std::int64_t row = begin; row < end; row += block_rows) {
        const std::int64_t word = row / 64;
        const int words = static_cast<int>(std::min<std::int64_t>(block_rows / 64, job.packed.words - word));
        base_planes(job, word, words, planes);
        for (const auto lane : job.lanes) {
            kernels().plane_counts(planes.data(), static_cast<int>(job.cells), job.packed.plane(lane) + word, words,
                                   counts + lane, job.packed.lanes());
        }
    }
}

void add_by_masks(const LaneJob& job, std::int64_t begin, std::int64_t end, std::uint16_t* counts) {
    thread_local std::vector<std::uint32_t> memory;
    std::uint32_t* ids = scratch(memory, block_rows);
    for (std::int64_t row = begin; row < end; row += block_rows) {
        const std::int64_t n = std::min(block_rows, end - row);
        make_ids(job.table, job.run.base, row, n, ids);
        kernels().add_masks(counts, ids, job.packed.masks.data() + row, job.packed.mask_stride, n, job.packed.groups);
    }
}

// Adds the rows of one chunk to the totals; `totals_mutex` is null when nobody else writes to them.
void add_chunk(const LaneJob& job, std::int64_t begin, std::int64_t end, std::uint32_t* totals,
               std::mutex* totals_mutex) {
    const std::int64_t size = job.cells * job.packed.lanes();
    if (job.by_planes()) {
        if (totals_mutex == nullptr) return add_by_planes(job, begin, end, totals);
        thread_local std::vector<std::uint32_t> memory;
        std::uint32_t* part = scratch(memory, size);
        std::fill_n(part, size, 0u);
        add_by_planes(job, begin, end, part);
        const std::lock_guard lock(*totals_mutex);
        return kernels().add_counts(totals, part, static_cast<int>(size));
    }
    thread_local std::vector<std::uint16_t> memory;  // all zero between two uses: draining leaves it so
    std::uint16_t* part = scratch(memory, size);
    add_by_masks(job, begin, end, part);
    if (totals_mutex == nullptr) return kernels().drain(totals, part, size);
    const std::lock_guard lock(*totals_mutex);
    kernels().drain(totals, part, size);
}

// sums[lane] += the terms of one cell's counts; the lane of ones bounds the others.
void add_cell(const CellTerms& terms, const std::uint32_t* counts, int ones, int lanes, std::int64_t* sums) {
    if (counts[ones] == 0) return;
    if (counts[ones] < terms.size()) return kernels().add_terms(sums, counts, terms.data(), lanes);
    for (int lane = 0; lane < lanes; ++lane) sums[lane] += terms(counts[lane]);
}

// The sums of one pair of functions over all cells, lane by lane.
struct LaneSums {
    std::vector<std::int64_t> joint, marginal;

    LaneSums(const LaneJob& job, const TermPair& terms, const std::uint32_t* totals,
             std::span<const std::uint32_t> merged)
        : joint(job.packed.lanes(), 0), marginal(job.packed.lanes(), 0) {
        const int lanes = job.packed.lanes(), ones = job.packed.ones_lane;
        const std::int64_t r = job.table.columns[job.run.base.back()].cardinality;
        for (std::int64_t cell = 0; cell < job.cells; ++cell) {
            add_cell(*terms.joint, totals + cell * lanes, ones, lanes, joint.data());
        }
        for (std::int64_t cell = 0; cell < job.cells / r; ++cell) {
            add_cell(*terms.marginal, merged.data() + cell * lanes, ones, lanes, marginal.data());
        }
    }
};

// The counts of the cells without the child.
std::span<const std::uint32_t> merge_states(const LaneJob& job, const std::uint32_t* totals) {
    thread_local std::vector<std::uint32_t> memory;
    const int lanes = job.packed.lanes(), ones = job.packed.ones_lane;
    const std::int64_t r = job.table.columns[job.run.base.back()].cardinality;
    const std::size_t size = static_cast<std::size_t>(job.cells / r * lanes);
    std::uint32_t* merged = scratch(memory, size);
    std::fill_n(merged, size, 0u);
    for (std::int64_t cell = 0; cell < job.cells; ++cell) {
        const std::uint32_t* counts = totals + cell * lanes;
        if (counts[ones] != 0) kernels().add_counts(merged + cell / r * lanes, counts, lanes);
    }
    return {merged, size};
}

void sum_terms(const LaneJob& job, const std::uint32_t* totals, Run& run) {
    const std::span<const std::uint32_t> merged = merge_states(job, totals);
    const int ones = job.packed.ones_lane;
    for (const auto& [states, terms] : run.pairs) {
        const LaneSums sums(job, terms, totals, merged);
        for (std::size_t c = 0; c < run.candidates.size(); ++c) {
            const auto v = run.candidates[c];
            if (job.table.columns[v].cardinality != states) continue;
            const auto first = sums.joint.begin() + job.packed.first_lane[v];
            const auto first_marginal = sums.marginal.begin() + job.packed.first_lane[v];
            run.joint_terms[c] = terms.joint->value(std::accumulate(first, first + states, std::int64_t{0}));
            run.marginal_terms[c] =
                terms.marginal->value(std::accumulate(first_marginal, first_marginal + states, std::int64_t{0}));
        }
    }
    std::int64_t joint = 0, marginal = 0;
    const std::size_t lanes = static_cast<std::size_t>(job.packed.lanes());
    for (std::int64_t cell = 0; cell < job.cells; ++cell) joint += (*run.base_pair.joint)(totals[cell * lanes + ones]);
    for (std::size_t at = ones; at < merged.size(); at += lanes) marginal += (*run.base_pair.marginal)(merged[at]);
    run.base_term = run.base_pair.joint->value(joint);
    run.parents_term = run.base_pair.marginal->value(marginal);
}

// --------------------------------------------------------------------------------------------------- one at a time

using CellCounts = std::unordered_map<std::uint64_t, std::int64_t>;

// Numbers the configurations of a set: all of them while they are few, else those that occur, in order of their first
// row. ids[row] < the number returned.
std::int64_t number_configurations(const Columns& table, View set, std::vector<std::uint32_t>& ids,
                                   Patience& patience) {
    ids.assign(static_cast<std::size_t>(table.n_rows), 0);
    std::int64_t n = 1;
    for (const auto v : set) {
        const Column& column = table.columns[v];
        const std::int64_t r = column.cardinality;
        if (n * r <= most_numbered) {
            kernels().extend_ids(ids.data(), column.codes, column.width, table.n_rows, column.cardinality);
            n *= r;
            continue;
        }
        std::unordered_map<std::uint64_t, std::uint32_t> seen;
        for (std::int64_t row = 0; row < table.n_rows; ++row) {
            if (row % block_rows == 0) patience.ask();
            const std::uint64_t key = std::uint64_t{ids[row]} * column.cardinality + code_at(column, row);
            ids[row] = seen.try_emplace(key, static_cast<std::uint32_t>(seen.size())).first->second;
        }
        n = static_cast<std::int64_t>(seen.size());
    }
    return n;
}

// Counts of cells (configuration of the parents, child, candidate), for tables that are too large to be laid out.
class Tally {
public:
    Tally(std::int64_t cells, std::int64_t n_rows)
        : dense_(cells <= std::clamp(4 * n_rows, few_single_cells, most_single_cells) ? static_cast<std::size_t>(cells)
                                                                                      : 0) {}

    void add(std::uint64_t cell, std::int64_t weight) {
        if (!dense_.empty()) dense_[cell] += weight;
        else sparse_[cell] += weight;
    }
    double sum(const CellTerms& terms) const {
        std::int64_t sum = 0;
        for (const auto n : dense_) sum += terms(n);
        for (const auto& [cell, n] : sparse_) sum += terms(n);
        return terms.value(sum);
    }

private:
    std::vector<std::int64_t> dense_;
    CellCounts sparse_;
};

// The terms of the base with one candidate (none: -1), with the child and without.
std::pair<double, double> single_terms(const Columns& table, const TermPair& terms,
                                       const std::vector<std::uint32_t>& parents, std::int64_t n_parents,
                                       std::int32_t child, std::int32_t candidate, Patience& patience) {
    const Column none{};
    const Column& x = table.columns[child];
    const Column& c = candidate < 0 ? none : table.columns[candidate];
    const std::int64_t without = times_within(n_parents, c.cardinality, most_single_cells);
    const std::int64_t with = times_within(without, x.cardinality, most_single_cells);
    Tally joint(with, table.n_rows), marginal(without, table.n_rows);
    for (std::int64_t row = 0; row < table.n_rows; ++row) {
        if (row % block_rows == 0) patience.ask();
        const std::int64_t weight = table.weights ? table.weights[row] : 1;
        const std::uint64_t cell = std::uint64_t{parents[row]} * c.cardinality + (candidate < 0 ? 0 : code_at(c, row));
        marginal.add(cell, weight);
        joint.add(cell * x.cardinality + code_at(x, row), weight);
    }
    return {joint.sum(*terms.joint), marginal.sum(*terms.marginal)};
}

}  // namespace

bool counts_in_lanes(const Columns& table, const Packed& packed, const Run& run) {
    if (table.weights != nullptr || table.n_rows >= std::int64_t{1} << 32) return false;
    const auto narrow = [&](std::int32_t v) { return packed.first_lane[v] >= 0; };
    if (!std::all_of(run.candidates.begin(), run.candidates.end(), narrow)) return false;
    const std::int64_t cells = cells_within(table, run.base, most_lane_cells);
    return cells * packed.lanes() <= std::max(most_lane_cells, 8 * table.n_rows);
}

void count_in_lanes(const Columns& table, const Packed& packed, Run& run, bool parallel, StopCheck check) {
    LaneJob job{table, packed, run, cells_within(table, run.base, most_lane_cells), {}};
    for (const auto v : run.candidates) {
        for (std::uint32_t k = 0; k < table.columns[v].cardinality; ++k) job.lanes.push_back(packed.first_lane[v] + k);
    }
    job.lanes.push_back(packed.ones_lane);
    thread_local std::vector<std::uint32_t> memory;
    const std::size_t size = static_cast<std::size_t>(job.cells) * packed.lanes();
    std::uint32_t* totals = scratch(memory, size);
    std::fill_n(totals, size, 0u);
    if (!parallel) {
        for (std::int64_t begin = 0; begin < table.n_rows; begin += chunk_rows) {
            add_chunk(job, begin, std::min(begin + chunk_rows, table.n_rows), totals, nullptr);
        }
    } else {
        std::mutex totals_mutex;
        const std::int64_t tasks = (table.n_rows + chunk_rows - 1) / chunk_rows;
        run_tasks(tasks, [&](std::int64_t task) {
            const std::int64_t begin = task * chunk_rows;
            add_chunk(job, begin, std::min(begin + chunk_rows, table.n_rows), totals, &totals_mutex);
        }, check);
    }
    sum_terms(job, totals, run);
}

void count_singly(const Columns& table, Run& run, StopCheck check) {
    Patience patience(check);
    std::vector<std::uint32_t> parents;
    const View others = View(run.base).first(run.base.size() - 1);
    const std::int32_t child = run.base.back();
    const std::int64_t n = number_configurations(table, others, parents, patience);
    std::tie(run.base_term, run.parents_term) = single_terms(table, run.base_pair, parents, n, child, -1, patience);
    for (std::size_t c = 0; c < run.candidates.size(); ++c) {
        const std::uint32_t states = table.columns[run.candidates[c]].cardinality;
        const auto pair = std::find_if(run.pairs.begin(), run.pairs.end(),
                                       [states](const auto& known) { return known.first == states; });
        std::tie(run.joint_terms[c], run.marginal_terms[c]) =
            single_terms(table, pair->second, parents, n, child, run.candidates[c], patience);
    }
}

}  // namespace fishernet
