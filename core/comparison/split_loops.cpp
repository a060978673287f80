#include "comparison/split_loops.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace fishernet {
namespace {

#if defined(__AVX512F__)

// Sixteen lanes: the upper halves of draws * remaining, compared.
inline std::uint32_t take_lanes(std::uint32_t* needed, const std::uint32_t* draws, std::uint32_t remaining) {
    const __m512i u = _mm512_loadu_si512(draws);
    const __m512i r = _mm512_set1_epi32(static_cast<int>(remaining));
    const __m512i even = _mm512_srli_epi64(_mm512_mul_epu32(u, r), 32);
    const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(u, 32), r);
    const __m512i place = _mm512_mask_blend_epi32(0xAAAA, even, odd);
    const __m512i left = _mm512_loadu_si512(needed);
    const __mmask16 taken = _mm512_cmplt_epu32_mask(place, left);
    _mm512_storeu_si512(needed, _mm512_mask_sub_epi32(left, taken, left, _mm512_set1_epi32(1)));
    return taken;
}
constexpr int lanes_at_once = 16;

#elif defined(__AVX2__)

// Eight lanes, as above. Unsigned numbers are compared as signed ones with the sign bit turned.
inline std::uint32_t take_lanes(std::uint32_t* needed, const std::uint32_t* draws, std::uint32_t remaining) {
    const __m256i u = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(draws));
    const __m256i r = _mm256_set1_epi32(static_cast<int>(remaining));
    const __m256i even = _mm256_srli_epi64(_mm256_mul_epu32(u, r), 32);
    const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(u, 32), r);
    const __m256i place = _mm256_blend_epi32(even, odd, 0xAA);
    const __m256i sign = _mm256_set1_epi32(static_cast<int>(0x80000000u));
    const __m256i left = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(needed));
    const __m256i taken = _mm256_cmpgt_epi32(_mm256_xor_si256(left, sign), _mm256_xor_si256(place, sign));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(needed), _mm256_add_epi32(left, taken));  // taken is 0 or -1
    return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(taken)));
}
constexpr int lanes_at_once = 8;

#else

inline std::uint32_t take_lanes(std::uint32_t* needed, const std::uint32_t* draws, std::uint32_t remaining) {
    const auto place = static_cast<std::uint32_t>((static_cast<std::uint64_t>(*draws) * remaining) >> 32);
    const std::uint32_t taken = place < *needed ? 1 : 0;
    *needed -= taken;
    return taken;
}
constexpr int lanes_at_once = 1;

#endif

void take(std::uint32_t* __restrict masks0, std::uint32_t* __restrict masks1, std::uint32_t* __restrict needed,
          const std::uint32_t* __restrict draws, std::uint32_t remaining, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i, --remaining, draws += split_lanes) {
        std::uint64_t mask = 0;
        for (int lane = 0; lane < split_lanes; lane += lanes_at_once) {
            mask |= static_cast<std::uint64_t>(take_lanes(needed + lane, draws + lane, remaining)) << lane;
        }
        masks0[i] = static_cast<std::uint32_t>(mask);
        masks1[i] = static_cast<std::uint32_t>(mask >> 32);
    }
}

void add_squares(double* __restrict squares, const std::uint32_t* __restrict counts,
                 const std::uint32_t* __restrict of_group, SplitCell cell, double first, double second) {
    for (int lane = 0; lane < split_lanes; ++lane) {
        const double count = counts[lane], group = of_group[lane];
        const double one = (count - group * cell.theta) * first;
        const double other = ((cell.total - count) - (cell.group_total - group) * cell.theta) * second;
        squares[lane] += cell.weight * (one - other) * (one - other);
    }
}

constexpr SplitLoops loops = {&take, &add_squares};

}  // namespace

const SplitLoops SplitLoops::FISHERNET_ISA = loops;

}  // namespace fishernet
