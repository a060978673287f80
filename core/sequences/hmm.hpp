// Hidden Markov models on many strings at once.
#pragma once

#include <cstdint>
#include <span>

#include "base/interrupt.hpp"
#include "sequences/flat_strings.hpp"
#include "sequences/hmm_model.hpp"

namespace fishernet {

void hmm_log_prob(const HmmModel& model, const FlatStrings& strings, std::span<double> out, StopCheck check);

// How derivatives are asked for.
struct HmmDerivatives {
    std::int64_t block;      // so many strings are summed to a row, the last row may have fewer
    bool transitions;        // whether the transitions are wanted; their columns are left out otherwise
    std::int64_t most_rows;  // of a forward table in doubles; 0 leaves it open
};

std::int64_t hmm_width(const HmmModel& model, bool transitions);

// Rows of derivatives of the log-likelihood by every parameter as it stands, without a constraint: emission (n_states,
// n_symbols and one for none), transition (n_states, n_states), initial (n_states), final (n_states). An impossible
// string adds nothing.
void hmm_derivatives(const HmmModel& model, const FlatStrings& strings, HmmDerivatives how, std::span<double> rows,
                     std::span<double> log_prob, StopCheck check);

// out[i * n_states + a]: P(the symbol at i is of state a | its string), 0 in impossible strings.
void hmm_posterior(const HmmModel& model, const FlatStrings& strings, std::span<double> out, std::span<double> log_prob,
                   StopCheck check);

// The logarithms of a model for best trajectories: `moves` holds the best way from a symbol's state to entering the next.
struct HmmLogs {
    std::int64_t n_states;
    std::span<const double> start;     // (n_states)
    std::span<const double> moves;     // (n_states, n_states)
    std::span<const double> emission;  // (n_states, n_symbols)
    std::span<const double> end;       // (n_states)
};

// The states of the symbols along a best trajectory, and its logarithm; of several the first in the order of states.
void hmm_best(const HmmLogs& logs, const FlatStrings& strings, std::span<std::int32_t> states, std::span<double> best,
              StopCheck check);

}  // namespace fishernet
