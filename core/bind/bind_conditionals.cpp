#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>

#include "base/sizes.hpp"
#include "bind/arrays.hpp"
#include "bind/cells.hpp"
#include "bind/columns_out.hpp"
#include "bind/table.hpp"
#include "bind/trees.hpp"
#include "networks/conditionals.hpp"
#include "networks/sampling.hpp"

namespace fishernet::bind {
namespace {

constexpr std::int64_t most_configurations = (std::int64_t{1} << 32) - 1;

using Values = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Every conditional of a model in flat form, for the variables 0 .. n - 1 with these cardinalities. The first use ends
// the list: calls read it without the GIL.
struct Conditionals {
    std::vector<FlatConditional> list;
    std::vector<std::int64_t> cardinalities;
    bool used = false;

    void enter(FlatConditional conditional) {
        if (used) refuse("the conditionals are in use");
        list.push_back(std::move(conditional));
    }
};

void make_conditionals(Conditionals* self, const In<std::int64_t>& cardinalities) {
    new (self) Conditionals{{}, {cardinalities.data(), cardinalities.data() + cardinalities.size()}};
    for (const auto r : self->cardinalities) {
        if (r < 1 || r > 0x7FFFFFFF) refuse("a cardinality is out of range");
    }
}

// Group = configuration, the last parent fastest; with a map, map[configuration].
void add(Conditionals& self, std::int32_t child, const In<std::int32_t>& parents, std::int64_t n_groups,
         std::optional<In<std::int32_t>> map) {
    const auto n = static_cast<std::int32_t>(self.cardinalities.size());
    const auto valid = [n](std::int32_t v) { return v >= 0 && v < n; };
    if (!valid(child)) refuse("a child is out of range");
    FlatConditional c;
    c.child = child;
    c.states = static_cast<std::int32_t>(self.cardinalities[child]);
    if (n_groups < 1) refuse("there must be a group");
    c.n_groups = n_groups;
    c.parents.assign(parents.data(), parents.data() + parents.size());
    if (!std::all_of(c.parents.begin(), c.parents.end(), valid)) refuse("a parent is out of range");
    c.strides.assign(c.parents.size(), 1);
    std::int64_t configurations = 1;
    for (std::size_t p = c.parents.size(); p-- > 0;) {
        c.strides[p] = configurations;
        configurations = times_within(configurations, self.cardinalities[c.parents[p]], most_configurations);
        if (configurations > most_configurations) refuse("a conditional has too many configurations");
    }
    if (map) {
        c.map.assign(map->data(), map->data() + map->size());
        if (static_cast<std::int64_t>(c.map.size()) != configurations) refuse("a map must cover every configuration");
        for (const auto g : c.map) {
            if (g < 0 || g >= n_groups) refuse("a map leads out of the groups");
        }
    } else if (n_groups != configurations) {
        refuse("without a map, groups are configurations");
    }
    self.enter(std::move(c));
}

// Group = leaf of a tree: `variable` of every node (-1: a leaf), `first` its group or where its branches begin in `next`.
void add_tree(Conditionals& self, std::int32_t child, const In<std::int32_t>& parents, std::int64_t n_groups,
              const In<std::int32_t>& variable, const In<std::int32_t>& first, const In<std::int32_t>& next) {
    const auto n = static_cast<std::int32_t>(self.cardinalities.size());
    FlatConditional c;
    c.child = child;
    if (child < 0 || child >= n) refuse("a child is out of range");
    c.states = static_cast<std::int32_t>(self.cardinalities[child]);
    if (n_groups < 1) refuse("there must be a group");
    c.n_groups = n_groups;
    c.parents.assign(parents.data(), parents.data() + parents.size());
    for (const auto p : c.parents) {
        if (p < 0 || p >= n || p == child) refuse("a parent is out of range");
    }
    c.strides.assign(c.parents.size(), 0);
    c.tree = checked_tree(variable, first, next, self.cardinalities, c.parents, n_groups);
    self.enter(std::move(c));
}

// The table's columns are the model's variables, and no cell that is read is missing.
void check_table(Conditionals& self, const BoundColumns& table, std::int64_t unread = -1) {
    self.used = true;
    if (table.columns.columns.size() != self.cardinalities.size()) refuse("the table has other columns than the model");
    for (std::size_t i = 0; i < self.cardinalities.size(); ++i) {
        if (table.columns.columns[i].cardinality != self.cardinalities[i]) refuse("a column differs from the model's");
        if (table.columns.columns[i].has_missing && static_cast<std::int64_t>(i) != unread) {
            refuse("a cell is missing");
        }
    }
}

std::vector<const double*> check_values(Conditionals& self, const std::vector<Values>& values) {
    self.used = true;
    if (values.size() != self.list.size()) refuse("one table of values a conditional is needed");
    std::vector<const double*> out;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto& c = self.list[i];
        if (static_cast<std::int64_t>(values[i].shape(0)) != c.n_groups ||
            static_cast<std::int64_t>(values[i].shape(1)) != c.states) {
            refuse("a table of values must be (groups, states)");
        }
        out.push_back(values[i].data());
    }
    return out;
}

// (n_rows,) sums over the conditionals, or (n_rows, n_conditionals) terms.
nb::object look_up_values(Conditionals& self, const BoundColumns& table, const std::vector<Values>& values,
                          bool sum) {
    check_table(self, table);
    const auto tables = check_values(self, values);
    std::vector<double> out(static_cast<std::size_t>(table.columns.n_rows) * (sum ? 1 : self.list.size()));
    {
        const nb::gil_scoped_release release;
        look_up(table.columns, self.list, tables, sum, out.data(), check_signals);
    }
    return sum ? nb::cast(to_python(std::move(out))) : nb::cast(to_python(std::move(out), self.list.size()));
}

Out2<double> target_values(Conditionals& self, const BoundColumns& table, const std::vector<Values>& values,
                           std::int32_t target) {
    if (target < 0 || static_cast<std::size_t>(target) >= self.cardinalities.size()) refuse("no such target");
    check_table(self, table, target);
    const auto tables = check_values(self, values);
    const auto states = self.cardinalities[target];
    std::vector<double> out(static_cast<std::size_t>(table.columns.n_rows * states));
    {
        const nb::gil_scoped_release release;
        target_scores(table.columns, self.list, tables, target, static_cast<std::int32_t>(states), out.data(),
                      check_signals);
    }
    return to_python(std::move(out), static_cast<std::size_t>(states));
}

Out<std::int64_t> groups(Conditionals& self, const BoundColumns& table, std::size_t position) {
    if (position >= self.list.size()) refuse("no such conditional");
    check_table(self, table);
    std::vector<std::int64_t> out(static_cast<std::size_t>(table.columns.n_rows));
    {
        const nb::gil_scoped_release release;
        find_groups(table.columns, self.list[position], 0, table.columns.n_rows, out.data());
    }
    return to_python(std::move(out));
}

BoundCells* cells(Conditionals& self, const BoundColumns& table) {
    check_table(self, table);
    constexpr std::int64_t most_cells = (std::int64_t{1} << 32) - 1;
    std::int64_t n_cells = 0;
    for (const auto& c : self.list) {
        n_cells += times_within(c.states, c.n_groups, most_cells);
        if (n_cells > most_cells) refuse("the conditionals have too many cells");
    }
    const nb::gil_scoped_release release;
    return new BoundCells{find_cell_rows(table.columns, self.list, check_signals)};
}

// One column of codes a variable; each conditional's child once, parents before children in `order`.
nb::list sample(Conditionals& self, const std::vector<Values>& probabilities, const In<std::int32_t>& order,
                std::int64_t n, std::uint64_t key) {
    const auto tables = check_values(self, probabilities);
    if (n < 0) refuse("the number of rows is negative");
    if (order.size() != self.list.size() || self.list.size() != self.cardinalities.size()) {
        refuse("every variable needs one conditional");
    }
    std::vector<bool> drawn(self.cardinalities.size(), false);
    for (const auto i : view(order)) {
        if (i < 0 || static_cast<std::size_t>(i) >= self.list.size() || drawn[self.list[i].child]) refuse("bad order");
        for (const auto p : self.list[i].parents) {
            if (!drawn[p]) refuse("a parent comes after its child");
        }
        drawn[self.list[i].child] = true;
    }
    std::vector<std::vector<std::uint32_t>> limits;
    for (std::size_t i = 0; i < tables.size(); ++i) {
        limits.push_back(thresholds(tables[i], self.list[i].n_groups, self.list[i].states));
    }
    std::vector<Output> outputs(self.cardinalities.size());
    nb::list columns = new_columns(self.cardinalities, n, outputs);
    {
        const nb::gil_scoped_release release;
        sample_forward(self.list, view(order), limits, outputs, n, key, check_signals);
    }
    return columns;
}

}  // namespace

void bind_conditionals(nb::module_& m) {
    nb::class_<Conditionals>(m, "Conditionals")
        .def("__init__", &make_conditionals, nb::arg("cardinalities").noconvert())
        .def("add", &add, nb::arg("child"), nb::arg("parents").noconvert(), nb::arg("n_groups"),
             nb::arg("group_of").none().noconvert() = nb::none())
        .def("add_tree", &add_tree, nb::arg("child"), nb::arg("parents").noconvert(), nb::arg("n_groups"),
             nb::arg("variable").noconvert(), nb::arg("first").noconvert(), nb::arg("branches").noconvert())
        .def("look_up", &look_up_values, nb::arg("table"), nb::arg("values").noconvert(), nb::arg("total"))
        .def("target_values", &target_values, nb::arg("table"), nb::arg("values").noconvert(), nb::arg("target"))
        .def("groups", &groups, nb::arg("table"), nb::arg("position"))
        .def("cells", &cells, nb::arg("table"))
        .def("sample", &sample, nb::arg("probabilities").noconvert(), nb::arg("order").noconvert(), nb::arg("n"),
             nb::arg("key"));
}

}  // namespace fishernet::bind
