#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string_view>

#include "../exact_search.hpp"
#include "arrays.hpp"
#include "measures.hpp"
#include "table.hpp"

namespace fishernet::bind {
namespace {

constexpr std::size_t most_variables = 40;  // no machine has the memory for more

Rules checked_rules(std::size_t n, std::int32_t max_parents, const In2<bool>& forbidden, const In2<bool>& required) {
    if (n < 1 || n > most_variables) refuse("between 1 and 40 variables are needed");
    if (forbidden.shape(0) != n || forbidden.shape(1) != n || required.shape(0) != n || required.shape(1) != n) {
        refuse("a rule's matrix must be n x n");
    }
    Rules rules;
    rules.n = static_cast<std::int32_t>(n);
    rules.max_parents = max_parents;
    rules.allowed.resize(n);
    rules.required.resize(n);
    for (std::size_t parent = 0; parent < n; ++parent) {
        for (std::size_t child = 0; child < n; ++child) {
            const auto p = static_cast<std::int32_t>(parent);
            if (parent != child && !forbidden.data()[parent * n + child]) rules.allowed[child].push_back(p);
            if (required.data()[parent * n + child]) rules.required[child].push_back(p);
        }
    }
    return rules;
}

void make_from_table(ExactSearch* self, const BoundColumns& table, std::string_view measure, double parameter,
                     std::int32_t max_parents, const In2<bool>& forbidden, const In2<bool>& required) {
    check_complete(table);
    if (table.columns.n_rows >= (std::int64_t{1} << 32)) refuse("too many rows");
    const Rules rules = checked_rules(table.columns.columns.size(), max_parents, forbidden, required);
    new (self) ExactSearch(table.columns, checked_measure(measure, parameter), parameter, rules);
}

void make_from_terms(ExactSearch* self, const In<double>& joint, const In2<double>& marginals,
                     const In<std::int32_t>& kind_of_child, std::int32_t max_parents, const In2<bool>& forbidden,
                     const In2<bool>& required) {
    const std::size_t n = kind_of_child.size();
    const Rules rules = checked_rules(n, max_parents, forbidden, required);
    const std::size_t n_sets = std::size_t{1} << n;
    if (joint.size() != n_sets || marginals.shape(1) != n_sets) refuse("one term for each set is needed");
    std::vector<const double*> rows;
    for (std::size_t kind = 0; kind < marginals.shape(0); ++kind) rows.push_back(marginals.data() + kind * n_sets);
    for (const auto kind : view(kind_of_child)) {
        if (kind < 0 || static_cast<std::size_t>(kind) >= rows.size()) refuse("a kind of child is out of range");
    }
    new (self) ExactSearch(rules, joint.data(), std::move(rows), view(kind_of_child));
}

void advance(ExactSearch& self) {
    const nb::gil_scoped_release release;
    self.advance(check_signals);
}

void check_finished(const ExactSearch& self) {
    if (!self.finished()) refuse("the search has not finished");
}

}  // namespace

void bind_exact(nb::module_& m) {
    nb::class_<ExactSearch>(m, "ExactSearch")
        .def("__init__", &make_from_table, nb::arg("table"), nb::arg("measure"), nb::arg("parameter"),
             nb::arg("max_parents"), nb::arg("forbidden").noconvert(), nb::arg("required").noconvert(),
             nb::keep_alive<1, 2>())
        .def("__init__", &make_from_terms, nb::arg("joint").noconvert(), nb::arg("marginals").noconvert(),
             nb::arg("kind_of_child").noconvert(), nb::arg("max_parents"), nb::arg("forbidden").noconvert(),
             nb::arg("required").noconvert(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def_prop_ro("n_scores", &ExactSearch::n_scores)
        .def_prop_ro("done", &ExactSearch::done)
        .def_prop_ro("total", &ExactSearch::total)
        .def_prop_ro("finished", &ExactSearch::finished)
        .def("advance", &advance)
        .def_prop_ro("score", [](const ExactSearch& self) {
            check_finished(self);
            return self.score();
        })
        .def_prop_ro("parents", [](const ExactSearch& self) {
            check_finished(self);
            const nb::gil_scoped_release release;
            return self.parents();
        });
}

}  // namespace fishernet::bind
