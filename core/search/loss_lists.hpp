// What variables lose when not all their best parents are there.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace fishernet {

// Some variables with what each of them loses by each of its parent sets; the smallest loss, 0, comes first.
struct LossLists {
    struct Choice {
        std::uint64_t set;
        double loss;
    };
    std::vector<std::vector<Choice>> choices;

    int size() const { return static_cast<int>(choices.size()); }
    std::uint64_t all() const { return (std::uint64_t{1} << size()) - 1; }  // fewer than 64 variables

    // Infinite when no set is available.
    double loss(int v, std::uint64_t available) const {
        for (const auto& [set, loss] : choices[v]) {
            if ((set & ~available) == 0) return loss;
        }
        return std::numeric_limits<double>::infinity();
    }
};

}  // namespace fishernet
