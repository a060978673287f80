// The two steps of FMPL (Leppä-aho, 2020, 3.1.5): the Markov blanket of every column by itself, and hill climbing over edges.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interrupt.hpp"
#include "gaussian/fractional.hpp"

namespace fishernet {

// A blanket, ascending. It is saturated when it ended for want of rows: it has as many members as may be, or next to
// nothing was left to explain.
struct Blanket {
    std::vector<std::int32_t> members;
    bool saturated = false;
};

// The blankets of the columns from `first` to `last` - 1. Each starts empty, takes the column that raises its score most
// and then loses members, the best first, while that raises it; the first addition that does not ends it.
//
// Columns of which nothing is left are collinear, which is an error, unless they are more than half of those that the
// rows keep apart: a good choice among many columns then comes close to anything.
std::vector<Blanket> find_blankets(Products products, BlanketScore score, std::int32_t first, std::int32_t last,
                                   StopCheck check);

// Edges, as pairs of columns, of which some are in the graph.
using Edges = std::span<const std::int32_t>;

// Which of the edges a climb from the empty graph ends with: the edge that raises the sum of the columns' scores most is
// put in or taken out, the first of several, until none raises it.
std::vector<bool> climb_edges(Products products, BlanketScore score, Edges edges, StopCheck check);

}  // namespace fishernet
