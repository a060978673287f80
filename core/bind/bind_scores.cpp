#include <algorithm>

#include "../family_cache.hpp"
#include "../set_terms.hpp"
#include "arrays.hpp"
#include "table.hpp"

namespace fishernet::bind {
namespace {

void make_terms(SetTerms* self, const BoundColumns& table) {
    const auto& columns = table.columns.columns;
    if (std::any_of(columns.begin(), columns.end(), [](const Column& c) { return c.has_missing; })) {
        refuse("a table with missing cells cannot be scored");
    }
    new (self) SetTerms(table.columns);
}

Out<double> family_scores(SetTerms& self, const In<std::int32_t>& children, const In<std::int64_t>& offsets,
                          const In<std::int32_t>& parents, double penalty) {
    const Families families = checked_families(children, offsets, parents, self.n_variables());
    std::vector<double> scores(families.size());
    {
        const nb::gil_scoped_release release;
        self.family_scores(families, penalty, scores, check_signals);
    }
    return to_python(std::move(scores));
}

constexpr std::size_t any_variable = 0x7FFFFFFF;

}  // namespace

void bind_scores(nb::module_& m) {
    nb::class_<SetTerms>(m, "SetTerms")
        .def("__init__", &make_terms, nb::arg("table"), nb::keep_alive<1, 2>())
        .def_prop_ro("n_families", &SetTerms::n_families)
        .def("family_scores", &family_scores, nb::arg("children").noconvert(), nb::arg("offsets").noconvert(),
             nb::arg("parents").noconvert(),
             nb::arg("penalty"));

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
