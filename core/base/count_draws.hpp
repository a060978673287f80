// Counts drawn at random: of a hypergeometric and of a binomial distribution.
#pragma once

#include <cstdint>
#include <vector>

#include "base/draws.hpp"
#include "base/hypergeometric.hpp"

namespace fishernet {

double log_factorial(std::int64_t n);

std::int64_t draw_hypergeometric(const Hypergeometric& of, Draws& draws);
std::int64_t draw_binomial(std::int64_t n, double p, Draws& draws);

// A hypergeometric distribution from which many are drawn: a table, while it is not too long.
class ManyHypergeometric {
public:
    explicit ManyHypergeometric(const Hypergeometric& of);
    std::int64_t draw(Draws& draws) const;

private:
    Hypergeometric of_;
    std::int64_t first_ = 0;
    std::vector<double> up_to_;         // P(number <= first + i), those that never come in practice left out
    std::vector<std::int32_t> guides_;  // the first i with up_to[i] > g / (how many)
};

}  // namespace fishernet
