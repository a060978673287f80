#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>

#include "base/pool.hpp"
#include "bind/arrays.hpp"
#include "bind/columns_out.hpp"
#include "bind/factors.hpp"
#include "bind/table.hpp"
#include "bind/turns.hpp"
#include "inference/completion.hpp"
#include "inference/expected_counts.hpp"

namespace fishernet::bind {
namespace {

using Weights = std::optional<In<double>>;

// The rows of a table with missing cells, under a model's factors. What it looks at is kept alive by it.
struct IncompleteRows {
    IncompleteRows(nb::object table, nb::object with, const Columns& of, const FactorModel& by,
                   std::unique_ptr<MissingComponents> found, std::unique_ptr<Completion> answers)
        : columns_kept(std::move(table)), factors_kept(std::move(with)), columns(&of), model(&by),
          components(std::move(found)), completion(std::move(answers)) {}

    nb::object columns_kept;
    nb::object factors_kept;
    const Columns* columns;
    const FactorModel* model;
    std::unique_ptr<MissingComponents> components;
    std::unique_ptr<Completion> completion;
    std::optional<Completed> completed = {};
};

using BoundCompletion = OneAtATime<IncompleteRows>;

void check_fits(const Columns& columns, const FactorModel& model) {
    if (columns.columns.size() != model.size()) refuse("the table must have the model's variables");
    for (std::size_t v = 0; v < model.size(); ++v) {
        if (columns.columns[v].cardinality != model.cardinalities[v]) refuse("cardinalities differ");
    }
}

void make(BoundCompletion* self, nb::object columns_kept, nb::object factors_kept, bool needed, std::int32_t target,
          double most) {
    if (!nb::isinstance<BoundColumns>(columns_kept)) refuse("the table's columns are needed");
    const auto& columns = nb::cast<const BoundColumns&>(columns_kept).columns;
    if (!nb::isinstance<Factors>(factors_kept)) refuse("factors are needed");
    auto& factors = nb::cast<Factors&>(factors_kept);
    check_fits(columns, factors.model);
    if (target < -1 || target >= static_cast<std::int64_t>(columns.columns.size())) refuse("the target is out of range");
    if (needed && !factors.model.directed()) refuse("what is needed is known of conditionals only");
    factors.used = true;
    std::vector<Scope> scopes;
    for (const auto& factor : factors.model.factors) scopes.push_back(factor.scope);
    std::unique_ptr<MissingComponents> components;
    std::unique_ptr<Completion> completion;
    {
        const nb::gil_scoped_release release;
        components = std::make_unique<MissingComponents>(columns, std::move(scopes), needed, target, check_signals);
        completion = std::make_unique<Completion>(*components, factors.model, most, check_signals);
    }
    new (self) BoundCompletion(std::move(columns_kept), std::move(factors_kept), columns, factors.model,
                               std::move(components), std::move(completion));
}

const Completion& checked(const IncompleteRows& self) {
    if (!self.completion->complete()) refuse("the plan was given up");
    if (self.completion->cells_held() >= 0x1p31) refuse("the tables would have more than 2^31 cells");
    return *self.completion;
}

// Other values of the same factors.
void take(BoundCompletion& bound, nb::object factors_kept) {
    const Turn turn(bound);
    IncompleteRows& self = *turn;
    if (!nb::isinstance<Factors>(factors_kept)) refuse("factors are needed");
    auto& factors = nb::cast<Factors&>(factors_kept);
    check_fits(*self.columns, factors.model);
    const auto& now = self.model->factors;
    bool same = factors.model.factors.size() == now.size();
    for (std::size_t f = 0; same && f < now.size(); ++f) same = factors.model.factors[f].scope == now[f].scope;
    if (!same) refuse("the factors must have the same variables");
    factors.used = true;
    self.completion->take(factors.model);
    self.model = &factors.model;
    self.factors_kept = std::move(factors_kept);
    self.completed.reset();
}

std::span<const double> of_rows(const IncompleteRows& self, const Weights& weights) {
    if (!weights) return {};
    if (static_cast<std::int64_t>(weights->size()) != self.columns->n_rows) refuse("every row needs a weight");
    return view(*weights);
}

Out<double> log_prob(BoundCompletion& bound) {
    const Turn turn(bound);
    IncompleteRows& self = *turn;
    const auto& completion = checked(self);
    std::vector<double> out;
    {
        const nb::gil_scoped_release release;
        const auto sums = completion.log_sums(check_signals);
        out = log_probabilities(*self.columns, *self.model, *self.components, sums, check_signals);
    }
    return to_python(std::move(out));
}

nb::list tables_of(const FactorModel& model, std::vector<std::vector<double>>&& tables) {
    nb::list out;
    for (std::size_t f = 0; f < model.factors.size(); ++f) out.append(to_python(std::move(tables[f])));
    return out;
}

struct Tables {
    explicit Tables(const FactorModel& model) {
        for (const auto& factor : model.factors) values.emplace_back(static_cast<std::size_t>(factor.cells), 0.0);
        for (auto& table : values) pointers.push_back(table.data());
    }
    std::vector<std::vector<double>> values;
    std::vector<double*> pointers;
};

// Counts of the rows that know all of a factor, a flat table a factor.
nb::list known_counts(BoundCompletion& bound, const Weights& weights) {
    const Turn turn(bound);
    IncompleteRows& self = *turn;
    const auto of = of_rows(self, weights);
    Tables tables(*self.model);
    {
        const nb::gil_scoped_release release;
        add_known(*self.columns, *self.model, of, tables.pointers, check_signals);
    }
    return tables_of(*self.model, std::move(tables.values));
}

// Expected counts of the missing cells, a flat table a factor, and the log-probability of each row.
nb::tuple expected(BoundCompletion& bound, const Weights& weights) {
    const Turn turn(bound);
    IncompleteRows& self = *turn;
    const auto of = of_rows(self, weights);
    const auto& completion = checked(self);
    Tables tables(*self.model);
    std::vector<double> logs;
    {
        const nb::gil_scoped_release release;
        const auto asked = question_weights(*self.components, of);
        const auto sums = completion.add_expected(asked, tables.pointers, check_signals);
        logs = log_probabilities(*self.columns, *self.model, *self.components, sums, check_signals);
    }
    return nb::make_tuple(tables_of(*self.model, std::move(tables.values)), to_python(std::move(logs)));
}

// The probability of each cell of all factors in each row: a sparse matrix by rows (ends, columns, values).
nb::tuple indicators(BoundCompletion& bound) {
    const Turn turn(bound);
    IncompleteRows& self = *turn;
    const auto& completion = checked(self);
    double cells = 0;
    for (const auto& factor : self.model->factors) cells += static_cast<double>(factor.cells);
    if (cells > 0x7FFFFFFF) refuse("the factors have too many cells");
    Indicators found;
    {
        const nb::gil_scoped_release release;
        found = expected_indicators(*self.columns, *self.model, completion, check_signals);
    }
    return nb::make_tuple(to_python(std::move(found.first)), to_python(std::move(found.cells)),
                          to_python(std::move(found.probabilities)));
}

// The probability of each state of a variable that is missing in all rows, (rows, states), and the log-probability of each row.
nb::tuple target_answers_of(BoundCompletion& bound, std::int32_t target) {
    const Turn turn(bound);
    IncompleteRows& self = *turn;
    const auto& completion = checked(self);
    if (target < 0 || static_cast<std::size_t>(target) >= self.model->size()) refuse("the target is out of range");
    if (!self.model->has_conditional(target)) refuse("the target has no conditional");
    TargetAnswers found;
    {
        const nb::gil_scoped_release release;
        found = target_answers(*self.columns, *self.model, completion, target, check_signals);
    }
    const auto r = static_cast<std::size_t>(self.model->cardinalities[static_cast<std::size_t>(target)]);
    return nb::make_tuple(to_python(std::move(found.probabilities), r), to_python(std::move(found.log_probabilities)));
}

// The columns of the table, whose missing cells are to be filled.
nb::list copied_columns(const IncompleteRows& self, std::vector<Output>& outputs) {
    outputs.resize(self.model->size());
    nb::list columns = new_columns(self.model->cardinalities, self.columns->n_rows, outputs);
    for (std::size_t v = 0; v < outputs.size(); ++v) {
        for (std::int64_t row = 0; row < self.columns->n_rows; ++row) {
            put_code(outputs[v], row, code_at(self.columns->columns[v], row));
        }
    }
    return columns;
}

// The columns with the most probable states in the missing cells; those of an impossible row stay missing.
nb::list most_probable(BoundCompletion& bound) {
    const Turn turn(bound);
    IncompleteRows& self = *turn;
    const auto& completion = checked(self);
    std::vector<Output> outputs;
    nb::list columns = copied_columns(self, outputs);
    const nb::gil_scoped_release release;
    const auto best = completion.most_probable(check_signals);
    for (std::int64_t row = 0; row < self.columns->n_rows; ++row) {
        for (const auto q : self.components->questions_of(row)) {
            const auto& members = self.components->component_of(q).members;
            for (std::size_t m = 0; m < best[q].size(); ++m) {
                put_code(outputs[static_cast<std::size_t>(members[m])], row, static_cast<std::uint32_t>(best[q][m]));
            }
        }
    }
    return columns;
}

// The columns with drawn states in the missing cells; none when a row is impossible.
nb::list draw(BoundCompletion& bound, std::uint64_t key) {
    const Turn turn(bound);
    IncompleteRows& self = *turn;
    const auto& completion = checked(self);
    std::vector<Output> outputs;
    nb::list columns = copied_columns(self, outputs);
    bool possible = false;
    {
        const nb::gil_scoped_release release;
        possible = completion.draw(key, outputs, check_signals);
    }
    return possible ? columns : nb::list();
}

// Makes ready for counting any set: completions of all questions, at most so many a question; more are drawn from.
void complete(BoundCompletion& bound, std::int64_t most, std::uint64_t key) {
    const Turn turn(bound);
    IncompleteRows& self = *turn;
    const auto& completion = checked(self);
    if (most < 1 || most > 0x10000) refuse("the most completions are 1 to 65536");
    const nb::gil_scoped_release release;
    self.completed = completion.completed(most, key, check_signals);
}

// Expected counts of a set of variables, ascending: (None or the cells with a positive count, counts).
nb::list set_counts(BoundCompletion& bound, const std::vector<Scope>& sets, const Weights& weights,
                    std::int64_t most_dense) {
    const Turn turn(bound);
    IncompleteRows& self = *turn;
    const auto of = of_rows(self, weights);
    if (!self.completed) refuse("rows must be completed first");
    for (const auto& set : sets) {
        double cells = 1;
        for (std::size_t i = 0; i < set.size(); ++i) {
            if (set[i] < 0 || static_cast<std::size_t>(set[i]) >= self.model->size()) refuse("a variable is out of range");
            if (i > 0 && set[i] <= set[i - 1]) refuse("a set must ascend");
            cells *= static_cast<double>(self.model->cardinalities[static_cast<std::size_t>(set[i])]);
        }
        if (cells > 0x1p62) refuse("a set has too many cells");
    }
    std::vector<SetCounts> found(sets.size());
    {
        const nb::gil_scoped_release release;
        run_tasks(static_cast<std::int64_t>(sets.size()), [&](std::int64_t s) {
            const auto at = static_cast<std::size_t>(s);
            found[at] = expected_counts(*self.columns, *self.components, *self.completed, of, sets[at], most_dense);
        }, check_signals);
    }
    nb::list out;
    for (std::size_t s = 0; s < sets.size(); ++s) {
        double cells = 1;
        for (const auto v : sets[s]) cells *= static_cast<double>(self.model->cardinalities[static_cast<std::size_t>(v)]);
        const bool dense = cells <= static_cast<double>(most_dense);
        nb::object which = dense ? nb::none() : nb::cast(to_python(std::move(found[s].cells)));
        out.append(nb::make_tuple(which, to_python(std::move(found[s].counts))));
    }
    return out;
}

double cells_held(BoundCompletion& bound) {
    const Turn turn(bound);
    return turn->completion->cells_held();
}

}  // namespace

void bind_completion(nb::module_& m) {
    nb::class_<BoundCompletion>(m, "Completion")
        .def("__init__", &make, nb::arg("columns"), nb::arg("factors"), nb::arg("needed"), nb::arg("target"),
             nb::arg("most"))
        .def("take", &take, nb::arg("factors"))
        .def("log_prob", &log_prob)
        .def("known_counts", &known_counts, nb::arg("weights").noconvert().none())
        .def("expected", &expected, nb::arg("weights").noconvert().none())
        .def("indicators", &indicators)
        .def("target_answers", &target_answers_of, nb::arg("target"))
        .def("most_probable", &most_probable)
        .def("draw", &draw, nb::arg("key"))
        .def("complete", &complete, nb::arg("most"), nb::arg("key"))
        .def("set_counts", &set_counts, nb::arg("sets"), nb::arg("weights").noconvert().none(), nb::arg("most_dense"))
        .def_prop_ro("cells_held", &cells_held);
}

}  // namespace fishernet::bind
