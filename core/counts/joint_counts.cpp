#include "counts/joint_counts.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/kernels.hpp"
#include "base/sizes.hpp"
#include "counts/lane_counts.hpp"

namespace fishernet {
namespace {

using View = std::span<const std::int32_t>;

constexpr std::int64_t block_rows = 8192;
constexpr std::int64_t most_numbered = std::int64_t{1} << 20;
constexpr std::int64_t most_single_cells = std::int64_t{1} << 24;
constexpr std::int64_t few_single_cells = std::int64_t{1} << 16;

// ---------------------------------------------------------------------------------------------------- through lanes

// What was counted of a run, cell by cell of its base.
struct Counted {
    const Columns& table;
    const Packed& packed;
    const Run& run;
    std::int64_t cells;
    const std::uint32_t* totals;
};

// sums[lane] += the terms of one cell's counts; the lane of ones bounds the others.
void add_cell(const CellTerms& terms, const std::uint32_t* counts, int ones, int lanes, std::int64_t* sums) {
    if (counts[ones] == 0) return;
    if (counts[ones] < terms.size()) return kernels().add_terms(sums, counts, terms.data(), lanes);
    for (int lane = 0; lane < lanes; ++lane) sums[lane] += terms(counts[lane]);
}

// The sums of one pair of functions over all cells, lane by lane.
struct LaneSums {
    std::vector<std::int64_t> joint, marginal;

    LaneSums(const Counted& job, const TermPair& terms, std::span<const std::uint32_t> merged)
        : joint(job.packed.lanes(), 0), marginal(job.packed.lanes(), 0) {
        const int lanes = job.packed.lanes(), ones = job.packed.ones_lane;
        const std::int64_t r = job.table.columns[job.run.base.back()].cardinality;
        for (std::int64_t cell = 0; cell < job.cells; ++cell) {
            add_cell(*terms.joint, job.totals + cell * lanes, ones, lanes, joint.data());
        }
        for (std::int64_t cell = 0; cell < job.cells / r; ++cell) {
            add_cell(*terms.marginal, merged.data() + cell * lanes, ones, lanes, marginal.data());
        }
    }
};

// The counts of the cells without the child.
std::span<const std::uint32_t> merge_states(const Counted& job) {
    thread_local std::vector<std::uint32_t> memory;
    const int lanes = job.packed.lanes(), ones = job.packed.ones_lane;
    const std::int64_t r = job.table.columns[job.run.base.back()].cardinality;
    const std::size_t size = static_cast<std::size_t>(job.cells / r * lanes);
    if (memory.size() < size) memory.resize(size);
    std::uint32_t* merged = memory.data();
    std::fill_n(merged, size, 0u);
    for (std::int64_t cell = 0; cell < job.cells; ++cell) {
        const std::uint32_t* counts = job.totals + cell * lanes;
        if (counts[ones] != 0) kernels().add_counts(merged + cell / r * lanes, counts, lanes);
    }
    return {merged, size};
}

void sum_terms(const Counted& job, Run& run) {
    const std::span<const std::uint32_t> merged = merge_states(job);
    const int ones = job.packed.ones_lane;
    for (const auto& [states, terms] : run.pairs) {
        const LaneSums sums(job, terms, merged);
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
    for (std::int64_t cell = 0; cell < job.cells; ++cell) joint += (*run.base_pair.joint)(job.totals[cell * lanes + ones]);
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
    const auto narrow = [&](std::int32_t v) { return packed.first_lane[v] >= 0; };
    return std::all_of(run.candidates.begin(), run.candidates.end(), narrow) &&
           base_fits_lanes(table, run.base, packed.lanes());
}

void count_in_lanes(const Columns& table, const Packed& packed, Run& run) {
    const auto totals = count_lanes(table, packed, run.base, run.candidates);
    const std::int64_t cells = static_cast<std::int64_t>(totals.size()) / packed.lanes();
    sum_terms({table, packed, run, cells, totals.data()}, run);
}

void count_in_lanes(const Columns& table, const Packed& packed, std::span<Run* const> runs, StopCheck check) {
    std::vector<LaneRun> asked;
    for (const Run* run : runs) asked.push_back({run->base, run->candidates});
    count_lane_runs(table, packed, asked, [&](std::size_t r, std::span<const std::uint32_t> totals) {
        const std::int64_t cells = static_cast<std::int64_t>(totals.size()) / packed.lanes();
        sum_terms({table, packed, *runs[r], cells, totals.data()}, *runs[r]);
    }, check);
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
