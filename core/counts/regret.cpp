#include "counts/regret.hpp"

#include <algorithm>

#include "base/log_gamma.hpp"

namespace fishernet {
namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double few_states = 256;    // up to here by the recurrence in r
constexpr double many_states = 1e17;  // beyond, all samples but those without a repetition are negligible

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

// The sum over k of n_(k) (r - 1)^(k) / (n^k k!), a falling and a rising factorial: its terms rise to one maximum and
// fall again, so they are added from there to both sides.
double by_terms(double n, double r) {
    constexpr double negligible = 1e-18;
    const double b = r - 1;
    const double root = 2 * n * (r - 2) / (b + std::sqrt(b * b + 4 * n * (r - 2)));  // where two terms are equal
    const double top = std::clamp(std::ceil(root), 0.0, n);
    const double log_top = log_rising(n - top + 1, top) + log_rising(b, top) - log_rising(1, top) - top * std::log(n);
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
    return log_top + std::log(sum);
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
