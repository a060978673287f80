// Values by index in every width, and the packed form in memory of somebody else.
#include "base/look_up.hpp"

#include <random>
#include <vector>

#include "base/packed.hpp"
#include "counts/counting.hpp"
#include "test/check.hpp"
#include "test/data.hpp"

using namespace fishernet;

namespace {

std::mt19937 source(7);

template <class Index, class Value>
void by_index(std::int64_t n, std::int64_t n_values) {
    std::vector<Index> indices(static_cast<std::size_t>(n));
    std::vector<Value> values(static_cast<std::size_t>(n_values)), out(indices.size());
    for (auto& i : indices) i = static_cast<Index>(source());  // most are beyond the values
    for (auto& v : values) v = static_cast<Value>(source());
    look_up(indices.data(), n, values.data(), n_values, out.data(), nullptr);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto at = static_cast<std::uint64_t>(indices[i]);
        CHECK(out[i] == values[at < values.size() ? at : values.size() - 1]);
    }
}

}  // namespace

TEST(values_are_looked_up_in_every_width) {
    for (const std::int64_t n : {0L, 1L, 65L, 5L * look_up_stretch + 3}) {
        for (const std::int64_t n_values : {1, 2, 255, 256, 257, 70000}) {
            by_index<std::uint8_t, std::uint8_t>(n, n_values);
            by_index<std::uint8_t, double>(n, n_values);
            by_index<std::uint16_t, std::uint8_t>(n, n_values);
            by_index<std::uint32_t, std::uint16_t>(n, n_values);
            by_index<std::uint64_t, std::uint32_t>(n, n_values);
        }
    }
}

TEST(bytes_are_looked_up_by_bytes) {
    for (const int n_values : {1, 2, 15, 16, 17, 32, 33, 64, 255, 256}) {
        for (const std::int64_t n : {0L, 1L, 63L, 1000L, 4L * look_up_stretch + 77}) {
            std::vector<std::uint8_t> indices(static_cast<std::size_t>(n)), values(static_cast<std::size_t>(n_values));
            std::vector<std::uint8_t> out(indices.size() + 1, 99);
            for (auto& i : indices) i = static_cast<std::uint8_t>(source() % static_cast<unsigned>(n_values));
            for (auto& v : values) v = static_cast<std::uint8_t>(source());
            look_up_bytes(indices.data(), n, values.data(), n_values, out.data(), nullptr);
            for (std::size_t i = 0; i < indices.size(); ++i) CHECK(out[i] == values[indices[i]]);
            CHECK(out.back() == 99);
        }
    }
}

TEST(the_packed_form_of_stretches_is_that_of_all_rows) {
    for (const std::int64_t n : {1L, 511L, 4097L, 2 * packed_stretch, 70000L}) {
        const TestTable here(3, n, {2, 3, 1, 40, 4}), there(3, n, {2, 3, 1, 40, 4});
        const Packed layout = there.columns.packed_layout();
        std::vector<std::uint64_t> planes(static_cast<std::size_t>(layout.plane_words()));
        std::vector<std::uint32_t> masks(static_cast<std::size_t>(layout.mask_words()));
        for (std::int64_t begin = 0; begin < n; begin += 2 * packed_stretch) {
            const std::int64_t end = std::min(n, begin + 2 * packed_stretch);
            const PackedRoom room{planes.data() + begin / 64, layout.words, masks.data() + begin, layout.mask_stride};
            there.columns.pack_rows(begin, end, room, nullptr);
        }
        there.columns.take_packed(planes, masks);
        CHECK(there.columns.is_packed());
        const Packed& expected_form = here.columns.packed(nullptr);
        CHECK(planes == expected_form.own_planes);
        CHECK(masks == expected_form.own_masks);
        const std::vector<std::vector<std::int32_t>> sets{{0, 1}, {1, 3, 4}, {2}, {0, 1, 2, 3, 4}};
        const auto expected = count_sets(here.columns, sets, 1 << 20, nullptr);
        const auto found = count_sets(there.columns, sets, 1 << 20, nullptr);
        for (std::size_t s = 0; s < sets.size(); ++s) CHECK(found[s].counts == expected[s].counts);
    }
}
