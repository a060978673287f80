#include <nanobind/stl/optional.h>

#include <cmath>
#include <optional>
#include <vector>

#include "bind/arrays.hpp"
#include "neighbours/knn.hpp"

namespace fishernet::bind {
namespace {

// Columns of finite numbers, (columns, rows).
Points points_of(const In2<double>& columns) {
    const std::span values(columns.data(), columns.size());
    for (const double value : values) {
        if (!(std::fabs(value) <= 1e300)) refuse("a number is not finite, or too large");
    }
    if (columns.shape(1) >= std::size_t{1} << 31) refuse("too many rows");
    if (columns.shape(0) >= 1000) refuse("too many columns");
    return {values, static_cast<std::int64_t>(columns.shape(1)), static_cast<int>(columns.shape(0))};
}

KnnInformation* make(const In2<double>& x, const In2<double>& y, const In2<double>& z, int k) {
    const Points of_x = points_of(x), of_y = points_of(y), of_z = points_of(z);
    if (of_x.n != of_y.n || of_x.n != of_z.n) refuse("x, y and z differ in their rows");
    if (of_x.dims < 1 || of_y.dims < 1) refuse("x and y need a column");
    if (k < 1 || of_x.n < std::int64_t{k} + 1) refuse("k is out of range");
    return new KnnInformation(of_x, of_y, of_z, k);
}

void check_order(const std::int32_t* order, std::int64_t n, bool once) {
    std::vector<bool> met(static_cast<std::size_t>(n), false);
    for (std::int64_t i = 0; i < n; ++i) {
        if (order[i] < 0 || order[i] >= n) refuse("an order holds a row that is not there");
        const auto row = static_cast<std::size_t>(order[i]);
        if (once && met[row]) refuse("without z an order holds every row once");
        met[row] = true;
    }
}

std::span<const std::int32_t> check_orders(const KnnInformation& self, const In2<std::int32_t>& orders) {
    if (static_cast<std::int64_t>(orders.shape(1)) != self.n()) refuse("an order has another number of rows");
    for (std::size_t t = 0; t < orders.shape(0); ++t) {
        check_order(orders.data() + t * orders.shape(1), self.n(), !self.conditional());
    }
    return {orders.data(), orders.size()};
}

// `look` is called now and then, by this thread; what it raises ends the work.
Out<double> estimate(const KnnInformation& self, const In2<std::int32_t>& orders,
                     const std::optional<nb::callable>& look) {
    const auto checked = check_orders(self, orders);
    std::vector<double> estimates;
    const auto ask = [&look] {
        check_signals();
        if (!look) return;
        const nb::gil_scoped_acquire gil;
        (*look)();
    };
    {
        const nb::gil_scoped_release release;
        estimates = self.estimate(checked, StopCheck::of(ask));
    }
    return to_python(std::move(estimates));
}

Out2<std::int32_t> counts(const KnnInformation& self, const In2<std::int32_t>& order) {
    if (order.shape(0) != 1) refuse("counts are of one order");
    const auto checked = check_orders(self, order);
    std::vector<std::int32_t> flat;
    {
        const nb::gil_scoped_release release;
        for (const auto& of_row : self.counts(checked, check_signals)) {
            flat.insert(flat.end(), of_row.begin(), of_row.end());
        }
    }
    return to_python(std::move(flat), 3);
}

nb::tuple nearest(const In2<double>& columns, int k) {
    const auto points = points_of(columns);
    if (points.dims < 1) refuse("points need a column");
    if (k < 1 || points.n < std::int64_t{k} + 1) refuse("k is out of range");
    Nearest found;
    {
        const nb::gil_scoped_release release;
        found = nearest_others(points, k, check_signals);
    }
    const auto width = static_cast<std::size_t>(k);
    return nb::make_tuple(to_python(std::move(found.rows), width), to_python(std::move(found.distances), width));
}

Out2<std::int32_t> orders(std::int64_t n, std::int64_t count, std::uint64_t key, std::uint32_t first) {
    if (n < 1 || n >= std::int64_t{1} << 31 || count < 0 || count >= std::int64_t{1} << 31) {
        refuse("the number of rows or orders is out of range");
    }
    return to_python(draw_orders(n, count, key, first), static_cast<std::size_t>(n));
}

Out2<std::int32_t> local_orders(const In2<std::int32_t>& near, std::int64_t count, std::uint64_t key,
                                std::uint32_t first) {
    const auto n = static_cast<std::int64_t>(near.shape(0));
    if (n < 1 || count < 0 || count >= std::int64_t{1} << 31) refuse("the number of rows or orders is out of range");
    const std::span rows(near.data(), near.size());
    for (const auto row : rows) {
        if (row < 0 || row >= n) refuse("a neighbour is not there");
    }
    return to_python(draw_local_orders(rows, n, count, key, first), static_cast<std::size_t>(n));
}

}  // namespace

void bind_knn(nb::module_& m) {
    nb::class_<KnnInformation>(m, "KnnInformation")
        .def(nb::new_(&make), nb::arg("x").noconvert(), nb::arg("y").noconvert(), nb::arg("z").noconvert(), nb::arg("k"))
        .def("estimate", &estimate, nb::arg("orders").noconvert(), nb::arg("look").none() = nb::none())
        .def("counts", &counts, nb::arg("order").noconvert());
    m.def("nearest_others", &nearest, nb::arg("columns").noconvert(), nb::arg("k"));
    m.def("draw_orders", &orders, nb::arg("n"), nb::arg("count"), nb::arg("key"), nb::arg("first"));
    m.def("draw_local_orders", &local_orders, nb::arg("nearest").noconvert(), nb::arg("count"), nb::arg("key"),
          nb::arg("first"));
}

}  // namespace fishernet::bind
