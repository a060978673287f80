// Sets of variables that are a common base and one variable more each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace fishernet {

struct SetRun {
    std::vector<std::int32_t> base;        // ascending
    std::vector<std::int32_t> candidates;  // the variable more of each set
    std::vector<std::size_t> sets;         // their positions
};

// Puts some of the sets into runs, the longest run first; a set is in one run at most, and equal sets may be in one.
// `is_worth_it` says of a run whether it is taken.
std::vector<SetRun> find_runs(const std::vector<std::vector<std::int32_t>>& sets, const std::vector<std::size_t>& some,
                              const std::function<bool(const SetRun&)>& is_worth_it);

}  // namespace fishernet
