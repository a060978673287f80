// The innermost loops. kernels.cpp is compiled once for every instruction set (isa.hpp);
// all of them work on integers and give the same bits.
#pragma once

#include <cstdint>

#include "base/isa.hpp"

namespace fishernet {

inline constexpr int plane_step = 8;  // planes are padded to this many words, so that no kernel has a tail
inline constexpr int group_lanes = 32;  // lanes of a histogram row are padded to groups of this many

struct Kernels {
    // The largest of n codes; 0 when there are none.
    std::uint32_t (*highest)(const void* codes, int width, std::int64_t n);

    // ids[i] = ids[i] * radix + codes[i]
    void (*extend_ids)(std::uint32_t* ids, const void* codes, int width, std::int64_t n, std::uint32_t radix);

    // Bit i of the plane says whether codes[i] == state; bits from n to the padded end are 0.
    void (*make_plane)(const void* codes, int width, std::int64_t n, std::uint32_t state, std::uint64_t* plane);

    // counts[b * stride] += rows that are in base plane b and in the candidate plane; base planes follow one another.
    // words is a multiple of plane_step.
    void (*plane_counts)(const std::uint64_t* base, int n_base, const std::uint64_t* candidate, int words,
                         std::uint32_t* counts, std::int64_t stride);

    // masks[i] gets the bit first + codes[i], where that is from 0 to 31.
    void (*add_bits)(std::uint32_t* masks, const void* codes, int width, std::int64_t n, std::int32_t first);

    // For every row i and every bit l of its masks: histogram[ids[i]][l] += 1. Mask g of row i is
    // masks[g * stride + i].
    void (*add_masks)(std::uint16_t* histogram, const std::uint32_t* ids, const std::uint32_t* masks,
                      std::int64_t stride, std::int64_t n, int groups);

    // total[i] += part[i]; part[i] = 0. n is a multiple of group_lanes.
    void (*drain)(std::uint32_t* total, std::uint16_t* part, std::int64_t n);

    // sums[l] += terms[counts[l]]; all counts are within the table of terms. n is a multiple of group_lanes.
    void (*add_terms)(std::int64_t* sums, const std::uint32_t* counts, const std::int64_t* terms, int n);

    // into[l] += from[l]. n is a multiple of group_lanes.
    void (*add_counts)(std::uint32_t* into, const std::uint32_t* from, int n);

    // n draws (a multiple of 64) from 0 to 2^32 - 2: Philox under the counter (position / 4, block, task), min'ed.
    void (*draw)(std::uint64_t key, std::uint32_t task, std::uint64_t block, std::uint32_t* out, std::int64_t n);

    // sums[i] += stride * codes[i]
    void (*add_strided)(std::uint32_t* sums, const void* codes, int width, std::int64_t n, std::uint32_t stride);

    // states[i] = how many of the `most` thresholds of row i are <= draws[i]; those of row i begin at
    // thresholds[most * groups[i]].
    void (*choose)(const std::uint32_t* draws, const std::uint32_t* groups, const std::uint32_t* thresholds,
                   std::uint32_t most, std::int64_t n, std::uint32_t* states);

    // out[i] = table[indices[i]]; the table has 256 entries, of which only the first `n_entries` are asked for.
    void (*look_up_bytes)(const std::uint8_t* indices, std::int64_t n, const std::uint8_t* table, int n_entries,
                          std::uint8_t* out);

    static const Kernels portable, avx2, avx512;
};

inline const Kernels& kernels() { return Variants<Kernels>::best(); }

}  // namespace fishernet
