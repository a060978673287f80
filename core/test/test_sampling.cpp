#include "networks/sampling.hpp"

#include <cmath>

#include "base/pool.hpp"
#include "test/check.hpp"

using namespace fishernet;

namespace {

void thresholds_keep_what_is_positive() {
    const double p[] = {0, 1e-20, 0.5, 0, 0.5 - 1e-20, 1e-18, 0};
    const auto t = thresholds(p, 1, 7);
    CHECK(t.size() == 6);
    CHECK(t[0] == 0);                        // nothing is below the first state
    CHECK(t[1] == 1);                        // one draw in 2^32
    CHECK(t[2] == 0x80000000u && t[3] == t[2]);
    CHECK(t[4] == 0xFFFFFFFEu);              // leaves one draw for the last positive state
    CHECK(t[5] == 0xFFFFFFFFu);              // which no draw reaches
    const double certain[] = {1, 0};
    CHECK(thresholds(certain, 1, 2)[0] == 0xFFFFFFFFu);
    const double single[] = {1};
    CHECK(thresholds(single, 1, 1).empty());
}

std::vector<std::uint8_t> draw(std::int64_t n, std::uint64_t key) {
    const FlatConditional a{0, 2, 1, {}, {}, {}}, b{1, 3, 2, {0}, {1}, {}};
    const double pa[] = {0.25, 0.75}, pb[] = {0.1, 0.2, 0.7, 0.6, 0.4, 0.0};
    const std::vector<std::vector<std::uint32_t>> limits{thresholds(pa, 1, 2), thresholds(pb, 2, 3)};
    std::vector<std::uint8_t> codes(static_cast<std::size_t>(2 * n));
    const std::vector<Output> out{{codes.data(), 1}, {codes.data() + n, 1}};
    const std::vector<std::int32_t> order{0, 1};
    const std::vector<FlatConditional> list{a, b};
    sample_forward(list, order, limits, out, n, key, nullptr);
    return codes;
}

}  // namespace

TEST(thresholds_keep_what_is_positive) { thresholds_keep_what_is_positive(); }

TEST(samples_follow_their_network_on_any_threads) {
    const std::int64_t n = 200001;
    set_threads(1);
    const auto one = draw(n, 11);
    set_threads(2);
    CHECK(one == draw(n, 11));
    CHECK(one != draw(n, 12));
    double counts[2][3] = {};
    for (std::int64_t i = 0; i < n; ++i) counts[one[i]][one[n + i]] += 1;
    const double expected[2][3] = {{0.025, 0.05, 0.175}, {0.45, 0.3, 0.0}};
    for (int x = 0; x < 2; ++x) {
        for (int y = 0; y < 3; ++y) CHECK(std::abs(counts[x][y] / n - expected[x][y]) < 5 * std::sqrt(0.25 / n));
    }
    CHECK(counts[1][2] == 0);
}
