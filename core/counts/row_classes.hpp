// The distinct rows of a table, seen through fewer and fewer of its variables.
//
// Variables have places, in an order of the caller's. A class of level j is a combination of codes that occurs in places
// 0 to j - 1. Classes are numbered in the order of their codes, the highest place first, so that those with the same code
// there are a run, and along it the classes that they become without it ascend.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/columns.hpp"

namespace fishernet {

struct RowClasses {
    struct Level {
        std::vector<std::uint32_t> code;  // of every class: what is in the highest place, among the codes that occur
        std::vector<std::uint32_t> next;  // and its class of the level below
        std::uint32_t states = 1;         // how many codes occur in the highest place

        std::size_t size() const { return next.size(); }
    };

    std::vector<Level> levels;          // from 0 (one class, or none without rows) to the number of variables
    std::vector<std::int64_t> weights;  // rows of each class of the highest level; positive

    std::size_t size() const { return weights.size(); }
};

// `order[j]` is the variable in place j. The table has no missing cell; fewer than 2^32 rows have weight.
RowClasses row_classes(const Columns& table, std::span<const std::int32_t> order);

}  // namespace fishernet
