// Counting a base set of variables together with every candidate at once, through the lanes of the packed table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/columns.hpp"
#include "base/interrupt.hpp"
#include "base/packed.hpp"

namespace fishernet {

inline constexpr std::int64_t lane_chunk_rows = 57344;  // rows that one thread counts at a time
inline constexpr std::int64_t most_plane_base = 24;     // cells of a base; beyond, lanes row by row are faster than planes

// The number of cells of a set, or `limit + 1` when it is larger than the limit.
std::int64_t cells_within(const Columns& table, std::span<const std::int32_t> set, std::int64_t limit);

// Whether a base of unweighted rows fits, whatever the candidates; `lanes` are those of the packed table.
bool base_fits_lanes(const Columns& table, std::span<const std::int32_t> base, int lanes);

// Counts of all rows: [cell of the base][lane], of the lanes of the candidates (narrow columns) and the lane of ones; what
// is in the others is nobody's. Valid until the same thread counts again.
std::span<const std::uint32_t> count_lanes(const Columns& table, const Packed& packed,
                                           std::span<const std::int32_t> base,
                                           std::span<const std::int32_t> candidates);

// A base and its candidates.
struct LaneRun {
    std::span<const std::int32_t> base, candidates;
};

// The same of many bases, cut by rows and on all threads: bases go through a chunk of rows one after the other while it
// is in the cache. `take` is given the counts of one after the other, on this thread.
void count_lane_runs(const Columns& table, const Packed& packed, std::span<const LaneRun> runs,
                     const std::function<void(std::size_t run, std::span<const std::uint32_t> totals)>& take,
                     StopCheck check);

}  // namespace fishernet
