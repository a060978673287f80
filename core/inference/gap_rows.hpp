// The rows of many gaps, side by side on threads.
#pragma once

#include <cstdint>
#include <span>

#include "base/interrupt.hpp"
#include "inference/mixed_gap.hpp"

namespace fishernet {

// A gap, and the rows that have it.
struct GapRows {
    const MixedGap* gap;
    MixedRows rows;
};

// Adds the expected statistics of the rows of gaps to the sums of all conditionals of a model (`MixedGap::add_expected`),
// and the rows' log-probabilities to theirs. Weights are those of all rows.
void add_expected(const MixedModel& model, std::span<const GapRows> gaps, std::span<const double> weights,
                  std::span<const double> origin, std::span<const MixedSums> sums, std::span<double> log_prob,
                  StopCheck check);

}  // namespace fishernet
