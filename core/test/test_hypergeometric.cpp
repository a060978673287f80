#include "base/hypergeometric.hpp"

#include <cmath>
#include <limits>

#include "test/check.hpp"

using namespace fishernet;

namespace {

double choose(std::int64_t n, std::int64_t k) {
    double product = 1;
    for (std::int64_t i = 0; i < k; ++i) product *= static_cast<double>(n - i) / static_cast<double>(i + 1);
    return k < 0 || k > n ? 0 : product;
}

}  // namespace

TEST(hypergeometric_tails_are_sums_of_products_of_binomials) {
    for (std::int64_t all = 0; all <= 12; ++all) {
        for (std::int64_t marked = 0; marked <= all; ++marked) {
            for (std::int64_t drawn = 0; drawn <= all; ++drawn) {
                const Hypergeometric of{all, marked, drawn};
                for (std::int64_t hits = -1; hits <= all + 1; ++hits) {
                    double at_most = 0;
                    double at_least = 0;
                    for (std::int64_t k = 0; k <= all; ++k) {
                        const double p = choose(marked, k) * choose(all - marked, drawn - k) / choose(all, drawn);
                        if (k <= hits) at_most += p;
                        if (k >= hits) at_least += p;
                    }
                    CHECK(std::abs(std::exp(of.log_at_most(hits)) - at_most) < 1e-12);
                    CHECK(std::abs(std::exp(of.log_at_least(hits)) - at_least) < 1e-12);
                }
            }
        }
    }
}

TEST(hypergeometric_tails_far_out_do_not_underflow) {
    // all 2,000 marked among 4,000 are drawn in 2,000: one of so many ways
    const double log_ways = std::lgamma(4001.0) - 2 * std::lgamma(2001.0);
    CHECK(std::abs(Hypergeometric{4000, 2000, 2000}.log_at_least(2000) + log_ways) < 1e-8);
    CHECK(std::abs(Hypergeometric{4000, 2000, 2000}.log_at_most(0) + log_ways) < 1e-8);
    const std::int64_t many = std::int64_t{1} << 50;  // a single one, drawn with probability 3 / many
    CHECK(std::abs(Hypergeometric{many, 1, 3}.log_at_least(1) - std::log(3.0 / static_cast<double>(many))) < 1e-12);
}
