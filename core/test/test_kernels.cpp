// Every instruction set this machine has, against loops that cannot be wrong.
#include "base/kernels.hpp"

#include <bitset>
#include <random>
#include <vector>

#include "base/packed.hpp"
#include "test/check.hpp"
#include "test/data.hpp"

using namespace fishernet;

namespace {

std::mt19937 source(1);

void planes(const Kernels& k) {
    for (const std::int64_t n : {1, 63, 64, 65, 511, 512, 1000}) {
        std::vector<std::uint16_t> wide(static_cast<std::size_t>(n));
        std::vector<std::uint8_t> narrow(wide.size());
        for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = narrow[i] = static_cast<std::uint8_t>(source() % 3);
        std::vector<std::uint64_t> a(static_cast<std::size_t>((n + 511) / 512 * 8), ~std::uint64_t{0}), b = a;
        k.make_plane(narrow.data(), 1, n, 1, a.data());
        k.make_plane(wide.data(), 2, n, 1, b.data());
        CHECK(a == b);
        std::uint32_t ones = 0;
        for (std::size_t i = 0; i < wide.size(); ++i) {
            const bool bit = (a[i / 64] >> (i % 64)) & 1;
            CHECK(bit == (narrow[i] == 1));
            ones += bit;
        }
        std::vector<std::uint32_t> counts(4, 7);
        k.plane_counts(a.data(), 1, b.data(), static_cast<int>(a.size()), counts.data(), 2);
        CHECK(counts[0] == 7 + ones && counts[1] == 7);
    }
}

void long_planes(const Kernels& k) {  // more words than byte counters can take in one go
    const std::vector<std::uint64_t> all(1000 * plane_step, ~std::uint64_t{0});
    std::uint32_t count = 0;
    k.plane_counts(all.data(), 1, all.data(), static_cast<int>(all.size()), &count, 1);
    CHECK(count == 64u * all.size());
}

void masks(const Kernels& k) {
    for (const int groups : {1, 2, 3, 4, 6}) {
        const std::int64_t n = 1001;
        const int lanes = groups * group_lanes, cells = 5;
        std::vector<std::uint32_t> ids(n), bits(n * groups);
        for (auto& id : ids) id = source() % cells;
        for (auto& b : bits) b = static_cast<std::uint32_t>(source());
        std::vector<std::uint16_t> got(cells * lanes, 0);
        std::vector<std::uint32_t> expected(cells * lanes, 0), total(cells * lanes, 3);
        k.add_masks(got.data(), ids.data(), bits.data(), n, n, groups);
        for (std::int64_t i = 0; i < n; ++i) {
            for (int l = 0; l < lanes; ++l) expected[ids[i] * lanes + l] += (bits[l / 32 * n + i] >> (l % 32)) & 1;
        }
        for (std::size_t i = 0; i < expected.size(); ++i) CHECK(got[i] == expected[i]);
        k.drain(total.data(), got.data(), static_cast<std::int64_t>(got.size()));
        for (std::size_t i = 0; i < expected.size(); ++i) CHECK(total[i] == expected[i] + 3 && got[i] == 0);
        k.add_counts(total.data(), expected.data(), cells * lanes);
        for (std::size_t i = 0; i < expected.size(); ++i) CHECK(total[i] == 2 * expected[i] + 3);
    }
}

void terms(const Kernels& k) {
    std::vector<std::int64_t> table(100), sums(64, 5);
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<std::int64_t>(i * i) << 40;
    std::vector<std::uint32_t> counts(64);
    for (auto& c : counts) c = source() % 100;
    k.add_terms(sums.data(), counts.data(), table.data(), 64);
    for (std::size_t i = 0; i < 64; ++i) CHECK(sums[i] == 5 + table[counts[i]]);
}

void choices(const Kernels& k) {
    for (const std::uint32_t most : {0, 1, 3, 7, 8, 40}) {
        std::vector<std::uint32_t> limits(most * 6 + 1), draws(1003), groups(1003), states(1003);
        for (std::uint32_t g = 0; g < 6; ++g) {
            for (std::uint32_t i = 0; i < most; ++i) limits[g * most + i] = (i + 1) * (4000000000u / (most + 1));
        }
        for (std::size_t i = 0; i < draws.size(); ++i) {
            draws[i] = static_cast<std::uint32_t>(source());
            groups[i] = source() % 6;
        }
        k.choose(draws.data(), groups.data(), limits.data(), most, 1003, states.data());
        for (std::size_t i = 0; i < draws.size(); ++i) {
            std::uint32_t expected = 0;
            for (std::uint32_t t = 0; t < most; ++t) expected += draws[i] >= limits[groups[i] * most + t];
            CHECK(states[i] == expected);
        }
    }
}

// Philox 4x32-10 on the counter (0, 0, 0, 0) and the key 0: the first known answer of the authors' test vectors.
void known_answer(const Kernels& k) {
    std::vector<std::uint32_t> out(64);
    k.draw(0, 0, 0, out.data(), 64);
    CHECK(out[0] == 0x6627E8D5u && out[16] == 0xE169C58Du && out[32] == 0xBC57AC4Cu && out[48] == 0x9B00DBD8u);
}

void same_draws(const Kernels& k) {
    std::vector<std::uint32_t> a(4096), b(4096);
    k.draw(0x123456789ABCDEFu, 77, 0x300000004u, a.data(), 4096);
    Kernels::portable.draw(0x123456789ABCDEFu, 77, 0x300000004u, b.data(), 4096);
    CHECK(a == b);
}

void packing() {
    const TestTable table(4, 1500, {2, 7, 32, 1, 3});
    const Packed& packed = table.columns.packed(nullptr);
    CHECK(packed.n_lanes == 2 + 7 + 32 + 1 + 3 + 1);
    for (std::size_t row = 0; row < 1500; ++row) {
        for (std::size_t v = 0; v < 5; ++v) {
            for (std::uint32_t k = 0; k < table.columns.columns[v].cardinality; ++k) {
                const auto lane = static_cast<std::size_t>(packed.first_lane[v]) + k;
                const bool expected = table.codes[v][row] == k;
                CHECK(((packed.plane(static_cast<std::int64_t>(lane))[row / 64] >> (row % 64)) & 1) == expected);
                CHECK(((packed.masks[lane / 32 * packed.mask_stride + row] >> (lane % 32)) & 1) == expected);
            }
        }
    }
}

void for_every_isa(void (*test)(const Kernels&)) {
    for (const Isa isa : {Isa::portable, Isa::avx2, Isa::avx512}) {
        if (supports(isa)) test(Variants<Kernels>::of(isa));
    }
}

}  // namespace

TEST(planes_hold_a_bit_a_row) { for_every_isa(planes); }
TEST(long_planes_do_not_overflow) { for_every_isa(long_planes); }
TEST(masks_fill_histograms) { for_every_isa(masks); }
TEST(terms_are_summed_by_counts) { for_every_isa(terms); }
TEST(draws_choose_states_by_thresholds) { for_every_isa(choices); }
TEST(philox_gives_the_known_answer) { for_every_isa(known_answer); }
TEST(instruction_sets_draw_the_same) { for_every_isa(same_draws); }
TEST(packed_tables_hold_every_code) { packing(); }
