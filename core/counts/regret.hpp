// The multinomial parametric complexity: how much a model that may fit every sample of n draws from r states must pay
// for it. C(r, n) is the sum over all such samples of their maximized likelihood (Leppä-aho, 2020, Eq. 4.3); the regret is its log.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace fishernet {

// A number of states or cells that may be beyond what a double holds. Where it is not exact, its bits depend on the order
// of the factors: those of a set are always multiplied in ascending order.
struct Size {
    double cells = 1;  // infinite when too large
    double log = 0;

    Size times(double states) const {
        constexpr double exact = 0x1p53;
        const double product = cells * states;
        return {product, product <= exact ? std::log(product) : log + std::log(states)};
    }
};

// The number of cells of variables with so many states, given in any order; the same set always has the same bits.
inline Size size_of(std::span<const std::uint32_t> states) {
    constexpr double exact = 0x1p53;
    double product = 1;  // one logarithm for as many variables as there may be
    for (const double r : states) product *= r;
    if (product <= exact) return Size{}.times(product);
    std::vector<std::uint32_t> ascending(states.begin(), states.end());
    std::sort(ascending.begin(), ascending.end());
    Size size;
    for (const double r : ascending) size = size.times(r);
    return size;
}

// log C(r, n) for n >= 0 draws; 0 where there is nothing to choose (n = 0 or r = 1).
double regret(std::int64_t n, const Size& r);

inline double regret(std::int64_t n, double r) { return regret(n, Size{}.times(r)); }

}  // namespace fishernet
