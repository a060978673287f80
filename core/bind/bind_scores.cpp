#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "search/family_cache.hpp"
#include "base/log_gamma.hpp"
#include "counts/available_cases.hpp"
#include "counts/set_terms.hpp"
#include "bind/arrays.hpp"
#include "bind/measures.hpp"
#include "bind/table.hpp"
#include "bind/turns.hpp"

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

// The node-average scores of families over rows that may lack cells.
Out<double> node_average(const BoundColumns& table, double total, double price, double unit,
                         const In<std::int32_t>& children, const In<std::int64_t>& offsets,
                         const In<std::int32_t>& parents) {
    const auto& columns = table.columns.columns;
    const Families families = checked_families(children, offsets, parents, columns.size());
    for (std::size_t f = 0; f < families.size(); ++f) {
        double cells = columns[static_cast<std::size_t>(families.children[f])].cardinality;
        for (const auto p : families.parents_of(f)) cells *= columns[static_cast<std::size_t>(p)].cardinality;
        if (cells > 0x1p62) refuse("a family has too many cells");
    }
    std::vector<double> scores(families.size());
    {
        const nb::gil_scoped_release release;
        node_average_scores(table.columns, families, {total, price, unit}, scores, check_signals);
    }
    return to_python(std::move(scores));
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

}  // namespace

void bind_scores(nb::module_& m) {
    nb::class_<BoundTerms>(m, "SetTerms")
        .def("__init__", &make_terms, nb::arg("table"), nb::arg("measure"), nb::arg("parameter"), nb::keep_alive<1, 2>())
        .def_prop_ro("n_families", &read<SetTerms, &SetTerms::n_families>)
        .def("family_scores", &family_scores, nb::arg("children").noconvert(), nb::arg("offsets").noconvert(),
             nb::arg("parents").noconvert());

    m.def("node_average_scores", &node_average, nb::arg("table"), nb::arg("total"), nb::arg("price"), nb::arg("unit"),
          nb::arg("children").noconvert(), nb::arg("offsets").noconvert(), nb::arg("parents").noconvert());
    m.def("log_rising", &rising, nb::arg("log_a"), nb::arg("n").noconvert());
    m.def("log_rising_each", &rising_each, nb::arg("log_a").noconvert(), nb::arg("n").noconvert());
    m.def("regret", &regrets, nb::arg("n").noconvert(), nb::arg("states"), nb::arg("log_states"));

    nb::class_<FamilyCache>(m, "FamilyCache")
        .def(nb::init<>())
        .def("__len__", &FamilyCache::size)
        .def("missing", [](FamilyCache& self, const In<std::int32_t>& children, const In<std::int64_t>& offsets,
                           const In<std::int32_t>& parents) {
            return to_python(self.missing(checked_families(children, offsets, parents, any_variable)));
        }, nb::arg("children").noconvert(), nb::arg("offsets").noconvert(), nb::arg("parents").noconvert())
        .def("store", [](FamilyCache& self, const In<std::int32_t>& children, const In<std::int64_t>& offsets,
                         const In<std::int32_t>& parents, const In<std::int64_t>& positions,
                         const In<double>& scores) {
            const Families families = checked_families(children, offsets, parents, any_variable);
            const auto at = view(positions);
            const auto size = static_cast<std::int64_t>(families.size());
            if (at.size() != scores.size()) refuse("as many scores as positions are needed");
            if (std::any_of(at.begin(), at.end(), [&](auto p) { return p < 0 || p >= size; })) {
                refuse("a position is out of range");
            }
            self.store(families, at, view(scores));
        }, nb::arg("children").noconvert(), nb::arg("offsets").noconvert(), nb::arg("parents").noconvert(),
             nb::arg("positions").noconvert(), nb::arg("scores").noconvert())
        .def("scores", [](FamilyCache& self, const In<std::int32_t>& children, const In<std::int64_t>& offsets,
                          const In<std::int32_t>& parents) {
            const Families families = checked_families(children, offsets, parents, any_variable);
            std::vector<double> scores(families.size());
            if (!self.fill(families, scores)) refuse("a family was never stored");
            return to_python(std::move(scores));
        }, nb::arg("children").noconvert(), nb::arg("offsets").noconvert(), nb::arg("parents").noconvert());
}

}  // namespace fishernet::bind
