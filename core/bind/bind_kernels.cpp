#include <nanobind/stl/optional.h>

#include <optional>

#include "base/buffer.hpp"
#include "bind/arrays.hpp"
#include "bind/cells.hpp"
#include "selection/gram.hpp"

namespace fishernet::bind {
namespace {

// Gives a buffer to Python.
nb::capsule owner_of(Buffer& values) {
    nb::capsule owner(values.get(), [](void* p) noexcept { FreeBuffer()(static_cast<double*>(p)); });
    values.release();
    return owner;
}

void check_pair(const CellRows& x, const CellRows& y) {
    if (x.firsts != y.firsts || x.states != y.states) refuse("the rows are not of the same conditionals");
}

// (x rows, y rows): sums over the conditionals of `same` where the cells are equal, `other` where the groups are.
Out2<double> bound_gram(const BoundCells& x, const BoundCells& y, const In<double>& other, const In<double>& same) {
    check_pair(x.rows, y.rows);
    const PairTerms terms{check_cell_values(x.rows, other), check_cell_values(x.rows, same)};
    const auto n = static_cast<std::size_t>(x.rows.n_rows);
    const auto m = static_cast<std::size_t>(y.rows.n_rows);
    Buffer values = make_buffer(n * m);
    {
        const nb::gil_scoped_release release;
        gram(x.rows, y.rows, terms, values.get(), check_signals);
    }
    double* cells = values.get();
    return Out2<double>(cells, {n, m}, owner_of(values));
}

// (conditionals, x rows, y rows): the terms of those sums.
nb::ndarray<nb::numpy, double, nb::ndim<3>, nb::c_contig> bound_terms(const BoundCells& x, const BoundCells& y,
                                                                      const In<double>& other, const In<double>& same) {
    check_pair(x.rows, y.rows);
    const PairTerms terms{check_cell_values(x.rows, other), check_cell_values(x.rows, same)};
    const auto n = static_cast<std::size_t>(x.rows.n_rows);
    const auto m = static_cast<std::size_t>(y.rows.n_rows);
    Buffer values = make_buffer(x.rows.n_conditionals() * n * m);
    {
        const nb::gil_scoped_release release;
        gram_terms(x.rows, y.rows, terms, values.get(), check_signals);
    }
    double* cells = values.get();
    return {cells, {x.rows.n_conditionals(), n, m}, owner_of(values)};
}

// The number of rows (or the sum of their weights) in every cell.
Out<double> counts(const BoundCells& self, const std::optional<In<std::int64_t>>& weights) {
    const auto& rows = self.rows;
    if (weights && static_cast<std::int64_t>(weights->size()) != rows.n_rows) refuse("every row needs a weight");
    std::vector<double> out(static_cast<std::size_t>(rows.n_cells()), 0.0);
    const std::int64_t* of_rows = weights ? weights->data() : nullptr;
    {
        const nb::gil_scoped_release release;
        count_cells(rows, of_rows, out, check_signals);
    }
    return to_python(std::move(out));
}

// The sum of a factor of each row in every cell, row after row.
Out<double> sums(const BoundCells& self, const In<double>& factors) {
    const auto& rows = self.rows;
    if (static_cast<std::int64_t>(factors.size()) != rows.n_rows) refuse("every row needs a factor");
    std::vector<double> out(static_cast<std::size_t>(rows.n_cells()), 0.0);
    const std::span<const double> of_rows(factors.data(), factors.size());
    {
        const nb::gil_scoped_release release;
        sum_cells(rows, of_rows, out);
    }
    return to_python(std::move(out));
}

}  // namespace

void bind_kernels(nb::module_& m) {
    nb::class_<BoundCells>(m, "Cells")
        .def("counts", &counts, nb::arg("weights").none().noconvert())
        .def("sums", &sums, nb::arg("factors").noconvert())
        .def_prop_ro("n_rows", [](const BoundCells& self) { return self.rows.n_rows; })
        .def_prop_ro("n_cells", [](const BoundCells& self) { return self.rows.n_cells(); });
    m.def("gram", &bound_gram, nb::arg("x"), nb::arg("y"), nb::arg("other").noconvert(), nb::arg("same").noconvert());
    m.def("gram_terms", &bound_terms, nb::arg("x"), nb::arg("y"), nb::arg("other").noconvert(),
          nb::arg("same").noconvert());
}

}  // namespace fishernet::bind
