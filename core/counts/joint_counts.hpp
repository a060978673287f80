// Counting a base set of variables together with every candidate in turn, and summing terms over the cells.
#pragma once

#include <span>

#include "base/columns.hpp"
#include "base/interrupt.hpp"
#include "base/packed.hpp"
#include "counts/lane_counts.hpp"
#include "counts/set_terms.hpp"

namespace fishernet {

inline constexpr std::int64_t few_rows = lane_chunk_rows;  // such a table is one task a run; a longer one is cut

// Whether a run goes through the lanes of the packed table (otherwise a candidate at a time).
bool counts_in_lanes(const Columns& table, const Packed& packed, const Run& run);

// Fills the terms of the run; through the lanes, on this thread.
void count_in_lanes(const Columns& table, const Packed& packed, Run& run);

// The same of many runs, cut by rows and on all threads.
void count_in_lanes(const Columns& table, const Packed& packed, std::span<Run* const> runs, StopCheck check);

// The same one candidate at a time: wide columns, weighted rows, tables of cells too large for lanes.
void count_singly(const Columns& table, Run& run, StopCheck check);

}  // namespace fishernet
