// The joint counts of sets of variables: all cells, or only those that occur.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/columns.hpp"
#include "base/interrupt.hpp"

namespace fishernet {

// The joint table of a set, its last variable fastest. Rows with a missing cell in the set are counted apart.
struct JointCounts {
    bool dense = true;
    std::vector<std::int64_t> counts;   // all cells, or those that occur, in lexicographic order
    std::vector<std::uint32_t> states;  // not dense: the states of each cell that occurs, row after row
    std::int64_t left_out = 0;
};

// A set whose table has at most `most_dense` cells is dense.
std::vector<JointCounts> count_sets(const Columns& table, const std::vector<std::vector<std::int32_t>>& sets,
                                    std::int64_t most_dense, StopCheck check);

}  // namespace fishernet
