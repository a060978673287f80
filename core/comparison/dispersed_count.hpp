// Counts that lie farther from their likeliest value than chance puts them.
#pragma once

#include <cstdint>

#include "base/draws.hpp"

namespace fishernet {

// Of the values from the least to the most each step away from the mode is as much less likely as the last.
class DispersedCount {
public:
    // With such a variance, but for what the ends cut off.
    DispersedCount(std::int64_t least, std::int64_t mode, std::int64_t most, double variance);

    std::int64_t draw(Draws& draws) const;
    double probability(std::int64_t value) const;

private:
    std::int64_t least_, mode_, most_;
    double step_, from_mode_, below_;  // what a step takes away; the sums from the mode on, and below it
};

}  // namespace fishernet
