// Compiled for each instruction set, as base/isa.hpp says.
#include "base/kernels.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace fishernet {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

template <class Code>
u32 highest_of(const Code* codes, i64 n) {
    Code top = 0;
    for (i64 i = 0; i < n; ++i) top = codes[i] > top ? codes[i] : top;
    return top;
}

u32 highest(const void* codes, int width, i64 n) {
    if (width == 1) return highest_of(static_cast<const u8*>(codes), n);
    if (width == 2) return highest_of(static_cast<const u16*>(codes), n);
    return highest_of(static_cast<const u32*>(codes), n);
}

template <class Code>
void extend(u32* __restrict ids, const Code* __restrict codes, i64 n, u32 radix) {
    for (i64 i = 0; i < n; ++i) ids[i] = ids[i] * radix + codes[i];
}

void extend_ids(u32* ids, const void* codes, int width, i64 n, u32 radix) {
    if (width == 1) extend(ids, static_cast<const u8*>(codes), n, radix);
    else if (width == 2) extend(ids, static_cast<const u16*>(codes), n, radix);
    else extend(ids, static_cast<const u32*>(codes), n, radix);
}

// ------------------------------------------------------------------------------------------------------ bit planes

template <class Code>
u64 plane_word(const Code* codes, i64 n, u32 state) {
    u64 word = 0;
    for (i64 i = 0; i < n; ++i) word |= u64{codes[i] == state} << i;
    return word;
}

u64 full_word(const u8* codes, u32 state) {
#if defined(__AVX512BW__)
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(codes), _mm512_set1_epi8(static_cast<char>(state)));
#elif defined(__AVX2__)
    const __m256i wanted = _mm256_set1_epi8(static_cast<char>(state));
    const auto half = [&](const u8* p) {
        const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
        return static_cast<u32>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, wanted)));
    };
    return half(codes) | u64{half(codes + 32)} << 32;
#else
    return plane_word(codes, 64, state);
#endif
}

template <class Code>
u64 full_word(const Code* codes, u32 state) {
    return plane_word(codes, 64, state);
}

template <class Code>
void fill_plane(const Code* codes, i64 n, u32 state, u64* plane) {
    const i64 whole = n / 64;
    for (i64 w = 0; w < whole; ++w) plane[w] = full_word(codes + 64 * w, state);
    i64 words = whole;
    if (n % 64) plane[words++] = plane_word(codes + 64 * whole, n % 64, state);
    for (; words % plane_step; ++words) plane[words] = 0;
}

void make_plane(const void* codes, int width, i64 n, u32 state, u64* plane) {
    if (width == 1) fill_plane(static_cast<const u8*>(codes), n, state, plane);
    else if (width == 2) fill_plane(static_cast<const u16*>(codes), n, state, plane);
    else fill_plane(static_cast<const u32*>(codes), n, state, plane);
}

// The number of ones in a AND b.
u32 common_ones(const u64* a, const u64* b, int words) {
#if defined(__AVX512VPOPCNTDQ__)
    __m512i sum = _mm512_setzero_si512();
    for (int w = 0; w < words; w += 8) {
        const __m512i both = _mm512_and_si512(_mm512_loadu_si512(a + w), _mm512_loadu_si512(b + w));
        sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(both));
    }
    return static_cast<u32>(_mm512_reduce_add_epi64(sum));
#elif defined(__AVX2__)
    // ones of a nibble by a shuffle; bytes are summed before they can overflow (31 vectors of at most 8 each)
    const __m256i nibble = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1,
                                            2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15);
    __m256i sum = _mm256_setzero_si256();
    for (int w = 0; w < words;) {
        __m256i bytes = _mm256_setzero_si256();
        for (int end = w + 96 < words ? w + 96 : words; w < end; w += 4) {
            const __m256i both = _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + w)),
                                                  _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + w)));
            const __m256i upper = _mm256_and_si256(_mm256_srli_epi16(both, 4), low);
            bytes = _mm256_add_epi8(bytes, _mm256_shuffle_epi8(nibble, _mm256_and_si256(both, low)));
            bytes = _mm256_add_epi8(bytes, _mm256_shuffle_epi8(nibble, upper));
        }
        sum = _mm256_add_epi64(sum, _mm256_sad_epu8(bytes, _mm256_setzero_si256()));
    }
    const __m128i half = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    return static_cast<u32>(_mm_extract_epi64(half, 0) + _mm_extract_epi64(half, 1));
