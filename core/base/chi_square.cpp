#include "base/chi_square.hpp"

#include <algorithm>
#include <limits>

namespace fishernet {
namespace {

constexpr double precision = 1e-16;
constexpr int most_terms = 100000;

// The sum over n of x^n / (a (a + 1) ... (a + n)), for the lower tail where x < a + 1.
double lower_series(double a, double x) {
    double term = 1 / a;
    double sum = term;
    for (int n = 1; n < most_terms && term > precision * sum; ++n) {
        term *= x / (a + n);
        sum += term;
    }
    return sum;
}

// The continued fraction 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / ...)) of the upper tail, by Lentz's
// method; for x > a + 1.
double upper_fraction(double a, double x) {
    constexpr double tiny = 1e-300;
    double b = x + 1 - a;
    double c = 1 / tiny;
    double d = 1 / b;
    double value = d;
    for (int n = 1; n < most_terms; ++n) {
        const double numerator = -n * (n - a);
        b += 2;
        d = numerator * d + b;
        if (std::abs(d) < tiny) d = tiny;
        c = b + numerator / c;
        if (std::abs(c) < tiny) c = tiny;
        d = 1 / d;
        const double step = d * c;
        value *= step;
        if (std::abs(step - 1) < precision) break;
    }
    return value;
}

}  // namespace

ChiSquareTail::ChiSquareTail(std::int64_t degrees_of_freedom)
    : half_(0.5 * static_cast<double>(std::max<std::int64_t>(degrees_of_freedom, 0))),
      log_gamma_(half_ > 0 ? std::lgamma(half_) : 0) {}

double ChiSquareTail::log_probability(double statistic) const {
    if (half_ == 0 || !(statistic > 0)) return 0;
    if (std::isinf(statistic)) return -std::numeric_limits<double>::infinity();
    const double x = 0.5 * statistic;
    const double log_density = half_ * std::log(x) - x - log_gamma_;
    if (x < half_ + 1) return std::log1p(-std::exp(log_density + std::log(lower_series(half_, x))));
    return log_density + std::log(upper_fraction(half_, x));
}

}  // namespace fishernet
