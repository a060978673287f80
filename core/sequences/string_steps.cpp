#include "sequences/string_steps.hpp"

#include <cstring>

namespace fishernet {
namespace {

// As wide as the machine has them: wider ones are taken apart number by number.
#if defined(__AVX512F__)
constexpr std::int64_t width = 8;
#elif defined(__AVX2__)
constexpr std::int64_t width = 4;
#else
constexpr std::int64_t width = 2;
#endif
static_assert(lanes % width == 0);

using Vector = double __attribute__((vector_size(width * 8)));
using Bits = std::int64_t __attribute__((vector_size(width * 8)));

inline Vector load(const double* from) {
    Vector v;
    std::memcpy(&v, from, sizeof v);
    return v;
}

inline void store(double* to, const Vector& v) { std::memcpy(to, &v, sizeof v); }

inline Vector all(double value) { return Vector{} + value; }
inline Vector larger(const Vector& a, const Vector& b) { return a > b ? a : b; }
inline Vector smaller(const Vector& a, const Vector& b) { return a < b ? a : b; }

// 2^k for whole k from -1022 to 1023; 0 below.
inline Vector power(const Vector& k) {
    const Vector within = larger(k, all(-1023)) + (0x1.8p52 + 1023);  // the low bits are the exponent's field
    return (Vector)((Bits)within << 52);
}

// The exponents of non-negative numbers; -1023 for zero.
inline Vector exponent_of(const Vector& v) {
    const Bits field = ((Bits)v >> 52) | std::int64_t{0x4330000000000000};
    return (Vector)field - (0x1p52 + 1023);
}

// Brings the largest of a lane's states to between 1 and 2, and returns the exponent of the lane.
inline Vector scaled(double* values, std::int64_t stride, std::int64_t n, const Vector& largest, const Vector& top,
                     Vector& part) {
    const Vector power_taken = exponent_of(largest);
    const Vector by = power(-power_taken);
    for (std::int64_t a = 0; a < n; ++a) {
        const Vector v = load(values + a * stride) * by;
        store(values + a * stride, v);
        part = v > 0 ? smaller(part, v) : part;
    }
    return largest > 0 ? top + power_taken : all(no_exponent);
}

inline double least(const Vector& v) {
    double low = v[0];
    for (int l = 1; l < width; ++l) low = v[l] < low ? v[l] : low;
    return low;
}

inline void keep(Lowest& lowest, const Vector& shift, const Vector& part) {
    const double deepest = least(shift);
    const double smallest = least(part);
    if (deepest < lowest.shift) lowest.shift = deepest;
    if (smallest < lowest.part) lowest.part = smallest;
}

// How far an exponent is below the top; 0 for that of a zero.
inline Vector depth(const Vector& exponent, const Vector& top) {
    return exponent > no_exponent / 2 ? exponent - top : Vector{};
}

// sums[group] = the sum over its states of the weight of a visit that gives s, t or both a symbol.
inline void visit(const DiagonalStep& step, std::int64_t i, const Vector& both, const Vector& one, const Vector& other,
                  double* sums) {
    const StringView& model = *step.model;
    for (std::int64_t g = 0; g < model.n_groups; ++g) {
        Vector sum{};
        for (std::int64_t a = model.group_starts[g]; a < model.group_starts[g + 1]; ++a) {
            const Vector s = load(step.s + a * step.s_stride + i);
            const Vector t = load(step.t + a * step.t_stride + (step.t_shift + i));
            const Vector from_both = load(step.before_last.values + a * step.stride + i - 1) * both;
            const double empty = model.empty[a];
            if (empty == 0) {
                sum += s * (t * from_both);
                continue;
            }
            const Vector from_one = load(step.last.values + a * step.stride + i - 1) * one;
            const Vector from_other = load(step.last.values + a * step.stride + i) * other;
            sum += s * (t * from_both + empty * from_one) + empty * (t * from_other);
        }
        store(sums + g * width, sum);
    }
}

void diagonal(const DiagonalStep& step, Lowest& lowest) {
    const StringView& model = *step.model;
    const std::int64_t n = model.n_states;
    double* sums = step.scratch;
    double* arrived = sums + model.n_groups * width;
    Vector shift{};
    Vector part = all(1);
    for (std::int64_t i = step.first; i < step.end; i += width) {
        const Vector both = load(step.before_last.exponents + i - 1);
        const Vector one = load(step.last.exponents + i - 1);
        const Vector other = load(step.last.exponents + i);
        const Vector top = larger(larger(both, one), other);
        shift = smaller(shift, smaller(smaller(depth(both, top), depth(one, top)), depth(other, top)));
        visit(step, i, power(both - top), power(one - top), power(other - top), sums);
        Vector largest{};
        for (std::int64_t a = 0; a < n; ++a) {
            Vector sum{};
            for (std::int64_t m = model.starts[a]; m < model.starts[a + 1]; ++m) {
                sum += model.weights[m] * load(sums + model.from[m] * width);
            }
            store(arrived + a * width, sum);
            largest = larger(largest, sum);
        }
        store(step.next.exponents + i, scaled(arrived, width, n, largest, top, part));
        for (std::int64_t a = 0; a < n; ++a) {
            std::memcpy(step.next.values + a * step.stride + i, arrived + a * width, sizeof(Vector));
        }
    }
    keep(lowest, shift, part);
}

// sums[group][column]
void sum_groups(const ColumnStep& step) {
    const StringView& model = *step.model;
    for (std::int64_t g = 0; g < model.n_groups; ++g) {
        for (std::int64_t c = 0; c < step.columns; c += width) {
            Vector sum{};
            for (std::int64_t a = model.group_starts[g]; a < model.group_starts[g + 1]; ++a) {
                sum += load(step.values + a * step.columns + c);
            }
            store(step.scratch + g * step.columns + c, sum);
        }
    }
}

void column(const ColumnStep& step, Lowest& lowest) {
    const StringView& model = *step.model;
    const std::int64_t n = model.n_states;
    if (!step.begins) sum_groups(step);
    constexpr std::int64_t block = 4 * width;
    for (std::int64_t a = 0; a < n; ++a) {
        for (std::int64_t c = 0; c < step.columns; c += block) {
            Vector sums[4] = {};
            if (step.begins) {
                for (auto& sum : sums) sum = all(model.initial[a]);
            } else {
                for (std::int64_t m = model.starts[a]; m < model.starts[a + 1]; ++m) {
                    const double* from = step.scratch + model.from[m] * step.columns + c;
                    const Vector weight = all(model.weights[m]);
                    for (int k = 0; k < 4; ++k) sums[k] += weight * load(from + k * width);
                }
            }
            const double x = step.x[a];
            for (int k = 0; k < 4; ++k) {
                const std::int64_t at = a * step.columns + c + k * width;
                store(step.values + at, sums[k] * (load(step.y + at) * x));
            }
        }
    }
    Vector part = all(1);
    for (std::int64_t c = 0; c < step.columns; c += width) {
        Vector largest{};
        for (std::int64_t a = 0; a < n; ++a) largest = larger(largest, load(step.values + a * step.columns + c));
        const Vector top = load(step.exponents + c);
        store(step.exponents + c, scaled(step.values + c, step.columns, n, largest, top, part));
    }
    keep(lowest, Vector{}, part);
}

constexpr StringSteps loops = {&diagonal, &column};

}  // namespace

const StringSteps StringSteps::FISHERNET_ISA = loops;

}  // namespace fishernet
