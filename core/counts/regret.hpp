// The multinomial parametric complexity: how much a model that may fit every sample of n draws from r states must pay
// for it. C(r, n) is the sum over all such samples of their maximized likelihood (Leppä-aho, 2020, Eq. 4.3); the regret is its log.
#pragma once

#include <cmath>
#include <cstdint>

namespace fishernet {

// A number of states or cells that may be beyond what a double holds. While it is exact, so is its key; of a set's
// ascending members the same product always has the same bits.
struct Size {
    double cells = 1;  // infinite when too large
    double log = 0;

    Size times(double states) const {
        constexpr double exact = 0x1p53;
        const double product = cells * states;
        return {product, product <= exact ? std::log(product) : log + std::log(states)};
    }
};

// log C(r, n) for n >= 0 draws; 0 where there is nothing to choose (n = 0 or r = 1).
double regret(std::int64_t n, const Size& r);

inline double regret(std::int64_t n, double r) { return regret(n, Size{}.times(r)); }

}  // namespace fishernet
