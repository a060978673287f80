#include "base/float_kernels.hpp"

namespace fishernet {
namespace {

void multiply(double* __restrict values, const double* __restrict by, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) values[i] *= by[i];
}

void multiply_into(double* __restrict into, const double* __restrict a, const double* __restrict b, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) into[i] = a[i] * b[i];
}

void keep_marked(double* __restrict values, const std::uint8_t* __restrict marks, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) values[i] = marks[i] != 0 ? values[i] : 0.0;
}

void scale(double* values, double by, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) values[i] *= by;
}

void gather(double* __restrict into, const double* __restrict from, const std::int32_t* __restrict offsets,
            std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) into[i] = from[offsets[i]];
}

void multiply_gathered(double* __restrict values, const double* __restrict by, const std::int32_t* __restrict offsets,
                       std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) values[i] *= by[offsets[i]];
}

void add(double* __restrict into, const double* __restrict from, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) into[i] += from[i];
}

void add_scaled(double* __restrict into, const double* __restrict from, double by, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) into[i] += by * from[i];
}

double dot(const double* a, const double* b, std::int64_t n) {
    constexpr int strands = 8;
    double sums[strands] = {};
    std::int64_t i = 0;
    for (; i + strands <= n; i += strands) {
        for (int s = 0; s < strands; ++s) sums[s] += a[i + s] * b[i + s];
    }
    for (; i < n; ++i) sums[i % strands] += a[i] * b[i];
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

// Eight strands of a sum; may lie anywhere in memory. Never passed by value: that would change with the instruction set.
typedef double Strands __attribute__((vector_size(64), aligned(8), may_alias));

const Strands& strands_at(const double* at) { return *reinterpret_cast<const Strands*>(at); }
Strands& strands_at(double* at) { return *reinterpret_cast<Strands*>(at); }

// Several sums at once: the next product need not wait for the last.
template <int M>
void add_some_dots(double* into, const double* a, const double* const* b, std::int64_t n) {
    Strands sums[M] = {};
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int k = 0; k < M; ++k) sums[k] += strands_at(a + i) * strands_at(b[k] + i);
    }
    for (int k = 0; k < M; ++k) {
        auto& of = sums[k];
        for (auto rest = i; rest < n; ++rest) of[rest - i] += a[rest] * b[k][rest];
        into[k] += ((of[0] + of[4]) + (of[2] + of[6])) + ((of[1] + of[5]) + (of[3] + of[7]));
    }
}

void add_dots(double* into, const double* a, const double* const* b, std::int64_t m, std::int64_t n) {
    for (; m >= 4; m -= 4, into += 4, b += 4) add_some_dots<4>(into, a, b, n);
    if (m == 3) add_some_dots<3>(into, a, b, n);
    if (m == 2) add_some_dots<2>(into, a, b, n);
    if (m == 1) add_some_dots<1>(into, a, b, n);
}

double sum(const double* values, std::int64_t n) {
    constexpr int strands = 8;
    double sums[strands] = {};
    std::int64_t i = 0;
    for (; i + strands <= n; i += strands) {
        for (int s = 0; s < strands; ++s) sums[s] += values[i + s];
    }
    for (; i < n; ++i) sums[i % strands] += values[i];
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

void multiply_runs(double* __restrict values, const double* __restrict by, const std::int32_t* __restrict offsets,
                   std::int32_t run, bool steady, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += run) {
        if (steady) {
            scale(values + i, by[offsets[i]], run);
        } else {
            multiply(values + i, by + offsets[i], run);
        }
    }
}

void add_runs(double* __restrict into, const double* __restrict from, const std::int32_t* __restrict offsets,
              std::int32_t run, bool steady, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += run) {
        if (steady) {
            into[offsets[i]] += sum(from + i, run);
        } else {
            add(into + offsets[i], from + i, run);
        }
    }
}

void add_tile(double* __restrict into, std::int64_t stride, const double* __restrict left, std::int64_t left_width,
              const double* __restrict right, std::int64_t right_width, std::int64_t n) {
    static_assert(FloatKernels::tile_rows == 4 && FloatKernels::tile_columns == 8);
    Strands a = strands_at(into), b = strands_at(into + stride);
    Strands c = strands_at(into + 2 * stride), d = strands_at(into + 3 * stride);
    for (std::int64_t r = 0; r < n; ++r, left += left_width, right += right_width) {
        const Strands& by = strands_at(right);
        a += left[0] * by;
        b += left[1] * by;
        c += left[2] * by;
        d += left[3] * by;
    }
    strands_at(into) = a;
    strands_at(into + stride) = b;
    strands_at(into + 2 * stride) = c;
    strands_at(into + 3 * stride) = d;
}

void add_matches(double* __restrict sums, const std::uint32_t* __restrict cells, std::uint32_t start,
                 std::uint32_t states, std::uint32_t state, double other, double same, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
        const std::uint32_t within = cells[i] - start;  // wraps far beyond the states below the start
        const double of_group = within < states ? other : 0.0;
        sums[i] += within == state ? same : of_group;
    }
}