#else
    u64 sum = 0;
    for (int w = 0; w < words; ++w) sum += static_cast<u64>(__builtin_popcountll(a[w] & b[w]));
    return static_cast<u32>(sum);
#endif
}

void plane_counts(const u64* base, int n_base, const u64* candidate, int words, u32* counts, i64 stride) {
    for (int b = 0; b < n_base; ++b) counts[b * stride] += common_ones(base + i64{b} * words, candidate, words);
}

// --------------------------------------------------------------------------------- histograms of all lanes at once

template <class Code>
void add_bits_of(u32* __restrict masks, const Code* __restrict codes, i64 n, u32 first) {
    for (i64 i = 0; i < n; ++i) {
        const u32 lane = first + codes[i];  // wraps around below 0
        masks[i] |= lane < 32 ? u32{1} << lane : 0;
    }
}

void add_bits(u32* masks, const void* codes, int width, i64 n, std::int32_t first) {
    const u32 from = static_cast<u32>(first);
    if (width == 1) add_bits_of(masks, static_cast<const u8*>(codes), n, from);
    else if (width == 2) add_bits_of(masks, static_cast<const u16*>(codes), n, from);
    else add_bits_of(masks, static_cast<const u32*>(codes), n, from);
}

// One group of lanes of one cell takes the bits of a mask.
#if defined(__AVX512BW__)
inline void add_lanes(u16* p, u32 mask) {
    const __m512i v = _mm512_loadu_si512(p);
    _mm512_storeu_si512(p, _mm512_mask_add_epi16(v, _cvtu32_mask32(mask), v, _mm512_set1_epi16(1)));
}
#elif defined(__AVX2__)
inline void add_half(u16* p, u32 bits, __m256i place) {
    const __m256i spread = _mm256_and_si256(_mm256_set1_epi16(static_cast<short>(bits)), place);
    __m256i* at = reinterpret_cast<__m256i*>(p);
    _mm256_storeu_si256(at, _mm256_sub_epi16(_mm256_loadu_si256(at), _mm256_cmpeq_epi16(spread, place)));
}

inline void add_lanes(u16* p, u32 mask) {
    const __m256i place = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384,
                                            static_cast<short>(32768));
    add_half(p, mask, place);
    add_half(p + 16, mask >> 16, place);
}
#else
inline void add_lanes(u16* p, u32 mask) {
    for (; mask; mask &= mask - 1) ++p[__builtin_ctz(mask)];
}
#endif

// Two rows far apart go side by side: a row that falls in the same cell as the one before it must wait for it.
template <int fixed_groups>
void add_rows(u16* histogram, const u32* ids, const u32* masks, i64 stride, i64 n, int any_groups) {
    const int groups = fixed_groups ? fixed_groups : any_groups;
    const i64 width = i64{groups} * group_lanes;
    const i64 half = n / 2;
    for (i64 i = 0; i < half; ++i) {
        u16* one = histogram + ids[i] * width;
        u16* two = histogram + ids[half + i] * width;
        for (int g = 0; g < groups; ++g) add_lanes(one + g * group_lanes, masks[g * stride + i]);
        for (int g = 0; g < groups; ++g) add_lanes(two + g * group_lanes, masks[g * stride + half + i]);
    }
    if (n % 2 == 0) return;
    u16* last = histogram + ids[n - 1] * width;
    for (int g = 0; g < groups; ++g) add_lanes(last + g * group_lanes, masks[g * stride + n - 1]);
}

