#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "bind/arrays.hpp"
#include "bind/mixed_scores.hpp"
#include "bind/table.hpp"
#include "bind/turns.hpp"
#include "counts/family_cache.hpp"
#include "counts/set_terms.hpp"
#include "search/hill_climb.hpp"
#include "search/order_search.hpp"
#include "search/saved_state.hpp"
#include "search/tree_growth.hpp"

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
Rules checked_rules(ParentLists& start, std::int32_t max_parents, const In2<bool>& forbidden, const In2<bool>& required,
                    const In<double>& states, double max_cells) {
    const std::size_t n = start.size();
    check_square(forbidden, n);
    check_square(required, n);
    if (states.size() != n) refuse("a number of states for each variable is needed");
    if (std::any_of(states.data(), states.data() + n, [](double r) { return !(r >= 1); })) refuse("a variable has no states");
    if (!(max_cells >= 1)) refuse("max_cells must be positive");
    Rules rules{static_cast<std::int32_t>(n), max_parents, ParentLists(n), ParentLists(n),
                {states.data(), states.data() + n}, max_cells};
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

void make_climb(OneAtATime<HillClimb>* self, ParentLists start, std::int32_t max_parents, const In2<bool>& forbidden,
                const In2<bool>& required, const In<double>& states, double max_cells, std::int64_t patience,
                std::int64_t tenure, std::int64_t restarts, std::int64_t perturb, std::uint64_t key) {
    Rules rules = checked_rules(start, max_parents, forbidden, required, states, max_cells);
    if (std::min({patience, tenure, restarts, perturb}) < 0) refuse("a search's numbers must not be negative");
    new (self) OneAtATime<HillClimb>(std::move(rules), start, Escape{patience, tenure, restarts, perturb, key});
}

void make_order(OneAtATime<OrderSearch>* self, ParentLists start, std::int32_t max_parents, const In2<bool>& forbidden,
                const In2<bool>& required, const In<double>& states, double max_cells, std::int64_t restarts,
                std::vector<std::int64_t> moves, std::vector<std::int64_t> steps, std::uint64_t key, bool graphs,
                std::int64_t pairs_among, bool wide, std::int64_t patience, std::int64_t tenure,
                std::optional<std::int64_t> most_families, std::int64_t least_restarts) {
    Rules rules = checked_rules(start, max_parents, forbidden, required, states, max_cells);
    if (std::min({restarts, pairs_among, patience, tenure, most_families.value_or(0), least_restarts}) < 0) {
        refuse("a search's numbers must not be negative");
    }
    for (const auto* amounts : {&moves, &steps}) {
        if (amounts->empty() || *std::min_element(amounts->begin(), amounts->end()) < 0) {
            refuse("a restart's moves and steps must not be negative");
        }
    }
    OrderOptions options;
    options.restarts = restarts;
    if (most_families) options.most_families = *most_families;
    options.least_restarts = least_restarts;
    options.moves = std::move(moves);
    options.steps = std::move(steps);
    options.key = key;
    options.graphs = graphs;
    options.pairs_among = static_cast<std::size_t>(pairs_among);
    options.wide = wide;
    options.patience = patience;
    options.tenure = tenure;
    new (self) OneAtATime<OrderSearch>(std::move(rules), start, std::move(options));
}

// The end of a search's time; no error.
struct TimeIsOver {};

// Tells the caller's watch how far a search is. What the watch raises ends the search.
template <class Search>
struct Look {
    const Search& search;
    const nb::callable& watch;

    void operator()() const {
        const nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (nb::cast<bool>(watch(search.n_steps()))) throw TimeIsOver();
    }
};

// The core's own counting.
class TableScorer : public Scorer {
public:
    TableScorer(SetTerms& terms, StopCheck check) : terms_(terms), check_(check) {}
    void score(const Families& families, std::span<double> scores) override {
        terms_.family_scores(families, scores, check_);
    }

private:
    SetTerms& terms_;
    StopCheck check_;
};

// A Python function of children, offsets and parents, which is asked once for each family: searches come back to most.
class PythonScorer : public Scorer {
public:
    explicit PythonScorer(const nb::callable& call) : call_(call) {}
    void score(const Families& families, std::span<double> scores) override {
        FamilyList unknown;
        const auto places = known_.look_up(families, scores);
        for (const auto f : places) unknown.add(families.children[f], families.parents_of(f));
        if (places.empty()) return;
        auto found = ask(unknown.view());
        known_.store(unknown.view(), found);
        for (std::size_t i = 0; i < places.size(); ++i) scores[places[i]] = found[i];
    }

private:
    std::vector<double> ask(const Families& families) const {
        const nb::gil_scoped_acquire gil;
        const auto copy = [](auto values) { return to_python(std::vector(values.begin(), values.end())); };
        const auto answer = nb::cast<In<double>>(
            call_(copy(families.children), copy(families.offsets), copy(families.parents)));
        if (answer.size() != families.size()) refuse("one score for each family is needed");
        return {answer.data(), answer.data() + answer.size()};
    }

    const nb::callable& call_;
    FamilyCache known_;
};

// Runs a search to its end; false when the watch said that the time is over. The watch, a function of the number of
// steps, is called now and then.
template <class Search>
bool run_with(Search& self, Scorer& scorer, const Look<Search>& look, StopCheck check) {
    try {
        look();
        const nb::gil_scoped_release release;
        self.run(scorer, check);
    } catch (const TimeIsOver&) {
        return false;
    }
    return true;
}

template <class Search>
bool run_on_table(OneAtATime<Search>& self, OneAtATime<SetTerms>& terms, const nb::callable& watch) {
    const Turn search(self);
    const Turn counting(terms);
    Look<Search> look{*search, watch};
    if (counting->n_variables() != search->parents().size()) refuse("the scorer has other variables");
    TableScorer scorer(*counting, StopCheck::of(look));
    return run_with(*search, scorer, look, StopCheck::of(look));
}

template <class Search>
bool run_on_mixed(OneAtATime<Search>& self, BoundMixedScores& scores, const nb::callable& watch) {
    const Turn search(self);
    Look<Search> look{*search, watch};
    MixedScorer scorer(scores, StopCheck::of(look));
    if (scorer.n_variables() != search->parents().size()) refuse("the scorer has other variables");
    return run_with(*search, scorer, look, StopCheck::of(look));
}

template <class Search>
bool run_on_answers(OneAtATime<Search>& self, const nb::callable& call, const nb::callable& watch) {
    const Turn search(self);
    Look<Search> look{*search, watch};
    PythonScorer scorer(call);
    return run_with(*search, scorer, look, StopCheck::of(look));
}

// Kind, parent, child and gain of every step from the start to the best graph.
template <class Search>
std::vector<std::tuple<int, std::int32_t, std::int32_t, double>> steps(OneAtATime<Search>& self) {
    const Turn search(self);
    std::vector<std::tuple<int, std::int32_t, std::int32_t, double>> out;
    for (const Step& s : search->steps()) out.emplace_back(static_cast<int>(s.kind), s.parent, s.child, s.gain);
    return out;
}

// What going on later needs. Whoever is called by a search that runs may ask for it as well: then it is whole.
template <class Search>
std::pair<std::vector<std::int64_t>, std::vector<double>> state(OneAtATime<Search>& self) {
    SavedState state;
    if (self.at_work == std::this_thread::get_id()) {
        self.object.save(state);
    } else {
        const Turn search(self);
        search->save(state);
    }
    return {std::move(state.whole), std::move(state.real)};
}

// For a search with the same rules, start and options that was just made; running it goes on.
template <class Search>
void restore(OneAtATime<Search>& self, const std::vector<std::int64_t>& whole, const std::vector<double>& real) {
    const Turn search(self);
    if (!search->steps().empty() || !std::isnan(search->score())) refuse("only a search that has not begun can be given a state");
    StateReader reader(whole, real);
    search->restore(reader);
    reader.end();
}

template <class Search>
void bind_running(nb::class_<OneAtATime<Search>>& bound) {
    bound.def("run", &run_on_table<Search>, nb::arg("scorer"), nb::arg("watch"))
        .def("run", &run_on_mixed<Search>, nb::arg("scorer"), nb::arg("watch"))
        .def("run", &run_on_answers<Search>, nb::arg("scorer"), nb::arg("watch"))
        .def_prop_ro("parents", &read<Search, &Search::parents>)
        .def_prop_ro("score", &read<Search, &Search::score>)
        .def_prop_ro("n_steps", &read<Search, &Search::n_steps>)
        .def_prop_ro("state", &state<Search>)
        .def("restore", &restore<Search>, nb::arg("whole"), nb::arg("real"))
        .def_prop_ro("steps", &steps<Search>);
}

// Of each child: what the nodes ask (-1: a leaf), the branch of each state of that, the leaves' counts, and the score.
nb::list bound_trees(const BoundColumns& table, double unit, const In<std::int32_t>& children,
                     const In2<std::uint8_t>& may_ask, double price, double split_price, bool multiway,
                     double max_inputs, double max_cells) {
    const std::size_t n = table.columns.columns.size();
    if (may_ask.shape(0) != children.size() || may_ask.shape(1) != n) refuse("each child needs a row of what it asks");
    for (const std::int32_t child : view(children)) {
        if (child < 0 || static_cast<std::size_t>(child) >= n) refuse("a child is out of range");
    }
    if (!(unit > 0) || std::isinf(unit)) refuse("the unit of weights must be positive");
    for (const double one : {price, split_price}) {
        if (!(one >= 0) || std::isinf(one)) refuse("a price must not be negative");
    }
    if (!(max_inputs >= 0) || !(max_cells >= 1)) refuse("a limit is out of range");
    if (table.columns.n_rows > std::int64_t{0xFFFFFFFF}) refuse("there are too many rows");
    std::vector<GrownTree> found;
    {
        const nb::gil_scoped_release release;
        found = grow_trees(table.columns, view(children), {may_ask.data(), may_ask.size()},
                           {unit, price, split_price, multiway, max_inputs, max_cells}, check_signals);
    }
    nb::list trees;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto child = static_cast<std::size_t>(children.data()[i]);
        trees.append(nb::make_tuple(to_python(std::move(found[i].variables)), to_python(std::move(found[i].branches)),
                                    to_python(std::move(found[i].counts), table.columns.columns[child].cardinality),
                                    found[i].score));
    }
    return trees;
}

}  // namespace

