#include "base/isa.hpp"

#include <cstdlib>
#include <cstring>

namespace fishernet {
namespace {

#if defined(FISHERNET_X86)
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt"); }

bool has_avx512() {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vpopcntdq");
}
#endif

// FISHERNET_ISA=portable or avx2 holds the choice down, for tests and for comparison.
Isa choose() {
    const char* most = std::getenv("FISHERNET_ISA");
    const auto allowed = [most](const char* name) { return most == nullptr || std::strcmp(most, name) == 0; };
    if (supports(Isa::avx512) && allowed("avx512")) return Isa::avx512;
    if (supports(Isa::avx2) && (allowed("avx2") || allowed("avx512"))) return Isa::avx2;
    return Isa::portable;
}

}  // namespace

bool supports([[maybe_unused]] Isa isa) {
#if defined(FISHERNET_X86)
    __builtin_cpu_init();
    if (isa == Isa::avx512) return has_avx512();
    if (isa == Isa::avx2) return has_avx2();
#endif
    return isa == Isa::portable;
}

Isa best_isa() {
    static const Isa best = choose();
    return best;
}

const char* name_of(Isa isa) {
    return isa == Isa::avx512 ? "avx512" : isa == Isa::avx2 ? "avx2" : "portable";
}

}  // namespace fishernet