void add_masks(u16* histogram, const u32* ids, const u32* masks, i64 stride, i64 n, int groups) {
    switch (groups) {
        case 1: return add_rows<1>(histogram, ids, masks, stride, n, groups);
        case 2: return add_rows<2>(histogram, ids, masks, stride, n, groups);
        case 3: return add_rows<3>(histogram, ids, masks, stride, n, groups);
        case 4: return add_rows<4>(histogram, ids, masks, stride, n, groups);
        default: return add_rows<0>(histogram, ids, masks, stride, n, groups);
    }
}

void drain(u32* __restrict total, u16* __restrict part, i64 n) {
    for (i64 i = 0; i < n; ++i) {
        total[i] += part[i];
        part[i] = 0;
    }
}

void add_counts(u32* __restrict into, const u32* __restrict from, int n) {
    for (int i = 0; i < n; ++i) into[i] += from[i];
}

void add_terms(i64* __restrict sums, const u32* __restrict counts, const i64* __restrict terms, int n) {
    for (int i = 0; i < n; ++i) sums[i] += terms[counts[i]];
}

// ------------------------------------------------------------------------------------------------------ random bits

// Counters go side by side, one a vector lane. The same few operations for each width:
#if defined(__AVX512F__)
using Lanes = __m512i;
Lanes same(u32 x) { return _mm512_set1_epi32(static_cast<int>(x)); }
Lanes load(const u32* p) { return _mm512_loadu_si512(p); }
void store(u32* p, Lanes a) { _mm512_storeu_si512(p, a); }
Lanes add(Lanes a, Lanes b) { return _mm512_add_epi32(a, b); }
Lanes mix(Lanes a, Lanes b, Lanes c) { return _mm512_ternarylogic_epi32(a, b, c, 0x96); }  // a ^ b ^ c
Lanes least(Lanes a, Lanes b) { return _mm512_min_epu32(a, b); }
void multiply(Lanes a, Lanes m, Lanes& high, Lanes& low) {
    const Lanes even = _mm512_mul_epu32(a, m), odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), m);
    high = _mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(even, 32), odd);
    low = _mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32));
}
#elif defined(__AVX2__)
using Lanes = __m256i;
Lanes same(u32 x) { return _mm256_set1_epi32(static_cast<int>(x)); }
Lanes load(const u32* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
void store(u32* p, Lanes a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a); }
Lanes add(Lanes a, Lanes b) { return _mm256_add_epi32(a, b); }
Lanes mix(Lanes a, Lanes b, Lanes c) { return _mm256_xor_si256(_mm256_xor_si256(a, b), c); }
Lanes least(Lanes a, Lanes b) { return _mm256_min_epu32(a, b); }
void multiply(Lanes a, Lanes m, Lanes& high, Lanes& low) {
    const Lanes even = _mm256_mul_epu32(a, m), odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), m);
    high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
    low = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
}
#else
using Lanes = u32;
Lanes same(u32 x) { return x; }
Lanes load(const u32* p) { return *p; }
void store(u32* p, Lanes a) { *p = a; }
Lanes add(Lanes a, Lanes b) { return a + b; }
Lanes mix(Lanes a, Lanes b, Lanes c) { return a ^ b ^ c; }
Lanes least(Lanes a, Lanes b) { return a < b ? a : b; }
void multiply(Lanes a, Lanes m, Lanes& high, Lanes& low) {
    const u64 product = u64{a} * m;
    high = static_cast<u32>(product >> 32);
    low = static_cast<u32>(product);
}
#endif

