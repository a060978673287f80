#include "counts/regret.hpp"

#include <algorithm>

#include "base/log_gamma.hpp"

namespace fishernet {
namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double few_states = 256;    // up to here by the recurrence in r
constexpr double many_states = 1e30;  // beyond, samples with a repetition are negligible for 2^53 draws, too

// C(2, n) = 1 + Q(n), with Ramanujan's Q(n) = n!/n^n (e^n / 2 - theta(n) n^n / n!) = sqrt(pi n / 2) e^s(n) - theta(n):
// s is what Stirling's formula leaves over, theta has the asymptotic series below (Flajolet et al. 1995).
double two_states(double n) {
    constexpr double enough = 128;
    if (n < enough) {  // the sum of n_(k) / n^k
        double term = 1, sum = 1;
        for (double k = 0; k < n; ++k) {
            term *= (n - k) / n;
            sum += term;
        }
        return sum;
    }
    const double y = 1 / n;
    const double theta = 1.0 / 3 + y * (4.0 / 135 - y * (8.0 / 2835 + y * (16.0 / 8505 - y * (8992.0 / 12629925))));
    return 1 + std::sqrt(pi * n / 2) * std::exp(stirling_remainder(n)) - theta;
}

// C(k, n) = C(k - 1, n) + n / (k - 2) C(k - 2, n), from C(1, n) = 1; kept in range by taking powers of two out.
double by_recurrence(double n, double r) {
    constexpr double too_large = 0x1p500;
    double before = 1, last = two_states(n), taken_out = 0;
    for (double k = 3; k <= r; ++k) {
        const double next = last + n / (k - 2) * before;
        before = last;
        last = next;
        if (last > too_large) {
            before /= too_large;
            last /= too_large;
            taken_out += 500;
        }
    }
    return std::log(last) + taken_out * std::log(2.0);
}

// log k! = (k + 1/2) log k - k + log(2 pi) / 2 + this, for a whole k >= 1.
double factorial_remainder(double k) {
    constexpr double large = 16;
    if (k >= large) return stirling_remainder(k);
    return log_rising(1, k) - ((k + 0.5) * std::log(k) - k + 0.5 * std::log(2 * pi));
}

// x + (1 - x) log(1 - x) for x = k / n: by its series where the two nearly cancel.
double repetition(double n, double k) {
    constexpr double small = 0.1;
    const double x = k / n;
    if (k == n) return 1;
    if (x > small) return x + (n - k) / n * std::log((n - k) / n);
    double sum = 0;
    for (double j = 16; j >= 0; --j) sum = sum * x + 1 / ((j + 1) * (j + 2));
    return x * x * sum;
}

// log of n_(k) / n^k, the probability that k draws from n differ: nothing here is much larger than the result.
double log_all_differ(double n, double k) {
    const double rest = n - k;
    const double bend = rest > 0 ? -0.5 * std::log1p(-k / n) - factorial_remainder(rest) : 0.5 * std::log(2 * pi * n);
    return bend + factorial_remainder(n) - n * repetition(n, k);
}

// log of (b)^(k) / k!, the number of multisets of k out of b, for b > 1: all large terms are positive.
double log_multisets(double b, double k) {
    if (k == 0) return 0;
    const double a = b - 1;
    const double size = a * std::log1p(k / a) + k * std::log1p(a / k) + 0.5 * (std::log1p(a / k) - std::log(2 * pi * a));
    return size + factorial_remainder(a + k) - factorial_remainder(a) - factorial_remainder(k);
}

// The sum of n_(k) (r - 1)^(k) / (n^k k!) over all k, a falling and a rising factorial, divided by its largest term,
// which is at `top`: added from there to both sides until nothing more comes.
double sum_of_all(double n, double b, double top) {
    constexpr double negligible = 1e-18;
    double sum = 1;
    double term = 1;
    for (double k = top; k < n && term > negligible * sum; ++k) {
        term *= (n - k) / (k + 1) * ((b + k) / n);
        sum += term;
    }
    term = 1;
    for (double k = top; k > 0 && term > negligible * sum; --k) {
        term *= k / (n - k + 1) * (n / (b + k - 1));
        sum += term;
    }
    return sum;
}

// The same where the terms make a broad, smooth hill: the sum is an integral, and the trapezoidal rule with steps of an
// eighth of the hill's width gives it to all digits.
double sum_of_some(double n, double b, double top, double width) {
    constexpr double reach = 12;
    const double step = width / 8;
    const double highest = log_all_differ(n, top) + log_multisets(b, top);
    double sum = 0;
    for (double k = std::max(0.0, top - reach * width); k <= std::min(n, top + reach * width); k += step) {
        sum += std::exp(log_all_differ(n, k) + log_multisets(b, k) - highest);
    }
    return sum * step;
}

// The log of the sum over k of n_(k) (r - 1)^(k) / (n^k k!), whose terms rise to one maximum and fall again.
double by_terms(double n, double r) {
    constexpr double broad = 4096;
    const double b = r - 1;
    const double root = 2 * n * (r - 2) / b / (1 + std::sqrt(1 + 4 * n * ((r - 2) / b) / b));  // where two terms agree
    const double top = std::clamp(std::ceil(root), 0.0, n);
    const double curvature = 1 / (n - top) + b / top / (b + top);  // of the terms' log; infinite at the ends
    const double width = 1 / std::sqrt(curvature);
    const double sum = width < broad ? sum_of_all(n, b, top) : sum_of_some(n, b, top, width);
    return log_all_differ(n, top) + log_multisets(b, top) + std::log(sum);
}

}  // namespace

double regret(std::int64_t n, const Size& r) {
    if (n == 0 || r.cells <= 1) return 0;
    const double draws = static_cast<double>(n);
    if (r.cells <= few_states) return by_recurrence(draws, r.cells);
    if (r.cells > many_states) return draws * (r.log - std::log(draws));
    return by_terms(draws, r.cells);
}

}  // namespace fishernet
