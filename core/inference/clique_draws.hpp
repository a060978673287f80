// Rows drawn clique by clique from the tables that a collection of messages leaves: parents first, each clique's own
// variables given those it shares with its parent.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interrupt.hpp"
#include "inference/clique_tree.hpp"
#include "networks/sampling.hpp"

namespace fishernet {

struct CliqueDraw {
    const Clique* clique;
    double* table;            // a slice for every state of the separator
    std::int64_t slices;
    std::int64_t slice;       // cells of each
};

// Every slice becomes its running sums; logarithms are taken back first.
void accumulate_slices(const CliqueDraw& draw, bool logarithmic);

// Draws n rows. `variables` and `cardinalities` say what the cliques' numbers mean; what no clique holds has its state in
// `states`. Row i is a function of (key, i) alone.
void draw_rows(std::span<const CliqueDraw> cliques, std::span<const std::int32_t> variables,
               std::span<const std::int64_t> cardinalities, std::span<const std::int32_t> states, std::int64_t n,
               std::uint64_t key, std::span<const Output> columns, StopCheck check);

}  // namespace fishernet
