#include "bind/arrays.hpp"
#include "bind/cells.hpp"
#include "bind/turns.hpp"
#include "comparison/conditional_test.hpp"
#include "comparison/divergences.hpp"
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

constexpr std::int64_t most_rows = std::int64_t{1} << 53;  // of a configuration and in all
constexpr std::int64_t most_draws = std::int64_t{1} << 31;

using Counts = nb::ndarray<const std::int64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

void make_test(ConditionalTest* self, const Counts& counts, bool ordered_groups, bool ordered_states) {
    const std::span<const std::int64_t> cells{counts.data(), counts.size()};
    double total = 0;
    for (const std::int64_t count : cells) {
        if (count < 0) refuse("a count is below 0");
        total += static_cast<double>(count);
    }
    if (total > static_cast<double>(most_rows)) refuse("there are more rows than a double counts");
    new (self) ConditionalTest(cells, counts.shape(0), counts.shape(1), counts.shape(2),
                               {ordered_groups, ordered_states});
}

void check_draws(const ConditionalTest& test, std::int64_t n_draws) {
    if (n_draws < 0 || n_draws > most_draws) refuse("the number of draws is out of range");
    if (test.told().empty()) refuse("the counts tell nothing");
}

// What many draws of a test have.
template <auto question>
auto of_draws(const ConditionalTest& self, std::uint64_t key, std::int64_t n_draws) {
    check_draws(self, n_draws);
    const nb::gil_scoped_release release;
    return (self.*question)(key, n_draws, check_signals);
}

template <auto question>
Out<double> test_ranks(const ConditionalTest& self, std::uint64_t key, std::int64_t n_draws) {
    return to_python(of_draws<question>(self, key, n_draws));
}

Out2<double> test_deviations(const ConditionalTest& self, std::uint64_t key, std::int64_t n_draws) {
    return to_python(of_draws<&ConditionalTest::deviations>(self, key, n_draws), self.told().size());
}

Out<double> test_divergences(const ConditionalTest& self, std::uint64_t key, std::int64_t n_draws) {
    if (self.n_groups() != 2) refuse("a divergence is of two groups");
    return to_python(of_draws<&ConditionalTest::divergences>(self, key, n_draws));
}

// (draws, groups * told * states)
Out2<std::int64_t> test_drawn(const ConditionalTest& self, std::uint64_t key, std::int64_t n_draws) {
    return to_python(of_draws<&ConditionalTest::drawn>(self, key, n_draws), self.n_cells());
}

Out<double> bound_divergences(const In2<double>& earlier, const In2<double>& later, const In<std::int64_t>& sizes,
                              const In<double>& shares, std::int64_t n_later, std::uint64_t key, std::int64_t n_draws) {
    const auto n = sizes.size(), n_states = earlier.shape(1);
    if (n == 0 || n_states == 0 || n_later < 1 || n_later > most_rows || n_draws < 0 || n_draws > most_draws) {
        refuse("a number is out of range");
    }
    if (earlier.shape(0) != n || later.shape(0) != n || shares.size() != n || later.shape(1) != n_states) {
        refuse("the arrays differ in length");
    }
    for (const std::int64_t size : view(sizes)) {
        if (size < 1 || size > most_rows) refuse("every configuration needs a row");
    }
    const DrawnTables tables{n_states,     {earlier.data(), earlier.size()}, {later.data(), later.size()}, view(sizes),
                             view(shares), n_later};
    for (const auto values : {tables.earlier, tables.later, tables.shares}) {
        for (const double p : values) {
            if (!(p >= 0 && p <= 1 + 1e-9)) refuse("a probability is not between 0 and 1");
        }
    }
    std::vector<double> found;
    {
        const nb::gil_scoped_release release;
        found = drawn_divergences(tables, key, n_draws, check_signals);
    }
    return to_python(std::move(found));
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
    nb::class_<ConditionalTest>(m, "ConditionalTest")
        .def("__init__", &make_test, nb::arg("counts").noconvert(), nb::arg("ordered_groups") = false,
             nb::arg("ordered_states") = false)
        .def_prop_ro("told", [](const ConditionalTest& self) {
            return to_python(std::vector<std::int64_t>(self.told().begin(), self.told().end()));
        }, nb::rv_policy::move)
        .def_prop_ro("degrees", [](const ConditionalTest& self) {
            return to_python(std::vector<double>(self.degrees().begin(), self.degrees().end()));
        }, nb::rv_policy::move)
        .def_prop_ro("shape", [](const ConditionalTest& self) {
            return nb::make_tuple(self.n_groups(), self.told().size(), self.n_states());
        })
        .def_prop_ro("trend_degrees", &ConditionalTest::trend_degrees)
        .def_prop_ro("statistics", [](const ConditionalTest& self) {
            check_draws(self, 0);
            return to_python(self.statistics());
        }, nb::rv_policy::move)
        .def("p_values", &test_ranks<&ConditionalTest::p_values>, nb::arg("key"), nb::arg("n_draws"))
        .def("dispersed_p_values", &test_ranks<&ConditionalTest::dispersed_p_values>, nb::arg("key"),
             nb::arg("n_draws"))
        .def("deviations", &test_deviations, nb::arg("key"), nb::arg("n_draws"))
        .def("divergences", &test_divergences, nb::arg("key"), nb::arg("n_draws"))
        .def("drawn", &test_drawn, nb::arg("key"), nb::arg("n_draws"));
    m.def("drawn_divergences", &bound_divergences, nb::arg("earlier").noconvert(), nb::arg("later").noconvert(),
          nb::arg("sizes").noconvert(), nb::arg("shares").noconvert(), nb::arg("n_later"), nb::arg("key"),
          nb::arg("n_draws"));
}

}  // namespace fishernet::bind
