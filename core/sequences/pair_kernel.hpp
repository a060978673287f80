// The pair hidden Markov model kernel (Shawe-Taylor and Cristianini, 2004, 12.1.5): the probability that one trajectory gives both strings.
#pragma once

#include <cstdint>
#include <span>

#include "base/interrupt.hpp"
#include "sequences/flat_strings.hpp"
#include "sequences/string_model.hpp"

namespace fishernet {

// out[k] = log kernel of string x_of[k] of x and y_of[k] of y. Memory is linear in the lengths.
void pair_logs(const StringModel& model, const FlatStrings& x, const FlatStrings& y,
               std::span<const std::int64_t> x_of, std::span<const std::int64_t> y_of, double* out, StopCheck check);

}  // namespace fishernet
