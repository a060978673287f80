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
#include "bind/turns.hpp"
#include "gaussian/available_moments.hpp"
#include "gaussian/blanket_search.hpp"
#include "gaussian/cell_moments.hpp"
#include "gaussian/fractional.hpp"
#include "gaussian/mixed_families.hpp"
#include "gaussian/moment_store.hpp"
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

// Rows of labels and numbers, which are checked once, and the arrays that hold them.
struct BoundLabelledNumbers {
    In<std::int32_t> numbers;
    In2<double> values;
    std::optional<In<double>> weights;
    LabelledNumbers rows;
};

void make_labelled(BoundLabelledNumbers* self, const BoundColumns& table, const In<std::int32_t>& numbers,
                   const In2<double>& values, const std::optional<In<double>>& weights) {
    const auto& columns = table.columns.columns;
    const auto n = static_cast<std::size_t>(table.columns.n_rows);
    if (values.shape(0) != n || values.shape(1) == 0 || values.shape(1) != numbers.size()) refuse("each row needs its numbers");
    if (weights && weights->size() != n) refuse("each row needs a weight");
    require_ascending(view(numbers));
    if (static_cast<std::size_t>(view(numbers).back()) >= columns.size()) refuse("a number is out of range");
    for (std::size_t v = 0; v < columns.size(); ++v) {
        const bool is_number = std::ranges::binary_search(view(numbers), static_cast<std::int32_t>(v));
        if (!is_number && columns[v].has_missing) refuse("a label is missing");
    }
    const LabelledNumbers rows{columns, view(numbers), {values.data(), values.size()},
                               weights ? view(*weights) : std::span<const double>()};
    new (self) BoundLabelledNumbers{numbers, values, weights, rows};
}

// What counts moments in rows, where there are some, or has a function count them.
struct MomentCounter {
    nb::object source;
    const LabelledNumbers* rows;

    std::vector<LabelMoments> operator()(std::span<const MomentsAsked> asked) const {
        if (rows) return moments_within(*rows, asked, check_signals);
        const nb::gil_scoped_acquire gil;
        nb::list sets;
        for (const auto& [labels, numbers] : asked) {
            sets.append(nb::make_tuple(nb::tuple(nb::cast(labels)), nb::tuple(nb::cast(numbers))));
        }
        std::vector<LabelMoments> found;
        for (const auto& counted : nb::iter(source(sets))) {
            if (found.size() == asked.size()) refuse("more sets than asked for");
            const auto& [labels, numbers] = asked[found.size()];
            found.push_back(nb::cast<const LabelMoments&>(counted));
            if (found.back().labels != labels || found.back().numbers != numbers) refuse("another set than asked for");
        }
        if (found.size() != asked.size()) refuse("a set is lacking");
        return found;
    }
};

using BoundStore = OneAtATime<MomentStore>;

void make_store(BoundStore* self, const In<std::int64_t>& cardinalities, const In<std::int32_t>& numbers, double total,
                const nb::object& source) {
    require_ascending(view(numbers));
    if (numbers.size() == 0) refuse("there are no numbers");
    if (static_cast<std::size_t>(view(numbers).back()) >= cardinalities.size()) refuse("a number is out of range");
    for (const auto states : view(cardinalities)) {
        if (states < 1) refuse("a column has no state");
    }
    const LabelledNumbers* rows = nullptr;
    if (nb::isinstance<BoundLabelledNumbers>(source)) {
        rows = &nb::cast<const BoundLabelledNumbers&>(source).rows;
        const auto same = [](const Column& column, std::int64_t states) { return column.cardinality == states; };
        if (!std::ranges::equal(rows->columns, view(cardinalities), same) || !std::ranges::equal(rows->numbers, view(numbers))) {
            refuse("the rows have other columns");
        }
    } else if (!PyCallable_Check(source.ptr())) {
        refuse("rows or a function that counts are needed");
    }
    const auto copied = [](const auto& array) { return std::vector(array.data(), array.data() + array.size()); };
    new (self) BoundStore(copied(cardinalities), copied(numbers), total, MomentCounter{source, rows});
}

// The mean of each number over all rows; 0 of labels, and without rows.
Out<double> means_of_store(BoundStore& self) {
    const Turn store(self);
    SharedMoments whole;
    {
        const nb::gil_scoped_release release;
        whole = store->whole();
    }
    std::vector<double> found(store->n_columns());
    const auto& means = whole->moments.means;
    for (std::size_t at = 0; at < whole->numbers.size() && at < means.size(); ++at) {
        found[static_cast<std::size_t>(whole->numbers[at])] = means[at];
    }
    return to_python(std::move(found));
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
             nb::arg("means").noconvert(), nb::arg("products").noconvert());
    nb::class_<BoundLabelledNumbers>(m, "LabelledNumbers")
        .def("__init__", &make_labelled, nb::arg("table"), nb::arg("numbers").noconvert(), nb::arg("values").noconvert(),
             nb::arg("weights").noconvert().none(), nb::keep_alive<1, 2>());
    nb::class_<BoundStore>(m, "MomentStore")
        .def("__init__", &make_store, nb::arg("cardinalities").noconvert(), nb::arg("numbers").noconvert(), nb::arg("total"),
             nb::arg("source"))
        .def("means", &means_of_store);
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
