#include <cmath>
#include <vector>

#include "sequences/hmm_kernel.hpp"
#include "sequences/pair_kernel.hpp"
#include "test/check.hpp"

using namespace fishernet;

namespace {

bool close(double a, double b) { return std::abs(a - b) <= 1e-12 * std::abs(b); }

// One state that gives one of two symbols or none, and goes on for ever; visits without symbols are left out.
StringModel one_state(double symbol, double other, double empty) {
    StringModel model;
    const double step = 1 / (1 - empty * empty);
    model.emission = {symbol, other};
    model.shifts = {0, 0};
    model.empty = {empty};
    model.group_starts = {0, 1};
    model.starts = {0, 1};
    model.from = {0};
    model.weights = {step};
    model.initial = {step};
    model.end = {step};
    model.nothing = step;
    prepare(model);
    return model;
}

void pairs_of_short_strings() {
    const StringModel model = one_state(0.5, 0.3, 0.2);
    const std::vector<std::int32_t> codes{0, 1};
    const std::vector<std::int64_t> offsets{0, 0, 1, 2};
    const FlatStrings strings{codes, offsets};
    const std::vector<std::int64_t> x{0, 1, 1}, y{0, 0, 2};
    std::vector<double> logs(3);
    pair_logs(model, strings, strings, x, y, logs.data(), nullptr);
    const double step = 1 / 0.96;
    CHECK(close(logs[0], std::log(step)));
    CHECK(close(logs[1], std::log(0.5 * 0.2 * step * step)));
    CHECK(close(logs[2], std::log(0.15 * step * step + 2 * 0.1 * 0.06 * step * step * step)));
}

// Lengths around the width of a vector, and numbers that need their own exponents.
void all_lengths() {
    for (const double empty : {0.25, 1e-150}) {
        const StringModel model = one_state(0.5, 0.25, empty);
        CHECK(model.narrow == (empty > 0.1));
        for (std::int64_t n = 0; n < 20; ++n) {
            const std::vector<std::int32_t> codes(static_cast<std::size_t>(2 * n + 3), 0);
            const std::vector<std::int64_t> offsets{0, n, 2 * n + 3};
            const FlatStrings strings{codes, offsets};
            const std::vector<std::int64_t> x{0, 1}, y{1, 0};
            std::vector<double> logs(2);
            pair_logs(model, strings, strings, x, y, logs.data(), nullptr);
            CHECK(std::isfinite(logs[0]) && logs[0] == logs[1]);
        }
    }
}

void equal_lengths() {
    const StringModel model = one_state(0.75, 0.25, 0);
    const std::int64_t n = 70, length = 3;
    std::vector<std::int32_t> codes;
    for (std::int64_t i = 0; i < n * length; ++i) codes.push_back(static_cast<std::int32_t>(i * i % 2));
    const EqualStrings strings{codes, n, length};
    std::vector<double> logs(n * n), diagonal(n);
    equal_length_logs(model, strings, strings, true, logs.data(), nullptr);
    equal_length_diagonal(model, strings, diagonal.data(), nullptr);
    for (std::int64_t i = 0; i < n; ++i) {
        double expected = 0;
        for (std::int64_t k = 0; k < length; ++k) expected += std::log(strings[i][k] ? 0.25 : 0.75);
        CHECK(close(diagonal[i], 2 * expected) && diagonal[i] == logs[i * n + i]);
    }
    CHECK(logs[5 * n + 69] == logs[69 * n + 5]);
}

}  // namespace

TEST(pair_kernels_of_short_strings) { pairs_of_short_strings(); }
TEST(pair_kernels_of_all_lengths) { all_lengths(); }
TEST(kernels_of_strings_of_one_length) { equal_lengths(); }
