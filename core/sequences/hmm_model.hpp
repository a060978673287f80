// A hidden Markov model as its recursions need it. States without a symbol (the empty symbol) are taken out exactly: with
// M = diag(empty) transition, C = (I - M)^-1 counts what is entered before the next symbol, so that
//
//     u_0 = initial C,  f_t = u_{t-1} * P(symbol t | .),  u_t = f_t transition C
//
// and the string has the weight f_n . end, with end the weight of stopping, directly or through states without a symbol.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sequences/hmm_steps.hpp"
#include "sequences/wide.hpp"

namespace fishernet {

// As the model is given; `empty` and `final` may be missing. Without `final` a trajectory may stop after any state.
struct HmmParts {
    std::span<const double> initial, transition, emission, empty, final;
    double at_once;  // the weight of the trajectory without states, with `final`; 1 otherwise
    std::int64_t n_single = -1;  // symbols proper: the columns of emission after these are sums of some; -1: all
};

struct WideEdge {
    std::int32_t from, to;
    Wide by;
};

struct HmmModel {
    std::int64_t n_states = 0, padded = 0, n_symbols = 0;
    bool has_empty = false, has_final = false;
    double at_once = 0.0;

    // Doubles, padded to a multiple of 8 states.
    std::vector<double> start;     // u_0
    std::vector<double> moves;     // transition C, (n_states, padded)
    std::vector<double> back;      // its transpose
    std::vector<double> emission;  // (n_symbols, padded)
    std::vector<double> empty;
    std::vector<double> end;      // after a state with a symbol
    std::vector<double> rest;     // from entering a state, without another symbol
    std::vector<double> closure;  // C, (n_states, n_states), where there are empties
    std::int64_t stretch = 1;     // so many symbols cannot leave the range of a double
    bool dense = true;            // whether doubles may be tried at all, and are worth it

    // The same without limits, by edges.
    std::vector<Wide> wide_start, wide_end, wide_rest, wide_emission, wide_empty;
    std::vector<WideEdge> edges;   // of the transition
    std::vector<WideEdge> silent;  // of M in topological order, or of C where M has cycles
    bool acyclic = true;
    Wide nothing;  // the weight of the empty string

    std::int64_t singular = -1;  // a state from which states without a symbol follow one another forever

    HmmView view() const {
        return {n_states, padded, moves.data(), back.data(), emission.data(), has_empty ? empty.data() : nullptr};
    }
};

// Nothing but `singular` is to be used where that is not -1.
HmmModel make_hmm(const HmmParts& parts);

// x C, and C y: through the states without a symbol.
void close_forward(const HmmModel& model, std::vector<Wide>& x);
void close_backward(const HmmModel& model, std::vector<Wide>& y);

}  // namespace fishernet
