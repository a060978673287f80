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

// Moments as they come from Python, checked.
CellMoments checked_moments(const In<double>& weights, const In2<double>& means, const In2<double>& products) {
    const auto q = weights.size(), d = means.shape(1);
    if (means.shape(0) != q) refuse("each configuration needs a mean");
    if (d >= std::size_t{1} << 20) refuse("too many columns");
    if (products.shape(0) != q || products.shape(1) != CellMoments::n_products(d)) {
        refuse("each configuration needs the product of each number with itself and those before it");
    }
    return {view(weights), {means.data(), means.size()}, {products.data(), products.size()}, static_cast<std::int32_t>(d)};
}

std::vector<nb::tuple> pooled_moments(const In<double>& weights, const In2<double>& means, const In2<double>& products,
                                      const std::vector<In<std::int32_t>>& members,
                                      const std::vector<In<std::int64_t>>& groups, const std::vector<std::size_t>& n_groups) {
    const auto cells = checked_moments(weights, means, products);
    if (groups.size() != members.size() || n_groups.size() != members.size()) refuse("each set needs its groups");
    for (std::size_t s = 0; s < members.size(); ++s) {
        if (groups[s].size() != cells.size()) refuse("each configuration needs a group");
        std::int32_t last = -1;
        for (const auto member : view(members[s])) {
            if (member <= last || member >= cells.d) refuse("members must be ascending and in range");
            last = member;
        }
        for (const auto group : view(groups[s])) {
            if (group < 0 || static_cast<std::size_t>(group) >= n_groups[s]) refuse("a group is out of range");
        }
    }
    std::vector<OwnedMoments> found(members.size());
    {
        const nb::gil_scoped_release release;
        const auto pool = [&](std::int64_t s) {
            found[s] = pooled(cells, view(members[s]), view(groups[s]), n_groups[s]);
        };
        run_tasks(static_cast<std::int64_t>(members.size()), pool, check_signals);
    }
    std::vector<nb::tuple> sets;
    for (std::size_t s = 0; s < members.size(); ++s) {
        const auto d = members[s].size();
        sets.push_back(nb::make_tuple(to_python(std::move(found[s].weights)), to_python(std::move(found[s].means), n_groups[s], d),
                                      to_python(std::move(found[s].products), n_groups[s], CellMoments::n_products(d))));
    }
    return sets;
}

// All numbers of a table that lacks no cell, (n, d), in the configurations of sets of its labels, one set after the other.
std::vector<nb::tuple> moments_of_sets(const BoundColumns& table, const In2<double>& values, const std::optional<In<double>>& weights,
                                       const In<std::int64_t>& offsets, const In<std::int32_t>& members) {
    const auto& columns = table.columns.columns;
    const auto n = static_cast<std::size_t>(table.columns.n_rows);
    if (values.shape(0) != n || values.shape(1) == 0) refuse("each row needs its numbers");
    if (weights && weights->size() != n) refuse("each row needs a weight");
    if (offsets.size() == 0 || offsets.data()[0] != 0) refuse("offsets must begin with 0");
    std::vector<std::span<const std::int32_t>> sets;
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
        const auto first = offsets.data()[s], last = offsets.data()[s + 1];
        if (last < first || static_cast<std::size_t>(last) > members.size()) refuse("offsets must rise up to the members");
        sets.push_back(view(members).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)));
        double cells = 1;
        for (const auto v : sets.back()) {
            if (v < 0 || static_cast<std::size_t>(v) >= columns.size()) refuse("a member is out of range");
            if (columns[static_cast<std::size_t>(v)].has_missing) refuse("a label is missing");
            cells *= columns[static_cast<std::size_t>(v)].cardinality;
        }
        if (cells >= 0x1p31) refuse("labels have too many configurations");
    }
    const LabelledNumbers rows{columns, {values.data(), values.size()}, weights ? view(*weights) : std::span<const double>(),
                               values.shape(1)};
    std::vector<OccurringMoments> found;
    {
        const nb::gil_scoped_release release;
        found = moments_within(rows, sets, check_signals);
    }
    std::vector<nb::tuple> told;
    for (std::size_t s = 0; s < found.size(); ++s) {
        auto& [of_weights, means, products, d] = found[s].moments;
        const auto q = of_weights.size(), width = static_cast<std::size_t>(d);
        told.push_back(nb::make_tuple(to_python(std::move(found[s].states), q, sets[s].size()), to_python(std::move(of_weights)),
                                      to_python(std::move(means), q, width),
                                      to_python(std::move(products), q, CellMoments::n_products(width))));
    }
    return told;
}

Out<double> likelihoods_of_families(const In<double>& weights, const In2<double>& means, const In2<double>& products,
                                    const In<double>& floors, const In<std::int32_t>& children, const In<std::int64_t>& offsets,
                                    const In<std::int32_t>& parents) {
    const auto cells = checked_moments(weights, means, products);
    if (floors.size() != means.shape(1)) refuse("each column needs a floor");
    const auto families = checked_families(children, offsets, parents, means.shape(1));
    std::vector<double> found;
    {
        const nb::gil_scoped_release release;
        found = mixed_likelihoods(cells, view(floors), families, check_signals);
    }
    return to_python(std::move(found));
}

// Rows that lack cells, which are checked once, and the arrays that hold them.
struct BoundRows {
    const Columns* columns;
    In<std::int32_t> places;
    In2<double> values;
    std::optional<In<double>> weights;
    In<double> floors;
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
    new (self) BoundRows{&columns, places, values, weights, floors};
}

nb::tuple told(const BoundRows& self, const In<std::int32_t>& children, const In<std::int64_t>& offsets,
               const In<std::int32_t>& parents) {
    const IncompleteRows rows{self.columns->columns,
                              view(self.places),
                              {self.values.data(), self.values.size()},
                              self.weights ? view(*self.weights) : std::span<const double>{},
                              self.values.shape(1)};
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
        found = told_by_parents(rows, view(self.floors), families, check_signals);
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
    m.def("pooled_moments", &pooled_moments, nb::arg("weights").noconvert(), nb::arg("means").noconvert(),
          nb::arg("products").noconvert(), nb::arg("members").noconvert(), nb::arg("groups").noconvert(), nb::arg("n_groups"));
    m.def("moments_within", &moments_of_sets, nb::arg("table"), nb::arg("values").noconvert(),
          nb::arg("weights").noconvert().none(), nb::arg("offsets").noconvert(), nb::arg("members").noconvert());
    m.def("add_products_by_cell", &products_by_cell, nb::arg("values").noconvert(),
          nb::arg("weights").noconvert().none(), nb::arg("cells"), nb::arg("members"), nb::arg("centres"),
          nb::arg("products"));
    m.def("mixed_family_likelihoods", &likelihoods_of_families, nb::arg("weights").noconvert(),
          nb::arg("means").noconvert(), nb::arg("products").noconvert(), nb::arg("floors").noconvert(),
          nb::arg("children").noconvert(), nb::arg("offsets").noconvert(), nb::arg("parents").noconvert());
    m.def("log_normal_mass", &masses, nb::arg("middles").noconvert(), nb::arg("widths").noconvert());
    nb::class_<BoundRows>(m, "IncompleteRows")
        .def("__init__", &make_rows, nb::arg("table"), nb::arg("places").noconvert(), nb::arg("values").noconvert(),
             nb::arg("weights").noconvert().none(), nb::arg("floors").noconvert(), nb::keep_alive<1, 2>())
        .def("told_by_parents", &told, nb::arg("children").noconvert(), nb::arg("offsets").noconvert(),
             nb::arg("parents").noconvert());
}

}  // namespace fishernet::bind
