// The hypergeometric distribution's tails, in logarithms, however far out.
#pragma once

#include <cstdint>

namespace fishernet {

// How many of the drawn are marked, when of all, some of them marked, that many are drawn at random.
struct Hypergeometric {
    std::int64_t all = 0;
    std::int64_t marked = 0;  // at most all
    std::int64_t drawn = 0;   // at most all

    std::int64_t least() const;
    std::int64_t most() const;
    std::int64_t mode() const;
    double mean() const;
    double variance() const;
    double log_at_most(std::int64_t hits) const;   // log P(number <= hits)
    double log_at_least(std::int64_t hits) const;  // log P(number >= hits)
};

}  // namespace fishernet
