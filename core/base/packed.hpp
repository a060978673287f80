// A second form of a table's columns, made once: for every state of every narrow column without a missing cell one bit a
// row.
//
// A *lane* is one state of one column. The planes hold the bits lane by lane (counting few cells is AND and popcount),
// the masks hold them row by row (a histogram row takes all lanes of a table row in a few vector additions). The last
// lane is 1 in every row, so that the size of a cell is counted along with its parts.
//
// The form lies in memory of its own, or in a file that somebody wrote stretch by stretch and that is only read here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/columns.hpp"

namespace fishernet {

inline constexpr std::int64_t packed_stretch = 8192;     // rows; whoever packs some of them begins at a multiple
inline constexpr std::uint32_t most_narrow_states = 32;  // a column with more is counted by itself

// Whether a column has lanes. A missing cell has none, so neither has its column.
inline bool has_lanes(const Column& column) { return column.cardinality <= most_narrow_states && !column.has_missing; }

// Where the planes and masks of some rows go: [lane][plane_stride] words and [group][mask_stride].
struct PackedRoom {
    std::uint64_t* planes = nullptr;
    std::int64_t plane_stride = 0;
    std::uint32_t* masks = nullptr;
    std::int64_t mask_stride = 0;
};

struct Packed {
    Packed() = default;
    Packed(Packed&&) = default;  // the spans may look at its own memory

    std::vector<std::int32_t> first_lane;  // one a column; -1 for one without lanes
    int n_lanes = 0;                       // with the lane of ones, before padding
    int groups = 0;                        // of 32 lanes each
    int ones_lane = 0;
    std::int64_t words = 0;                // of a plane, padded
    std::span<const std::uint64_t> planes;  // [lane][words]
    std::span<const std::uint32_t> masks;   // [group][row]
    std::int64_t mask_stride = 0;
    std::vector<std::uint64_t> own_planes;  // what the spans look at, unless they look at a mapped file
    std::vector<std::uint32_t> own_masks;

    const std::uint64_t* plane(std::int64_t lane) const { return planes.data() + lane * words; }
    int lanes() const { return groups * 32; }
    std::int64_t plane_words() const { return n_lanes * words; }
    std::int64_t mask_words() const { return groups * mask_stride; }
};

}  // namespace fishernet
