#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "bind/arrays.hpp"
#include "bind/measures.hpp"
#include "bind/table.hpp"
#include "bind/turns.hpp"
#include "search/exact_search.hpp"
#include "search/near_best.hpp"
#include "search/parent_sets.hpp"
#include "search/sparse_search.hpp"

namespace fishernet::bind {
namespace {

using BoundExact = OneAtATime<ExactSearch>;
using BoundSets = OneAtATime<ParentSets>;
using BoundSparse = OneAtATime<SparseSearch>;
using BoundNear = OneAtATime<NearBest>;

constexpr std::size_t most_in_tables = 40;  // no machine has the memory for more
constexpr std::size_t most_in_a_mask = 63;

Rules checked_rules(std::size_t n, std::size_t most, std::int32_t max_parents, const In2<bool>& forbidden,
                    const In2<bool>& required, const In<double>& states, double max_cells) {
    if (n < 1 || n > most) refuse("no variables, or too many");
    if (forbidden.shape(0) != n || forbidden.shape(1) != n || required.shape(0) != n || required.shape(1) != n) {
        refuse("a rule's matrix must be n x n");
    }
    if (max_parents < 0) refuse("the number of parents is negative");
    if (states.size() != n || std::any_of(states.data(), states.data() + n, [](double r) { return !(r >= 1); })) {
        refuse("a number of states for each variable is needed");
    }
    if (!(max_cells >= 1)) refuse("max_cells must be positive");
    Rules rules;
    rules.states.assign(states.data(), states.data() + n);
    rules.max_cells = max_cells;
    rules.n = static_cast<std::int32_t>(n);
    rules.max_parents = max_parents;
    rules.allowed.resize(n);
    rules.required.resize(n);
    for (std::size_t parent = 0; parent < n; ++parent) {
        for (std::size_t child = 0; child < n; ++child) {
            const auto p = static_cast<std::int32_t>(parent);
            if (parent != child && !forbidden.data()[parent * n + child]) rules.allowed[child].push_back(p);
            if (!required.data()[parent * n + child]) continue;
            if (parent == child) refuse("a variable is its own required parent");
            rules.required[child].push_back(p);
        }
    }
    return rules;
}

void make_parent_sets(BoundSets* self, std::int32_t max_parents, const In2<bool>& forbidden,
                      const In2<bool>& required, const In<double>& states, double max_cells,
                      const In<double>& best_fit, const In<double>& entropies, double price, std::size_t most,
                      double slack) {
    const std::size_t n = states.size();
    const Rules rules = checked_rules(n, most_in_a_mask, max_parents, forbidden, required, states, max_cells);
    if (best_fit.size() != n || (entropies.size() != n * n * n && price > 0) || std::isnan(price)) refuse("bounds do not fit");
    if (!(slack >= 0 && std::isfinite(slack))) refuse("slack must be finite and not negative");
    std::vector<std::int32_t> as_given(n);
    std::iota(as_given.begin(), as_given.end(), 0);
    ScoreBounds bounds{{best_fit.data(), best_fit.data() + n}, {entropies.data(), entropies.data() + entropies.size()}, price};
    new (self) BoundSets(rules.states, parent_rules(rules, as_given), std::move(bounds), most, slack);
}

nb::tuple wanted(BoundSets& self) {
    const Turn sets(self);
    const FamilyList& w = sets->wanted();
    return nb::make_tuple(to_python(std::vector(w.children)), to_python(std::vector(w.offsets)),
                          to_python(std::vector(w.parents)));
}

// Ends work whose time is over.
struct Deadline {
    struct Over {};
    std::chrono::steady_clock::time_point end;

