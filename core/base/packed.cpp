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

void make_room(Packed& packed) {
    packed.own_planes.resize(static_cast<std::size_t>(packed.plane_words()));
    packed.own_masks.resize(static_cast<std::size_t>(packed.mask_words()));
    packed.planes = packed.own_planes;
    packed.masks = packed.own_masks;
}

// The planes of one stretch of rows; it begins at a multiple of 512 rows.
void fill_planes(Packed& packed, const Columns& table, std::int64_t begin, std::int64_t end) {
    const std::int64_t word = begin / 64;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const Column& column = table.columns[c];
        if (packed.first_lane[c] < 0) continue;
        for (std::uint32_t k = 0; k < column.cardinality; ++k) {
            std::uint64_t* plane = packed.planes.data() + (packed.first_lane[c] + k) * packed.words + word;
            kernels().make_plane(codes_from(column, begin), column.width, end - begin, k, plane);
        }
    }
    std::uint64_t* ones = packed.planes.data() + packed.ones_lane * packed.words + word;
    for (std::int64_t row = begin; row < end; row += 64) {
        ones[(row - begin) / 64] = end - row >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (end - row)) - 1;
    }
}

// The masks of one stretch of rows, group by group; a column's states may lie in two groups or more.
void fill_masks(Packed& packed, const Columns& table, std::int64_t begin, std::int64_t end) {
    for (int group = 0; group < packed.groups; ++group) {
        std::uint32_t* masks = packed.masks.data() + group * packed.mask_stride + begin;
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

void fill(Packed& packed, const Columns& table, StopCheck check) {
    constexpr std::int64_t stretch = 8192;
    const std::int64_t tasks = (table.n_rows + stretch - 1) / stretch;
    run_tasks(tasks, [&](std::int64_t task) {
        const std::int64_t begin = task * stretch;
        const std::int64_t end = std::min(begin + stretch, table.n_rows);
        fill_planes(packed, table, begin, end);
        fill_masks(packed, table, begin, end);
    }, check, table.n_rows > 4 * stretch);
}

}  // namespace

const Packed& Columns::packed(StopCheck check) const {
    const std::lock_guard lock(packing_);
    if (!packed_) {
        Packed packed = laid_out(*this);
        make_room(packed);
        fill(packed, *this, check);
        packed_ = std::make_shared<const Packed>(std::move(packed));
    }
    return *packed_;
}

Packed Columns::packed_layout() const { return laid_out(*this); }

void Columns::pack_into(PackedRoom room, bool filled, StopCheck check) const {
    const std::lock_guard lock(packing_);
    Packed packed = laid_out(*this);
    packed.planes = room.planes;
    packed.masks = room.masks;
    if (!filled) fill(packed, *this, check);
    packed_ = std::make_shared<const Packed>(std::move(packed));
}

bool Columns::is_packed() const {
    const std::lock_guard lock(packing_);
    return packed_ != nullptr;
}

}  // namespace fishernet
