// The innermost loops of the kernels of strings, compiled once for every instruction set; all give the same bits.
//
// Up to eight pairs of prefixes are worked on at a time. The numbers of a pair's states share one exponent, kept as a
// double.
#pragma once

#include <cstdint>

#include "base/isa.hpp"

namespace fishernet {

inline constexpr std::int64_t lanes = 8;  // the widest vector
inline constexpr double no_exponent = -0x1p50;  // that of zero

// How far a number may fall below the largest of its neighbours before the work is done again with a number's own
// exponents: an eighth of the range of doubles for a step's factors, and a quarter each for what is checked.
inline constexpr double lowest_step = 0x1p-200;
inline constexpr double lowest_part = 0x1p-400;
inline constexpr double lowest_shift = -400;

// What the loops need of a model of strings (string_model.hpp).
struct StringView {
    std::int64_t n_states, n_groups;
    const double* empty;               // [state] P(no symbol)
    const std::int64_t* group_starts;  // [groups + 1]
    const std::int64_t* starts;        // [states + 1] the moves into each state:
    const std::int32_t* from;          //   out of which group,
    const double* weights;             //   and with what weight
    const double* initial;             // [state]
};

// How far numbers fell, as measured while they were made.
struct Lowest {
    double shift = 0;  // the deepest exponent of a neighbour below the highest
    double part = 1;   // the smallest positive number of a state, the largest being from 1 to 2

    bool in_range() const { return shift >= lowest_shift && part >= lowest_part; }
};

// A diagonal of pairs of prefixes, i + j constant; lane i is the prefix of the first string. Lanes go from -1 to beyond
// the last by the width of a vector, and hold zeros where there are no prefixes.
struct Diagonal {
    double* values;      // [state][lane]: the weight of arriving in a state
    double* exponents;   // [lane]
};

struct DiagonalStep {
    const StringView* model;
    const double* s;         // [state][lane]: emission of the symbol that prefix i ends with
    const double* t;         // [state][t_shift + lane]: the same of prefix j, in order of i
    std::int64_t t_shift, s_stride, t_stride, stride;
    Diagonal before_last, last, next;
    double* scratch;         // (groups + states) * lanes
    std::int64_t first, end; // lanes to make, rounded up to vectors
};

// Strings side by side: the same position in `columns` (a multiple of lanes) pairs of one string with others.
struct ColumnStep {
    const StringView* model;
    const double* x;         // [state] emission of the one string's symbol
    const double* y;         // [state][column] of the others'
    double* values;          // [state][column] in: weights of having been in a state; out: the same after this position
    double* exponents;       // [column]
    double* scratch;         // groups * columns
    std::int64_t columns;
    bool begins;             // the first position: moves are the model's initial weights
};

struct StringSteps {
    void (*diagonal)(const DiagonalStep& step, Lowest& lowest);
    void (*column)(const ColumnStep& step, Lowest& lowest);

    static const StringSteps portable, avx2, avx512;
};

inline const StringSteps& string_steps() { return Variants<StringSteps>::best(); }

}  // namespace fishernet
