// A model of strings as its kernels see it: only visits with a symbol are left, and states that move on alike are one
// group, so that a move is a sum over the states of each group and then a few numbers for each state.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace fishernet {

// A number far beyond the range of doubles: mantissa * 2^exponent. Zero has the exponent `no_exponent`.
inline constexpr double no_exponent = -0x1p50;

struct Wide {
    double mantissa = 0;
    double exponent = no_exponent;

    Wide() = default;
    explicit Wide(double value) : Wide(value, 0) {}
    Wide(double value, double shift) {
        if (value == 0) return;
        int power = 0;
        mantissa = std::frexp(value, &power);
        exponent = shift + power;
    }

    void add(const Wide& other) {
        if (other.mantissa == 0) return;
        if (exponent < other.exponent) {
            *this = Wide(other.mantissa + shifted(mantissa, exponent - other.exponent), other.exponent);
        } else {
            *this = Wide(mantissa + shifted(other.mantissa, other.exponent - exponent), exponent);
        }
    }

    Wide times(const Wide& other) const { return Wide(mantissa * other.mantissa, exponent + other.exponent); }

    // The natural logarithm; -infinity for zero.
    double log() const {
        return mantissa == 0 ? -INFINITY : std::log(mantissa) + exponent * 0.693147180559945309417232121458;
    }

private:
    static double shifted(double value, double by) { return by < -1100 ? 0 : std::ldexp(value, static_cast<int>(by)); }
};

struct StringModel {
    std::int64_t n_states() const { return static_cast<std::int64_t>(empty.size()); }
    std::int64_t n_groups() const { return static_cast<std::int64_t>(group_starts.size()) - 1; }
    std::int64_t n_symbols() const { return static_cast<std::int64_t>(shifts.size()); }

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
    bool narrow = true;                       // one step keeps doubles in their range (see make_narrow)
};

// Scales the emission and finds out whether one exponent for all states of a pair of prefixes may do.
void prepare(StringModel& model);

// How far a number may fall below the largest of its neighbours before the work is done again with a number's own
// exponents: an eighth of the range of doubles for a step's factors, and a quarter each for what is checked.
inline constexpr double lowest_step = 0x1p-200;
inline constexpr double lowest_part = 0x1p-400;
inline constexpr double lowest_shift = -400;

}  // namespace fishernet
