#include <cmath>
#include <numeric>

#include "comparison/split_loops.hpp"
#include "comparison/splits.hpp"
#include "test/check.hpp"
#include "test/data.hpp"

using namespace fishernet;

namespace {

std::vector<std::uint8_t> drawn(const Splits& splits, std::int64_t count) {
    std::vector<std::uint8_t> taken(static_cast<std::size_t>(splits.n_rows * count));
    draw_splits(splits, 0, count, taken, nullptr);
    return taken;
}

CellRows some(const CellRows& rows, std::int64_t begin, std::int64_t end) {
    CellRows found{end - begin, rows.firsts, rows.states, {}};
    for (std::size_t c = 0; c < rows.n_conditionals(); ++c) {
        found.cells.insert(found.cells.end(), rows.of(c) + begin, rows.of(c) + end);
    }
    return found;
}

}  // namespace

TEST(every_split_takes_as_many_rows_as_it_shall) {
    for (const auto& [n, first] : {std::pair{2, 1}, {5, 4}, {64, 1}, {65, 64}, {1000, 333}}) {
        const std::int64_t count = 130;
        const auto taken = drawn({n, first, 7}, count);
        for (std::int64_t s = 0; s < count; ++s) {
            std::int64_t sum = 0;
            for (std::int64_t row = 0; row < n; ++row) sum += taken[static_cast<std::size_t>(row * count + s)];
            CHECK(sum == first);
        }
        for (std::int64_t row = 0; row < n; ++row) {
            CHECK(taken[static_cast<std::size_t>(row * count)] == (row < first ? 1 : 0));
        }
    }
}

TEST(every_row_is_taken_equally_often_and_independently_of_its_neighbour) {
    const std::int64_t n = 40, first = 10, count = 64 * 400;
    const auto taken = drawn({n, first, 3}, count);
    const double draws = static_cast<double>(count - 1);
    for (std::int64_t row = 0; row < n; ++row) {
        double one = 0, both = 0;
        for (std::int64_t s = 1; s < count; ++s) {
            const int here = taken[static_cast<std::size_t>(row * count + s)];
            one += here;
            both += here & taken[static_cast<std::size_t>((row + 1) % n * count + s)];
        }
        CHECK(std::abs(one / draws - 0.25) < 6 * std::sqrt(0.25 * 0.75 / draws));
        const double together = 0.25 * 9 / 39;
        CHECK(std::abs(both / draws - together) < 6 * std::sqrt(together / draws));
    }
}

TEST(every_instruction_set_takes_the_same_rows) {
    std::vector<std::uint32_t> draws(100 * split_lanes);
    std::uint32_t state = 12345;
    for (auto& draw : draws) draw = state = state * 1664525u + 1013904223u;
    for (const std::uint32_t remaining : {100u, 3'000'000'000u}) {
        std::vector<std::vector<std::uint32_t>> found;
        for (const Isa isa : {Isa::portable, Isa::avx2, Isa::avx512}) {
            if (!supports(isa)) continue;
            std::vector<std::uint32_t> low(100), high(100), needed(split_lanes, remaining / 2);
            Variants<SplitLoops>::of(isa).take(low.data(), high.data(), needed.data(), draws.data(), remaining, 100);
            low.insert(low.end(), high.begin(), high.end());
            low.insert(low.end(), needed.begin(), needed.end());
            found.push_back(low);
        }
        for (const auto& other : found) CHECK(other == found.front());
    }
}

TEST(distances_are_those_of_the_parts_mean_features) {
    const TestTable table(5, 5000, {3, 2, 4});
    CellRows rows;
    rows.n_rows = 5000;
    rows.firsts = {0, 3, 9, 17};  // v0; v1 given v0; v2 given v1
    rows.states = {3, 2, 4};
    for (int c = 0; c < 3; ++c) {
        for (std::size_t i = 0; i < 5000; ++i) {
            const auto state = table.codes[static_cast<std::size_t>(c)][i];
            const int group = c == 0 ? 0 : table.codes[static_cast<std::size_t>(c) - 1][i];
            rows.cells.push_back(static_cast<std::uint32_t>(rows.firsts[static_cast<std::size_t>(c)] +
                                                            group * rows.states[static_cast<std::size_t>(c)] + state));
        }
    }
    std::vector<double> theta(17), weights(17);
    for (std::size_t i = 0; i < 17; ++i) {
        theta[i] = 0.1 + 0.03 * static_cast<double>(i);
        weights[i] = i == 4 ? 0.0 : 1.0 + static_cast<double>(i);
    }
    const Splits splits{5000, 1800, 11};
    const std::int64_t count = 70;
    SplitCounts counts(rows, splits, 0, count);
    std::int64_t begin = 0;
    for (const std::int64_t end : {1, 64, 65, 190, 1800, 4999, 5000}) {
        counts.add(some(rows, begin, end), nullptr);
        begin = end;
    }
    const auto found = counts.distances(theta, weights, true);
    const auto taken = drawn(splits, count);
    const std::int64_t firsts_of_groups[] = {0, 3, 5, 7, 9, 13, 17};
    for (const std::int64_t s : {0, 1, 63, 64, 69}) {
        std::vector<double> part(17), rest(17);
        for (std::int64_t c = 0; c < 3; ++c) {
            for (std::int64_t row = 0; row < 5000; ++row) {
                auto& of = taken[static_cast<std::size_t>(row * count + s)] ? part : rest;
                of[rows.at(static_cast<std::size_t>(c), row)] += 1;
            }
        }
        for (int g = 0; g < 6; ++g) {
            const auto begin = firsts_of_groups[g], end = firsts_of_groups[g + 1];
            const double n = std::accumulate(part.begin() + begin, part.begin() + end, 0.0);
            const double m = std::accumulate(rest.begin() + begin, rest.begin() + end, 0.0);
            double sum = 0;
            for (auto cell = static_cast<std::size_t>(begin); cell < static_cast<std::size_t>(end); ++cell) {
                const double d = (part[cell] - n * theta[cell]) / 1800 - (rest[cell] - m * theta[cell]) / 3200;
                sum += weights[cell] * d * d;
            }
            CHECK(std::abs(found.by_group[static_cast<std::size_t>(s * 6 + g)] - sum) <= 1e-12 * (1 + sum));
        }
        double all = 0, by_group = 0;
        for (int c = 0; c < 3; ++c) all += found.by_conditional[static_cast<std::size_t>(s * 3 + c)];
        for (int g = 0; g < 6; ++g) by_group += found.by_group[static_cast<std::size_t>(s * 6 + g)];
        CHECK(std::abs(all - by_group) <= 1e-12 * (1 + all));
    }
}
