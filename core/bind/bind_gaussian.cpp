#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "base/pool.hpp"
#include "bind/arrays.hpp"
#include "bind/table.hpp"
#include "gaussian/available_moments.hpp"
#include "gaussian/blanket_search.hpp"
#include "gaussian/cell_moments.hpp"
#include "gaussian/fractional.hpp"
#include "gaussian/mixed_families.hpp"
#include "gaussian/normal_mass.hpp"

namespace fishernet::bind {
namespace {

constexpr std::size_t most_in_subsets = 32;

// Sums of products, scaled to 1 on the diagonal.
Products checked_products(const In2<double>& products, std::int32_t rank) {
    const auto d = products.shape(0);
    if (products.shape(1) != d) refuse("the products must be (d, d)");
    if (d >= std::size_t{1} << 20) refuse("too many columns");
    const std::span values(products.data(), products.size());
    for (const double value : values) {
        if (!(std::fabs(value) <= 1 + 1e-6)) refuse("a product is not between -1 and 1");
    }
    for (std::size_t c = 0; c < d; ++c) {
        if (!(std::fabs(values[c * d + c] - 1) <= 1e-6)) refuse("the products must be scaled to 1 on the diagonal");
    }
    return {values, static_cast<std::int32_t>(d), rank};
}

BlanketScore checked_score(const In<double>& of_size, double weight) {
    if (of_size.size() < 1) refuse("a score needs a number for the empty set");
    for (const double value : view(of_size)) {
        if (!std::isfinite(value)) refuse("a number for a size is not finite");
    }
    if (!(weight >= 0 && std::isfinite(weight))) refuse("the weight must be finite and not negative");
    return {view(of_size), weight};
}

// Runs work without the GIL; the columns of which one is made of the others, where that ends it.
template <class Work>
Out<std::int32_t> unless_collinear(const Work& work) {
    std::vector<std::int32_t> columns;
    try {
        const nb::gil_scoped_release release;
        work();
    } catch (const Collinear& found) {
        columns = found.columns;
    }
    return to_python(std::move(columns));
}

nb::tuple blankets(const In2<double>& products, std::int32_t rank, const In<double>& of_size, double weight,
                   std::int32_t first, std::int32_t last) {
    const auto checked = checked_products(products, rank);
    const auto score = checked_score(of_size, weight);
    if (first < 0 || first > last || last > checked.d) refuse("the columns to search for are out of range");
    std::vector<Blanket> found;
    auto collinear = unless_collinear([&] { found = find_blankets(checked, score, first, last, check_signals); });
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> members;
    std::vector<std::uint8_t> saturated;
    for (const auto& blanket : found) {
        members.insert(members.end(), blanket.members.begin(), blanket.members.end());
        saturated.push_back(blanket.saturated);
        offsets.push_back(static_cast<std::int64_t>(members.size()));
    }
    return nb::make_tuple(to_python(std::move(offsets)), to_python(std::move(members)), to_python(std::move(saturated)),
                          std::move(collinear));
}

nb::tuple climb(const In2<double>& products, std::int32_t rank, const In<double>& of_size, double weight,
                const In2<std::int32_t>& edges) {
    const auto checked = checked_products(products, rank);
    const auto score = checked_score(of_size, weight);
    if (edges.shape(1) != 2) refuse("edges must be (n, 2)");
    const std::span ends(edges.data(), edges.size());
    for (std::size_t e = 0; e < edges.shape(0); ++e) {
        const auto a = ends[2 * e], b = ends[2 * e + 1];
        if (a < 0 || a >= b || b >= checked.d) refuse("an edge must run from a column to a later one");
        if (e > 0 && !(std::pair(ends[2 * e - 2], ends[2 * e - 1]) < std::pair(a, b))) refuse("edges must be sorted");
    }
    std::vector<bool> chosen;
    auto collinear = unless_collinear([&] { chosen = climb_edges(checked, score, ends, check_signals); });
    std::vector<std::uint8_t> flags(chosen.begin(), chosen.end());
    return nb::make_tuple(to_python(std::move(flags)), std::move(collinear));
}

nb::tuple scores_of_families(const In2<double>& products, const In<double>& of_set, double weight,
                             const In<std::int32_t>& children, const In<std::int64_t>& offsets,
                             const In<std::int32_t>& parents) {
    const auto checked = checked_products(products, static_cast<std::int32_t>(products.shape(0)));
    const auto score = checked_score(of_set, weight);
    const auto families = checked_families(children, offsets, parents, static_cast<std::size_t>(checked.d));
    for (std::size_t f = 0; f < families.size(); ++f) {
        if (families.parents_of(f).size() + 1 > static_cast<std::size_t>(score.most())) refuse("a family is too large");
    }
    std::vector<double> scores;
    auto collinear = unless_collinear([&] { scores = family_scores(checked, score, families, check_signals); });
    return nb::make_tuple(to_python(std::move(scores)), std::move(collinear));
}

nb::tuple scores_of_subsets(const In2<double>& products, const In<double>& of_set, double weight) {
    const auto checked = checked_products(products, static_cast<std::int32_t>(products.shape(0)));
    const auto score = checked_score(of_set, weight);
    if (products.shape(0) > most_in_subsets) refuse("too many columns for all their sets");
    std::vector<double> scores;
    auto collinear = unless_collinear([&] { scores = subset_scores(checked, score, check_signals); });
    return nb::make_tuple(to_python(std::move(scores)), std::move(collinear));
}

using Sums = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Rows whose cells are all among those of which sums are kept.
NumberBlock checked_block(const In2<double>& values, const std::optional<In<double>>& weights, const In<std::int64_t>& cells,
                          const In<std::int32_t>& members, std::size_t n_cells, std::size_t columns) {
    if (cells.size() != values.shape(0)) refuse("each row needs a cell");
    if (weights && weights->size() != values.shape(0)) refuse("each row needs a weight");
    if (columns != members.size()) refuse("the cells have other columns");
    for (const auto member : view(members)) {
        if (member < 0 || static_cast<std::size_t>(member) >= values.shape(1)) refuse("a member is out of range");
    }
    for (const auto cell : view(cells)) {
        if (cell < 0 || static_cast<std::size_t>(cell) >= n_cells) refuse("a cell is out of range");
    }
    return {std::span(values.data(), values.size()), view(cells), weights ? view(*weights) : std::span<const double>(),
            static_cast<std::int64_t>(values.shape(1)), view(members)};
}

void sums_by_cell(const In2<double>& values, const std::optional<In<double>>& weights,
                  const std::vector<In<std::int64_t>>& cells, const std::vector<In<std::int32_t>>& members,
                  const std::vector<Sums>& sums) {
    if (sums.size() != cells.size() || members.size() != cells.size()) refuse("each set needs its members and sums");
    std::vector<NumberBlock> blocks;
    for (std::size_t s = 0; s < cells.size(); ++s) {
        blocks.push_back(checked_block(values, weights, cells[s], members[s], sums[s].shape(0), sums[s].shape(1)));
    }
    const nb::gil_scoped_release release;
    const auto add = [&](std::int64_t s) { add_sums(blocks[s], {sums[s].data(), sums[s].size()}); };
    run_tasks(static_cast<std::int64_t>(blocks.size()), add, check_signals);
}

void products_by_cell(const In2<double>& values, const std::optional<In<double>>& weights,
                      const std::vector<In<std::int64_t>>& cells, const std::vector<In<std::int32_t>>& members,
                      const std::vector<In2<double>>& centres, const std::vector<Sums>& products) {
    if (members.size() != cells.size() || centres.size() != cells.size() || products.size() != cells.size()) {
        refuse("each set needs its members, centres and products");
    }
    std::vector<NumberBlock> blocks;
    for (std::size_t s = 0; s < cells.size(); ++s) {
        blocks.push_back(checked_block(values, weights, cells[s], members[s], centres[s].shape(0), centres[s].shape(1)));
        if (products[s].shape(0) != centres[s].size() || products[s].shape(1) != centres[s].shape(1)) {
            refuse("products must be (cells d, d)");
        }
    }
    const nb::gil_scoped_release release;
    const auto add = [&](std::int64_t s) {
        add_products(blocks[s], {centres[s].data(), centres[s].size()}, {products[s].data(), products[s].size()});
    };
    run_tasks(static_cast<std::int64_t>(blocks.size()), add, check_signals);
}

// Positions that rise, from 0 on.
void require_ascending(std::span<const std::int32_t> positions) {
    std::int32_t last = -1;
    for (const auto v : positions) {
        if (v <= last) refuse("positions must be ascending");
        last = v;
    }
}

void make_moments(LabelMoments* self, const In<std::int32_t>& labels, const In<std::int32_t>& numbers,
                  const In<std::uint32_t>& cardinalities, const In2<std::uint32_t>& states, const In<double>& weights,
                  const In2<double>& means, const In2<double>& products) {
    const auto q = weights.size(), d = numbers.size();
    require_ascending(view(labels));
    require_ascending(view(numbers));
    if (cardinalities.size() != labels.size()) refuse("each label needs its cardinality");
    if (states.shape(0) != q || states.shape(1) != labels.size()) refuse("each configuration needs its states");
    if (means.shape(0) != q || means.shape(1) != d) refuse("each configuration needs a mean");
    if (d >= std::size_t{1} << 20) refuse("too many columns");
    if (products.shape(0) != q || products.shape(1) != CellMoments::n_products(d)) {
        refuse("each configuration needs the product of each number with itself and those before it");
    }
    double cells = 1;
    for (const auto cardinality : view(cardinalities)) cells *= cardinality;
    if (cells >= 0x1p31) refuse("labels have too many configurations");
    for (std::size_t at = 0; at < states.size(); ++at) {
        if (states.data()[at] >= cardinalities.data()[at % labels.size()]) refuse("a state is out of range");
    }
    const auto copied = [](const auto& array) { return std::vector(array.data(), array.data() + array.size()); };
    new (self) LabelMoments{copied(labels), copied(numbers), copied(cardinalities), copied(states),
                            {copied(weights), copied(means), copied(products), static_cast<std::int32_t>(d)}};
}

// Moments within those that are held, by their place; each set of labels and numbers is given flat.
std::vector<LabelMoments> moments_within_held(const std::vector<const LabelMoments*>& held, const In<std::int32_t>& of_set,
                                              const In<std::int64_t>& label_offsets, const In<std::int32_t>& labels,
                                              const In<std::int64_t>& number_offsets, const In<std::int32_t>& numbers) {
    std::int32_t last = -1;
    for (const auto* one : held) {
        if (one == nullptr) refuse("moments are lacking");
        for (const auto* positions : {&one->labels, &one->numbers}) {
            if (!positions->empty()) last = std::max(last, positions->back());
        }
    }
    const auto n = static_cast<std::size_t>(last + 1);
    const auto label_sets = checked_sets(label_offsets, labels, n), number_sets = checked_sets(number_offsets, numbers, n);
    if (of_set.size() != label_sets.size() || of_set.size() != number_sets.size()) refuse("each set needs its moments");
    for (std::size_t s = 0; s < of_set.size(); ++s) {
        const auto at = of_set.data()[s];
        if (at < 0 || static_cast<std::size_t>(at) >= held.size()) refuse("a set has moments that are not there");
        if (!std::ranges::includes(held[at]->labels, label_sets[s]) || !std::ranges::includes(held[at]->numbers, number_sets[s])) {
            refuse("a set is not within its moments");
        }
    }
    std::vector<LabelMoments> found(of_set.size());
    const nb::gil_scoped_release release;
    const auto add_up = [&](std::int64_t s) { found[s] = within(*held[of_set.data()[s]], label_sets[s], number_sets[s]); };
    run_tasks(static_cast<std::int64_t>(found.size()), add_up, check_signals);
    return found;
}

// All numbers of a table that lacks no cell, (n, d), in the configurations of sets of its labels, one set after the other.
std::vector<LabelMoments> moments_of_rows(const BoundColumns& table, const In<std::int32_t>& numbers, const In2<double>& values,
                                          const std::optional<In<double>>& weights, const In<std::int64_t>& offsets,
                                          const In<std::int32_t>& members) {
    const auto& columns = table.columns.columns;
    const auto n = static_cast<std::size_t>(table.columns.n_rows);
    if (values.shape(0) != n || values.shape(1) == 0 || values.shape(1) != numbers.size()) refuse("each row needs its numbers");
    if (weights && weights->size() != n) refuse("each row needs a weight");
    require_ascending(view(numbers));
    const auto sets = checked_sets(offsets, members, columns.size());
    std::vector<std::span<const std::int32_t>> labels(sets.begin(), sets.end());
    for (const auto& set : sets) {
        double cells = 1;
        for (const auto v : set) {
            if (columns[static_cast<std::size_t>(v)].has_missing) refuse("a label is missing");
            cells *= columns[static_cast<std::size_t>(v)].cardinality;
        }
        if (cells >= 0x1p31) refuse("labels have too many configurations");
    }
    const LabelledNumbers rows{columns, view(numbers), {values.data(), values.size()},
                               weights ? view(*weights) : std::span<const double>()};
    const nb::gil_scoped_release release;
    return moments_within(rows, labels, check_signals);
}

Out<double> likelihoods_of_families(const std::vector<const LabelMoments*>& moments, const In<std::int32_t>& of_family,
                                    const In<double>& floors, const In<std::int32_t>& children,
                                    const In<std::int64_t>& offsets, const In<std::int32_t>& parents) {
    const auto families = checked_families(children, offsets, parents, floors.size());
    if (of_family.size() != families.size()) refuse("each family needs its moments");
    for (const auto* one : moments) {
        if (one == nullptr) refuse("moments are lacking");
        if (!one->numbers.empty() && static_cast<std::size_t>(one->numbers.back()) >= floors.size()) refuse("each column needs a floor");
    }
    for (std::size_t f = 0; f < families.size(); ++f) {
        const auto at = of_family.data()[f];
        if (at < 0 || static_cast<std::size_t>(at) >= moments.size()) refuse("a family has moments that are not there");
        const auto& numbers = moments[at]->numbers;
        if (!std::ranges::includes(numbers, families.parents_of(f)) || !std::ranges::binary_search(numbers, families.children[f])) {
            refuse("a family is not among the numbers of its moments");
        }
    }
    std::vector<double> found;
    {
        const nb::gil_scoped_release release;
        found = mixed_likelihoods(moments, view(of_family), view(floors), families, check_signals);
    }
    return to_python(std::move(found));
}

// Rows that lack cells, which are checked once, and the arrays that hold them.
struct BoundRows {
    In<std::int32_t> places;
    In2<double> values;
    std::optional<In<double>> weights;
    In<double> floors;
    AvailableMoments moments;
};

void make_rows(BoundRows* self, const BoundColumns& table, const In<std::int32_t>& places, const In2<double>& values,
               const std::optional<In<double>>& weights, const In<double>& floors) {
    const auto& columns = table.columns;
    const auto d = columns.columns.size(), n = static_cast<std::size_t>(columns.n_rows);
    if (places.size() != d || floors.size() != d) refuse("each column needs a place and a floor");
    if (values.shape(1) != n) refuse("each row needs its numbers");
    if (weights && weights->size() != n) refuse("each row needs a weight");
    for (const auto place : view(places)) {
        if (place >= 0 && static_cast<std::size_t>(place) >= values.shape(0)) refuse("a place is out of range");
    }
    const IncompleteRows rows{columns.columns,
                              view(places),
                              {values.data(), values.size()},
                              weights ? view(*weights) : std::span<const double>{},
                              n};
    new (self) BoundRows{places, values, weights, floors, AvailableMoments(rows)};
}

nb::tuple told(BoundRows& self, const In<std::int32_t>& children, const In<std::int64_t>& offsets,
               const In<std::int32_t>& parents) {
    const auto& rows = self.moments.rows();
    const auto families = checked_families(children, offsets, parents, rows.columns.size());
    for (std::size_t f = 0; f < families.size(); ++f) {
        double cells = 1;
        for (const auto p : families.parents_of(f)) {
            cells *= rows.is_number(p) ? 1 : rows.columns[static_cast<std::size_t>(p)].cardinality;
        }
        if (!rows.is_number(families.children[f])) refuse("a child must be a number");
        if (cells >= 0x1p31) refuse("the parents have too many configurations");
    }
    Told found;
    {
        const nb::gil_scoped_release release;
        found = told_by_parents(self.moments, view(self.floors), families, check_signals);
    }
    return nb::make_tuple(to_python(std::move(found.likelihoods)), to_python(std::move(found.weights)));
}

Out<double> masses(const In<double>& middles, const In<double>& widths) {
    if (widths.size() != middles.size()) refuse("every middle needs a width");
    for (const double width : view(widths)) {
        if (!(width > 0)) refuse("a width is not positive");
    }
    std::vector<double> found(middles.size());
    {
        const nb::gil_scoped_release release;
        std::transform(middles.data(), middles.data() + middles.size(), widths.data(), found.begin(), log_normal_mass);
    }
    return to_python(std::move(found));
}

}  // namespace

void bind_gaussian(nb::module_& m) {
    m.def("find_blankets", &blankets, nb::arg("products").noconvert(), nb::arg("rank"), nb::arg("of_size").noconvert(),
          nb::arg("weight"), nb::arg("first"), nb::arg("last"));
    m.def("climb_edges", &climb, nb::arg("products").noconvert(), nb::arg("rank"), nb::arg("of_size").noconvert(), nb::arg("weight"),
          nb::arg("edges").noconvert());
    m.def("gaussian_family_scores", &scores_of_families, nb::arg("products").noconvert(), nb::arg("of_set").noconvert(),
          nb::arg("weight"), nb::arg("children").noconvert(), nb::arg("offsets").noconvert(),
          nb::arg("parents").noconvert());
    m.def("gaussian_subset_scores", &scores_of_subsets, nb::arg("products").noconvert(),
          nb::arg("of_set").noconvert(), nb::arg("weight"));
    m.def("add_sums_by_cell", &sums_by_cell, nb::arg("values").noconvert(), nb::arg("weights").noconvert().none(),
          nb::arg("cells"), nb::arg("members"), nb::arg("sums"));
    nb::class_<LabelMoments>(m, "LabelMoments")
        .def("__init__", &make_moments, nb::arg("labels").noconvert(), nb::arg("numbers").noconvert(),
             nb::arg("cardinalities").noconvert(), nb::arg("states").noconvert(), nb::arg("weights").noconvert(),
             nb::arg("means").noconvert(), nb::arg("products").noconvert())
        .def_prop_ro("labels", [](const LabelMoments& self) { return nb::tuple(nb::cast(self.labels)); })
        .def_prop_ro("numbers", [](const LabelMoments& self) { return nb::tuple(nb::cast(self.numbers)); })
        .def_prop_ro("size", &LabelMoments::size);
    m.def("moments_within", &moments_within_held, nb::arg("held"), nb::arg("of_set").noconvert(),
          nb::arg("label_offsets").noconvert(), nb::arg("labels").noconvert(), nb::arg("number_offsets").noconvert(),
          nb::arg("numbers").noconvert());
    m.def("moments_of_rows", &moments_of_rows, nb::arg("table"), nb::arg("numbers").noconvert(),
          nb::arg("values").noconvert(), nb::arg("weights").noconvert().none(), nb::arg("offsets").noconvert(),
          nb::arg("members").noconvert());
    m.def("add_products_by_cell", &products_by_cell, nb::arg("values").noconvert(),
          nb::arg("weights").noconvert().none(), nb::arg("cells"), nb::arg("members"), nb::arg("centres"),
          nb::arg("products"));
    m.def("mixed_family_likelihoods", &likelihoods_of_families, nb::arg("moments"), nb::arg("of_family").noconvert(),
          nb::arg("floors").noconvert(), nb::arg("children").noconvert(), nb::arg("offsets").noconvert(),
          nb::arg("parents").noconvert());
    m.def("log_normal_mass", &masses, nb::arg("middles").noconvert(), nb::arg("widths").noconvert());
    nb::class_<BoundRows>(m, "IncompleteRows")
        .def("__init__", &make_rows, nb::arg("table"), nb::arg("places").noconvert(), nb::arg("values").noconvert(),
             nb::arg("weights").noconvert().none(), nb::arg("floors").noconvert(), nb::keep_alive<1, 2>())
        .def("told_by_parents", &told, nb::arg("children").noconvert(), nb::arg("offsets").noconvert(),
             nb::arg("parents").noconvert());
}

}  // namespace fishernet::bind
