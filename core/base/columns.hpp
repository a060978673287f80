// The columns of a categorical table as the core sees them: spans of unsigned codes, each of its own width.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/interrupt.hpp"

namespace fishernet {

// One column. A code equal to the cardinality marks a missing cell.
struct Column {
    const void* codes = nullptr;
    int width = 1;  // bytes a code: 1, 2 or 4
    std::uint32_t cardinality = 1;
    bool has_missing = false;
};

struct Packed;
struct PackedRoom;

struct Columns {
    std::vector<Column> columns;
    std::int64_t n_rows = 0;
    const std::int64_t* weights = nullptr;  // one a row, or none
    std::int64_t total = 0;                 // sum of weights, or n_rows

    // The second form of the table (packed.hpp), made at the first use and kept.
    const Packed& packed(StopCheck check) const;
    bool is_packed() const;

    // That form without its bits: how large it is.
    Packed packed_layout() const;

    // Writes that form of some rows, from a multiple of packed_stretch on, into a room of their own.
    void pack_rows(std::int64_t begin, std::int64_t end, PackedRoom room, StopCheck check) const;

    // Takes that form as pack_rows wrote it, stretch beside stretch, into memory that outlives the columns. Before
    // anybody counts.
    void take_packed(std::span<const std::uint64_t> planes, std::span<const std::uint32_t> masks) const;

private:
    mutable std::mutex packing_;
    mutable std::shared_ptr<const Packed> packed_;
};

// The code of one cell.
inline std::uint32_t code_at(const Column& column, std::int64_t row) {
    switch (column.width) {
        case 1: return static_cast<const std::uint8_t*>(column.codes)[row];
        case 2: return static_cast<const std::uint16_t*>(column.codes)[row];
        default: return static_cast<const std::uint32_t*>(column.codes)[row];
    }
}

// Calls each(codes) with the column's codes as numbers of their width.
template <class F>
void with_codes(const Column& column, F&& each) {
    switch (column.width) {
        case 1: each(static_cast<const std::uint8_t*>(column.codes)); break;
        case 2: each(static_cast<const std::uint16_t*>(column.codes)); break;
        default: each(static_cast<const std::uint32_t*>(column.codes));
    }
}

// The first code of a row, for functions that take an untyped pointer and a width.
inline const void* codes_from(const Column& column, std::int64_t row) {
    return static_cast<const unsigned char*>(column.codes) + row * column.width;
}

}  // namespace fishernet
