// Which strings of a block have the same symbols below a node: messages are computed once for each such pattern.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trees/tree_model.hpp"

namespace fishernet {

struct TreePatterns {
    std::int32_t rows = 0;
    std::vector<std::int32_t> count;     // (n_nodes,) patterns below each node; `rows` where each row is its own
    std::vector<std::int64_t> map_at;    // (n_edges,) where the edge's map begins; -1: pattern i leads to pattern i
    std::vector<std::int32_t> maps;      // for each pattern of the upper node that of the lower one; of a leaf the symbol
    std::vector<std::int32_t> of_row;    // (rows,) the root's pattern of each row

    const std::int32_t* map(std::int64_t edge) const { return map_at[edge] < 0 ? nullptr : maps.data() + map_at[edge]; }
};

// codes (rows, n_leaves), one string after the other; `symbols` stands for a missing one. Where more than `share` of
// the rows differ, each is its own pattern.
TreePatterns find_patterns(const TreeModel& model, std::span<const std::int32_t> codes, std::int32_t rows, double share);

}  // namespace fishernet
