#include "bind/arrays.hpp"
#include "bind/cells.hpp"
#include "bind/turns.hpp"
#include "comparison/split_loops.hpp"
#include "comparison/splits.hpp"

namespace fishernet::bind {
namespace {

Splits checked_splits(std::int64_t n_rows, std::int64_t n_first, std::uint64_t key) {
    if (n_rows >= (std::int64_t{1} << 32)) refuse("splits are of fewer than 2^32 rows");
    if (n_first < 1 || n_first >= n_rows) refuse("both parts need a row");
    return {n_rows, n_first, key};
}

void check_range(std::int64_t first, std::int64_t count) {
    if (first < 0 || first % split_lanes != 0) refuse("the first split must be a multiple of 64");
    if (count < 1) refuse("there must be a split");
}

// (rows, count) of 0 and 1.
Out2<std::uint8_t> bound_splits(std::int64_t n_rows, std::int64_t n_first, std::uint64_t key, std::int64_t first,
                                std::int64_t count) {
    const Splits splits = checked_splits(n_rows, n_first, key);
    check_range(first, count);
    std::vector<std::uint8_t> taken(static_cast<std::size_t>(n_rows * count));
    {
        const nb::gil_scoped_release release;
        draw_splits(splits, first, count, taken, check_signals);
    }
    return to_python(std::move(taken), static_cast<std::size_t>(count));
}

using BoundCounts = OneAtATime<SplitCounts>;

void make_counts(BoundCounts* self, const BoundCells& like, std::int64_t n_rows, std::int64_t n_first, std::uint64_t key,
                 std::int64_t first, std::int64_t count) {
    const Splits splits = checked_splits(n_rows, n_first, key);
    check_range(first, count);
    new (self) BoundCounts(like.rows, splits, first, count);
}

void add_rows(BoundCounts& self, const BoundCells& cells) {
    const Turn turn(self);
    if (!turn->takes(cells.rows)) refuse("the rows are not those that come next");
    const nb::gil_scoped_release release;
    turn->add(cells.rows, check_signals);
}

// (splits, conditionals), and (splits, groups) where it is asked for, otherwise without columns.
nb::tuple bound_distances(BoundCounts& self, const In<double>& theta, const In<double>& weights, bool by_group) {
    const Turn turn(self);
    if (!turn->is_complete()) refuse("rows are still to be added");
    const auto n_cells = static_cast<std::size_t>(turn->n_cells());
    if (theta.size() != n_cells || weights.size() != n_cells) refuse("a value for every cell is needed");
    SplitDistances found;
    {
        const nb::gil_scoped_release release;
        found = turn->distances(view(theta), view(weights), by_group);
    }
    return nb::make_tuple(to_python(std::move(found.by_conditional), turn->n_conditionals()),
                          to_python(std::move(found.by_group), by_group ? turn->n_groups() : 0));
}

}  // namespace

void bind_comparison(nb::module_& m) {
    m.def("splits", &bound_splits, nb::arg("n_rows"), nb::arg("n_first"), nb::arg("key"), nb::arg("first"),
          nb::arg("count"));
    m.attr("SPLIT_LANES") = split_lanes;
    nb::class_<BoundCounts>(m, "SplitCounts")
        .def("__init__", &make_counts, nb::arg("like"), nb::arg("n_rows"), nb::arg("n_first"), nb::arg("key"),
             nb::arg("first"), nb::arg("count"))
        .def("add", &add_rows, nb::arg("cells"))
        .def("distances", &bound_distances, nb::arg("theta").noconvert(), nb::arg("weights").noconvert(),
             nb::arg("by_group"));
}

}  // namespace fishernet::bind
