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
        return static_cast<std::int64_t>((word() * static_cast<std::uint64_t>(n)) >> 32);
    }

    // Between 0 and 1, neither of which it is, in steps of 2^-52.
    double uniform() {
        const std::uint64_t high = word();
        return (static_cast<double>(((high << 32) | word()) >> 12) + 0.5) * 0x1p-52;
    }

    // How many came before, and going on after so many.
    std::int64_t drawn() const { return std::int64_t{block_} * size + static_cast<std::int64_t>(next_) - size; }
    void go_to(std::int64_t drawn) {
        block_ = static_cast<std::uint32_t>(drawn / size);
        refill();
        next_ = static_cast<std::size_t>(drawn % size);
    }
    static constexpr std::int64_t most = std::int64_t{1} << 37;  // after so many they would begin anew some time later

private:
    static constexpr std::int64_t size = 64;

    std::uint64_t word() {
        if (next_ == buffer_.size()) refill();
        return buffer_[next_++];
    }

    void refill() {
        kernels().draw(key_, task_, block_++, buffer_.data(), size);
        next_ = 0;
    }

    std::uint64_t key_;
    std::uint32_t task_, block_ = 0;
    std::array<std::uint32_t, size> buffer_{};
    std::size_t next_ = size;
};

}  // namespace fishernet
