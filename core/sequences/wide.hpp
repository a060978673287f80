// Non-negative numbers whose exponents do not end: v * 2^(512 k), with v zero or from 2^-256 to below 2^256. Products and
// sums of them cannot underflow, whatever the length of a string.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

namespace fishernet {

struct Wide {
    double v = 0.0;
    std::int64_t k = 0;
};

inline constexpr double wide_low = 0x1p-256, wide_high = 0x1p256, wide_step = 0x1p512;

// The same number with v in its range.
inline Wide settled(Wide x) {
    if (x.v == 0.0) return {};
    while (x.v < wide_low) x = {x.v * wide_step, x.k - 1};
    while (x.v >= wide_high) x = {x.v / wide_step, x.k + 1};
    return x;
}

inline Wide wide(double value) { return settled({value, 0}); }

// value * 2^power, for a whole power within 64 bits.
inline Wide wide(double value, double power) {
    const auto whole = static_cast<std::int64_t>(power);
    const Wide x = wide(value);
    return settled({std::ldexp(x.v, static_cast<int>(whole & 511)), x.k + (whole >> 9)});
}

inline Wide operator*(Wide a, Wide b) {
    const double v = a.v * b.v;
    const std::int64_t k = a.k + b.k;
    if (v >= wide_low && v < wide_high) return {v, k};
    return settled({v, k});
}

// Of two numbers more than a step apart the smaller one is below every digit of the larger.
inline void operator+=(Wide& a, Wide b) {
    if (b.v == 0.0) return;
    if (a.v == 0.0) {
        a = b;
    } else if (a.k == b.k) {
        a.v += b.v;
    } else if (a.k == b.k + 1) {
        a.v += b.v / wide_step;
    } else if (a.k + 1 == b.k) {
        a = {b.v + a.v / wide_step, b.k};
    } else if (a.k < b.k) {
        a = b;
    }
    if (a.v >= wide_high) a = settled(a);
}

inline Wide inverse(Wide x) { return settled({1.0 / x.v, -x.k}); }

// As a double: 0 or infinity where it has none.
inline double narrow(Wide x) {
    if (x.k == 0) return x.v;
    return std::ldexp(x.v, static_cast<int>(512 * std::clamp<std::int64_t>(x.k, -8, 8)));
}

inline double log(Wide x) {
    if (x.v == 0.0) return -std::numeric_limits<double>::infinity();
    return std::log(x.v) + static_cast<double>(x.k) * (512 * std::numbers::ln2);
}

// log(x * 2^power)
inline double log(Wide x, double power) {
    if (x.v == 0.0) return -std::numeric_limits<double>::infinity();
    int own = 0;
    const double mantissa = std::frexp(x.v, &own);
    return std::log(mantissa) + (power + own + 512.0 * static_cast<double>(x.k)) * std::numbers::ln2;
}

}  // namespace fishernet
