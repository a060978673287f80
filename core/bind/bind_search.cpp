#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "../hill_climb.hpp"
#include "arrays.hpp"

namespace fishernet::bind {
namespace {

using ParentLists = std::vector<std::vector<std::int32_t>>;

std::vector<std::uint8_t> square(const In2<bool>& matrix, std::size_t n) {
    if (matrix.shape(0) != n || matrix.shape(1) != n) refuse("a rule's matrix must be n x n");
    return {matrix.data(), matrix.data() + n * n};
}

void make_search(HillClimb* self, const ParentLists& start, std::int32_t max_parents, const In2<bool>& forbidden,
                 const In2<bool>& required) {
    const std::size_t n = start.size();
    for (std::size_t child = 0; child < n; ++child) {
        for (const auto p : start[child]) {
            if (p < 0 || static_cast<std::size_t>(p) >= n || static_cast<std::size_t>(p) == child) {
                refuse("a parent is out of range");
            }
        }
    }
    Rules rules;
    rules.n = static_cast<std::int32_t>(n);
    rules.max_parents = max_parents;
    rules.forbidden = square(forbidden, n);
    rules.required = square(required, n);
    new (self) HillClimb(std::move(rules), start);
}

nb::tuple wanted(const HillClimb& self) {
    const FamilyList& w = self.wanted();
    return nb::make_tuple(to_python(std::vector(w.children)), to_python(std::vector(w.offsets)),
                          to_python(std::vector(w.parents)));
}

void tell(HillClimb& self, const In<double>& scores) {
    if (scores.size() != self.wanted().children.size()) refuse("one score for each wanted family is needed");
    self.tell(view(scores));
}

// Kind, parent, child and gain of every step so far.
std::vector<std::tuple<int, std::int32_t, std::int32_t, double>> steps(const HillClimb& self) {
    std::vector<std::tuple<int, std::int32_t, std::int32_t, double>> out;
    for (const Step& s : self.steps()) out.emplace_back(static_cast<int>(s.kind), s.parent, s.child, s.gain);
    return out;
}

}  // namespace

void bind_search(nb::module_& m) {
    nb::class_<HillClimb>(m, "HillClimb")
        .def("__init__", &make_search, nb::arg("start"), nb::arg("max_parents"), nb::arg("forbidden").noconvert(),
             nb::arg("required").noconvert())
        .def("wanted", &wanted)
        .def("tell", &tell, nb::arg("scores").noconvert())
        .def_prop_ro("parents", &HillClimb::parents)
        .def_prop_ro("score", &HillClimb::score)
        .def_prop_ro("n_steps", [](const HillClimb& self) { return self.steps().size(); })
        .def_prop_ro("steps", &steps);
}

}  // namespace fishernet::bind
