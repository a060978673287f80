#include "counts/lane_counts.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "base/kernels.hpp"
#include "base/pool.hpp"
#include "base/sizes.hpp"

namespace fishernet {
namespace {

using View = std::span<const std::int32_t>;

constexpr std::int64_t block_rows = 8192;
static_assert(lane_chunk_rows % block_rows == 0 && lane_chunk_rows < 65536);  // no 16-bit counter overflows within one
static_assert(most_plane_base <= most_narrow_states);  // so a base with so few cells has planes for all its columns
constexpr std::int64_t most_lane_cells = std::int64_t{1} << 22;
constexpr std::size_t most_together = 1 << 17;  // counters of bases that go through the rows together

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

struct LaneJob {
    const Columns& table;
    const Packed& packed;
    View base;
    std::int64_t cells;
    std::vector<std::int32_t> lanes;  // those that planes are counted for

    LaneJob(const Columns& of, const Packed& form, const LaneRun& run)
        : table(of), packed(form), base(run.base), cells(cells_within(of, run.base, most_lane_cells)) {
        for (const auto v : run.candidates) {
            for (std::uint32_t k = 0; k < of.columns[v].cardinality; ++k) lanes.push_back(form.first_lane[v] + k);
        }
        std::sort(lanes.begin(), lanes.end());  // a candidate may be there twice
        lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
        lanes.push_back(form.ones_lane);
    }

    std::size_t size() const { return static_cast<std::size_t>(cells) * packed.lanes(); }
    bool by_planes() const { return cells <= most_plane_base; }
};

// One AND-ed plane a cell of the base, for some words.
void base_planes(const LaneJob& job, std::int64_t word, int words, std::vector<std::uint64_t>& planes) {
    std::uint64_t* out = scratch(planes, static_cast<std::size_t>(job.cells) * words);
    std::copy_n(job.packed.plane(job.packed.ones_lane) + word, words, out);
    std::int64_t made = 1;
    for (const auto v : job.base) {
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
        make_ids(job.table, job.base, row, n, ids);
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

}  // namespace

std::int64_t cells_within(const Columns& table, View set, std::int64_t limit) {
    std::int64_t cells = 1;
    for (const auto v : set) cells = times_within(cells, table.columns[v].cardinality, limit);
    return cells;
}

bool base_fits_lanes(const Columns& table, View base, int lanes) {
    if (table.weights != nullptr || table.n_rows >= std::int64_t{1} << 32) return false;
    const std::int64_t cells = cells_within(table, base, most_lane_cells);
    return cells <= most_lane_cells && cells * lanes <= std::max(most_lane_cells, 8 * table.n_rows);
}

std::span<const std::uint32_t> count_lanes(const Columns& table, const Packed& packed, View base, View candidates) {
    const LaneJob job(table, packed, {base, candidates});
    thread_local std::vector<std::uint32_t> memory;
    std::uint32_t* totals = scratch(memory, job.size());
    std::fill_n(totals, job.size(), 0u);
    for (std::int64_t begin = 0; begin < table.n_rows; begin += lane_chunk_rows) {
        add_chunk(job, begin, std::min(begin + lane_chunk_rows, table.n_rows), totals, nullptr);
    }
    return {totals, job.size()};
}

void count_lane_runs(const Columns& table, const Packed& packed, std::span<const LaneRun> runs,
                     const std::function<void(std::size_t, std::span<const std::uint32_t>)>& take, StopCheck check) {
    const std::int64_t chunks = (table.n_rows + lane_chunk_rows - 1) / lane_chunk_rows;
    std::vector<std::uint32_t> totals;
    for (std::size_t first = 0; first < runs.size();) {
        std::vector<LaneJob> jobs;
        std::vector<std::size_t> begins{0};
        for (std::size_t r = first; r < runs.size(); ++r) {
            LaneJob job(table, packed, runs[r]);
            if (!jobs.empty() && begins.back() + job.size() > most_together) break;
            begins.push_back(begins.back() + job.size());
            jobs.push_back(std::move(job));
        }
        totals.assign(begins.back(), 0u);
        std::vector<std::mutex> mutexes(jobs.size());
        run_tasks(chunks, [&](std::int64_t chunk) {
            const std::int64_t begin = chunk * lane_chunk_rows;
            const std::int64_t end = std::min(begin + lane_chunk_rows, table.n_rows);
            for (std::size_t j = 0; j < jobs.size(); ++j) {
                add_chunk(jobs[j], begin, end, totals.data() + begins[j], &mutexes[j]);
            }
        }, check);
        for (std::size_t j = 0; j < jobs.size(); ++j) take(first + j, std::span(totals).subspan(begins[j], jobs[j].size()));
        first += jobs.size();
    }
}

}  // namespace fishernet
