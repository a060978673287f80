// What a search over graphs may and must do.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace fishernet {

using ParentLists = std::vector<std::vector<std::int32_t>>;

// The lists are of each child, ascending: who may become its parent, and who must stay one (they may as well). A family
// (a child with its parents) has as many cells as its states multiply to.
struct Rules {
    std::int32_t n = 0;
    std::int32_t max_parents = 0;
    ParentLists allowed, required;
    std::vector<double> states{};  // of each variable; none: cells do not matter
    double max_cells = std::numeric_limits<double>::infinity();

    double states_of(std::int32_t v) const { return states.empty() ? 1 : states[v]; }

    // How many states one parent more may have; none when there are as many parents as may be.
    double room(std::int32_t child, const std::vector<std::int32_t>& parents) const {
        if (static_cast<std::int32_t>(parents.size()) >= max_parents) return 0;
        double cells = states_of(child);
        for (const auto p : parents) cells *= states_of(p);
        return max_cells / cells;
    }
};

// A difference in score below this is a tie.
inline double tie_of(double score) { return std::max(1e-9, 1e-12 * std::abs(score)); }

inline bool holds(const std::vector<std::int32_t>& list, std::int32_t v) {
    return std::binary_search(list.begin(), list.end(), v);
}

inline void insert_sorted(std::vector<std::int32_t>& list, std::int32_t v) {
    list.insert(std::lower_bound(list.begin(), list.end(), v), v);
}

inline void erase_sorted(std::vector<std::int32_t>& list, std::int32_t v) {
    list.erase(std::lower_bound(list.begin(), list.end(), v));
}

}  // namespace fishernet
