// The innermost loops of hidden Markov models, compiled once for every instruction set: all give the same bits. Vectors
// over states are padded with zeros to `padded`, a multiple of 8.
#pragma once

#include <cstdint>

#include "base/isa.hpp"

namespace fishernet {

struct HmmView {
    std::int64_t n_states, padded;
    const double* moves;     // (n_states, padded): from a symbol's state to the next symbol's
    const double* back;      // its transpose
    const double* emission;  // (n_symbols, padded)
    const double* empty;     // (padded), or null where every state has a symbol
};

// What one stretch adds to; each may be null.
struct HmmSums {
    double* emission = nullptr;   // (n_symbols, padded)
    double* moves = nullptr;      // (n_states, padded)
    double* empty = nullptr;      // (padded)
    double* posterior = nullptr;  // (n, padded), set
};

struct HmmSteps {
    // Rows of [f, u], 2 padded numbers each: f of the states with the last symbol, u of those entered before the next.
    // Row 0 is given; row i + 1 follows from symbol i.
    void (*forward)(const HmmView& model, const std::int32_t* codes, std::int64_t n, double* rows);

    // b, what follows after symbol n - 1, becomes what follows before symbol 0 (after the one before it). It has room
    // for 2 padded numbers.
    void (*backward)(const HmmView& model, const std::int32_t* codes, std::int64_t n, const double* rows, double* b,
                     double factor, const HmmSums& sums);

    // best[b] = max over a of scores[a] + moves[a, b], from[b] the first a that has it.
    void (*best)(const double* scores, const double* moves, std::int64_t n_states, std::int64_t padded, double* best,
                 std::uint16_t* from);

    static const HmmSteps portable, avx2, avx512;
};

inline const HmmSteps& hmm_steps() { return Variants<HmmSteps>::best(); }

}  // namespace fishernet