// Word w of counter (p, block, task) is draw 64 (p / 16) + 16 w + p % 16.
void draw(u64 key, u32 task, u64 block, u32* out, i64 n) {
    constexpr int side = sizeof(Lanes) / sizeof(u32);
    const u32 places[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    for (i64 p = 0; p < n / 4; p += side) {
        Lanes c0 = add(same(static_cast<u32>(p - p % 16)), load(places + p % 16));
        Lanes c1 = same(static_cast<u32>(block)), c2 = same(static_cast<u32>(block >> 32)), c3 = same(task);
        u32 k0 = static_cast<u32>(key), k1 = static_cast<u32>(key >> 32);
        for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
            Lanes high0, low0, high2, low2;
            multiply(c0, same(0xD2511F53u), high0, low0);
            multiply(c2, same(0xCD9E8D57u), high2, low2);
            c0 = mix(high2, c1, same(k0));
            c2 = mix(high0, c3, same(k1));
            c1 = low2;
            c3 = low0;
        }
        u32* to = out + 4 * (p - p % 16) + p % 16;
        const Lanes most = same(0xFFFFFFFEu);
        store(to, least(c0, most));
        store(to + 16, least(c1, most));
        store(to + 32, least(c2, most));
        store(to + 48, least(c3, most));
    }
}

template <class Code>
void add_scaled(u32* __restrict sums, const Code* __restrict codes, i64 n, u32 stride) {
    for (i64 i = 0; i < n; ++i) sums[i] += stride * codes[i];
}

void add_strided(u32* sums, const void* codes, int width, i64 n, u32 stride) {
    if (width == 1) add_scaled(sums, static_cast<const u8*>(codes), n, stride);
    else if (width == 2) add_scaled(sums, static_cast<const u16*>(codes), n, stride);
    else add_scaled(sums, static_cast<const u32*>(codes), n, stride);
}

// How many of the thresholds of one row are <= a draw.
u32 passed(const u32* row, u32 most, u32 draw_) {
    if (most <= 7) {  // counting them all has no branch to be guessed
        u32 count = 0;
        for (u32 k = 0; k < most; ++k) count += draw_ >= row[k];
        return count;
    }
    u32 low = 0, high = most;
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (draw_ >= row[middle]) low = middle + 1;
        else high = middle;
    }
    return low;
}

void choose(const u32* draws, const u32* groups, const u32* thresholds, u32 most, i64 n, u32* states) {
    i64 i = 0;
#if defined(__AVX512F__)
    for (; most <= 7 && i + 16 <= n; i += 16) {
        const __m512i x = _mm512_loadu_si512(draws + i), one = _mm512_set1_epi32(1);
        __m512i at = _mm512_mullo_epi32(_mm512_loadu_si512(groups + i), same(most)), count = _mm512_setzero_si512();
        for (u32 k = 0; k < most; ++k, at = add(at, one)) {
            const __m512i limit = _mm512_i32gather_epi32(at, reinterpret_cast<const int*>(thresholds), 4);
            count = _mm512_mask_add_epi32(count, _mm512_cmpge_epu32_mask(x, limit), count, one);
        }
        _mm512_storeu_si512(states + i, count);
    }
#endif
    for (; i < n; ++i) states[i] = passed(thresholds + u64{groups[i]} * most, most, draws[i]);
}

void look_up_bytes(const u8* __restrict indices, i64 n, const u8* __restrict table, [[maybe_unused]] int n_entries,
                   u8* __restrict out) {
    i64 i = 0;
#if defined(__AVX2__)
    if (n_entries <= 16) {  // 32 cells by one shuffle
        const __m256i entries =
            _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
        for (; i + 32 <= n; i += 32) {
            const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(indices + i));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_shuffle_epi8(entries, at));
        }
    }
#endif
    for (; i < n; ++i) out[i] = table[indices[i]];
}

constexpr Kernels loops = {
    highest, extend_ids, make_plane, plane_counts, add_bits, add_masks, drain, add_terms, add_counts, draw,
    add_strided, choose, look_up_bytes,
};

}  // namespace

const Kernels Kernels::FISHERNET_ISA = loops;

}  // namespace fishernet
