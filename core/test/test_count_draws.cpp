#include "base/count_draws.hpp"

#include <cmath>
#include <functional>
#include <map>

#include "comparison/dispersed_count.hpp"
#include "test/check.hpp"

using namespace fishernet;

namespace {

double log_choose(double n, double k) { return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1); }

// Whether draws come as often as the probabilities say: chi-squared over the values that are likely, and none impossible.
bool fits(const std::function<std::int64_t()>& draw, const std::function<double(std::int64_t)>& p, std::int64_t most) {
    const int n = thread_sanitizer ? 2'000 : 40'000;
    std::map<std::int64_t, double> seen;
    for (int i = 0; i < n; ++i) seen[draw()] += 1;
    double chi_squared = 0, rest = n, rest_seen = n;
    int degrees = 0;
    for (std::int64_t k = 0; k <= most; ++k) {
        const double expected = n * p(k);
        if (expected == 0 && seen.contains(k)) return false;
        if (expected < 10) continue;
        chi_squared += (seen[k] - expected) * (seen[k] - expected) / expected;
        rest -= expected;
        rest_seen -= seen[k];
        ++degrees;
    }
    if (seen.begin()->first < 0 || seen.rbegin()->first > most) return false;
    if (std::abs(rest_seen - rest) > 5 * std::sqrt(std::max(rest, 0.0)) + 10) return false;
    return chi_squared < degrees + 5 * std::sqrt(2.0 * degrees) + 10;
}

}  // namespace

TEST(hypergeometric_draws_come_as_often_as_they_shall) {
    Draws draws(1, 2);
    // near the mode, with a table, by ratios, and without one
    for (const auto& [all, marked, drawn] : {std::tuple<std::int64_t, std::int64_t, std::int64_t>{1, 1, 1}, {12, 6, 5},
                                            {12, 11, 10}, {30, 3, 28}, {2000, 400, 700}, {1'000'000, 1000, 3000},
                                            {4000, 2000, 2000}, {400'000, 150'000, 300'000}}) {
        const Hypergeometric of{all, marked, drawn};
        const auto p = [&](std::int64_t k) {
            if (k < of.least() || k > of.most()) return 0.0;
            const auto one = [](std::int64_t n, std::int64_t m) {
                return log_choose(static_cast<double>(n), static_cast<double>(m));
            };
            return std::exp(one(of.marked, k) + one(of.all - of.marked, of.drawn - k) - one(of.all, of.drawn));
        };
        CHECK(fits([&] { return draw_hypergeometric(of, draws); }, p, of.most()));
        const ManyHypergeometric many(of);
        CHECK(fits([&] { return many.draw(draws); }, p, of.most()));
    }
}

TEST(binomial_draws_come_as_often_as_they_shall) {
    Draws draws(3, 4);
    for (const auto& [n, share] : {std::pair<std::int64_t, double>{1, 0.3}, {7, 0.5}, {40, 0.999}, {1000, 0.01},
                                   {1000, 0.4}, {100'000, 0.7}}) {
        const auto size = n;
        const double q = share;
        const auto p = [&](std::int64_t k) {
            const auto hits = static_cast<double>(k), all = static_cast<double>(size);
            return std::exp(log_choose(all, hits) + hits * std::log(q) + (all - hits) * std::log1p(-q));
        };
        CHECK(fits([&] { return draw_binomial(size, q, draws); }, p, size));
    }
    CHECK(draw_binomial(5, 0.0, draws) == 0);
    CHECK(draw_binomial(5, 1.0, draws) == 5);
    CHECK(draw_binomial(0, 0.5, draws) == 0);
}

TEST(dispersed_draws_come_as_often_as_they_shall) {
    Draws draws(5, 6);
    for (const auto& [least, mode, most, variance] :
         {std::tuple<std::int64_t, std::int64_t, std::int64_t, double>{0, 0, 1, 0.01}, {0, 2, 2, 1.5}, {0, 1, 9, 0.3},
          {0, 0, 2000, 20.0}, {0, 900, 2000, 4000.0}, {0, 5, 10, 1e6}}) {
        const DispersedCount of(least, mode, most, variance);
        double sum = 0;
        for (std::int64_t k = least; k <= most; ++k) sum += of.probability(k);
        CHECK(std::abs(sum - 1) < 1e-9);
        CHECK(fits([&] { return of.draw(draws); }, [&](std::int64_t k) { return of.probability(k); }, most));
    }
}
