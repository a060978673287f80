// Instruction sets, and loops that are compiled once for each of them.
#pragma once

namespace fishernet {

enum class Isa { portable, avx2, avx512 };

bool supports(Isa isa);  // whether this machine can run it
Isa best_isa();          // the best this machine has
const char* name_of(Isa isa);

// A topic's loops are a table of functions. The table declares itself as often as there are instruction sets:
//
//     struct Loops {
//         void (*work)(double* values, std::int64_t n);
//         static const Loops portable, avx2, avx512;
//     };
//
// and is defined by a file that CMakeLists.txt compiles for each, with FISHERNET_ISA set to its name:
//
//     constexpr Loops loops = {&work};  // in the unnamed namespace, like the functions
//     const Loops Loops::FISHERNET_ISA = loops;
//
// Such a file defines nothing else that the linker sees: no function of the standard library, no inline function of a
// header. One that was built with AVX-512 could be picked for every caller.
template <class Table>
struct Variants {
    static const Table& of([[maybe_unused]] Isa isa) {
#if defined(FISHERNET_X86)
        if (isa == Isa::avx512) return Table::avx512;
        if (isa == Isa::avx2) return Table::avx2;
#endif
        return Table::portable;
    }

    static const Table& best() {
        static const Table& chosen = of(best_isa());
        return chosen;
    }
};

}  // namespace fishernet
