#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/sizes.hpp"
#include "bind/arrays.hpp"
#include "bind/columns_out.hpp"
#include "bind/trees.hpp"
#include "networks/gibbs.hpp"

namespace fishernet::bind {
namespace {

using Values = In2<double>;

constexpr std::int64_t most_configurations = 0x7FFFFFFF;
constexpr std::int64_t most_cells = std::int64_t{1} << 62;

// Conditionals of variables 0 .. n - 1, in that order, each as the core updates it.
struct GibbsSampler {
    std::vector<std::int64_t> cardinalities;
    std::vector<Updatable> list;
    std::vector<In<double>> kept;  // the factors' values
};

void make_sampler(GibbsSampler* self, const In<std::int64_t>& cardinalities) {
    for (const auto r : view(cardinalities)) {
        if (r < 1 || r > 0x7FFFFFFF) refuse("a cardinality is out of range");
    }
    new (self) GibbsSampler{{cardinalities.data(), cardinalities.data() + cardinalities.size()}, {}, {}};
}

std::int32_t next_child(const GibbsSampler& self) {
    if (self.list.size() >= self.cardinalities.size()) refuse("every variable has its conditional");
    return static_cast<std::int32_t>(self.list.size());
}

void check_inputs(const GibbsSampler& self, std::span<const std::int32_t> inputs, std::int32_t child) {
    for (const auto v : inputs) {
        if (v < 0 || static_cast<std::size_t>(v) >= self.cardinalities.size()) refuse("an input is out of range");
        if (v == child) refuse("a variable is its own input");
    }
}

// Probabilities (groups, states); group = configuration of the inputs, the last one fastest, or map[configuration].
void add_table(GibbsSampler& self, const In<std::int32_t>& inputs, const Values& probabilities,
               const std::optional<In<std::int32_t>>& map) {
    Updatable c;
    c.child = next_child(self);
    c.states = static_cast<std::int32_t>(self.cardinalities[static_cast<std::size_t>(c.child)]);
    check_inputs(self, view(inputs), c.child);
    c.inputs.assign(inputs.data(), inputs.data() + inputs.size());
    c.strides.assign(c.inputs.size(), 1);
    std::int64_t configurations = 1;
    for (std::size_t i = c.inputs.size(); i-- > 0;) {
        c.strides[i] = static_cast<std::uint32_t>(configurations);
        const auto r = self.cardinalities[static_cast<std::size_t>(c.inputs[i])];
        configurations = times_within(configurations, r, most_configurations);
        if (configurations > most_configurations) refuse("a conditional has too many configurations");
    }
    const auto groups = static_cast<std::int64_t>(probabilities.shape(0));
    if (map) {
        c.map.assign(map->data(), map->data() + map->size());
        if (static_cast<std::int64_t>(c.map.size()) != configurations) refuse("a map must cover every configuration");
        for (const auto g : c.map) {
            if (g < 0 || g >= groups) refuse("a map leads out of the groups");
        }
    } else if (groups != configurations) {
        refuse("without a map, groups are configurations");
    }
    if (static_cast<std::int32_t>(probabilities.shape(1)) != c.states) refuse("a probability a state is needed");
    c.thresholds = thresholds(probabilities.data(), groups, c.states);
    self.list.push_back(std::move(c));
}

// Probabilities (groups, states); group = leaf of a tree over the inputs.
void add_tree(GibbsSampler& self, const In<std::int32_t>& inputs, const Values& probabilities,
              const In<std::int32_t>& variable, const In<std::int32_t>& first, const In<std::int32_t>& next) {
    Updatable c;
    c.child = next_child(self);
    c.states = static_cast<std::int32_t>(self.cardinalities[static_cast<std::size_t>(c.child)]);
    check_inputs(self, view(inputs), c.child);
    if (static_cast<std::int32_t>(probabilities.shape(1)) != c.states) refuse("a probability a state is needed");
    const auto groups = static_cast<std::int64_t>(probabilities.shape(0));
    c.tree = checked_tree(variable, first, next, self.cardinalities, view(inputs), groups);
    c.thresholds = thresholds(probabilities.data(), groups, c.states);
    self.list.push_back(std::move(c));
}

// The conditional is proportional to the product of factors: scopes (each with the child) and flat values, the last
// variable of a scope fastest.
void add_product(GibbsSampler& self, const std::vector<In<std::int32_t>>& scopes,
                 const std::vector<In<double>>& values) {
    Updatable c;
    c.child = next_child(self);
    c.states = static_cast<std::int32_t>(self.cardinalities[static_cast<std::size_t>(c.child)]);
    if (scopes.size() != values.size() || scopes.empty()) refuse("every factor needs a scope and values");
    for (std::size_t f = 0; f < scopes.size(); ++f) {
        ConditionalFactor factor;
        std::int64_t cells = 1;
        bool has_child = false;
        for (std::size_t axis = scopes[f].size(); axis-- > 0;) {
            const auto v = scopes[f].data()[axis];
            if (v < 0 || static_cast<std::size_t>(v) >= self.cardinalities.size()) refuse("a scope is out of range");
            if (v == c.child) {
                if (has_child) refuse("a variable comes twice");
                has_child = true;
                factor.child_stride = cells;
            } else {
                factor.others.push_back(v);
                factor.strides.push_back(cells);
            }
            cells = times_within(cells, self.cardinalities[static_cast<std::size_t>(v)], most_cells);
            if (cells > most_cells) refuse("a factor is too large");
        }
        if (!has_child) refuse("a factor must hold the variable");
        if (static_cast<std::int64_t>(values[f].size()) != cells) refuse("a factor must have a value for every cell");
        for (const auto value : view(values[f])) {
            if (!(value >= 0) || std::isinf(value)) refuse("a factor must be finite and not negative");
        }
        factor.values = values[f].data();
        self.kept.push_back(values[f]);
        c.factors.push_back(std::move(factor));
    }
    self.list.push_back(std::move(c));
}

// One column of codes a variable, chain after chain.
nb::list sample(const GibbsSampler& self, const In<std::int32_t>& free, bool ordered, const In<double>& weights,
                const In2<std::int32_t>& starts, std::int64_t rows, std::int64_t burn_in, std::int64_t thin,
                std::uint64_t key) {
    const std::size_t n = self.cardinalities.size();
    if (self.list.size() != n) refuse("every variable needs a conditional");
    if (free.size() == 0) refuse("nothing is free to be updated");
    for (const auto v : view(free)) {
        if (v < 0 || static_cast<std::size_t>(v) >= n) refuse("a free variable is out of range");
    }
    if (weights.size() != 0 && weights.size() != free.size()) refuse("every free variable needs a weight");
    for (const auto w : view(weights)) {
        if (!(w >= 0) || std::isinf(w)) refuse("a weight must be finite and not negative");
    }
    if (starts.shape(1) != n || starts.shape(0) < 1) refuse("every chain needs a state of every variable");
    for (std::size_t i = 0; i < starts.shape(0) * n; ++i) {
        if (starts.data()[i] < 0 || starts.data()[i] >= self.cardinalities[i % n]) refuse("a start is out of range");
    }
    if (rows < 0 || burn_in < 0 || thin < 1) refuse("rows, burn-in or thinning is out of range");
    const Scan scan{{free.data(), free.data() + free.size()}, ordered, {weights.data(), weights.data() + weights.size()}};
    const ChainPlan plan{rows, static_cast<std::int64_t>(starts.shape(0)), burn_in, thin};
    std::vector<Output> outputs(n);
    nb::list columns = new_columns(self.cardinalities, rows, outputs);
    {
        const nb::gil_scoped_release release;
        sample_gibbs(self.list, scan, plan, {starts.data(), starts.shape(0) * n}, outputs, key, check_signals);
    }
    return columns;
}

}  // namespace

void bind_gibbs(nb::module_& m) {
    nb::class_<GibbsSampler>(m, "GibbsSampler")
        .def("__init__", &make_sampler, nb::arg("cardinalities").noconvert())
        .def("add_table", &add_table, nb::arg("inputs").noconvert(), nb::arg("probabilities").noconvert(),
             nb::arg("group_of").none().noconvert() = nb::none())
        .def("add_tree", &add_tree, nb::arg("inputs").noconvert(), nb::arg("probabilities").noconvert(),
             nb::arg("variable").noconvert(), nb::arg("first").noconvert(), nb::arg("branches").noconvert())
        .def("add_product", &add_product, nb::arg("scopes").noconvert(), nb::arg("values").noconvert())
        .def("sample", &sample, nb::arg("free").noconvert(), nb::arg("ordered"), nb::arg("weights").noconvert(),
             nb::arg("starts").noconvert(), nb::arg("rows"), nb::arg("burn_in"), nb::arg("thin"), nb::arg("key"));
}

}  // namespace fishernet::bind
