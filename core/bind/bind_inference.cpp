#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "base/pool.hpp"
#include "base/sizes.hpp"
#include "bind/arrays.hpp"
#include "bind/columns_out.hpp"
#include "bind/factors.hpp"
#include "inference/family_plan.hpp"
#include "inference/inference.hpp"

namespace fishernet::bind {
namespace {

using Lists = std::vector<Scope>;

void make_factors(Factors* self, const In<std::int64_t>& cardinalities) {
    for (const auto r : view(cardinalities)) {
        if (r < 1 || r > 0x7FFFFFFF) refuse("a cardinality is out of range");
    }
    new (self) Factors({cardinalities.data(), cardinalities.data() + cardinalities.size()});
}

// Values in the order of the scope, the last variable fastest; a conditional's child is its last variable.
void add(Factors& self, const In<std::int32_t>& scope, const In<double>& values, bool conditional) {
    check_scope(self.model, view(scope));
    if (self.used) refuse("the factors are in use");
    constexpr std::int64_t most_cells = 0x7FFFFFFF;  // offsets in a table are 32 bits wide
    std::int64_t cells = 1;
    for (const auto v : view(scope)) {
        cells = times_within(cells, self.model.cardinalities[static_cast<std::size_t>(v)], most_cells);
    }
    if (cells > most_cells) refuse("a factor has too many cells");
    if (static_cast<std::int64_t>(values.size()) != cells) refuse("a factor must have a value for every cell");
    for (const auto value : view(values)) {
        if (!(value >= 0) || std::isinf(value)) refuse("a factor must be finite and not negative");
    }
    std::int32_t child = -1;
    if (conditional) {
        if (scope.size() == 0) refuse("a conditional has a child");
        child = scope.data()[scope.size() - 1];
        if (self.model.has_conditional(child)) refuse("a variable has two conditionals");
    }
    self.model.add({scope.data(), scope.data() + scope.size()}, values.data(), child);
    self.kept.push_back(values);
}

void check_plan(bool complete, double cells) {
    if (!complete) refuse("the plan was given up");
    if (cells >= 0x1p31) refuse("the tables would have more than 2^31 cells");  // offsets in them are 32 bits wide
}

void check_observed(const FactorModel& model, const Scope& observed, const Scope& soft) {
    check_scope(model, observed);
    check_scope(model, soft);
}

void check_targets(const FactorModel& model, const Scope& observed, const Lists& targets) {
    for (const auto& target : targets) {
        check_scope(model, target);
        for (const auto v : target) {
            if (std::find(observed.begin(), observed.end(), v) != observed.end()) refuse("a target is observed");
        }
    }
}

// A plan and what its findings must fit.
template <class Plan>
struct Planned {
    const Factors* factors;
    Scope observed;
    Scope soft;
    Plan plan;

