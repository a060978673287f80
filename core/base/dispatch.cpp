#include <cstdlib>
#include <cstring>

#include "base/float_kernels.hpp"
#include "sequences/hmm_steps.hpp"
#include "base/kernels.hpp"
#include "trees/scaled_kernels.hpp"
#include "sequences/string_steps.hpp"
#include "neighbours/knn_kernels.hpp"

namespace fishernet {
namespace {

#if defined(FISHERNET_X86)

enum class Isa { portable, avx2, avx512 };

// FISHERNET_ISA=portable or avx2 holds the choice down, for tests and for comparison.
Isa choose() {
    const char* most = std::getenv("FISHERNET_ISA");
    const auto allowed = [most](const char* name) { return most == nullptr || std::strcmp(most, name) == 0; };
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512vpopcntdq");
    if (avx512 && allowed("avx512")) return Isa::avx512;
    if (avx2 && (allowed("avx2") || allowed("avx512"))) return Isa::avx2;
    return Isa::portable;
}

template <class Table>
const Table& best(const Table& avx512, const Table& avx2, const Table& portable) {
    static const Isa isa = choose();
    return isa == Isa::avx512 ? avx512 : isa == Isa::avx2 ? avx2 : portable;
}

}  // namespace

const Kernels& kernels() { return best(kernels_avx512, kernels_avx2, kernels_portable); }

const FloatKernels& float_kernels() { return best(float_kernels_avx512, float_kernels_avx2, float_kernels_portable); }

const ScaledKernels& scaled_kernels() {
    return best(scaled_kernels_avx512, scaled_kernels_avx2, scaled_kernels_portable);
}
const StringSteps& string_steps() { return best(string_steps_avx512, string_steps_avx2, string_steps_portable); }
const HmmSteps& hmm_steps() { return best(hmm_steps_avx512, hmm_steps_avx2, hmm_steps_portable); }
const KnnKernels& knn_kernels() { return best(knn_kernels_avx512, knn_kernels_avx2, knn_kernels_portable); }

#else

}  // namespace

const Kernels& kernels() { return kernels_portable; }

const FloatKernels& float_kernels() { return float_kernels_portable; }

const ScaledKernels& scaled_kernels() { return scaled_kernels_portable; }
const StringSteps& string_steps() { return string_steps_portable; }
const HmmSteps& hmm_steps() { return hmm_steps_portable; }
const KnnKernels& knn_kernels() { return knn_kernels_portable; }

#endif

}  // namespace fishernet
