#include "bind/mixed_scores.hpp"

#include <cmath>

namespace fishernet::bind {
namespace {

void make_columns(MixedColumns* self, const In<std::int64_t>& cardinalities, const In<std::int32_t>& numbers, double total,
                  bool corrected) {
    require_ascending(view(numbers));
    if (numbers.size() && static_cast<std::size_t>(view(numbers).back()) >= cardinalities.size()) refuse("a number is out of range");
    if (!(total >= 0) || std::isinf(total)) refuse("the weights' sum is out of range");
    for (const auto states : view(cardinalities)) {
        if (states < 1) refuse("a column has no state");
    }
    new (self) MixedColumns(view(cardinalities), view(numbers), total, corrected);
}

// The families but for labels that tell nothing, and the parameters that they have with these.
nb::tuple telling(const MixedColumns& self, const In<std::int32_t>& children, const In<std::int64_t>& offsets,
                  const In<std::int32_t>& parents) {
    const auto families = checked_families(children, offsets, parents, self.size());
    FamilyList found;
    std::vector<double> n_parameters;
    for (std::size_t f = 0; f < families.size(); ++f) {
        found.add(families.children[f], self.telling(families.parents_of(f)));
        n_parameters.push_back(self.n_parameters(families.parents_of(f)));
    }
    return nb::make_tuple(to_python(std::move(found.offsets)), to_python(std::move(found.parents)),
                          to_python(std::move(n_parameters)));
}

void make_scores(BoundMixedScores* self, const MixedColumns& columns, OneAtATime<MomentStore>& store, const In<double>& floors,
                 double price, double arc_price, OneAtATime<SetTerms>* labels) {
    if (floors.size() != columns.size() || store.object.n_columns() != columns.size()) refuse("each column needs a floor");
    if (!std::isfinite(price) || !std::isfinite(arc_price)) refuse("a price must be finite");
    std::vector<std::int32_t> label_at(columns.size());
    std::int32_t n_labels = 0;
    for (std::size_t v = 0; v < columns.size(); ++v) {
        const auto column = static_cast<std::int32_t>(v);
        if (columns.is_number(column) != store.object.is_number(column)) refuse("the moments are of other columns");
        label_at[v] = n_labels;
        n_labels += columns.is_number(column) ? 0 : 1;
    }
    if (labels != nullptr && labels->object.n_variables() != static_cast<std::size_t>(n_labels)) refuse("the labels are others");
    MixedScores scores(columns, {floors.data(), floors.data() + floors.size()}, {price, arc_price});
    new (self) BoundMixedScores{OneAtATime<MixedScores>(std::move(scores)), store, labels, std::move(label_at), n_labels > 0};
}

Out<double> number_scores(BoundMixedScores& self, const In<std::int32_t>& children, const In<std::int64_t>& offsets,
                          const In<std::int32_t>& parents, bool once) {
    const Turn scores(self.scores);
    const Turn store(self.store);
    const auto& columns = scores->columns();
    const auto families = checked_families(children, offsets, parents, columns.size());
    for (const auto child : families.children) {
        if (!columns.is_number(child)) refuse("a child must be a number");
    }
    std::vector<double> found(families.size());
    {
        const nb::gil_scoped_release release;
        scores->numbers(*store, families, found, once, check_signals);
    }
    return to_python(std::move(found));
}

Out<double> scores_of_both(BoundMixedScores& self, const In<std::int32_t>& children, const In<std::int64_t>& offsets,
                           const In<std::int32_t>& parents) {
    MixedScorer scorer(self, check_signals);
    const auto families = checked_families(children, offsets, parents, scorer.n_variables());
    std::vector<double> found(families.size());
    {
        const nb::gil_scoped_release release;
        scorer.score(families, found);
    }
    return to_python(std::move(found));
}

}  // namespace

void bind_mixed_scores(nb::module_& m) {
    nb::class_<MixedColumns>(m, "MixedColumns")
        .def("__init__", &make_columns, nb::arg("cardinalities").noconvert(), nb::arg("numbers").noconvert(), nb::arg("total"),
             nb::arg("corrected"))
        .def("telling", &telling, nb::arg("children").noconvert(), nb::arg("offsets").noconvert(), nb::arg("parents").noconvert());
    nb::class_<BoundMixedScores>(m, "MixedScores")
        .def("__init__", &make_scores, nb::arg("columns"), nb::arg("store"), nb::arg("floors").noconvert(), nb::arg("price"),
             nb::arg("arc_price"), nb::arg("labels").none(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 7>())
        .def_prop_ro("n_families", [](BoundMixedScores& self) { return Turn(self.scores)->n_families(); })
        .def("of_numbers", &number_scores, nb::arg("children").noconvert(), nb::arg("offsets").noconvert(),
             nb::arg("parents").noconvert(), nb::arg("once"))
        .def("family_scores", &scores_of_both, nb::arg("children").noconvert(), nb::arg("offsets").noconvert(),
             nb::arg("parents").noconvert());
}

}  // namespace fishernet::bind
