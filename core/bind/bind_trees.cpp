#include <nanobind/stl/optional.h>

#include <optional>

#include "base/buffer.hpp"
#include "bind/arrays.hpp"
#include "trees/tree_counts.hpp"
#include "trees/tree_gram.hpp"

namespace fishernet::bind {
namespace {

template <class T>
using In3 = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

template <class Array>
auto copied(const Array& array) {
    using Value = std::remove_const_t<std::remove_pointer_t<decltype(array.data())>>;
    return std::vector<Value>(array.data(), array.data() + array.size());
}

// A tree whose every node but the root is below one other that comes before it, and whose every leaf is there once.
TreeShape checked_shape(const In<std::int64_t>& first, const In<std::int32_t>& child, const In<std::int32_t>& table,
                        std::size_t n_tables) {
    TreeShape shape{copied(first), copied(child), copied(table), 0};
    if (shape.first.size() < 2 || shape.first.front() != 0 || shape.first.back() != shape.n_edges()) {
        refuse("the edges do not fit the nodes");
    }
    if (shape.table.size() != shape.child.size()) refuse("every edge needs a table");
    const auto n = shape.n_nodes();
    const auto n_leaves = shape.n_edges() - (n - 1);
    if (n_leaves < 1 || n_leaves > 0x7FFFFFFF) refuse("the number of leaves is out of range");
    shape.n_leaves = static_cast<std::int32_t>(n_leaves);
    std::vector<bool> node_seen(static_cast<std::size_t>(n)), leaf_seen(static_cast<std::size_t>(n_leaves));
    for (std::int32_t v = 0; v < n; ++v) {
        if (shape.first[v] >= shape.first[v + 1] || shape.first[v + 1] > shape.n_edges()) refuse("a node has no child");
        for (auto e = shape.first[v]; e < shape.first[v + 1]; ++e) {
            const auto c = shape.child[e];
            if (c >= 0 ? c <= v || c >= n : ~c >= shape.n_leaves) refuse("a child is out of range");
            auto seen = c >= 0 ? node_seen[c] : leaf_seen[~c];
            if (seen) refuse("a child is there twice");
            seen = true;
            if (shape.table[e] < 0 || static_cast<std::size_t>(shape.table[e]) >= n_tables) {
                refuse("a table is out of range");
            }
        }
    }
    return shape;
}

void check_numbers(const double* values, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        if (!(values[i] >= 0 && values[i] <= 2)) refuse("a number is no probability");
    }
}

void make(TreeModel* self, const In<std::int64_t>& first, const In<std::int32_t>& child, const In<std::int32_t>& table,
          const In2<std::uint8_t>& allowed, const In<double>& root, const In3<double>& transition,
          const In3<double>& emission) {
    const auto p = root.size();
    if (p < 1 || p > 1 << 15) refuse("the number of states is out of range");
    if (transition.shape(1) != p || transition.shape(2) != p || emission.shape(1) != p) refuse("shapes do not fit");
    if (transition.shape(0) != emission.shape(0)) refuse("every table needs transition and emission");
    if (emission.shape(2) < 1 || emission.shape(2) > 1 << 24) refuse("the number of symbols is out of range");
    check_numbers(root.data(), root.size());
    check_numbers(transition.data(), transition.size());
    check_numbers(emission.data(), emission.size());
    auto shape = checked_shape(first, child, table, transition.shape(0));
    if (allowed.shape(0) != static_cast<std::size_t>(shape.n_nodes()) || allowed.shape(1) != p) {
        refuse("every node needs to know its states");
    }
    new (self) TreeModel(std::move(shape), static_cast<std::int32_t>(p), static_cast<std::int32_t>(emission.shape(2)),
                         copied(allowed), copied(root), copied(transition), copied(emission));
}

TreeStrings checked(const TreeModel& model, const In2<std::int32_t>& codes) {
    if (codes.shape(1) != static_cast<std::size_t>(model.shape.n_leaves)) refuse("strings of another length");
    for (std::size_t i = 0; i < codes.size(); ++i) {
        if (codes.data()[i] < 0 || codes.data()[i] > model.symbols) refuse("a symbol is out of range");
    }
    return {{codes.data(), codes.size()}, static_cast<std::int64_t>(codes.shape(0))};
}

Pruning checked(double keep, double cut) {
    if (!(keep > 0 && keep <= 1 && cut >= 0 && cut <= 1)) refuse("a weight is out of range");
    return {keep, cut};
}

Out2<double> gram_of(const TreeModel& self, const In2<std::int32_t>& x, const std::optional<In2<std::int32_t>>& y,
                     double keep, double cut, bool log) {
    const auto pruning = checked(keep, cut);
    const auto rows = checked(self, x);
    const auto columns = y ? checked(self, *y) : rows;
    Buffer values = make_buffer(static_cast<std::size_t>(rows.n) * static_cast<std::size_t>(columns.n));
    {
        const nb::gil_scoped_release release;
        tree_gram(self, rows, columns, !y, pruning, log, values.get(), check_signals);
    }
    double* cells = values.get();
    nb::capsule owner(cells, [](void* p) noexcept { FreeBuffer()(static_cast<double*>(p)); });
    values.release();
    return Out2<double>(cells, {static_cast<std::size_t>(rows.n), static_cast<std::size_t>(columns.n)}, owner);
}

Out<double> diagonal_of(const TreeModel& self, const In2<std::int32_t>& x, double keep, double cut, bool log) {
    const auto pruning = checked(keep, cut);
    const auto rows = checked(self, x);
    std::vector<double> values(x.shape(0));
    {
        const nb::gil_scoped_release release;
        tree_diagonal(self, rows, pruning, log, values.data(), check_signals);
    }
    return to_python(std::move(values));
}

Out<double> log_prob_of(const TreeModel& self, const In2<std::int32_t>& x) {
    const auto rows = checked(self, x);
    std::vector<double> values(x.shape(0));
    {
        const nb::gil_scoped_release release;
        tree_log_prob(self, rows, values.data(), check_signals);
    }
    return to_python(std::move(values));
}

nb::tuple quotients_of(const TreeModel& self, const In2<std::int32_t>& x, bool by_string) {
    const auto rows = checked(self, x);
    TreeQuotients found;
    {
        const nb::gil_scoped_release release;
        found = tree_quotients(self, rows, by_string, check_signals);
    }
    return nb::make_tuple(to_python(std::move(found.values), static_cast<std::size_t>(found.columns)),
                          to_python(std::move(found.log_prob)));
}

// (n, n_nodes * states)
Out2<double> posteriors_of(const TreeModel& self, const In2<std::int32_t>& x) {
    const auto rows = checked(self, x);
    const auto columns = static_cast<std::size_t>(self.shape.n_nodes()) * static_cast<std::size_t>(self.states);
    std::vector<double> values(x.shape(0) * columns);
    {
        const nb::gil_scoped_release release;
        tree_posteriors(self, rows, values.data(), check_signals);
    }
    return to_python(std::move(values), columns);
}

}  // namespace

void bind_trees(nb::module_& m) {
    nb::class_<TreeModel>(m, "TreeModel")
        .def("__init__", &make, nb::arg("first").noconvert(), nb::arg("child").noconvert(),
             nb::arg("table").noconvert(), nb::arg("allowed").noconvert(), nb::arg("root").noconvert(),
             nb::arg("transition").noconvert(), nb::arg("emission").noconvert())
        .def("gram", &gram_of, nb::arg("x").noconvert(), nb::arg("y").none().noconvert(), nb::arg("keep"),
             nb::arg("cut"), nb::arg("log"))
        .def("diagonal", &diagonal_of, nb::arg("x").noconvert(), nb::arg("keep"), nb::arg("cut"), nb::arg("log"))
        .def("log_prob", &log_prob_of, nb::arg("x").noconvert())
        .def("quotients", &quotients_of, nb::arg("x").noconvert(), nb::arg("by_string"))
        .def("posteriors", &posteriors_of, nb::arg("x").noconvert());
}

}  // namespace fishernet::bind
