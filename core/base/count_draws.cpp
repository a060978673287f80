#include "base/count_draws.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/log_gamma.hpp"

namespace fishernet {
namespace {

constexpr double few = 100;        // variances up to which neighbours of the mode are tried one after the other
constexpr double most_in_table = 1 << 14;  // variances
constexpr double negligible = 1e-18;

struct OfHypergeometric {
    Hypergeometric of;

    std::int64_t least() const { return of.least(); }
    std::int64_t most() const { return of.most(); }
    double mean() const { return of.mean(); }
    double variance() const { return of.variance(); }
    std::int64_t mode() const { return of.mode(); }
    double ratio(std::int64_t k) const {  // P(k + 1) / P(k)
        const double up = static_cast<double>(of.marked - k) * static_cast<double>(of.drawn - k);
        return up / (static_cast<double>(k + 1) * static_cast<double>(of.all - of.marked - of.drawn + k + 1));
    }
    double log_weight(std::int64_t k) const {  // log P(k), but for a constant
        return -log_factorial(k) - log_factorial(of.marked - k) - log_factorial(of.drawn - k) -
               log_factorial(of.all - of.marked - of.drawn + k);
    }
    double log_constant() const {
        return log_factorial(of.marked) + log_factorial(of.all - of.marked) + log_factorial(of.drawn) +
               log_factorial(of.all - of.drawn) - log_factorial(of.all);
    }
};

struct OfBinomial {
    std::int64_t n;
    double p, log_odds, odds;

    OfBinomial(std::int64_t size, double share)
        : n(size), p(share), log_odds(std::log(share) - std::log1p(-share)), odds(share / (1 - share)) {}
    std::int64_t least() const { return 0; }
    std::int64_t most() const { return n; }
    double mean() const { return static_cast<double>(n) * p; }
    double variance() const { return mean() * (1 - p); }
    std::int64_t mode() const {
        return std::clamp<std::int64_t>(static_cast<std::int64_t>((static_cast<double>(n) + 1) * p), 0, n);
    }
    double ratio(std::int64_t k) const { return static_cast<double>(n - k) / static_cast<double>(k + 1) * odds; }
    double log_weight(std::int64_t k) const {
        return static_cast<double>(k) * log_odds - log_factorial(k) - log_factorial(n - k);
    }
    double log_constant() const { return log_factorial(n) + static_cast<double>(n) * std::log1p(-p); }
};

// Takes the probabilities of the mode and of its neighbours, ever farther out, from a uniform number until it is used up.
template <class Distribution>
std::int64_t drawn_near_mode(const Distribution& of, Draws& draws) {
    const std::int64_t mode = of.mode(), least = of.least(), most = of.most();
    double above = std::exp(of.log_weight(mode) + of.log_constant());
    double below = above;
    double left = draws.uniform() - above;
    std::int64_t high = mode, low = mode;
    while (left >= 0 && (above > negligible || below > negligible)) {
        above = high < most ? above * of.ratio(high) : 0;
        if (high < most) ++high;
        left -= above;
        if (left < 0) return high;
        below = low > least ? below / of.ratio(low - 1) : 0;
        if (low > least) --low;
        left -= below;
        if (left < 0) return low;
    }
    return mode;
}

// The ratio of two uniform numbers, rejected above the distribution (Stadlober, 1990).
template <class Distribution>
std::int64_t drawn_by_ratio(const Distribution& of, Draws& draws) {
    const double centre = of.mean() + 0.5;
    const double reach = 1.7155277699214135 * std::sqrt(of.variance() + 0.5) + 0.8989161620588988;
    const double highest = of.log_weight(of.mode());
    const auto least = static_cast<double>(of.least()), most = static_cast<double>(of.most());
    while (true) {
        const double u = draws.uniform();
        const double x = std::floor(centre + reach * (draws.uniform() - 0.5) / u);
        if (x < least || x > most) continue;
        const auto k = static_cast<std::int64_t>(x);
        const double lost = of.log_weight(k) - highest;
        if (u * (4 - u) - 3 <= lost) return k;
        if (u * (u - lost) < 1 && 2 * std::log(u) <= lost) return k;
    }
}

template <class Distribution>
std::int64_t drawn_from(const Distribution& of, Draws& draws) {
    return of.variance() <= few ? drawn_near_mode(of, draws) : drawn_by_ratio(of, draws);
}

}  // namespace

double log_factorial(std::int64_t n) {
    constexpr std::size_t size = 1024;
    static const auto table = [] {
        std::array<double, size> logs{};
        for (std::size_t i = 1; i < size; ++i) logs[i] = std::lgamma(static_cast<double>(i) + 1);
        return logs;
    }();
    if (n < static_cast<std::int64_t>(size)) return table[static_cast<std::size_t>(n)];
    constexpr double half_log_two_pi = 0.91893853320467274178;
    const auto x = static_cast<double>(n) + 1;
    return (x - 0.5) * std::log(x) - x + half_log_two_pi + stirling_remainder(x);
}

std::int64_t draw_hypergeometric(const Hypergeometric& of, Draws& draws) {
    return of.least() == of.most() ? of.least() : drawn_from(OfHypergeometric{of}, draws);
}

std::int64_t draw_binomial(std::int64_t n, double p, Draws& draws) {
    if (n == 0 || p <= 0) return 0;
    return p >= 1 ? n : drawn_from(OfBinomial(n, p), draws);
}

ManyHypergeometric::ManyHypergeometric(const Hypergeometric& of) : of_(of), first_(of.least()) {
    if (of.least() == of.most()) return;
    const OfHypergeometric distribution{of};
    if (distribution.variance() > most_in_table) return;
    const std::int64_t mode = distribution.mode();
    std::vector<double> weights{1.0};
    for (first_ = mode; first_ > of.least() && weights.back() > negligible; --first_) {
        weights.push_back(weights.back() / distribution.ratio(first_ - 1));
    }
    std::reverse(weights.begin(), weights.end());
    for (std::int64_t k = mode; k < of.most() && weights.back() > negligible; ++k) {
        weights.push_back(weights.back() * distribution.ratio(k));
    }
    double total = 0;
    for (const double weight : weights) up_to_.push_back(total += weight);
    for (double& sum : up_to_) sum /= total;
    up_to_.back() = 1;
    for (std::size_t g = 0, i = 0; g < up_to_.size(); ++g) {
        while (up_to_[i] * static_cast<double>(up_to_.size()) <= static_cast<double>(g)) ++i;
        guides_.push_back(static_cast<std::int32_t>(i));
    }
}

std::int64_t ManyHypergeometric::draw(Draws& draws) const {
    if (up_to_.empty()) return draw_hypergeometric(of_, draws);
    const double u = draws.uniform();
    auto i = static_cast<std::size_t>(guides_[static_cast<std::size_t>(u * static_cast<double>(guides_.size()))]);
    while (up_to_[i] <= u) ++i;
    return first_ + static_cast<std::int64_t>(i);
}

}  // namespace fishernet
