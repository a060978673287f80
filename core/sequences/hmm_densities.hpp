// Hidden Markov models of which each step of a sequence is known by its log-density in every state: numbers, counts, rows of
// a table, whatever has a density.
#pragma once

#include <cstdint>
#include <span>

#include "base/interrupt.hpp"

namespace fishernet {

struct HmmDensities {
    std::int64_t n_states;
    std::span<const double> initial;        // (n_states)
    std::span<const double> transition;     // (n_states, n_states)
    std::span<const double> logs;           // (n_steps, n_states): numbers or -inf
    std::span<const std::int64_t> offsets;  // sequence i has the steps from offsets[i] to offsets[i + 1]

    std::int64_t size() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
};

// What is wanted; empty what is not, but `log_prob`. An impossible sequence has -inf, and zeros elsewhere.
struct HmmDensityAnswers {
    std::span<double> log_prob;   // (n)
    std::span<double> posterior;  // (n_steps, n_states): P(state of the step | its sequence)
    std::span<double> first;      // (n, n_states): derivatives by the initial probabilities, without a constraint
    std::span<double> moves;      // (n_rows, n_states, n_states): by the transition; a row sums `block` sequences
    std::int64_t block = 1;
};

// Forward and backward in doubles, scaled at each step; where what they leave out could matter, again without limits.
void hmm_of_densities(const HmmDensities& model, const HmmDensityAnswers& answers, StopCheck check);

}  // namespace fishernet
