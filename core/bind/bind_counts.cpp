#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "base/kernels.hpp"
#include "base/look_up.hpp"
#include "base/packed.hpp"
#include "bind/arrays.hpp"
#include "bind/table.hpp"
#include "counts/counting.hpp"
#include "counts/group_counts.hpp"

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

// The lanes, the words of each plane, and the groups of the packed form.
std::tuple<std::int64_t, std::int64_t, std::int64_t> packed_shape(const BoundColumns& table) {
    const Packed layout = table.columns.packed_layout();
    return {layout.n_lanes, layout.words, layout.groups};
}

template <class T>
using Room2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Writes the packed form of as many rows as the masks have room for, from one row on.
void pack_rows(const BoundColumns& table, std::int64_t begin, const Room2<std::uint64_t>& planes,
               const Room2<std::uint32_t>& masks) {
    const Packed layout = table.columns.packed_layout();
    const auto n = static_cast<std::int64_t>(masks.shape(1));
    if (begin < 0 || begin % packed_stretch || begin > table.columns.n_rows || n > table.columns.n_rows - begin) {
        refuse("the rows to pack are out of range, or begin between stretches");
    }
    const std::int64_t words = ((n + 63) / 64 + plane_step - 1) / plane_step * plane_step;
    if (static_cast<std::int64_t>(planes.shape(0)) != layout.n_lanes ||
        static_cast<std::int64_t>(planes.shape(1)) != words ||
        static_cast<std::int64_t>(masks.shape(0)) != layout.groups) {
        refuse("the room for the packed form has another size");
    }
    const PackedRoom room{planes.data(), words, masks.data(), n};
    const nb::gil_scoped_release release;
    table.columns.pack_rows(begin, begin + n, room, check_signals);
}

// Takes the packed form of the same columns from two arrays, which are kept alive.
void take_packed(BoundColumns& table, const In<std::uint64_t>& planes, const In<std::uint32_t>& masks) {
    const Packed layout = table.columns.packed_layout();
    if (static_cast<std::int64_t>(planes.size()) != layout.plane_words() ||
        static_cast<std::int64_t>(masks.size()) != layout.mask_words()) {
        refuse("the packed form has another size");
    }
    table.arrays = nb::make_tuple(table.arrays, planes, masks);
    table.columns.take_packed(view(planes), view(masks));
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

using Any = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyRoom = nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Index, class Value>
void look_up_as(const Any& indices, const Any& values, const AnyRoom& out) {
    const auto* at = static_cast<const Index*>(indices.data());
    const auto* of = static_cast<const Value*>(values.data());
    const auto n = static_cast<std::int64_t>(indices.size()), n_values = static_cast<std::int64_t>(values.size());
    auto* to = static_cast<Value*>(out.data());
    const nb::gil_scoped_release release;
    if constexpr (sizeof(Index) == 1 && sizeof(Value) == 1) {
        if (n == 0 || kernels().highest(at, 1, n) < n_values) return look_up_bytes(at, n, of, n_values, to, check_signals);
    }
    look_up(at, n, of, n_values, to, check_signals);
}

template <class Index>
void look_up_of(const Any& indices, const Any& values, const AnyRoom& out) {
    switch (values.dtype().bits) {  // what the values mean does not matter
        case 8: return look_up_as<Index, std::uint8_t>(indices, values, out);
        case 16: return look_up_as<Index, std::uint16_t>(indices, values, out);
        case 32: return look_up_as<Index, std::uint32_t>(indices, values, out);
        case 64: return look_up_as<Index, std::uint64_t>(indices, values, out);
        default: refuse("values must have 1, 2, 4 or 8 bytes");
    }
}

// out[i] = values[indices[i]]; indices beyond the last value stand for that.
void look_up_values(const Any& indices, const Any& values, const AnyRoom& out) {
    const auto kind = static_cast<nb::dlpack::dtype_code>(indices.dtype().code);
    if (kind != nb::dlpack::dtype_code::Int && kind != nb::dlpack::dtype_code::UInt) refuse("indices must be integers");
    if (out.size() != indices.size()) refuse("as much room as indices is needed");
    if (out.dtype() != values.dtype()) refuse("the room has another type than the values");
    if (values.size() == 0) refuse("there are no values");
    switch (indices.dtype().bits) {
        case 8: return look_up_of<std::uint8_t>(indices, values, out);
        case 16: return look_up_of<std::uint16_t>(indices, values, out);
        case 32: return look_up_of<std::uint32_t>(indices, values, out);
        case 64: return look_up_of<std::uint64_t>(indices, values, out);
        default: refuse("indices must have 1, 2, 4 or 8 bytes");
    }
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
        .def_prop_ro("total", [](const BoundColumns& self) { return self.columns.total; })
        .def_prop_ro("packed_shape", &packed_shape)
        .def("pack_rows", &pack_rows, nb::arg("begin"), nb::arg("planes").noconvert(), nb::arg("masks").noconvert())
        .def("take_packed", &take_packed, nb::arg("planes").noconvert(), nb::arg("masks").noconvert());
    m.def("count", &count, nb::arg("table"), nb::arg("offsets").noconvert(), nb::arg("members").noconvert(),
          nb::arg("most_dense"));
    m.def("look_up", &look_up_values, nb::arg("indices").noconvert(), nb::arg("values").noconvert(),
          nb::arg("out").noconvert());
    m.def("group_counts", &group_counts, nb::arg("table"), nb::arg("columns").noconvert(),
          nb::arg("offsets").noconvert(), nb::arg("rows").noconvert());
}

}  // namespace fishernet::bind
