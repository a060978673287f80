#include "base/isa.hpp"
#include "base/pool.hpp"
#include "bind/arrays.hpp"

namespace fishernet::bind {

void bind_threads(nb::module_& m) {
    m.attr("MAX_THREADS") = max_threads;
    m.attr("INSTRUCTION_SET") = name_of(best_isa());
    m.def("get_threads", &get_threads);
    m.def("set_threads", [](int n) {
        if (n < 1 || n > max_threads) refuse("the number of threads is out of range");
        set_threads(n);
    }, nb::arg("n"));
}

}  // namespace fishernet::bind
