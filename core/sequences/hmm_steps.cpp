#include "sequences/hmm_steps.hpp"

namespace fishernet {
namespace {

#if defined(__AVX512F__)
constexpr int n_lanes = 8;
#elif defined(__AVX2__)
constexpr int n_lanes = 4;
#else
constexpr int n_lanes = 2;
#endif

// A register of numbers; may lie anywhere in memory. The order of sums does not depend on its width. It is never passed
// by value: that would change with the instruction set.
typedef double Lanes __attribute__((vector_size(8 * n_lanes), aligned(8), may_alias));
typedef std::int64_t Marks __attribute__((vector_size(8 * n_lanes)));
typedef std::uint16_t Shorts __attribute__((vector_size(2 * n_lanes), aligned(2), may_alias));

Lanes& lanes(double* at) { return *reinterpret_cast<Lanes*>(at); }
const Lanes& lanes(const double* at) { return *reinterpret_cast<const Lanes*>(at); }

// out = v * matrix, in four strands. `fixed` is the padded width where it is known, or 0.
template <int fixed>
void product(const double* v, const double* matrix, std::int64_t n, std::int64_t padded, double* out) {
    const std::int64_t width = fixed ? fixed : padded;
    for (std::int64_t block = 0; block < width; block += n_lanes) {
        Lanes sums[4] = {};
        const double* column = matrix + block;
        std::int64_t a = 0;
        for (; a + 4 <= n; a += 4) {
            for (int s = 0; s < 4; ++s) sums[s] += v[a + s] * lanes(column + (a + s) * width);
        }
        for (int s = 0; a < n; ++a, ++s) sums[s] += v[a] * lanes(column + a * width);
        lanes(out + block) = (sums[0] + sums[2]) + (sums[1] + sums[3]);
    }
}

template <int fixed>
void forward_of(const HmmView& model, const std::int32_t* codes, std::int64_t n, double* rows) {
    const std::int64_t width = fixed ? fixed : model.padded;
    for (std::int64_t i = 0; i < n; ++i, rows += 2 * width) {
        const double* emission = model.emission + codes[i] * width;
        double* f = rows + 2 * width;
        for (std::int64_t block = 0; block < width; block += n_lanes) {
            lanes(f + block) = lanes(rows + width + block) * lanes(emission + block);
        }
        product<fixed>(f, model.moves, model.n_states, width, f + width);
    }
}

// sums[a] += scaled visits[a] * y
template <int fixed>
void add_moves(const HmmView& model, const double* f, const double* u, const double* y, double factor, double* sums) {
    const std::int64_t width = fixed ? fixed : model.padded;
    for (std::int64_t a = 0; a < model.n_states; ++a) {
        const double visits = factor * (model.empty == nullptr ? f[a] : f[a] + u[a] * model.empty[a]);
        for (std::int64_t block = 0; block < width; block += n_lanes) {
            lanes(sums + a * width + block) += visits * lanes(y + block);
        }
    }
}

template <int fixed>
void backward_of(const HmmView& model, const std::int32_t* codes, std::int64_t n, const double* rows, double* b,
                 double factor, double* y, const HmmSums& sums) {
    const std::int64_t width = fixed ? fixed : model.padded;
    for (std::int64_t i = n - 1; i >= 0; --i) {
        const double* f = rows + 2 * width * i;
        const double* u = f + width;
        const double* emission = model.emission + codes[i] * width;
        for (std::int64_t block = 0; block < width; block += n_lanes) {
            if (sums.emission != nullptr) {
                lanes(sums.emission + codes[i] * width + block) += factor * lanes(u + block) * lanes(b + block);
            }
            lanes(y + block) = lanes(emission + block) * lanes(b + block);
            if (sums.posterior != nullptr) {
                lanes(sums.posterior + i * width + block) = factor * lanes(u + block) * lanes(y + block);
            }
        }
        if (sums.moves != nullptr) add_moves<fixed>(model, f, u, y, factor, sums.moves);
        product<fixed>(y, model.back, model.n_states, width, b);
        if (sums.empty != nullptr) {
            for (std::int64_t block = 0; block < width; block += n_lanes) {
                lanes(sums.empty + block) += factor * lanes(u + block) * lanes(b + block);
            }
        }
    }
}

void forward(const HmmView& model, const std::int32_t* codes, std::int64_t n, double* rows) {
    if (model.padded == 8) return forward_of<8>(model, codes, n, rows);
    if (model.padded == 16) return forward_of<16>(model, codes, n, rows);
    forward_of<0>(model, codes, n, rows);
}

// y follows b in memory
void backward(const HmmView& model, const std::int32_t* codes, std::int64_t n, const double* rows, double* b,
              double factor, const HmmSums& sums) {
    double* y = b + model.padded;
    if (model.padded == 8) return backward_of<8>(model, codes, n, rows, b, factor, y, sums);
    if (model.padded == 16) return backward_of<16>(model, codes, n, rows, b, factor, y, sums);
    backward_of<0>(model, codes, n, rows, b, factor, y, sums);
}

void best(const double* scores, const double* moves, std::int64_t n_states, std::int64_t padded, double* out,
          std::uint16_t* from) {
    for (std::int64_t block = 0; block < padded; block += n_lanes) {
        Lanes most = scores[0] + lanes(moves + block);
        Marks of = {};
        for (std::int64_t a = 1; a < n_states; ++a) {
            const Lanes other = scores[a] + lanes(moves + a * padded + block);
            const Marks better = other > most;
            most = better ? other : most;
            of = better ? a + Marks{} : of;
        }
        lanes(out + block) = most;
        *reinterpret_cast<Shorts*>(from + block) = __builtin_convertvector(of, Shorts);
    }
}

constexpr HmmSteps loops = {&forward, &backward, &best};

}  // namespace

const HmmSteps HmmSteps::FISHERNET_ISA = loops;

}  // namespace fishernet
