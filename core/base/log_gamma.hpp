// Ratios of Gamma functions in logarithms, without the cancellation of a difference of two large logarithms.
#pragma once

#include <cmath>

namespace fishernet {

// What Stirling's formula leaves over: log Gamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2), for x >= 16.
inline double stirling_remainder(double x) {
    const double y = 1 / (x * x);
    return (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y * (1.0 / 1680 - y / 1188)))) / x;
}

// log (x (x + 1) ... (x + k - 1)) = log Gamma(x + k) - log Gamma(x), for x > 0 and x + k > 0.
inline double log_rising(double x, double k) {
    constexpr double large = 16;
    double sum = 0;
    if (k != std::floor(k) || k < 0) {  // no product: both Gammas are taken to where Stirling's formula holds
        for (; x < large || x + k < large; ++x) sum -= std::log1p(k / x);
    }
    for (; k > 0 && x < large; --k, ++x) sum += std::log(x);
    if (k == 0) return sum;
    const double fit = (x - 0.5) * std::log1p(k / x) + k * (std::log(x + k) - 1);
    return sum + fit + stirling_remainder(x + k) - stirling_remainder(x);
}

// log (a (a + 1) ... (a + n - 1)) for a = exp(log_a) and n > 0. Where a is too small for a double it is felt in
// the first factor only, where it is very large in all of them alike.
inline double log_rising_from(double log_a, double n) {
    constexpr double no_longer_rising = 80;
    if (log_a > no_longer_rising) return n * log_a;
    if (n < 1) {  // Gamma(a + n) / Gamma(a) by those of one more
        const double a = std::exp(log_a);
        return (a < 1 ? log_a - std::log(a + n) : -std::log1p(n / a)) + log_rising(a + 1, n);
    }
    return log_a + log_rising(std::exp(log_a) + 1, n - 1);
}

}  // namespace fishernet
