#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log_gamma.hpp"
#include "base/sizes.hpp"
#include "bind/arrays.hpp"
#include "bind/measures.hpp"
#include "bind/table.hpp"
#include "bind/turns.hpp"
#include "counts/available_cases.hpp"
#include "counts/cell_sums.hpp"
#include "counts/family_cache.hpp"
#include "counts/set_terms.hpp"

namespace fishernet::bind {
namespace {

using BoundTerms = OneAtATime<SetTerms>;

void make_terms(BoundTerms* self, const BoundColumns& table, std::string_view measure, double parameter) {
    check_complete(table);
    new (self) BoundTerms(table.columns, checked_measure(measure, parameter), parameter);
}

Out<double> family_scores(BoundTerms& self, const In<std::int32_t>& children, const In<std::int64_t>& offsets,
                          const In<std::int32_t>& parents) {
    const Turn terms(self);
    const Families families = checked_families(children, offsets, parents, terms->n_variables());
    std::vector<double> scores(families.size());
    {
        const nb::gil_scoped_release release;
        terms->family_scores(families, scores, check_signals);
    }
    return to_python(std::move(scores));
}

using BoundSums = OneAtATime<CellSums>;

void make_sums(BoundSums* self, const In<std::int64_t>& cardinalities, std::string_view measure, double parameter,
               std::int64_t total, bool all_sets) {
    const auto states = view(cardinalities);
    if (std::any_of(states.begin(), states.end(), [](auto r) { return r < 1 || r > 0xFFFFFFFEll; })) {
        refuse("a cardinality is out of range");
    }
    constexpr std::int64_t most_rows = std::int64_t{1} << 53;  // as many as a double counts one by one
    if (total < 0 || total > most_rows) refuse("the weights' sum is out of range");
    new (self) BoundSums(std::vector<std::uint32_t>(states.begin(), states.end()), checked_measure(measure, parameter),
                         parameter, total, all_sets);
}

// The cells of some sets as they come from Python, and views of those that were found to fit their sets.
class GivenCells {
public:
    GivenCells(const nb::list& counts, const nb::list& states) : views_(counts.size()) {
        if (states.size() != counts.size()) refuse("as many states as counts are needed");
        for (std::size_t s = 0; s < counts.size(); ++s) {
            if (!nb::try_cast(counts[s], counts_.emplace_back(), false)) refuse("counts must be int64, one axis");
            states_.emplace_back();
            if (states[s].is_none()) continue;
            if (!nb::try_cast(states[s], states_[s].emplace(), false)) refuse("states must be uint32, two axes");
        }
    }

    std::size_t size() const { return views_.size(); }
    std::span<const SetCells> views() const { return views_; }

    void check(std::size_t s, std::span<const std::int32_t> set, const CellSums& sums) {
        const auto counts = view(counts_[s]);
        std::int64_t left = sums.total();
        for (const auto n : counts) {
            if (n < 0 || n > left) refuse("a count is negative, or there are more than in all");
            left -= n;
        }
        if (left != 0) refuse("the counts of a set are not all of them");
        views_[s] = {counts, {}, !states_[s]};
        if (states_[s]) check_states(s, set, sums);
        else check_size(s, set, sums);
    }

private:
    void check_size(std::size_t s, std::span<const std::int32_t> set, const CellSums& sums) const {
        const auto size = static_cast<std::int64_t>(counts_[s].size());
        std::int64_t cells = 1;
        for (const auto v : set) cells = times_within(cells, sums.cardinality(v), size);
        if (cells != size) refuse("counts do not fit their set");
    }
    void check_states(std::size_t s, std::span<const std::int32_t> set, const CellSums& sums) {
        const auto& states = *states_[s];
        if (states.shape(0) != counts_[s].size() || states.shape(1) != set.size()) refuse("states do not fit their set");
        for (std::size_t i = 0; i < states.size(); ++i) {
            if (states.data()[i] >= sums.cardinality(set[i % set.size()])) refuse("a state is out of range");
        }
        views_[s].states = {states.data(), states.size()};
    }

