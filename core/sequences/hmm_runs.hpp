// One string in a hidden Markov model: its probability, and what its trajectories pass.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sequences/hmm_model.hpp"

namespace fishernet {

// Sums over strings from which the derivatives of the log-likelihood follow (Shawe-Taylor and Cristianini, 2004, 12.2.2). A derivative by a parameter is
// the expected number of its uses divided by it, computed without the division, so that it is right at 0 as well.
struct HmmTotals {
    std::vector<double> emission;           // (n_symbols, padded): derivatives
    std::vector<double> moves;              // (n_states, padded): visits x what follows the next symbol; C is left out
    std::vector<double> direct;             // (n_states, padded): derivatives of transitions
    std::vector<double> empty;              // (padded)
    std::vector<double> last, last_direct;  // (padded): visits from which no symbol follows; the second are in `direct`
    std::vector<double> first, first_direct;  // (padded): what follows the first state; C is left out of the first
    bool transitions = true;                  // whether `moves` and `direct` are wanted
};

void clear(const HmmModel& model, HmmTotals& totals);

// What is wanted of a string; null what is not.
struct HmmWanted {
    HmmTotals* totals = nullptr;   // added to
    double* posterior = nullptr;   // (n, n_states), set: P(state with the symbol | string)
    std::int64_t most_rows = 0;    // of the forward table held at once; it is made again from checkpoints beyond
};

using Codes = std::span<const std::int32_t>;

// The log-probability of a string that is not empty, in doubles: false when one would leave its range, and what was
// added is worthless. An impossible string has -inf and adds nothing.
bool run_dense(const HmmModel& model, Codes codes, const HmmWanted& wanted, double& log_prob);

// The same without limits; the string may be empty.
double run_wide(const HmmModel& model, Codes codes, const HmmWanted& wanted);

}  // namespace fishernet