// m[b] = the sum over the states
void sum_states(const double* __restrict p, std::int64_t r, std::int64_t inner, double* __restrict m) {
    for (std::int64_t b = 0; b < inner; ++b) m[b] = p[b];
    for (std::int64_t k = 1; k < r; ++k) add(m, p + k * inner, inner);
}

void add_updated(double* __restrict into, const double* __restrict p, const double* __restrict theta,
               const std::int32_t* __restrict offsets, double weight, std::int64_t outer, std::int64_t r,
               std::int64_t inner, double* __restrict m) {
    for (std::int64_t a = 0; a < outer; ++a) {
        sum_states(p + a * r * inner, r, inner, m);
        scale(m, weight, inner);
        const std::int32_t* at = offsets + a * r * inner;
        for (std::int64_t k = 0; k < r; ++k) {
            double* __restrict to = into + (a * r + k) * inner;
            for (std::int64_t b = 0; b < inner; ++b) to[b] += m[b] * theta[at[b] + k];
        }
    }
}

void update(double* __restrict p, const double* __restrict theta, const std::int32_t* __restrict offsets,
          std::int64_t outer, std::int64_t r, std::int64_t inner, double* __restrict m) {
    for (std::int64_t a = 0; a < outer; ++a) {
        sum_states(p + a * r * inner, r, inner, m);
        const std::int32_t* at = offsets + a * r * inner;
        for (std::int64_t k = 0; k < r; ++k) {
            double* __restrict to = p + (a * r + k) * inner;
            for (std::int64_t b = 0; b < inner; ++b) to[b] = m[b] * theta[at[b] + k];
        }
    }
}

typedef std::uint64_t Masks __attribute__((vector_size(64), aligned(8), may_alias));

void add_weights(double* sums, const std::uint64_t* sets, const double* weights, std::uint64_t own, std::uint64_t among,
                 std::uint64_t one_of, std::int64_t n) {
    Strands of[4] = {};
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const Masks set = *reinterpret_cast<const Masks*>(sets + i);
        const Masks within = Masks((set & ~(among | own)) == 0);
        const Masks has_own = Masks((set & own) != 0), has_one = Masks((set & one_of) != 0);
        const Masks weight = *reinterpret_cast<const Masks*>(weights + i) & within;
        of[0] += Strands(weight & ~has_own & ~has_one);
        of[1] += Strands(weight & ~has_own & has_one);
        of[2] += Strands(weight & has_own & ~has_one);
        of[3] += Strands(weight & has_own & has_one);
    }
    for (auto rest = i; rest < n; ++rest) {
        if ((sets[rest] & ~(among | own)) == 0) {
            of[2 * ((sets[rest] & own) != 0) + ((sets[rest] & one_of) != 0)][rest - i] += weights[rest];
        }
    }
    for (int k = 0; k < 4; ++k) {
        sums[k] += ((of[k][0] + of[k][4]) + (of[k][2] + of[k][6])) + ((of[k][1] + of[k][5]) + (of[k][3] + of[k][7]));
    }
}

void add_looked_up(double* __restrict sums, const double* __restrict values, const std::uint32_t* __restrict cells,
                   std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) sums[i] += values[cells[i]];
}

void multiply_rows(double* __restrict values, const double* __restrict table, const std::int32_t* __restrict codes,
                   std::int64_t width, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i, values += width) {
        const double* row = table + codes[i] * width;
        for (std::int64_t s = 0; s < width; s += 8) strands_at(values + s) *= strands_at(row + s);
    }
}

void add_rows(double* __restrict table, const double* __restrict values, const std::int32_t* __restrict codes,
              std::int64_t width, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i, values += width) {
        double* row = table + codes[i] * width;
        for (std::int64_t s = 0; s < width; s += 8) strands_at(row + s) += strands_at(values + s);
    }
}

void largest_of_rows(const double* values, std::int64_t width, std::int64_t n, double* most) {
    for (std::int64_t i = 0; i < n; ++i, values += width) {
        Strands best = {};
        for (std::int64_t s = 0; s < width; s += 8) best = strands_at(values + s) > best ? strands_at(values + s) : best;
        double found = best[0];
        for (int k = 1; k < 8; ++k) found = best[k] > found ? best[k] : found;
        most[i] = found;
    }
}

void divide(double* __restrict into, const double* __restrict of, const double* __restrict by, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) into[i] = by[i] > 0 ? of[i] / by[i] : 0.0;
}

constexpr FloatKernels loops = {
    &multiply, &multiply_into, &keep_marked, &scale, &gather, &multiply_gathered, &multiply_runs, &add_runs, &add,
    &add_scaled, &dot, &add_dots, &sum, &add_tile, &add_matches, &add_updated, &update, &add_looked_up,
    &add_weights,
    &multiply_rows, &add_rows, &largest_of_rows, &divide,
};

}  // namespace

const FloatKernels FloatKernels::FISHERNET_ISA = loops;

}  // namespace fishernet
