#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/table.hpp"
#include "inference/gap_rows.hpp"
#include "inference/missing_components.hpp"
#include "inference/mixed_gap.hpp"

namespace fishernet::bind {
namespace {

using Cells = In2<double>;
using Rows = In<std::int64_t>;
using Sums = std::tuple<nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>,
                        nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>,
                        nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>>;

void check_range(const Scope& scope, std::size_t n) {
    for (const auto v : scope) {
        if (v < 0 || static_cast<std::size_t>(v) >= n) refuse("a position is out of range");
    }
}

Scope ascending(Scope scope, std::size_t n) {
    check_range(scope, n);
    std::sort(scope.begin(), scope.end());
    if (std::adjacent_find(scope.begin(), scope.end()) != scope.end()) refuse("a position comes twice");
    return scope;
}

std::int64_t states_of(const MixedModel& model, const Scope& labels) {
    double states = 1;
    for (const auto v : labels) states *= static_cast<double>(model.cardinalities[static_cast<std::size_t>(v)]);
    if (states >= 0x1p31) refuse("the tables would have more than 2^31 cells");
    return static_cast<std::int64_t>(states);
}

void make_model(MixedModel* self, const In<std::int64_t>& cardinalities,
                const std::vector<std::tuple<bool, Scope, Scope, In<double>>>& conditionals) {
    MixedModel model{{cardinalities.data(), cardinalities.data() + cardinalities.size()}, {}};
    const auto n = model.cardinalities.size();
    if (conditionals.size() != n) refuse("every variable needs a conditional");
    for (const auto c : model.cardinalities) {
        if (c < 1) refuse("a cardinality must be positive");
    }
    for (std::size_t v = 0; v < n; ++v) {
        const auto& [number, labels, numbers, values] = conditionals[v];
        Scope all = labels;
        all.insert(all.end(), numbers.begin(), numbers.end());
        if (number) all.push_back(static_cast<std::int32_t>(v));
        ascending(all, n);
        for (const auto p : labels) {
            if (std::get<0>(conditionals[static_cast<std::size_t>(p)])) refuse("a label is a number");
        }
        for (const auto p : numbers) {
            if (!std::get<0>(conditionals[static_cast<std::size_t>(p)])) refuse("a number is a label");
        }
        if (!number && (labels.empty() || labels.back() != static_cast<std::int32_t>(v) || !numbers.empty())) {
            refuse("a table's last label is its own, and its parents are labels");
        }
        const auto width = number ? numbers.size() + 2 : std::size_t{1};
        if (values.size() > 0 && values.size() != static_cast<std::size_t>(states_of(model, labels)) * width) refuse("the values do not fit");
        model.conditionals.push_back(
            {static_cast<std::int32_t>(v), number, labels, numbers, {values.data(), values.data() + values.size()}});
    }
    new (self) MixedModel(std::move(model));
}

// A gap, and what its conditionals were made of.
struct BoundGap {
    MixedGap gap;
    std::vector<MixedConditional> families;
};

void make_gap(BoundGap* self, const MixedModel& model, const Scope& missing, const std::vector<std::int32_t>& families,
              const std::vector<std::pair<std::int32_t, In<double>>>& soft) {
    const auto n = model.cardinalities.size();
    ascending(families, n);
    std::vector<MixedConditional> kept, likelihoods;
    std::vector<char> covered(n, false), made(n, false);
    for (const auto f : families) {
        const auto& own = model.conditionals[static_cast<std::size_t>(f)];
        kept.push_back({own.variable, own.number, own.labels, own.numbers, {}});
        for (const auto p : own.labels) covered[static_cast<std::size_t>(p)] = true;
        for (const auto p : own.numbers) {
            const auto at = static_cast<std::size_t>(p);
            if (std::ranges::binary_search(ascending(missing, n), p) && !made[at]) refuse("parents come first");
        }
        if (own.number) made[static_cast<std::size_t>(f)] = true;
    }
    for (const auto& [v, values] : soft) {
        check_range({v}, n);
        const auto at = static_cast<std::size_t>(v);
        if (model.conditionals[at].number) refuse("likelihoods are of labels");
        if (static_cast<std::int64_t>(values.size()) != model.cardinalities[at]) refuse("the values do not fit");
        likelihoods.push_back({v, false, {v}, {}, {values.data(), values.data() + values.size()}});
        covered[at] = true;
    }
    for (const auto v : missing) {
        check_range({v}, n);
        const auto at = static_cast<std::size_t>(v);
        if (!covered[at] && !made[at]) refuse("every missing variable needs a conditional");
    }
    new (self) BoundGap{{model, ascending(missing, n), families, std::move(likelihoods)}, std::move(kept)};
}

// Checks that a model has the graph of the gap, and values.
void check_model(const BoundGap& self, const MixedModel& model) {
    if (!self.gap.same_variables(model)) refuse("the model has other variables");
    for (const auto& family : self.families) {
        const auto& own = model.conditionals[static_cast<std::size_t>(family.variable)];
        if (own.number != family.number || own.labels != family.labels || own.numbers != family.numbers) {
            refuse("the model is another one");
        }
        if (own.values.empty()) refuse("a conditional has no values");
    }
}

// Checks the model, and that what is known in some rows is within range.
MixedRows checked(const BoundGap& self, const MixedModel& model, const Cells& cells, const Rows& rows) {
    check_model(self, model);
    const auto n = model.cardinalities.size();
    const bool intervals = cells.shape(1) == 3 * n;
    if (cells.shape(1) != n && !intervals) refuse("a column for every variable is needed, or three");
    const MixedRows found{cells.data(), n, view(rows), intervals};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto row = rows.data()[i];
        if (row < 0 || static_cast<std::size_t>(row) >= cells.shape(0)) refuse("a row is out of range");
        for (const auto v : self.gap.border()) {
            const auto at = static_cast<std::size_t>(v);
            const double code = found.of(i)[at];
            if (!(code >= 0 && code < static_cast<double>(model.cardinalities[at]))) refuse("a code is out of range");
        }
    }
    return found;
}

// Missing labels to keep (or, with `numbers`, missing numbers that are wanted), in the order given.
void check_missing(const BoundGap& self, const MixedModel& model, const Scope& scope, bool numbers) {
    check_range(scope, model.cardinalities.size());
    for (const auto v : scope) {
        if (!std::ranges::binary_search(self.gap.missing(), v)) refuse("what is asked for is not missing");
        if (model.conditionals[static_cast<std::size_t>(v)].number != numbers) refuse("a label is no number");
    }
}

Out<double> joint(const BoundGap& self, const MixedModel& model, const Cells& cells, const Rows& rows,
                  const Scope& keep) {
    const auto at = checked(self, model, cells, rows);
    check_missing(self, model, keep, false);
    const auto kept = ascending(keep, model.cardinalities.size());
    if (self.gap.most_cells(kept) >= 0x1p31) refuse("the tables would have more than 2^31 cells");
    std::vector<double> found;
    {
        const nb::gil_scoped_release release;
        found = self.gap.joint(model, at, kept, check_signals);
    }
    return to_python(std::move(found));
}

nb::tuple mixture(const BoundGap& self, const MixedModel& model, const Cells& cells, const Rows& rows,
                  const Scope& wanted, const Scope& keep) {
    const auto at = checked(self, model, cells, rows);
    const auto n = model.cardinalities.size();
    check_missing(self, model, keep, false);
    check_missing(self, model, wanted, true);
    const auto kept = ascending(keep, n);
    if (self.gap.most_cells(self.gap.mixture_scope(ascending(wanted, n), kept)) >= 0x1p31) {
        refuse("the tables would have more than 2^31 cells");
    }
    MixedAnswer found;
    {
        const nb::gil_scoped_release release;
        found = self.gap.mixture(model, at, wanted, kept, check_signals);
    }
    return nb::make_tuple(to_python(std::move(found.log_weights)), to_python(std::move(found.mean)),
                          to_python(std::move(found.covariance)));
}

Out2<double> completed(const BoundGap& self, const MixedModel& model, const Cells& cells, const Rows& rows,
                       const In2<double>& noise) {
    const auto at = checked(self, model, cells, rows);
    const auto m = self.gap.missing().size();
    const bool drawn = noise.shape(0) > 0;
    const auto n = drawn ? noise.shape(1) : rows.size();
    if (drawn && noise.shape(0) != m) refuse("every missing variable needs noise");
    if (rows.size() == 0 ? n != 0 : n % rows.size() != 0) refuse("there must be as many draws of each row");
    if (self.gap.most_cells({}) >= 0x1p31) refuse("the tables would have more than 2^31 cells");
    std::vector<double> found;
    {
        const nb::gil_scoped_release release;
        found = self.gap.completed(model, at, {noise.data(), noise.size()}, n, check_signals);
    }
    return to_python(std::move(found), n, m);
}

// Adds what is expected of the rows of gaps to the sums of all conditionals, and returns the log-probabilities of all rows.
Out<double> add_expected_of(const MixedModel& model, const std::vector<std::pair<const BoundGap*, Rows>>& gaps, const Cells& cells,
                            const In<double>& weights, const In<double>& origin, const std::vector<Sums>& sums) {
    if (weights.size() != cells.shape(0)) refuse("every row needs a weight");
    if (origin.size() != model.cardinalities.size()) refuse("every column needs an origin");
    if (sums.size() != model.conditionals.size()) refuse("every conditional needs sums");
    std::vector<MixedSums> into;
    for (std::size_t v = 0; v < sums.size(); ++v) {
        const auto& [n, first, second] = sums[v];
        const auto& own = model.conditionals[v];
        const auto q = static_cast<std::size_t>(states_of(model, own.labels));
        const auto d = own.numbers.size() + (own.number ? 1 : 0);
        if (n.shape(0) != q || first.shape(0) != q || first.shape(1) != d || second.shape(0) != q ||
            second.shape(1) != d || second.shape(2) != d) {
            refuse("the sums do not fit their conditional");
        }
        into.push_back({n.data(), first.data(), second.data()});
    }
    std::vector<GapRows> of_gaps;
    for (const auto& [gap, rows] : gaps) {
        of_gaps.push_back({&gap->gap, checked(*gap, model, cells, rows)});
        if (gap->gap.most_cells({}) >= 0x1p31) refuse("the tables would have more than 2^31 cells");
    }
    std::vector<double> found(cells.shape(0));
    {
        const nb::gil_scoped_release release;
        add_expected(model, of_gaps, view(weights), view(origin), into, found, check_signals);
    }
    return to_python(std::move(found));
}

// The rows' log-probabilities, and of each family the configurations that each row may have, with the expected weights,
// sums and sums of products of the numbers in each.
nb::tuple expected(const BoundGap& self, const MixedModel& model, const Cells& cells, const Rows& rows,
                   const In<double>& origin) {
    const auto at = checked(self, model, cells, rows);
    if (origin.size() != model.cardinalities.size()) refuse("every column needs an origin");
    if (self.gap.most_cells({}) >= 0x1p31) refuse("the tables would have more than 2^31 cells");
    struct Found {
        std::vector<std::int64_t> places;
        std::vector<double> weights, first, second;
    };
    std::vector<Found> found(self.families.size());
    std::vector<MixedSums> into;
    for (std::size_t f = 0; f < found.size(); ++f) {
        const auto& family = self.families[f];
        const auto d = family.numbers.size() + (family.number ? 1 : 0);
        const auto n = rows.size() * self.gap.expected_states(model, f);
        auto& [places, weights, first, second] = found[f];
        places.assign(n, 0);
        weights.assign(n, 0.0);
        first.assign(n * d, 0.0);
        second.assign(n * d * d, 0.0);
        into.push_back({weights.data(), first.data(), second.data(), places.data()});
    }
    std::vector<double> log_prob;
    {
        const nb::gil_scoped_release release;
        log_prob = self.gap.add_expected(model, at, {}, view(origin), into, check_signals);
    }
    nb::list parts;
    for (auto& [places, weights, first, second] : found) {
        parts.append(nb::make_tuple(to_python(std::move(places)), to_python(std::move(weights)),
                                    to_python(std::move(first)), to_python(std::move(second))));
    }
    return nb::make_tuple(to_python(std::move(log_prob)), parts);
}

// Missing variables of rows that share conditionals, whose these are, and the rows that lack the same.
nb::list gaps(nb::object table, std::vector<Scope> scopes, bool needed, std::int32_t target) {
    if (!nb::isinstance<BoundColumns>(table)) refuse("the table's columns are needed");
    const auto& columns = nb::cast<const BoundColumns&>(table).columns;
    const auto n = columns.columns.size();
    if (scopes.size() != n) refuse("every variable needs a conditional");
    for (std::size_t v = 0; v < n; ++v) {
        check_range(scopes[v], n);
        if (scopes[v].empty() || scopes[v].back() != static_cast<std::int32_t>(v)) refuse("a child comes last");
    }
    if (target < -1 || target >= static_cast<std::int64_t>(n)) refuse("the target is out of range");
    std::unique_ptr<MissingComponents> components;
    std::vector<std::vector<std::int64_t>> rows;
    {
        const nb::gil_scoped_release release;
        components = std::make_unique<MissingComponents>(columns, std::move(scopes), needed, target, check_signals);
        rows.resize(components->components().size());
        for (std::int64_t row = 0; row < components->n_rows(); ++row) {
            for (const auto q : components->questions_of(row)) {
                rows[static_cast<std::size_t>(components->component_number(q))].push_back(row);
            }
        }
    }
    nb::list found;
    for (std::size_t c = 0; c < rows.size(); ++c) {
        const auto& component = components->components()[c];
        found.append(nb::make_tuple(component.members, component.factors, to_python(std::move(rows[c]))));
    }
    return found;
}

}  // namespace

