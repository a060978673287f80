#include <nanobind/stl/vector.h>

#include <algorithm>

#include "base/sizes.hpp"
#include "bind/arrays.hpp"
#include "bind/turns.hpp"
#include "networks/krylov.hpp"
#include "networks/updates.hpp"

namespace fishernet::bind {
namespace {

// The search for the distribution that pseudo-Gibbs sampling leaves as it is.
struct Stationary {
    Stationary(std::vector<FreeConditional> conditionals, std::vector<double> weights, std::size_t most_vectors)
        : updates(std::move(conditionals)), of(std::move(weights)),
          krylov(updates.n_states(), most_vectors, [this](const double* from, double* to, StopCheck check) {
              if (of.empty()) {
                  std::copy(from, from + updates.n_states(), to);
                  updates.sweep(to, nullptr, check);
              } else {
                  updates.average(from, of, to, check);
              }
          }) {}
    Stationary(const Stationary&) = delete;
    Stationary& operator=(const Stationary&) = delete;

    Updates updates;
    std::vector<double> of;  // weights of a random scan; none: an ordered one
    Krylov krylov;
};

using BoundStationary = OneAtATime<Stationary>;

// states, and for each variable its inputs, their strides in theta and theta itself, (groups * states,). Weights: of a
// random scan; none for an ordered one.
void make(BoundStationary* self, const In<std::int64_t>& states, const std::vector<In<std::int32_t>>& inputs,
          const std::vector<In<std::int64_t>>& strides, const std::vector<In<double>>& theta, const In<double>& weights,
          std::size_t most_vectors) {
    const std::size_t n = states.size();
    if (n == 0 || inputs.size() != n || strides.size() != n || theta.size() != n) refuse("a variable lacks something");
    if (weights.size() != 0 && weights.size() != n) refuse("every variable needs a weight");
    if (most_vectors < 2 || most_vectors > 64) refuse("the number of vectors is out of range");
    constexpr std::int64_t most_cells = std::int64_t{1} << 31;
    std::int64_t cells = 1;
    for (const auto r : view(states)) {
        if (r < 1) refuse("a variable has no state");
        cells = times_within(cells, r, most_cells);
        if (cells > most_cells) refuse("the state space is out of range");
    }
    std::vector<FreeConditional> conditionals;
    for (std::size_t v = 0; v < n; ++v) {
        FreeConditional c;
        c.states = states.data()[v];
        if (inputs[v].size() != strides[v].size()) refuse("every input needs a stride");
        std::int64_t highest = c.states - 1;
        for (std::size_t i = 0; i < inputs[v].size(); ++i) {
            const auto input = inputs[v].data()[i];
            const auto stride = strides[v].data()[i];
            if (input < 0 || static_cast<std::size_t>(input) >= n || static_cast<std::size_t>(input) == v) {
                refuse("an input is out of range");
            }
            if (stride < 0 || stride > 0x7FFFFFFF) refuse("a stride is out of range");
            c.inputs.push_back(input);
            c.strides.push_back(stride);
            highest += stride * (states.data()[static_cast<std::size_t>(input)] - 1);
            if (highest > 0x7FFFFFFF) refuse("theta is too large");
        }
        if (highest >= static_cast<std::int64_t>(theta[v].size())) refuse("theta is too small");
        c.theta.assign(theta[v].data(), theta[v].data() + theta[v].size());
        conditionals.push_back(std::move(c));
    }
    new (self) BoundStationary(std::move(conditionals), std::vector(weights.data(), weights.data() + weights.size()),
                               most_vectors);
}

// Begins from a distribution.
void begin(BoundStationary& self, const In<double>& p) {
    const Turn search(self);
    if (static_cast<std::int64_t>(p.size()) != search->krylov.size()) refuse("a number for every state is needed");
    std::copy(p.data(), p.data() + p.size(), search->krylov.current());
}

double step(BoundStationary& self) {
    const Turn search(self);
    const nb::gil_scoped_release release;
    return search->krylov.step(check_signals);
}

// One ordered sweep of the current distribution.
void sweep(BoundStationary& self) {
    const Turn search(self);
    const nb::gil_scoped_release release;
    search->updates.sweep(search->krylov.current(), nullptr, check_signals);
}

Out2<double> cycle(BoundStationary& self, std::size_t depth) {
    const Turn search(self);
    if (depth < 1 || depth >= search->krylov.most_vectors()) refuse("the depth is out of range");
    std::vector<double> columns;
    {
        const nb::gil_scoped_release release;
        columns = search->krylov.cycle(depth, check_signals);
    }
    return to_python(std::move(columns), depth + 1);
}

void combine(BoundStationary& self, const In<double>& weights) {
    const Turn search(self);
    if (weights.size() < 1 || weights.size() > search->krylov.most_vectors()) refuse("too many weights");
    const nb::gil_scoped_release release;
    search->krylov.combine(view(weights), check_signals);
}

Out<double> current(BoundStationary& self) {
    const Turn search(self);
    const double* p = search->krylov.current();
    return to_python(std::vector<double>(p, p + search->krylov.size()));
}

// The average of the distributions before each update of a sweep (Takabatake and Akaho, 2021, Eq. 7).
Out<double> average_over_sweep(BoundStationary& self) {
    const Turn search(self);
    std::vector<double> visited(static_cast<std::size_t>(search->krylov.size()));
    {
        const nb::gil_scoped_release release;
        search->updates.sweep(search->krylov.current(), visited.data(), check_signals);
    }
    return to_python(std::move(visited));
}

}  // namespace

void bind_stationary(nb::module_& m) {
    nb::class_<BoundStationary>(m, "Stationary")
        .def("__init__", &make, nb::arg("states").noconvert(), nb::arg("inputs").noconvert(),
             nb::arg("strides").noconvert(), nb::arg("theta").noconvert(), nb::arg("weights").noconvert(),
             nb::arg("most_vectors"))
        .def("begin", &begin, nb::arg("p").noconvert())
        .def("step", &step)
        .def("sweep", &sweep)
        .def("cycle", &cycle, nb::arg("depth"))
        .def("combine", &combine, nb::arg("weights").noconvert())
        .def("current", &current)
        .def("average_over_sweep", &average_over_sweep)
        .def_prop_ro("n_states", [](const BoundStationary& self) { return self.object.krylov.size(); });
}

}  // namespace fishernet::bind
