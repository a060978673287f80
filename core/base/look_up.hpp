// What stands for each of many indices in a small table: labels become codes, codes other codes or numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "base/kernels.hpp"
#include "base/pool.hpp"

namespace fishernet {

inline constexpr std::int64_t look_up_stretch = std::int64_t{1} << 17;  // rows

// out[i] = values[indices[i]] of unsigned indices; one beyond the n_values > 0 values stands for the last of them.
template <class Index, class Value>
void look_up(const Index* __restrict indices, std::int64_t n, const Value* __restrict values, std::int64_t n_values,
             Value* __restrict out, StopCheck check) {
    const Index last = static_cast<Index>(
        std::min<std::uint64_t>(static_cast<std::uint64_t>(n_values - 1), std::numeric_limits<Index>::max()));
    run_tasks((n + look_up_stretch - 1) / look_up_stretch, [&](std::int64_t task) {
        const std::int64_t end = std::min(n, (task + 1) * look_up_stretch);
        for (std::int64_t i = task * look_up_stretch; i < end; ++i) out[i] = values[std::min(indices[i], last)];
    }, check, n > 4 * look_up_stretch);
}

// The same of bytes by bytes, of which no index is beyond the values.
inline void look_up_bytes(const std::uint8_t* indices, std::int64_t n, const std::uint8_t* values,
                          std::int64_t n_values, std::uint8_t* out, StopCheck check) {
    std::array<std::uint8_t, 256> table{};
    const auto held = std::min<std::int64_t>(n_values, 256);
    std::copy_n(values, held, table.begin());
    run_tasks((n + look_up_stretch - 1) / look_up_stretch, [&](std::int64_t task) {
        const std::int64_t begin = task * look_up_stretch, length = std::min(n - begin, look_up_stretch);
        kernels().look_up_bytes(indices + begin, length, table.data(), static_cast<int>(held), out + begin);
    }, check, n > 4 * look_up_stretch);
}

}  // namespace fishernet
