// A model of strings as its kernels see it: only visits with a symbol are left, and states that move on alike are one
// group, so that a move is a sum over the states of each group and then a few numbers for each state.
#pragma once

#include <cstdint>
#include <vector>

#include "sequences/string_steps.hpp"

namespace fishernet {

struct StringModel {
    std::int64_t n_states() const { return static_cast<std::int64_t>(empty.size()); }
    std::int64_t n_groups() const { return static_cast<std::int64_t>(group_starts.size()) - 1; }
    std::int64_t n_symbols() const { return static_cast<std::int64_t>(shifts.size()); }
    StringView view() const {
        return {n_states(),    n_groups(),  empty.data(),   group_starts.data(),
                starts.data(), from.data(), weights.data(), initial.data()};
    }

    std::vector<double> emission;             // [state][symbol], divided by 2^shifts[symbol]
    std::vector<double> shifts;               // [symbol]
    std::vector<double> empty;                // [state] P(no symbol)
    std::vector<std::int64_t> group_starts;   // [groups + 1] the states of each group
    std::vector<std::int64_t> starts;         // [states + 1] the moves into each state:
    std::vector<std::int32_t> from;           //   out of which group,
    std::vector<double> weights;              //   and with what weight
    std::vector<double> initial;              // [state] the weight of its being the first
    std::vector<double> end;                  // [state] the weight of stopping after it
    double nothing = 0;                       // the weight of two empty strings
    bool narrow = true;                       // one step keeps doubles in their range (see string_steps.hpp)
};

// Scales the emission and finds out whether one exponent for all states of a pair of prefixes may do.
void prepare(StringModel& model);

}  // namespace fishernet
