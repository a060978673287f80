#include <nanobind/stl/optional.h>

#include <optional>

#include "bind/arrays.hpp"
#include "bind/table.hpp"
#include "inference/hidden_forest.hpp"

namespace fishernet::bind {
namespace {

// A forest over the columns of a table, which are kept alive by it.
struct BoundForest {
    BoundForest(nb::object table, const Columns& columns, std::span<const std::int32_t> parents,
                std::span<const std::uint8_t> hidden)
        : columns_kept(std::move(table)), forest(columns, parents, hidden) {}

    nb::object columns_kept;
    HiddenForest forest;
};

void make(BoundForest* self, nb::object columns_kept, const In<std::int32_t>& parents, const In<std::uint8_t>& hidden) {
    if (!nb::isinstance<BoundColumns>(columns_kept)) refuse("the table's columns are needed");
    const auto& columns = nb::cast<const BoundColumns&>(columns_kept).columns;
    const auto n = columns.columns.size();
    if (parents.size() != n || hidden.size() != n) refuse("every column needs a parent and a mark");
    std::vector<std::int32_t> above(parents.data(), parents.data() + n);
    for (std::size_t v = 0; v < n; ++v) {
        if (above[v] < -1 || above[v] >= static_cast<std::int64_t>(n)) refuse("a parent is out of range");
        if (above[v] < 0 && !hidden.data()[v]) refuse("a root must be hidden");
        if (above[v] >= 0 && !hidden.data()[above[v]]) refuse("a parent must be hidden");
    }
    std::vector<std::uint8_t> reached(n, 0);  // 2: from a root; 1: on the way that is being followed
    for (std::size_t v = 0; v < n; ++v) {
        std::vector<std::size_t> way;
        for (auto at = static_cast<std::int64_t>(v); at >= 0 && reached[static_cast<std::size_t>(at)] != 2; at = above[static_cast<std::size_t>(at)]) {
            if (reached[static_cast<std::size_t>(at)] == 1) refuse("parents must not go round in a circle");
            reached[static_cast<std::size_t>(at)] = 1;
            way.push_back(static_cast<std::size_t>(at));
        }
        for (const auto at : way) reached[at] = 2;
    }
    new (self) BoundForest(std::move(columns_kept), columns, above, {hidden.data(), n});
}

void check(const BoundForest& self, const In<double>& cells, std::int64_t begin, std::int64_t end) {
    if (static_cast<std::int64_t>(cells.size()) != self.forest.starts().back()) refuse("the tables have other sizes");
    for (const double value : view(cells)) {
        if (!(value >= 0 && value <= 2)) refuse("probabilities are needed");
    }
    if (begin < 0 || begin > end || end > self.forest.n_rows()) refuse("rows are out of range");
}

nb::tuple expected(const BoundForest& self, const In<double>& cells, const std::optional<In<double>>& weights,
                   std::int64_t begin, std::int64_t end) {
    check(self, cells, begin, end);
    if (weights && static_cast<std::int64_t>(weights->size()) != end - begin) refuse("every row needs a weight");
    ForestCounts found;
    {
        const nb::gil_scoped_release release;
        const auto of = weights ? view(*weights) : std::span<const double>{};
        found = self.forest.expected(view(cells), of, begin, end, check_signals);
    }
    return nb::make_tuple(to_python(std::move(found.cells)), to_python(std::move(found.log_prob)));
}

Out<double> log_prob(const BoundForest& self, const In<double>& cells, std::int64_t begin, std::int64_t end) {
    check(self, cells, begin, end);
    std::vector<double> found;
    {
        const nb::gil_scoped_release release;
        found = self.forest.log_prob(view(cells), begin, end, check_signals);
    }
    return to_python(std::move(found));
}

}  // namespace

void bind_hidden_forest(nb::module_& m) {
    nb::class_<BoundForest>(m, "HiddenForest")
        .def("__init__", &make, nb::arg("columns"), nb::arg("parents"), nb::arg("hidden"))
        .def("expected", &expected, nb::arg("cells"), nb::arg("weights").none(), nb::arg("begin"), nb::arg("end"))
        .def("log_prob", &log_prob, nb::arg("cells"), nb::arg("begin"), nb::arg("end"));
}

}  // namespace fishernet::bind
