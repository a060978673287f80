#include "base/hypergeometric.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fishernet {
namespace {

constexpr double negligible = 1e-18;
constexpr double small = 1e-250;  // products are taken to logarithms before they underflow

// P(k + 1) / P(k); 0 at the end.
double ratio(const Hypergeometric& of, std::int64_t k) {
    const auto up = static_cast<double>(of.marked - k) * static_cast<double>(of.drawn - k);
    return up / (static_cast<double>(k + 1) * static_cast<double>(of.all - of.marked - of.drawn + k + 1));
}

// The sum of P(j) / P(k) over j = k, k + 1, ..., for k from the mode on, where terms fall ever faster.
double sum_upwards(const Hypergeometric& of, std::int64_t k) {
    double sum = 1;
    double term = 1;
    for (; k < of.most() && term > negligible * sum; ++k) sum += term *= ratio(of, k);
    return sum;
}

// The same number seen from the other end: how many of the marked are not drawn.
Hypergeometric mirrored(const Hypergeometric& of) { return {of.all, of.marked, of.all - of.drawn}; }

// log P(number >= hits), for hits above the mode.
double log_upper_tail(const Hypergeometric& of, std::int64_t hits) {
    const auto mode = of.mode();
    const Hypergeometric other = mirrored(of);
    const double whole = sum_upwards(of, mode) + sum_upwards(other, of.marked - mode) - 1;  // in units of the mode's
    double log_term = 0;
    double term = 1;
    for (auto k = mode; k < hits; ++k) {
        term *= ratio(of, k);
        if (term < small) {
            log_term += std::log(term);
            term = 1;
        }
    }
    return log_term + std::log(term) + std::log(sum_upwards(of, hits)) - std::log(whole);
}

}  // namespace

std::int64_t Hypergeometric::least() const { return std::max<std::int64_t>(0, drawn - (all - marked)); }

std::int64_t Hypergeometric::most() const { return std::min(marked, drawn); }

std::int64_t Hypergeometric::mode() const {
    const double mode =
        (static_cast<double>(drawn) + 1) * (static_cast<double>(marked) + 1) / (static_cast<double>(all) + 2);
    return std::clamp(static_cast<std::int64_t>(mode), least(), most());
}

double Hypergeometric::mean() const {
    return static_cast<double>(drawn) * (static_cast<double>(marked) / static_cast<double>(all));
}

double Hypergeometric::variance() const {
    const auto n = static_cast<double>(all);
    return mean() * ((n - static_cast<double>(marked)) / n) *
           ((n - static_cast<double>(drawn)) / std::max(n - 1, 1.0));
}

double Hypergeometric::log_at_least(std::int64_t hits) const {
    if (hits <= least()) return 0;
    if (hits > most()) return -std::numeric_limits<double>::infinity();
    if (hits > mode()) return std::min(0.0, log_upper_tail(*this, hits));
    return std::log1p(-std::exp(log_at_most(hits - 1)));
}

double Hypergeometric::log_at_most(std::int64_t hits) const {
    if (hits >= most()) return 0;
    if (hits < least()) return -std::numeric_limits<double>::infinity();
    if (hits < mode()) {
        // at most so many of the drawn are at least marked - hits of those that are not
        return std::min(0.0, log_upper_tail(mirrored(*this), marked - hits));
    }
    return std::log1p(-std::exp(log_at_least(hits + 1)));
}

}  // namespace fishernet
