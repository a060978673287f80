// How often each code of a column occurs in groups of rows that are given one by one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/columns.hpp"
#include "base/interrupt.hpp"

namespace fishernet {

// Group g holds the rows from offsets[g] up to offsets[g + 1]; a row may be in any number of groups.
struct RowGroups {
    std::span<const std::int64_t> offsets;
    std::span<const std::int64_t> rows;

    std::size_t size() const { return offsets.size() - 1; }
};

// For each of the columns the weight of every code, that of missing cells last, in every group: groups x (states + 1).
std::vector<std::vector<std::int64_t>> count_in_groups(const Columns& table, std::span<const std::int32_t> columns,
                                                       const RowGroups& groups, StopCheck check);

}  // namespace fishernet