    // Checks the states of all variables (those of unobserved ones are not looked at) and the likelihoods.
    Findings findings(std::span<const std::int32_t> states, const std::vector<In<double>>& likelihoods,
                      std::vector<const double*>& pointers) const {
        const auto& model = factors->model;
        if (states.size() != model.size()) refuse("every variable needs a state");
        for (const auto v : observed) {
            const auto state = states[static_cast<std::size_t>(v)];
            if (state < 0 || state >= model.cardinalities[static_cast<std::size_t>(v)]) refuse("a state is out of range");
        }
        if (likelihoods.size() != soft.size()) refuse("every softly observed variable needs a likelihood");
        for (std::size_t s = 0; s < soft.size(); ++s) {
            const auto r = model.cardinalities[static_cast<std::size_t>(soft[s])];
            if (static_cast<std::int64_t>(likelihoods[s].size()) != r) refuse("a likelihood must have a number a state");
            for (const auto value : view(likelihoods[s])) {
                if (!(value >= 0) || std::isinf(value)) refuse("a likelihood must be finite and not negative");
            }
            pointers.push_back(likelihoods[s].data());
        }
        return {states, pointers};
    }
};

using PlannedInference = Planned<Inference>;
using PlannedFamilies = Planned<FamilyPlan>;

void make_inference(PlannedInference* self, Factors& factors, const Scope& observed, const Scope& soft,
                    const Lists& targets, bool whole, double most) {
    check_observed(factors.model, observed, soft);
    check_targets(factors.model, observed, targets);
    factors.used = true;
    const nb::gil_scoped_release release;
    new (self) PlannedInference{&factors, observed, soft, {factors.model, observed, soft, targets, whole, most, true}};
}

// The marginals of the targets (none when the findings are impossible) and the log-probability of the findings.
nb::tuple run(const PlannedInference& self, const In<std::int32_t>& states, const std::vector<In<double>>& likelihoods) {
    std::vector<const double*> pointers;
    const Findings findings = self.findings(view(states), likelihoods, pointers);
    check_plan(self.plan.complete(), self.plan.cells_held());
    Answer answer;
    {
        const nb::gil_scoped_release release;
        answer = self.plan.run(findings, check_signals);
    }
    nb::list marginals;
    for (auto& marginal : answer.marginals) marginals.append(to_python(std::move(marginal)));
    return nb::make_tuple(marginals, answer.log_evidence);
}

// One row of states a run: the marginal of the only target, a row of it a run; NaN where the findings are impossible.
Out2<double> run_rows(const PlannedInference& self, const In2<std::int32_t>& states) {
    constexpr std::int64_t at_once = 16;
    const auto n = static_cast<std::int64_t>(states.shape(0));
    const std::size_t width = states.shape(1);
    std::vector<const double*> none;
    for (std::int64_t row = 0; row < n; ++row) {
        self.findings({states.data() + row * static_cast<std::int64_t>(width), width}, {}, none);
    }
    if (self.plan.n_targets() != 1) refuse("rows need one target");
    check_plan(self.plan.complete(), self.plan.cells_held());
    const auto cells = static_cast<std::size_t>(self.plan.cells_of_target(0));
    std::vector<double> out(static_cast<std::size_t>(n) * cells, std::nan(""));
    {
        const nb::gil_scoped_release release;
        run_tasks((n + at_once - 1) / at_once, [&](std::int64_t task) {
            for (auto row = task * at_once; row < std::min(n, (task + 1) * at_once); ++row) {
                const Answer answer = self.plan.run(
                    {{states.data() + row * static_cast<std::int64_t>(width), width}, {}}, nullptr, false);
                if (answer.marginals.empty()) continue;
                std::copy(answer.marginals[0].begin(), answer.marginals[0].end(),
                          out.begin() + row * static_cast<std::int64_t>(cells));
            }
        }, check_signals);
    }
    return to_python(std::move(out), cells);
}

// The most probable state of every variable; empty when the findings are impossible.
Out<std::int32_t> maximize(const PlannedInference& self, const In<std::int32_t>& states,
                           const std::vector<In<double>>& likelihoods) {
    std::vector<const double*> pointers;
    const Findings findings = self.findings(view(states), likelihoods, pointers);
    if (!self.plan.is_whole()) refuse("the most probable states need the whole model");
    check_plan(self.plan.complete(), self.plan.cells_held());
    std::vector<std::int32_t> best;
    {
        const nb::gil_scoped_release release;
        best = self.plan.maximize(findings, check_signals);
    }
    return to_python(std::move(best));
}

// One column of codes a variable, or none when the findings are impossible.
nb::list sample(const PlannedInference& self, const In<std::int32_t>& states, const std::vector<In<double>>& likelihoods,
                std::int64_t n, std::uint64_t key) {
    std::vector<const double*> pointers;
    const Findings findings = self.findings(view(states), likelihoods, pointers);
    if (!self.plan.is_whole()) refuse("rows are drawn from the whole model");
    if (n < 0) refuse("the number of rows is negative");
    check_plan(self.plan.complete(), self.plan.cells_held());
    const auto& sizes = self.factors->model.cardinalities;
    std::vector<Output> outputs(sizes.size());
    nb::list columns = new_columns(sizes, n, outputs);
    bool possible = false;
    {
        const nb::gil_scoped_release release;
        possible = self.plan.sample(findings, {n, key, outputs}, check_signals);
    }
    return possible ? columns : nb::list();
}

Lists cliques(const PlannedInference& self) {
    Lists lists;
    for (const auto& clique : self.plan.tree().cliques) {
        Scope variables;
        for (const auto v : clique.variables) variables.push_back(self.plan.variables()[static_cast<std::size_t>(v)]);
        lists.push_back(std::move(variables));
    }
    return lists;
}

void make_families(PlannedFamilies* self, Factors& factors, const Scope& observed, const Scope& soft,
                   const std::string& method, double most) {
    check_observed(factors.model, observed, soft);
    if (!factors.model.directed()) refuse("families need one conditional a variable");
    const FamilyMethod which = method == "tree"          ? FamilyMethod::tree
                               : method == "elimination" ? FamilyMethod::elimination
                               : method == "auto"        ? FamilyMethod::automatic
                                                         : throw std::invalid_argument("no such method");
    factors.used = true;
    const nb::gil_scoped_release release;
    new (self) PlannedFamilies{&factors, observed, soft, {factors.model, observed, soft, which, most, check_signals}};
}

nb::list run_families(const PlannedFamilies& self, const In<std::int32_t>& states,
                      const std::vector<In<double>>& likelihoods) {
    std::vector<const double*> pointers;
    const Findings findings = self.findings(view(states), likelihoods, pointers);
    check_plan(self.plan.complete(), self.plan.cells_held());
    std::vector<std::vector<double>> tables;
    {
        const nb::gil_scoped_release release;
        tables = self.plan.run(findings, check_signals);
    }
    nb::list out;
    for (auto& table : tables) out.append(to_python(std::move(table)));
    return out;
}

}  // namespace

void bind_inference(nb::module_& m) {
    nb::class_<Factors>(m, "Factors")
        .def("__init__", &make_factors, nb::arg("cardinalities").noconvert())
        .def("add", &add, nb::arg("scope").noconvert(), nb::arg("values").noconvert(), nb::arg("conditional"));
    nb::class_<PlannedInference>(m, "Inference")
        .def("__init__", &make_inference, nb::arg("factors"), nb::arg("observed"), nb::arg("soft"), nb::arg("targets"),
             nb::arg("whole"), nb::arg("most"), nb::keep_alive<1, 2>())
        .def("run", &run, nb::arg("states").noconvert(), nb::arg("likelihoods").noconvert())
        .def("run_rows", &run_rows, nb::arg("states").noconvert())
        .def("maximize", &maximize, nb::arg("states").noconvert(), nb::arg("likelihoods").noconvert())
        .def("sample", &sample, nb::arg("states").noconvert(), nb::arg("likelihoods").noconvert(), nb::arg("n"),
             nb::arg("key"))
        .def("cliques", &cliques)
        .def_prop_ro("width", [](const PlannedInference& self) { return self.plan.tree().width; })
        .def_prop_ro("cells", [](const PlannedInference& self) { return self.plan.tree().cells; })
        .def_prop_ro("cells_held", [](const PlannedInference& self) { return self.plan.cells_held(); });
    nb::class_<PlannedFamilies>(m, "FamilyPlan")
        .def("__init__", &make_families, nb::arg("factors"), nb::arg("observed"), nb::arg("soft"), nb::arg("method"),
             nb::arg("most"), nb::keep_alive<1, 2>())
        .def("run", &run_families, nb::arg("states").noconvert(), nb::arg("likelihoods").noconvert())
        .def_prop_ro("cost", [](const PlannedFamilies& self) { return self.plan.cost(); })
        .def_prop_ro("cells_held", [](const PlannedFamilies& self) { return self.plan.cells_held(); });
}

}  // namespace fishernet::bind
