#include "counts/joint_counts.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "base/kernels.hpp"
#include "base/pool.hpp"
#include "base/sizes.hpp"
#include "counts/lane_counts.hpp"

namespace fishernet {
namespace {

using View = std::span<const std::int32_t>;

constexpr std::int64_t block_rows = 8192;
constexpr std::int64_t most_numbered = std::int64_t{1} << 20;
constexpr std::int64_t few_configurations = std::int64_t{1} << 12;  // of which each has a place, though rows are fewer
constexpr std::int64_t most_in_table = std::int64_t{1} << 20;       // cells of a child and a candidate

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

// The rows of a base set, those with the same parents together, so that a candidate's cells are counted configuration
// after configuration in a small table.
class GroupedRows {
public:
    GroupedRows(const Columns& table, View parents, std::int32_t child, Patience& patience)
        : table_(table), child_(table.columns[child]) {
        std::vector<std::uint32_t> ids;
        const std::int64_t n = number_configurations(table, parents, ids, patience);
        group(ids, n);
        states_.reserve(rows_.size());
        for (const std::size_t row : rows_) states_.push_back(code_at(child_, row));
        patience.ask();
    }

    // The terms of the base with a candidate (none: -1), with the child and without.
    std::pair<double, double> terms(const TermPair& of, std::int32_t candidate) const {
        const std::uint32_t states = candidate < 0 ? 1 : table_.columns[candidate].cardinality;
        if (times_within(states, child_.cardinality, most_in_table) < most_in_table) {
            return sum<std::vector<std::int64_t>>(of, candidate, states);
        }
        return sum<std::unordered_map<std::uint64_t, std::int64_t>>(of, candidate, states);
    }

private:
    void group(const std::vector<std::uint32_t>& ids, std::int64_t n) {
        rows_.resize(ids.size());
        if (n <= std::max(std::ssize(ids), few_configurations)) {
            std::vector<std::size_t> begin(static_cast<std::size_t>(n) + 1, 0);
            for (const std::uint32_t id : ids) ++begin[id + 1];
            std::partial_sum(begin.begin(), begin.end(), begin.begin());
            for (std::size_t row = 0; row < ids.size(); ++row) rows_[begin[ids[row]]++] = row;
        } else {
            std::iota(rows_.begin(), rows_.end(), std::size_t{0});
            std::sort(rows_.begin(), rows_.end(), [&](auto a, auto b) { return ids[a] < ids[b]; });
        }
        for (std::size_t i = 1; i <= rows_.size(); ++i) {
            if (i == rows_.size() || ids[rows_[i]] != ids[rows_[i - 1]]) ends_.push_back(i);
        }
    }

    template <class Cells>
    std::pair<double, double> sum(const TermPair& of, std::int32_t candidate, std::uint32_t states) const {
        Cells joint = cells<Cells>(std::size_t{states} * child_.cardinality), marginal = cells<Cells>(states);
        std::vector<std::uint32_t> codes(rows_.size(), 0);
        for (std::size_t i = 0; candidate >= 0 && i < rows_.size(); ++i) {
            codes[i] = code_at(table_.columns[candidate], rows_[i]);
        }
        std::int64_t of_joint = 0, of_marginal = 0;
        const auto take = [](std::int64_t& count, const CellTerms& terms) {
            return count == 0 ? 0 : terms(std::exchange(count, 0));
        };
        std::size_t first = 0;
        for (const std::size_t end : ends_) {
            if (end == first + 1) {
                const std::int64_t weight = table_.weights ? table_.weights[rows_[first]] : 1;
                of_joint += (*of.joint)(weight);
                of_marginal += (*of.marginal)(weight);
                first = end;
                continue;
            }
            for (std::size_t i = first; i < end; ++i) {
                const std::int64_t weight = table_.weights ? table_.weights[rows_[i]] : 1;
                marginal[codes[i]] += weight;
                joint[std::size_t{codes[i]} * child_.cardinality + states_[i]] += weight;
            }
            if (end - first > joint.size()) {
                for (auto& cell : joint) of_joint += take(count_in(cell), *of.joint);
                for (auto& cell : marginal) of_marginal += take(count_in(cell), *of.marginal);
            } else {
                for (std::size_t i = first; i < end; ++i) {
                    of_marginal += take(marginal[codes[i]], *of.marginal);
                    of_joint += take(joint[std::size_t{codes[i]} * child_.cardinality + states_[i]], *of.joint);
                }
            }
            first = end;
        }
        return {of.joint->value(of_joint), of.marginal->value(of_marginal)};
    }

    template <class Cells>
    static Cells cells(std::size_t n) {
        if constexpr (std::is_same_v<Cells, std::vector<std::int64_t>>) return Cells(n, 0);
        else return Cells();
    }
    static std::int64_t& count_in(std::int64_t& cell) { return cell; }
    static std::int64_t& count_in(std::pair<const std::uint64_t, std::int64_t>& cell) { return cell.second; }

    const Columns& table_;
    const Column& child_;
    std::vector<std::size_t> rows_, ends_;  // of each configuration that occurs
    std::vector<std::uint32_t> states_;     // of the child, row after row
};

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
    const GroupedRows rows(table, View(run.base).first(run.base.size() - 1), run.base.back(), patience);
    std::tie(run.base_term, run.parents_term) = rows.terms(run.base_pair, -1);
    const auto count = [&](std::int64_t c) {
        const std::uint32_t states = table.columns[run.candidates[static_cast<std::size_t>(c)]].cardinality;
        const auto pair = std::find_if(run.pairs.begin(), run.pairs.end(),
                                       [states](const auto& known) { return known.first == states; });
        std::tie(run.joint_terms[c], run.marginal_terms[c]) = rows.terms(pair->second, run.candidates[c]);
    };
    run_tasks(std::ssize(run.candidates), count, check, table.n_rows > few_rows);
}

}  // namespace fishernet
