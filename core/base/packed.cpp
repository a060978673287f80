#include "base/packed.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/columns.hpp"
#include "base/kernels.hpp"
#include "base/pool.hpp"

namespace fishernet {
namespace {

// Everything but the bits.
Packed laid_out(const Columns& table) {
    Packed packed;
    int lane = 0;
    for (const Column& column : table.columns) {
        const bool narrow = has_lanes(column);
        packed.first_lane.push_back(narrow ? lane : -1);
        if (narrow) lane += static_cast<int>(column.cardinality);
    }
    packed.ones_lane = lane;
    packed.n_lanes = lane + 1;
    packed.groups = (packed.n_lanes + group_lanes - 1) / group_lanes;
    const std::int64_t words = (table.n_rows + 63) / 64;
    packed.words = (words + plane_step - 1) / plane_step * plane_step;
    packed.mask_stride = table.n_rows;
    return packed;
}

// The planes of one stretch of rows; `to` is where those of the lanes begin for it.
void fill_planes(const Packed& packed, const Columns& table, std::int64_t begin, std::int64_t end, std::uint64_t* to,
                 std::int64_t stride) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const Column& column = table.columns[c];
        if (packed.first_lane[c] < 0) continue;
        for (std::uint32_t k = 0; k < column.cardinality; ++k) {
            std::uint64_t* plane = to + (packed.first_lane[c] + k) * stride;
            kernels().make_plane(codes_from(column, begin), column.width, end - begin, k, plane);
        }
    }
    std::uint64_t* ones = to + packed.ones_lane * stride;
    for (std::int64_t row = begin; row < end; row += 64) {
        ones[(row - begin) / 64] = end - row >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (end - row)) - 1;
    }
    for (std::int64_t word = (end - begin + 63) / 64; word % plane_step; ++word) ones[word] = 0;
}

// The masks of one stretch of rows, group by group; a column's states may lie in two groups or more.
void fill_masks(const Packed& packed, const Columns& table, std::int64_t begin, std::int64_t end, std::uint32_t* to,
                std::int64_t stride) {
    for (int group = 0; group < packed.groups; ++group) {
        std::uint32_t* masks = to + group * stride;
        std::fill_n(masks, end - begin, std::uint32_t{0});  // the room need not be empty
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            const Column& column = table.columns[c];
            const int first = packed.first_lane[c] - group * group_lanes;
            if (packed.first_lane[c] < 0 || first >= group_lanes) continue;
            if (first + static_cast<int>(column.cardinality) <= 0) continue;
            kernels().add_bits(masks, codes_from(column, begin), column.width, end - begin, first);
        }
        const int ones = packed.ones_lane - group * group_lanes;
        if (ones < 0 || ones >= group_lanes) continue;
        for (std::int64_t i = 0; i < end - begin; ++i) masks[i] |= std::uint32_t{1} << ones;
    }
}

void fill(const Packed& packed, const Columns& table, std::int64_t first, std::int64_t last, PackedRoom room,
          StopCheck check) {
    run_tasks((last - first + packed_stretch - 1) / packed_stretch, [&](std::int64_t task) {
        const std::int64_t offset = task * packed_stretch, begin = first + offset;
        const std::int64_t end = std::min(begin + packed_stretch, last);
        fill_planes(packed, table, begin, end, room.planes + offset / 64, room.plane_stride);
        fill_masks(packed, table, begin, end, room.masks + offset, room.mask_stride);
    }, check, last - first > 4 * packed_stretch);
}

}  // namespace

const Packed& Columns::packed(StopCheck check) const {
    const std::lock_guard lock(packing_);
    if (!packed_) {
        Packed packed = laid_out(*this);
        packed.own_planes.resize(static_cast<std::size_t>(packed.plane_words()));
        packed.own_masks.resize(static_cast<std::size_t>(packed.mask_words()));
        packed.planes = packed.own_planes;
        packed.masks = packed.own_masks;
        const PackedRoom room{packed.own_planes.data(), packed.words, packed.own_masks.data(), packed.mask_stride};
        fill(packed, *this, 0, n_rows, room, check);
        packed_ = std::make_shared<const Packed>(std::move(packed));
    }
    return *packed_;
}

Packed Columns::packed_layout() const { return laid_out(*this); }

void Columns::pack_rows(std::int64_t begin, std::int64_t end, PackedRoom room, StopCheck check) const {
    fill(laid_out(*this), *this, begin, end, room, check);
}

void Columns::take_packed(std::span<const std::uint64_t> planes, std::span<const std::uint32_t> masks) const {
    const std::lock_guard lock(packing_);
    Packed packed = laid_out(*this);
    packed.planes = planes;
    packed.masks = masks;
    packed_ = std::make_shared<const Packed>(std::move(packed));
}

bool Columns::is_packed() const {
    const std::lock_guard lock(packing_);
    return packed_ != nullptr;
}

}  // namespace fishernet
