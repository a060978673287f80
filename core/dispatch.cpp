#include <cstdlib>
#include <cstring>

#include "kernels.hpp"

namespace fishernet {
namespace {

// FISHERNET_ISA=portable or avx2 holds the choice down, for tests and for comparison.
const Kernels& choose() {
#if defined(FISHERNET_X86)
    const char* most = std::getenv("FISHERNET_ISA");
    const auto allowed = [most](const char* name) { return most == nullptr || std::strcmp(most, name) == 0; };
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512vpopcntdq");
    if (avx512 && allowed("avx512")) return kernels_avx512;
    if (avx2 && (allowed("avx2") || allowed("avx512"))) return kernels_avx2;
#endif
    return kernels_portable;
}

}  // namespace

const Kernels& kernels() {
    static const Kernels& chosen = choose();
    return chosen;
}

}  // namespace fishernet