    std::vector<In<std::int64_t>> counts_;
    std::vector<std::optional<In2<std::uint32_t>>> states_;
    std::vector<SetCells> views_;
};

Out<double> scores_of_counts(BoundSums& self, const In<std::int32_t>& children, const In<std::int64_t>& offsets,
                             const In<std::int32_t>& parents, const In<std::int64_t>& which, const nb::list& counts,
                             const nb::list& states) {
    const Turn sums(self);
    const Families families = checked_families(children, offsets, parents, sums->n_variables());
    GivenCells cells(counts, states);
    if (which.size() != families.size()) refuse("each family needs a set");
    std::vector<std::vector<std::int32_t>> sets(cells.size());
    for (std::size_t f = 0; f < families.size(); ++f) {
        const auto s = static_cast<std::size_t>(which.data()[f]);  // below 0 it is very large
        if (s >= cells.size()) refuse("a set is out of range");
        const auto others = families.parents_of(f);
        std::vector<std::int32_t> set(others.begin(), others.end());
        set.insert(std::lower_bound(set.begin(), set.end(), families.children[f]), families.children[f]);
        if (sets[s].empty()) cells.check(s, set, *sums);
        else if (sets[s] != set) refuse("a set is that of two different families");
        sets[s] = std::move(set);
    }
    std::vector<double> scores(families.size());
    {
        const nb::gil_scoped_release release;
        sums->family_scores(families, view(which), cells.views(), scores, check_signals);
    }
    return to_python(std::move(scores));
}

// f of each set, and a row of g's for each number of states of a child.
std::pair<Out<double>, Out2<double>> set_terms(BoundSums& self, const In<std::int64_t>& offsets,
                                               const In<std::int32_t>& members, const nb::list& counts,
                                               const nb::list& states, const In<std::int64_t>& of_child) {
    const Turn sums(self);
    const auto sets = checked_sets(offsets, members, sums->n_variables());
    const auto children = view(of_child);
    if (std::any_of(children.begin(), children.end(), [](auto r) { return r < 1 || r > 0xFFFFFFFEll; })) {
        refuse("a cardinality is out of range");
    }
    GivenCells cells(counts, states);
    if (cells.size() != sets.size()) refuse("each set needs counts");
    for (std::size_t s = 0; s < sets.size(); ++s) cells.check(s, sets[s], *sums);
    std::vector<double> joint(sets.size()), marginals(children.size() * sets.size());
    {
        const nb::gil_scoped_release release;
        sums->set_terms(sets, cells.views(), children, joint, marginals, check_signals);
    }
    return {to_python(std::move(joint)), to_python(std::move(marginals), children.size(), sets.size())};
}

// What parents tell over rows with missing cells, and the weight of those that are complete in each family.
std::pair<Out<double>, Out<double>> told(const BoundColumns& table, double unit, const In<std::int32_t>& children,
                                         const In<std::int64_t>& offsets, const In<std::int32_t>& parents) {
    const auto& columns = table.columns.columns;
    const Families families = checked_families(children, offsets, parents, columns.size());
    for (std::size_t f = 0; f < families.size(); ++f) {
        double cells = columns[static_cast<std::size_t>(families.children[f])].cardinality;
        for (const auto p : families.parents_of(f)) cells *= columns[static_cast<std::size_t>(p)].cardinality;
        if (cells > 0x1p62) refuse("a family has too many cells");
    }
    std::vector<double> told(families.size()), weights(families.size());
    {
        const nb::gil_scoped_release release;
        told_by_parents(table.columns, families, unit, told, weights, check_signals);
    }
    return {to_python(std::move(told)), to_python(std::move(weights))};
}

// The regret of each number of draws, for one number of states; infinitely many are known by their logarithm.
Out<double> regrets(const In<std::int64_t>& n, double states, double log_states) {
    const auto draws = view(n);
    if (std::any_of(draws.begin(), draws.end(), [](auto k) { return k < 0; })) refuse("a number of draws is negative");
    if (!(states >= 1) || !(log_states >= 0) || std::isinf(log_states)) refuse("one state at least is needed");
    std::vector<double> out(draws.size());
    std::transform(draws.begin(), draws.end(), out.begin(), [&](auto k) { return regret(k, Size{states, log_states}); });
    return to_python(std::move(out));
}

// log (a (a + 1) ... (a + n - 1)) of each n > 0.
Out<double> rising(double log_a, const In<double>& n) {
    const auto counts = view(n);
    if (!std::isfinite(log_a)) refuse("a logarithm is not finite");
    if (std::any_of(counts.begin(), counts.end(), [](double k) { return !(k > 0) || std::isinf(k); })) {
        refuse("a count is not positive");
    }
    std::vector<double> out(counts.size());
    std::transform(counts.begin(), counts.end(), out.begin(), [&](double k) { return log_rising_from(log_a, k); });
    return to_python(std::move(out));
}

// The same with an a of its own for each n.
Out<double> rising_each(const In<double>& log_a, const In<double>& n) {
    const auto starts = view(log_a);
    const auto counts = view(n);
    if (starts.size() != counts.size()) refuse("each count needs a logarithm");
    if (std::any_of(starts.begin(), starts.end(), [](double a) { return !std::isfinite(a); })) {
        refuse("a logarithm is not finite");
    }
    if (std::any_of(counts.begin(), counts.end(), [](double k) { return !(k > 0) || std::isinf(k); })) {
        refuse("a count is not positive");
    }
    std::vector<double> out(counts.size());
    std::transform(starts.begin(), starts.end(), counts.begin(), out.begin(), log_rising_from);
    return to_python(std::move(out));
}

constexpr std::size_t any_variable = 0x7FFFFFFF;

// The scores that are known, NaN elsewhere, and where that is.
std::pair<Out<double>, Out<std::int64_t>> look_up_families(FamilyCache& self, const In<std::int32_t>& children,
                                                           const In<std::int64_t>& offsets, const In<std::int32_t>& parents) {
    const Families families = checked_families(children, offsets, parents, any_variable);
    std::vector<double> scores(families.size(), std::numeric_limits<double>::quiet_NaN());
    auto unknown = self.look_up(families, scores);
    return {to_python(std::move(scores)), to_python(std::move(unknown))};
}

// Returns the scores that are remembered.
Out<double> store_families(FamilyCache& self, const In<std::int32_t>& children, const In<std::int64_t>& offsets,
                           const In<std::int32_t>& parents, const In<double>& scores) {
    const Families families = checked_families(children, offsets, parents, any_variable);
    if (families.size() != scores.size()) refuse("as many scores as families are needed");
    const auto given = view(scores);
    std::vector<double> remembered(given.begin(), given.end());
    self.store(families, remembered);
    return to_python(std::move(remembered));
}

}  // namespace

void bind_scores(nb::module_& m) {
    nb::class_<BoundTerms>(m, "SetTerms")
        .def("__init__", &make_terms, nb::arg("table"), nb::arg("measure"), nb::arg("parameter"), nb::keep_alive<1, 2>())
        .def_prop_ro("n_families", &read<SetTerms, &SetTerms::n_families>)
        .def("family_scores", &family_scores, nb::arg("children").noconvert(), nb::arg("offsets").noconvert(),
             nb::arg("parents").noconvert());

    nb::class_<BoundSums>(m, "CellSums")
        .def("__init__", &make_sums, nb::arg("cardinalities").noconvert(), nb::arg("measure"), nb::arg("parameter"),
             nb::arg("total"), nb::arg("all_sets") = false)
        .def_prop_ro("price", &read<CellSums, &CellSums::price>)
        .def_prop_ro("knows_child", &read<CellSums, &CellSums::knows_child>)
        .def("family_scores", &scores_of_counts, nb::arg("children").noconvert(), nb::arg("offsets").noconvert(),
             nb::arg("parents").noconvert(), nb::arg("which").noconvert(), nb::arg("counts"), nb::arg("states"))
        .def("set_terms", &set_terms, nb::arg("offsets").noconvert(), nb::arg("members").noconvert(), nb::arg("counts"),
             nb::arg("states"), nb::arg("of_child").noconvert());

    m.def("told_by_parents", &told, nb::arg("table"), nb::arg("unit"), nb::arg("children").noconvert(),
          nb::arg("offsets").noconvert(), nb::arg("parents").noconvert());
    m.def("log_rising", &rising, nb::arg("log_a"), nb::arg("n").noconvert());
    m.def("log_rising_each", &rising_each, nb::arg("log_a").noconvert(), nb::arg("n").noconvert());
    m.def("regret", &regrets, nb::arg("n").noconvert(), nb::arg("states"), nb::arg("log_states"));

    nb::class_<FamilyCache>(m, "FamilyCache")
        .def(nb::init<>())
        .def("__len__", &FamilyCache::size)
        .def("look_up", &look_up_families, nb::arg("children").noconvert(), nb::arg("offsets").noconvert(),
             nb::arg("parents").noconvert())
        .def("store", &store_families, nb::arg("children").noconvert(), nb::arg("offsets").noconvert(),
             nb::arg("parents").noconvert(), nb::arg("scores").noconvert());
}

}  // namespace fishernet::bind
