#include <nanobind/stl/vector.h>

#include "base/chi_square.hpp"
#include "base/hypergeometric.hpp"
#include "bind/arrays.hpp"
#include "bind/cells.hpp"
#include "bind/turns.hpp"
#include "selection/halving.hpp"
#include "selection/swap_search.hpp"

namespace fishernet::bind {
namespace {

using BoundSearch = OneAtATime<SwapSearch>;  // Python keeps its rows alive

void check_rows(const CellRows& rows, const In<std::int64_t>& kind_of, double total, std::int64_t k) {
    for (const auto kind : view(kind_of)) {
        if (kind < 0 || kind >= rows.n_rows) refuse("a row equals no distinct row");
    }
    if (!(total > 0)) refuse("the rows weigh nothing");
    if (k < 1 || k > static_cast<std::int64_t>(kind_of.size())) refuse("k is out of range");
    if (kind_of.size() >= std::size_t{1} << 31) refuse("too many rows");
}

BoundSearch* search_distance(const BoundCells& distinct, const In<std::int64_t>& kind_of, const In<double>& counts,
                             double total, std::int64_t k, const In<double>& inverse_theta,
                             const In<double>& inverse_group) {
    const auto& rows = distinct.rows;
    check_rows(rows, kind_of, total, k);
    const auto theta = check_cell_values(rows, inverse_theta);
    const auto group = check_cell_values(rows, inverse_group);
    auto criterion = squared_distance({rows, check_cell_values(rows, counts), total, k}, {theta.begin(), theta.end()},
                                      {group.begin(), group.end()});
    return new BoundSearch(rows, view(kind_of), std::move(criterion), k);
}

BoundSearch* search_chi_square(const BoundCells& distinct, const In<std::int64_t>& kind_of, const In<double>& counts,
                               double total, std::int64_t k) {
    const auto& rows = distinct.rows;
    check_rows(rows, kind_of, total, k);
    auto criterion = chi_square_tails({rows, check_cell_values(rows, counts), total, k});
    return new BoundSearch(rows, view(kind_of), std::move(criterion), k);
}

// The rows of an order that is halved so often, all of them below n_rows.
std::vector<std::int64_t> checked_order(const In<std::int64_t>& order, std::int64_t n_rows, const Halving& how) {
    if (how.rounds < 0 || how.rounds > 40 || how.parts < 1 || how.parts > std::int64_t{1} << 40 ||
        static_cast<std::int64_t>(order.size()) % how.parts != 0 ||
        (static_cast<std::int64_t>(order.size()) / how.parts) % (std::int64_t{1} << how.rounds) != 0) {
        refuse("the rows cannot be halved so often");
    }
    if (!(how.delta > 0 && how.delta < 1)) refuse("delta is a probability");
    std::vector<std::int64_t> found(order.data(), order.data() + order.size());
    for (const auto row : found) {
        if (row < 0 || row >= n_rows) refuse("a row is out of range");
    }
    return found;
}

Out<std::int64_t> halved(const BoundCells& cells, const In<double>& inverse_theta, const In<double>& inverse_group,
                         const In<std::int64_t>& order, std::int32_t rounds, double delta, std::uint64_t key,
                         std::int64_t parts) {
    const auto& rows = cells.rows;
    const CellKernel kernel{check_cell_values(rows, inverse_theta), check_cell_values(rows, inverse_group)};
    const Halving how{parts, rounds, delta, false};
    auto found = checked_order(order, rows.n_rows, how);
    {
        const nb::gil_scoped_release release;
        halve_rows(rows, kernel, found, how, key, check_signals);
    }
    return to_python(std::move(found));
}

template <class Kernel>
Out<std::int64_t> halved_by(const Kernel& kernel, std::size_t n_rows, const In<std::int64_t>& order, const Halving& how,
                            const In<double>& draws) {
    auto found = checked_order(order, static_cast<std::int64_t>(n_rows), how);
    const auto coins = how.exchanges ? static_cast<std::size_t>(how.parts) : 0;
    if (draws.size() != static_cast<std::size_t>(how.rounds) * (order.size() / 2) + coins) refuse("every pair needs its number");
    if (how.exchanges && how.rounds != 1) refuse("rows are exchanged in one round");
    {
        const nb::gil_scoped_release release;
        halve_rows(kernel, found, how, view(draws), check_signals);
    }
    return to_python(std::move(found));
}

DensePoints points_of(const In2<double>& values) { return {{values.data(), values.size()}, values.shape(1)}; }

Out<std::int64_t> halved_by_matrix(const In2<double>& matrix, const In<std::int64_t>& order, std::int32_t rounds,
                                   double delta, const In<double>& draws, std::int64_t parts, bool exchanges) {
    if (matrix.shape(0) != matrix.shape(1)) refuse("the matrix is not square");
    const MatrixKernel kernel{{matrix.data(), matrix.size()}, matrix.shape(0)};
    return halved_by(kernel, kernel.n, order, {parts, rounds, delta, exchanges}, draws);
}

// By inner products of points, or with a bandwidth above 0 by the Gaussian kernel.
Out<std::int64_t> halved_points(const In2<double>& points, double bandwidth, const In<std::int64_t>& order,
                                std::int32_t rounds, double delta, const In<double>& draws, std::int64_t parts,
                                bool exchanges) {
    const Halving how{parts, rounds, delta, exchanges};
    if (bandwidth > 0) return halved_by(GaussianKernel{points_of(points), bandwidth}, points.shape(0), order, how, draws);
    return halved_by(InnerProduct{points_of(points)}, points.shape(0), order, how, draws);
}

void draw_start(BoundSearch& self, std::uint64_t key, std::int64_t n_starts) {
    if (n_starts < 1 || n_starts >= std::int64_t{1} << 31) refuse("the number of starts is out of range");
    const Turn search(self);
    const nb::gil_scoped_release release;
    search->draw_start(key, n_starts, check_signals);
}

void set_start(BoundSearch& self, const In<std::int64_t>& rows) {
    const Turn search(self);
    std::vector<bool> met(static_cast<std::size_t>(search->n_rows()), false);
    if (static_cast<std::int64_t>(rows.size()) != search->k()) refuse("a start must have k rows");
    for (const auto row : view(rows)) {
        if (row < 0 || row >= search->n_rows() || met[static_cast<std::size_t>(row)]) {
            refuse("a row of the start is out of range or comes twice");
        }
        met[static_cast<std::size_t>(row)] = true;
    }
    search->set_start(view(rows));
}

std::int64_t visit(BoundSearch& self, std::int64_t first, std::int64_t last) {
    const Turn search(self);
    if (search->rows().empty()) refuse("the search has no start");
    if (first < 0 || last < first || last > search->k()) refuse("a position is out of range");
    const nb::gil_scoped_release release;
    return search->visit(first, last, check_signals);
}

Out<std::int64_t> subset(std::int64_t n, std::int64_t k, std::uint64_t key, std::uint32_t task) {
    if (n < 0 || n >= std::int64_t{1} << 31 || k < 0 || k > n) refuse("k or n is out of range");
    return to_python(draw_subset(n, k, key, task));
}

Out<double> log_tails(const In<double>& statistics, const In<std::int64_t>& degrees_of_freedom) {
    if (statistics.size() != degrees_of_freedom.size()) refuse("every statistic needs its degrees of freedom");
    std::vector<double> out;
    for (std::size_t i = 0; i < statistics.size(); ++i) {
        out.push_back(ChiSquareTail(degrees_of_freedom.data()[i]).log_probability(statistics.data()[i]));
    }
    return to_python(std::move(out));
}

// (log P(number <= hits), log P(number >= hits)) of every hypergeometric distribution.
nb::tuple hypergeometric_tails(const In<std::int64_t>& all, const In<std::int64_t>& marked,
                               const In<std::int64_t>& drawn, const In<std::int64_t>& hits) {
    const auto n = all.size();
    if (marked.size() != n || drawn.size() != n || hits.size() != n) refuse("the arrays differ in length");
    std::vector<double> lower;
    std::vector<double> upper;
    for (std::size_t i = 0; i < n; ++i) {
        const Hypergeometric of{all.data()[i], marked.data()[i], drawn.data()[i]};
        if (of.all < 0 || of.all > std::int64_t{1} << 53 || of.marked < 0 || of.marked > of.all || of.drawn < 0 ||
            of.drawn > of.all) {
            refuse("more are marked or drawn than there are");
        }
        lower.push_back(of.log_at_most(hits.data()[i]));
        upper.push_back(of.log_at_least(hits.data()[i]));
    }
    return nb::make_tuple(to_python(std::move(lower)), to_python(std::move(upper)));
}

}  // namespace

void bind_select(nb::module_& m) {
    nb::class_<BoundSearch>(m, "SwapSearch")
        .def("draw_start", &draw_start, nb::arg("key"), nb::arg("n_starts"))
        .def("set_start", &set_start, nb::arg("rows").noconvert())
        .def("visit", &visit, nb::arg("first"), nb::arg("last"))
        .def_prop_ro("trace", [](BoundSearch& self) { return to_python(std::vector(Turn(self)->trace())); },
                     nb::rv_policy::move)
        .def_prop_ro("rows", [](BoundSearch& self) { return to_python(std::vector(Turn(self)->rows())); },
                     nb::rv_policy::move);
    m.def("search_distance", &search_distance, nb::arg("distinct"), nb::arg("kind_of").noconvert(),
          nb::arg("counts").noconvert(), nb::arg("total"), nb::arg("k"), nb::arg("inverse_theta").noconvert(),
          nb::arg("inverse_group").noconvert(), nb::keep_alive<0, 1>());
    m.def("search_chi_square", &search_chi_square, nb::arg("distinct"), nb::arg("kind_of").noconvert(),
          nb::arg("counts").noconvert(), nb::arg("total"), nb::arg("k"), nb::keep_alive<0, 1>());
    m.def("halved", &halved, nb::arg("cells"), nb::arg("inverse_theta").noconvert(), nb::arg("inverse_group").noconvert(),
          nb::arg("order").noconvert(), nb::arg("rounds"), nb::arg("delta"), nb::arg("key"), nb::arg("parts") = 1);
    m.def("halved_by_matrix", &halved_by_matrix, nb::arg("matrix").noconvert(), nb::arg("order").noconvert(),
          nb::arg("rounds"), nb::arg("delta"), nb::arg("draws").noconvert(), nb::arg("parts") = 1,
          nb::arg("exchanges") = false);
    m.def("halved_points", &halved_points, nb::arg("points").noconvert(), nb::arg("bandwidth"),
          nb::arg("order").noconvert(), nb::arg("rounds"), nb::arg("delta"), nb::arg("draws").noconvert(),
          nb::arg("parts") = 1, nb::arg("exchanges") = false);
    m.def("draw_subset", &subset, nb::arg("n"), nb::arg("k"), nb::arg("key"), nb::arg("task"));
    m.def("log_chi_square_tails", &log_tails, nb::arg("statistics").noconvert(),
          nb::arg("degrees_of_freedom").noconvert());
    m.def("log_hypergeometric_tails", &hypergeometric_tails, nb::arg("total").noconvert(), nb::arg("marked").noconvert(),
          nb::arg("drawn").noconvert(), nb::arg("hits").noconvert());
}

}  // namespace fishernet::bind