void bind_mixed(nb::module_& m) {
    nb::class_<MixedModel>(m, "MixedModel")
        .def("__init__", &make_model, nb::arg("cardinalities"), nb::arg("conditionals"));
    nb::class_<BoundGap>(m, "MixedGap")
        .def("__init__", &make_gap, nb::arg("model"), nb::arg("missing"), nb::arg("families"), nb::arg("soft"))
        .def("joint", &joint, nb::arg("model"), nb::arg("cells"), nb::arg("rows"), nb::arg("keep"))
        .def("mixture", &mixture, nb::arg("model"), nb::arg("cells"), nb::arg("rows"), nb::arg("wanted"),
             nb::arg("keep"))
        .def("mixture_scope",
             [](const BoundGap& self, Scope wanted, Scope keep) {
                 std::sort(wanted.begin(), wanted.end());
                 std::sort(keep.begin(), keep.end());
                 return self.gap.mixture_scope(wanted, keep);
             })
        .def("most_cells",
             [](const BoundGap& self, const Scope& keep) {
                 const auto n = self.gap.n_variables();
                 return self.gap.most_cells(ascending(keep, n));
             })
        .def("most_states", [](const BoundGap& self) { return self.gap.most_states(); })
        .def("completed", &completed, nb::arg("model"), nb::arg("cells"), nb::arg("rows"), nb::arg("noise"))
        .def("expected", &expected, nb::arg("model"), nb::arg("cells"), nb::arg("rows"), nb::arg("origin"));
    m.def("add_expected", &add_expected_of, nb::arg("model"), nb::arg("gaps"), nb::arg("cells"), nb::arg("weights"),
          nb::arg("origin"), nb::arg("sums"));
    m.def("mixed_gaps", &gaps, nb::arg("table"), nb::arg("scopes"), nb::arg("needed"), nb::arg("target"));
}

}  // namespace fishernet::bind
