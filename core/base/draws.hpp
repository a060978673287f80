// Random whole numbers one after the other: a function of (key, task) and of how many came before.
#pragma once

#include <array>
#include <cstdint>

#include "base/kernels.hpp"

namespace fishernet {

class Draws {
public:
    Draws(std::uint64_t key, std::uint32_t task) : key_(key), task_(task) {}

    // From 0 to n - 1, with an error of at most n / 2^32 in each probability.
    std::int64_t below(std::int64_t n) {
        if (next_ == buffer_.size()) {
            kernels().draw(key_, task_, block_++, buffer_.data(), static_cast<std::int64_t>(buffer_.size()));
            next_ = 0;
        }
        return static_cast<std::int64_t>((buffer_[next_++] * static_cast<std::uint64_t>(n)) >> 32);
    }

private:
    std::uint64_t key_;
    std::uint32_t task_, block_ = 0;
    std::array<std::uint32_t, 64> buffer_{};
    std::size_t next_ = 64;
};

}  // namespace fishernet
