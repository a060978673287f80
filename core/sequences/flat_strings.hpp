// Strings of codes, one after the other.
#pragma once

#include <cstdint>
#include <span>

namespace fishernet {

// String i has the codes from offsets[i] to offsets[i + 1].
struct FlatStrings {
    std::span<const std::int32_t> codes;
    std::span<const std::int64_t> offsets;

    std::int64_t size() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
    std::span<const std::int32_t> operator[](std::int64_t i) const {
        return codes.subspan(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
    }
};

}  // namespace fishernet
