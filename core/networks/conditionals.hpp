// Conditionals as the core runs them: a row of the table gives a group, a group and a state give a number.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/columns.hpp"
#include "base/interrupt.hpp"
#include "networks/code_tree.hpp"

namespace fishernet {

// group = map[sum of code * stride over the parents], or that sum itself where there is no map; or the tree's.
struct FlatConditional {
    std::int32_t child = 0;
    std::int32_t states = 1;
    std::int64_t n_groups = 1;
    std::vector<std::int32_t> parents;
    std::vector<std::int64_t> strides;
    std::vector<std::int32_t> map;  // empty: none
    CodeTree tree = {};             // empty: none
};

// The group of every row.
void find_groups(const Columns& table, const FlatConditional& conditional, std::int64_t begin, std::int64_t n,
                 std::int64_t* groups);

// Group * states + state of the child, of every row; a conditional has fewer than 2^32 cells.
void find_cells(const Columns& table, const FlatConditional& conditional, std::int64_t begin, std::int64_t n,
                std::uint32_t* cells);

// out[row * n_conditionals + i] = values[i][group, state of the child]; or, with sum, out[row] is their sum in order.
void look_up(const Columns& table, std::span<const FlatConditional> conditionals,
             std::span<const double* const> values, bool sum, double* out, StopCheck check);

// Log-probabilities, up to a constant a row, of each state of the target given all other columns:
// out[row * states + k] = sum over the target's own conditional and its children's. The target's column is not read.
void target_scores(const Columns& table, std::span<const FlatConditional> conditionals,
                   std::span<const double* const> values, std::int32_t target, std::int32_t states, double* out,
                   StopCheck check);

}  // namespace fishernet