    void operator()() const {
        check_signals();
        if (std::chrono::steady_clock::now() >= end) throw Over{};
    }
};

// Whether the sets that grow from these were found in so many seconds; if not, none can be wanted any more.
bool tell(BoundSets& self, const In<double>& scores, const In<double>& fits, double seconds) {
    constexpr double longest = 1e9;
    const Turn sets(self);
    const std::size_t n = sets->wanted().children.size();
    if (scores.size() != n || (fits.size() != n && fits.size() != 0)) refuse("one score for each wanted family is needed");
    if (!(seconds >= 0)) refuse("the seconds must not be negative");
    const std::chrono::duration<double> left(std::min(seconds, longest));
    Deadline deadline{std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(left)};
    const nb::gil_scoped_release release;
    try {
        sets->tell(view(scores), view(fits), StopCheck::of(deadline));
    } catch (const Deadline::Over&) {
        return false;
    }
    return true;
}

// A child's sets as bit masks, and their scores; the best first.
std::pair<Out<std::uint64_t>, Out<double>> sets_of(BoundSets& self, std::size_t child) {
    const Turn known(self);
    if (child >= known->found().size()) refuse("a child is out of range");
    std::vector<std::uint64_t> sets;
    std::vector<double> scores;
    for (const ParentSet& found : known->found()[child]) {
        sets.push_back(found.set);
        scores.push_back(found.score);
    }
    return {to_python(std::move(sets)), to_python(std::move(scores))};
}

void make_sparse(BoundSparse* self, BoundSets& sets, const In<std::uint64_t>& start, double max_bytes) {
    const Turn known(sets);
    std::vector<std::vector<ParentSet>> found = known->found();
    if (start.size() != found.size()) refuse("the start has other variables");
    for (auto& of : found) {
        if (of.empty()) refuse("a child has no set of parents");
        std::stable_sort(of.begin(), of.end(), [](auto& a, auto& b) { return a.score > b.score; });
    }
    const bool complete = known->wanted().children.empty() && !known->gave_up();
    new (self) BoundSparse(std::move(found), std::vector(start.data(), start.data() + start.size()), max_bytes, complete);
}

void make_near(BoundNear* self, BoundSets& sets, double within, std::size_t most, bool equivalent) {
    std::vector<std::vector<ParentSet>> found = Turn(sets)->found();
    if (found.size() > static_cast<std::size_t>(NearBest::most_variables)) refuse("too many variables");
    for (const auto& of : found) {
        if (of.empty()) refuse("a child has no set of parents");
    }
    if (!(within >= 0 && std::isfinite(within)) || most == 0) refuse("within must not be negative, and most positive");
    const nb::gil_scoped_release release;
    new (self) BoundNear(std::move(found), within, most, equivalent, check_signals);
}

// The scores of the networks that were found so far, the best first, and the parents of every variable as bit masks.
std::pair<Out<double>, Out2<std::uint64_t>> networks(BoundNear& self) {
    const Turn search(self);
    std::vector<double> scores;
    std::vector<std::uint64_t> parents;
    std::size_t n = 0;
    for (const auto& network : search->found()) {
        scores.push_back(network.score);
        parents.insert(parents.end(), network.parents.begin(), network.parents.end());
        n = network.parents.size();
    }
    return {to_python(std::move(scores)), to_python(std::move(parents), n)};
}

void make_from_table(BoundExact* self, const BoundColumns& table, std::string_view measure, double parameter,
                     std::int32_t max_parents, const In2<bool>& forbidden, const In2<bool>& required,
                     const In<double>& states, double max_cells) {
    check_complete(table);
    if (table.columns.n_rows >= (std::int64_t{1} << 32)) refuse("too many rows");
    const std::size_t n = table.columns.columns.size();
    const Rules rules = checked_rules(n, most_in_tables, max_parents, forbidden, required, states, max_cells);
    new (self) BoundExact(table.columns, checked_measure(measure, parameter), parameter, rules);
}

void make_from_terms(BoundExact* self, const In<double>& joint, const In2<double>& marginals,
                     const In<std::int32_t>& kind_of_child, const In<double>& prices, std::int32_t max_parents,
                     const In2<bool>& forbidden, const In2<bool>& required, const In<double>& states,
                     double max_cells) {
    const std::size_t n = kind_of_child.size();
    const Rules rules = checked_rules(n, most_in_tables, max_parents, forbidden, required, states, max_cells);
    const std::size_t n_sets = std::size_t{1} << n;
    if (joint.size() != n_sets || marginals.shape(1) != n_sets) refuse("one term for each set is needed");
    std::vector<const double*> rows;
    for (std::size_t kind = 0; kind < marginals.shape(0); ++kind) rows.push_back(marginals.data() + kind * n_sets);
    for (const auto kind : view(kind_of_child)) {
        if (kind < 0 || static_cast<std::size_t>(kind) >= rows.size()) refuse("a kind of child is out of range");
    }
    if (prices.size() != n || std::any_of(prices.data(), prices.data() + n, [](double p) { return !(p >= 0); })) {
        refuse("a price for each child is needed");
    }
    new (self) BoundExact(rules, joint.data(), std::move(rows), view(kind_of_child), view(prices));
}

template <class Search>
void advance(OneAtATime<Search>& self) {
    const Turn search(self);
    const nb::gil_scoped_release release;
    search->advance(check_signals);
}

template <class Search>
auto parents(OneAtATime<Search>& self) {
    const Turn search(self);
    if (!search->finished()) refuse("the search has not finished");
    const nb::gil_scoped_release release;
    return search->parents();
}

double score(BoundExact& self) {
    const Turn search(self);
    if (!search->finished()) refuse("the search has not finished");
    return search->score();
}

}  // namespace

void bind_exact(nb::module_& m) {
    nb::class_<BoundExact>(m, "ExactSearch")
        .def("__init__", &make_from_table, nb::arg("table"), nb::arg("measure"), nb::arg("parameter"),
             nb::arg("max_parents"), nb::arg("forbidden").noconvert(), nb::arg("required").noconvert(),
             nb::arg("states").noconvert(), nb::arg("max_cells"), nb::keep_alive<1, 2>())
        .def("__init__", &make_from_terms, nb::arg("joint").noconvert(), nb::arg("marginals").noconvert(),
             nb::arg("kind_of_child").noconvert(), nb::arg("prices").noconvert(), nb::arg("max_parents"),
             nb::arg("forbidden").noconvert(), nb::arg("required").noconvert(), nb::arg("states").noconvert(),
             nb::arg("max_cells"),
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def_prop_ro("n_scores", &read<ExactSearch, &ExactSearch::n_scores>)
        .def_prop_ro("done", &read<ExactSearch, &ExactSearch::done>)
        .def_prop_ro("total", &read<ExactSearch, &ExactSearch::total>)
        .def_prop_ro("finished", &read<ExactSearch, &ExactSearch::finished>)
        .def("advance", &advance<ExactSearch>)
        .def_prop_ro("score", &score)
        .def_prop_ro("parents", &parents<ExactSearch>);

    nb::class_<BoundSets>(m, "ParentSets")
        .def("__init__", &make_parent_sets, nb::arg("max_parents"), nb::arg("forbidden").noconvert(),
             nb::arg("required").noconvert(), nb::arg("states").noconvert(), nb::arg("max_cells"),
             nb::arg("best_fit").noconvert(), nb::arg("entropies").noconvert(), nb::arg("price"), nb::arg("most"),
             nb::arg("slack"))
        .def("wanted", &wanted)
        .def("tell", &tell, nb::arg("scores").noconvert(), nb::arg("fits").noconvert(), nb::arg("seconds"))
        .def("sets_of", &sets_of, nb::arg("child"))
        .def_prop_ro("n_parents", &read<ParentSets, &ParentSets::n_parents>)
        .def_prop_ro("bound", &read<ParentSets, &ParentSets::bound>)
        .def_prop_ro("gave_up", &read<ParentSets, &ParentSets::gave_up>)
        .def_prop_ro("n_wanted", &read<ParentSets, &ParentSets::n_wanted>);

    nb::class_<BoundSparse>(m, "SparseSearch")
        .def("__init__", &make_sparse, nb::arg("sets"), nb::arg("start").noconvert(), nb::arg("max_bytes"))
        .def("advance", &advance<SparseSearch>)
        .def_prop_ro("finished", &read<SparseSearch, &SparseSearch::finished>)
        .def_prop_ro("gave_up", &read<SparseSearch, &SparseSearch::gave_up>)
        .def_prop_ro("n_nodes", &read<SparseSearch, &SparseSearch::n_nodes>)
        .def_prop_ro("bytes", &read<SparseSearch, &SparseSearch::bytes>)
        .def_prop_ro("work", &read<SparseSearch, &SparseSearch::work>)
        .def_prop_ro("bound", &read<SparseSearch, &SparseSearch::bound>)
        .def_prop_ro("parents", &read<SparseSearch, &SparseSearch::parents>);

    nb::class_<BoundNear>(m, "NearBest")
        .def("__init__", &make_near, nb::arg("sets"), nb::arg("within"), nb::arg("most"), nb::arg("equivalent"))
        .def("advance", &advance<NearBest>)
        .def_prop_ro("finished", &read<NearBest, &NearBest::finished>)
        .def_prop_ro("best", &read<NearBest, &NearBest::best>)
        .def_prop_ro("least", &read<NearBest, &NearBest::least>)
        .def_prop_ro("n_met", &read<NearBest, &NearBest::n_met>)
        .def_prop_ro("n_found", &read<NearBest, &NearBest::n_found>)
        .def("networks", &networks);
}

}  // namespace fishernet::bind
