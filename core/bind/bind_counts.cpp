#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "counts/counting.hpp"
#include "counts/group_counts.hpp"
#include "base/kernels.hpp"
#include "bind/arrays.hpp"
#include "bind/table.hpp"

namespace fishernet::bind {
namespace {

constexpr std::int64_t most_rows = std::int64_t{1} << 53;  // as many as a double counts one by one

using Codes = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Column checked_column(const Codes& array, std::int64_t cardinality) {
    const auto type = array.dtype();
    if (type.code != static_cast<std::uint8_t>(nb::dlpack::dtype_code::UInt) || type.bits > 32) {
        refuse("codes must be uint8, uint16 or uint32");
    }
    if (cardinality < 1 || cardinality > 0xFFFFFFFEll) refuse("a cardinality is out of range");
    Column column{array.data(), type.bits / 8, static_cast<std::uint32_t>(cardinality), false};
    const auto n = static_cast<std::int64_t>(array.size());
    const std::uint32_t top = kernels().highest(column.codes, column.width, n);
    if (n && top > cardinality) refuse("a code lies beyond its variable's states");
    column.has_missing = n && top == cardinality;
    return column;
}

std::int64_t checked_total(const In<std::int64_t>& weights) {
    std::int64_t total = 0;
    for (const auto w : view(weights)) {
        if (w < 0) refuse("a weight is negative");
        if (w > most_rows - total) refuse("the weights' sum is too large");
        total += w;
    }
    return total;
}

void make_columns(BoundColumns* self, nb::list arrays, const In<std::int64_t>& cardinalities, std::int64_t n_rows,
                  std::optional<In<std::int64_t>> weights) {
    if (arrays.size() != cardinalities.size()) refuse("as many cardinalities as columns are needed");
    if (n_rows < 0 || n_rows > most_rows) refuse("the number of rows is out of range");
    if (weights && static_cast<std::int64_t>(weights->size()) != n_rows) refuse("weights differ in length");
    std::vector<Column> columns;
    for (std::size_t i = 0; i < cardinalities.size(); ++i) {
        const auto array = nb::cast<Codes>(arrays[i], false);
        if (static_cast<std::int64_t>(array.size()) != n_rows) refuse("columns differ in length");
        columns.push_back(checked_column(array, cardinalities.data()[i]));
    }
    const std::int64_t total = weights ? checked_total(*weights) : n_rows;
    nb::object kept = nb::make_tuple(arrays, weights);
    new (self) BoundColumns;  // nothing throws from here on
    self->arrays = std::move(kept);
    self->columns.columns = std::move(columns);
    self->columns.n_rows = n_rows;
    self->columns.weights = weights ? weights->data() : nullptr;
    self->columns.total = total;
}

// One (counts, states of the cells or None, rows left out) a set.
nb::list count(const BoundColumns& table, const In<std::int64_t>& offsets, const In<std::int32_t>& members,
               std::int64_t most_dense) {
    const auto sets = checked_sets(offsets, members, table.columns.columns.size());
    std::vector<JointCounts> results;
    {
        const nb::gil_scoped_release release;
        results = count_sets(table.columns, sets, most_dense, check_signals);
    }
    nb::list out;
    for (std::size_t s = 0; s < sets.size(); ++s) {
        JointCounts& r = results[s];
        nb::object states = r.dense ? nb::none() : nb::cast(to_python(std::move(r.states), sets[s].size()));
        out.append(nb::make_tuple(to_python(std::move(r.counts)), states, r.left_out));
    }
    return out;
}

RowGroups checked_groups(const In<std::int64_t>& offsets, const In<std::int64_t>& rows, std::int64_t n_rows) {
    const RowGroups groups{view(offsets), view(rows)};
    if (groups.offsets.empty() || groups.offsets.front() != 0 ||
        groups.offsets.back() != static_cast<std::int64_t>(rows.size())) {
        refuse("offsets do not fit the groups");
    }
    if (!std::is_sorted(groups.offsets.begin(), groups.offsets.end())) refuse("offsets must not fall");
    const auto outside = [n_rows](std::int64_t row) { return row < 0 || row >= n_rows; };
    if (std::any_of(groups.rows.begin(), groups.rows.end(), outside)) refuse("a row of a group is out of range");
    return groups;
}

// One (groups, states + 1) array a column, the weight of missing cells last.
nb::list group_counts(const BoundColumns& table, const In<std::int32_t>& columns, const In<std::int64_t>& offsets,
                      const In<std::int64_t>& rows) {
    const RowGroups groups = checked_groups(offsets, rows, table.columns.n_rows);
    const auto n = static_cast<std::int64_t>(table.columns.columns.size());
    const auto outside = [n](std::int32_t column) { return column < 0 || column >= n; };
    if (std::any_of(columns.data(), columns.data() + columns.size(), outside)) refuse("a column is out of range");
    std::vector<std::vector<std::int64_t>> found;
    {
        const nb::gil_scoped_release release;
        found = count_in_groups(table.columns, view(columns), groups, check_signals);
    }
    nb::list out;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const Column& column = table.columns.columns[static_cast<std::size_t>(columns.data()[c])];
        out.append(nb::cast(to_python(std::move(found[c]), std::size_t{column.cardinality} + 1)));
    }
    return out;
}

}  // namespace

void bind_counts(nb::module_& m) {
    nb::class_<BoundColumns>(m, "Columns")
        .def("__init__", &make_columns, nb::arg("codes"), nb::arg("cardinalities").noconvert(), nb::arg("n_rows"),
             nb::arg("weights").none().noconvert() = nb::none())
        .def_prop_ro("n_rows", [](const BoundColumns& self) { return self.columns.n_rows; })
        .def_prop_ro("total", [](const BoundColumns& self) { return self.columns.total; });
    m.def("count", &count, nb::arg("table"), nb::arg("offsets").noconvert(), nb::arg("members").noconvert(),
          nb::arg("most_dense"));
    m.def("group_counts", &group_counts, nb::arg("table"), nb::arg("columns").noconvert(),
          nb::arg("offsets").noconvert(), nb::arg("rows").noconvert());
}

}  // namespace fishernet::bind
