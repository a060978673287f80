#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "search/hill_climb.hpp"
#include "search/order_search.hpp"
#include "bind/arrays.hpp"

namespace fishernet::bind {
namespace {

void check_square(const In2<bool>& matrix, std::size_t n) {
    if (matrix.shape(0) != n || matrix.shape(1) != n) refuse("a rule's matrix must be n x n");
}

bool is_acyclic(const ParentLists& parents) {
    std::vector<std::size_t> open;
    ParentLists children(parents.size());
    std::vector<std::int32_t> order;
    for (std::size_t child = 0; child < parents.size(); ++child) {
        open.push_back(parents[child].size());
        if (open.back() == 0) order.push_back(static_cast<std::int32_t>(child));
        for (const auto p : parents[child]) children[p].push_back(static_cast<std::int32_t>(child));
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        for (const auto child : children[order[i]]) {
            if (--open[child] == 0) order.push_back(child);
        }
    }
    return order.size() == parents.size();
}

// The lists of the rules, from matrices [parent][child]. The start keeps them: a search relies on that.
Rules checked_rules(ParentLists& start, std::int32_t max_parents, const In2<bool>& forbidden,
                    const In2<bool>& required) {
    const std::size_t n = start.size();
    check_square(forbidden, n);
    check_square(required, n);
    Rules rules{static_cast<std::int32_t>(n), max_parents, ParentLists(n), ParentLists(n)};
    for (std::size_t child = 0; child < n; ++child) {
        for (const auto p : start[child]) {
            if (p < 0 || static_cast<std::size_t>(p) >= n || static_cast<std::size_t>(p) == child) {
                refuse("a parent is out of range");
            }
        }
        std::sort(start[child].begin(), start[child].end());
        if (std::adjacent_find(start[child].begin(), start[child].end()) != start[child].end()) {
            refuse("a parent is listed twice");
        }
    }
    for (std::size_t p = 0; p < n; ++p) {
        for (std::size_t child = 0; child < n; ++child) {
            const bool here = holds(start[child], static_cast<std::int32_t>(p)), must = required.data()[p * n + child];
            if (forbidden.data()[p * n + child]) {
                if (here) refuse("the start has a forbidden arc");
            } else if (p != child) {
                rules.allowed[child].push_back(static_cast<std::int32_t>(p));
            }
            if (must && !here) refuse("the start lacks a required arc");
            if (must) rules.required[child].push_back(static_cast<std::int32_t>(p));
        }
    }
    if (!is_acyclic(start)) refuse("the start has a cycle");
    return rules;
}

void make_climb(HillClimb* self, ParentLists start, std::int32_t max_parents, const In2<bool>& forbidden,
                const In2<bool>& required, std::int64_t patience, std::int64_t tenure, std::int64_t restarts,
                std::int64_t perturb, std::uint64_t key) {
    Rules rules = checked_rules(start, max_parents, forbidden, required);
    if (std::min({patience, tenure, restarts, perturb}) < 0) refuse("a search's numbers must not be negative");
    new (self) HillClimb(std::move(rules), start, {patience, tenure, restarts, perturb, key});
}

void make_order(OrderSearch* self, ParentLists start, std::int32_t max_parents, const In2<bool>& forbidden,
                const In2<bool>& required, std::int64_t restarts, std::int64_t perturb, std::uint64_t key) {
    Rules rules = checked_rules(start, max_parents, forbidden, required);
    if (std::min(restarts, perturb) < 0) refuse("a search's numbers must not be negative");
    new (self) OrderSearch(std::move(rules), start, restarts, perturb, key);
}

template <class Search>
nb::tuple wanted(const Search& self) {
    const FamilyList& w = self.wanted();
    return nb::make_tuple(to_python(std::vector(w.children)), to_python(std::vector(w.offsets)),
                          to_python(std::vector(w.parents)));
}

template <class Search>
void tell(Search& self, const In<double>& scores) {
    if (scores.size() != self.wanted().children.size()) refuse("one score for each wanted family is needed");
    self.tell(view(scores));
}

// Kind, parent, child and gain of every step from the start to the best graph.
std::vector<std::tuple<int, std::int32_t, std::int32_t, double>> steps(const HillClimb& self) {
    std::vector<std::tuple<int, std::int32_t, std::int32_t, double>> out;
    for (const Step& s : self.steps()) out.emplace_back(static_cast<int>(s.kind), s.parent, s.child, s.gain);
    return out;
}

// The variable, whom it was put after (-1: nobody) and gain of every move from the start's order to the best.
std::vector<std::tuple<std::int32_t, std::int32_t, double>> moves(const OrderSearch& self) {
    std::vector<std::tuple<std::int32_t, std::int32_t, double>> out;
    for (const Move& m : self.moves()) out.emplace_back(m.variable, m.after, m.gain);
    return out;
}

}  // namespace

void bind_search(nb::module_& m) {
    nb::class_<HillClimb>(m, "HillClimb")
        .def("__init__", &make_climb, nb::arg("start"), nb::arg("max_parents"), nb::arg("forbidden").noconvert(),
             nb::arg("required").noconvert(), nb::arg("patience") = 0, nb::arg("tenure") = 0, nb::arg("restarts") = 0,
             nb::arg("perturb") = 0, nb::arg("key") = 0)
        .def("wanted", &wanted<HillClimb>)
        .def("tell", &tell<HillClimb>, nb::arg("scores").noconvert())
        .def_prop_ro("parents", &HillClimb::parents)
        .def_prop_ro("score", &HillClimb::score)
        .def_prop_ro("n_steps", &HillClimb::n_steps)
        .def_prop_ro("steps", &steps);
    nb::class_<OrderSearch>(m, "OrderSearch")
        .def("__init__", &make_order, nb::arg("start"), nb::arg("max_parents"), nb::arg("forbidden").noconvert(),
             nb::arg("required").noconvert(), nb::arg("restarts") = 0, nb::arg("perturb") = 0, nb::arg("key") = 0)
        .def("wanted", &wanted<OrderSearch>)
        .def("tell", &tell<OrderSearch>, nb::arg("scores").noconvert())
        .def_prop_ro("parents", &OrderSearch::parents)
        .def_prop_ro("score", &OrderSearch::score)
        .def_prop_ro("n_moves", &OrderSearch::n_moves)
        .def_prop_ro("moves", &moves);
}

}  // namespace fishernet::bind
