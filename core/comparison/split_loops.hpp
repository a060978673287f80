// The innermost loops of permutation tests, compiled once for every instruction set; all give the same bits.
#pragma once

#include <cstdint>

#include "base/isa.hpp"

namespace fishernet {

inline constexpr int split_lanes = 64;  // permutations that are looked at together, a lane each

// What the features of one state have in common: how often it and its group occur in all rows, and theta.
struct SplitCell {
    double total, group_total, theta;
    double weight;  // 1 / (P(group) theta), or 0
};

struct SplitLoops {
    // For each of n rows, which lanes take it: lane l takes floor(draw * remaining / 2^32) < needed[l], where `remaining`
    // rows are left before the first of these rows. masks[0][i] has the lanes 0 to 31, masks[1][i] the others; draws come
    // by rows, then lanes. needed[l] falls with every row that is taken.
    void (*take)(std::uint32_t* masks0, std::uint32_t* masks1, std::uint32_t* needed, const std::uint32_t* draws,
                 std::uint32_t remaining, std::int64_t n);

    // squares[l] += weight (difference of the two parts' means of [state] - theta [group])^2, where lane l has `counts[l]`
    // of the state's rows and `of_group[l]` of the group's in the first part. The parts have 1 / first and 1 / second rows.
    void (*add_squares)(double* squares, const std::uint32_t* counts, const std::uint32_t* of_group, SplitCell cell,
                        double first, double second);

    static const SplitLoops portable, avx2, avx512;
};

inline const SplitLoops& split_loops() { return Variants<SplitLoops>::best(); }

}  // namespace fishernet
