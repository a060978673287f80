// Products of sizes that must not pass a limit.
#pragma once

#include <algorithm>
#include <cstdint>

namespace fishernet {

// product * size, or limit + 1 when that is larger than the limit; both at least 1.
inline std::int64_t times_within(std::int64_t product, std::int64_t size, std::int64_t limit) {
    return product > limit / size ? limit + 1 : product * size;
}

// The product of some sizes, or limit + 1.
template <class Sizes>
std::int64_t product_within(const Sizes& sizes, std::int64_t limit) {
    std::int64_t product = 1;
    for (const auto size : sizes) product = times_within(product, size, limit);
    return std::min(product, limit + 1);
}

}  // namespace fishernet