void bind_search(nb::module_& m) {
    m.def("grow_trees", &bound_trees, nb::arg("table"), nb::arg("unit"), nb::arg("children").noconvert(),
          nb::arg("may_ask").noconvert(), nb::arg("price"), nb::arg("split_price"), nb::arg("multiway"),
          nb::arg("max_inputs"), nb::arg("max_cells"));
    nb::class_<OneAtATime<HillClimb>> climb(m, "HillClimb");
    climb.def("__init__", &make_climb, nb::arg("start"), nb::arg("max_parents"), nb::arg("forbidden").noconvert(),
              nb::arg("required").noconvert(), nb::arg("states").noconvert(), nb::arg("max_cells"),
              nb::arg("patience") = 0, nb::arg("tenure") = 0, nb::arg("restarts") = 0, nb::arg("perturb") = 0,
              nb::arg("key") = 0);
    bind_running(climb);
    nb::class_<OneAtATime<OrderSearch>> order(m, "OrderSearch");
    order.def("__init__", &make_order, nb::arg("start"), nb::arg("max_parents"), nb::arg("forbidden").noconvert(),
              nb::arg("required").noconvert(), nb::arg("states").noconvert(), nb::arg("max_cells"),
              nb::arg("restarts"), nb::arg("moves"), nb::arg("steps"), nb::arg("key"), nb::arg("graphs"),
              nb::arg("pairs_among"), nb::arg("wide"), nb::arg("patience"), nb::arg("tenure"),
              nb::arg("most_families") = nb::none(), nb::arg("least_restarts") = 0);
    bind_running(order);
}

}  // namespace fishernet::bind
