// The hidden Markov model kernel of strings of one length (Shawe-Taylor and Cristianini, 2004, algorithm 12.8).
#pragma once

#include <cstdint>
#include <span>

#include "base/interrupt.hpp"
#include "sequences/string_model.hpp"

namespace fishernet {

struct EqualStrings {
    std::span<const std::int32_t> codes;  // [string][position]
    std::int64_t n, length;

    const std::int32_t* operator[](std::int64_t i) const { return codes.data() + i * length; }
};

// out[i][j] = log kernel of string i of x and j of y. Where they are the same (`symmetric`), half of it is made.
void equal_length_logs(const StringModel& model, const EqualStrings& x, const EqualStrings& y, bool symmetric,
                       double* out, StopCheck check);

// out[i] = log kernel of string i and itself.
void equal_length_diagonal(const StringModel& model, const EqualStrings& x, double* out, StopCheck check);

}  // namespace fishernet
