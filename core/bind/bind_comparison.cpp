#include "bind/arrays.hpp"
#include "bind/cells.hpp"
#include "comparison/split_loops.hpp"
#include "comparison/splits.hpp"

namespace fishernet::bind {
namespace {

Splits checked_splits(std::int64_t n_rows, std::int64_t n_first, std::uint64_t key) {
    if (n_rows >= (std::int64_t{1} << 32)) refuse("splits are of fewer than 2^32 rows");
    if (n_first < 1 || n_first >= n_rows) refuse("both parts need a row");
    return {n_rows, n_first, key};
}

// (rows, count) of 0 and 1.
Out2<std::uint8_t> bound_splits(std::int64_t n_rows, std::int64_t n_first, std::uint64_t key, std::int64_t first,
                                std::int64_t count) {
    const Splits splits = checked_splits(n_rows, n_first, key);
    if (first < 0 || first % split_lanes != 0) refuse("the first split must be a multiple of 64");
    if (count < 1) refuse("there must be a split");
    std::vector<std::uint8_t> taken(static_cast<std::size_t>(n_rows * count));
    {
        const nb::gil_scoped_release release;
        draw_splits(splits, first, count, taken, check_signals);
    }
    return to_python(std::move(taken), static_cast<std::size_t>(count));
}

// (splits, conditionals), and (splits, groups) where it is asked for, otherwise without columns.
nb::tuple bound_distances(const BoundCells& cells, const In<double>& theta, const In<double>& weights,
                          std::int64_t n_first, std::uint64_t key, std::int64_t n_splits, bool by_group) {
    const auto& rows = cells.rows;
    const Splits splits = checked_splits(rows.n_rows, n_first, key);
    if (n_splits < 1) refuse("there must be a split");
    const auto of_theta = check_cell_values(rows, theta);
    const auto of_weights = check_cell_values(rows, weights);
    std::size_t n_groups = 0;
    for (std::size_t c = 0; c < rows.n_conditionals(); ++c) {
        n_groups += static_cast<std::size_t>((rows.firsts[c + 1] - rows.firsts[c]) / rows.states[c]);
    }
    SplitDistances found;
    {
        const nb::gil_scoped_release release;
        found = split_distances(rows, of_theta, of_weights, splits, n_splits, by_group, check_signals);
    }
    return nb::make_tuple(to_python(std::move(found.by_conditional), rows.n_conditionals()),
                          to_python(std::move(found.by_group), by_group ? n_groups : 0));
}

}  // namespace

void bind_comparison(nb::module_& m) {
    m.def("splits", &bound_splits, nb::arg("n_rows"), nb::arg("n_first"), nb::arg("key"), nb::arg("first"),
          nb::arg("count"));
    m.def("split_distances", &bound_distances, nb::arg("cells"), nb::arg("theta").noconvert(),
          nb::arg("weights").noconvert(), nb::arg("n_first"), nb::arg("key"), nb::arg("n_splits"), nb::arg("by_group"));
}

}  // namespace fishernet::bind
