#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "bind/arrays.hpp"
#include "sequences/hmm.hpp"
#include "sequences/hmm_densities.hpp"

namespace fishernet::bind {
namespace {

struct BoundHmm {
    HmmModel model;
};

void check_values(std::span<const double> values, const char* what) {
    for (const double value : values) {
        if (!(value >= 0.0) || std::isinf(value)) refuse(std::string(what) + " must hold finite numbers from 0 on");
    }
}

FlatStrings checked_strings(const In<std::int32_t>& codes, const In<std::int64_t>& offsets, std::int64_t n_symbols) {
    const FlatStrings strings{view(codes), view(offsets)};
    if (offsets.size() == 0 || strings.offsets.front() != 0 ||
        strings.offsets.back() != static_cast<std::int64_t>(codes.size())) {
        refuse("offsets do not fit the codes");
    }
    for (std::int64_t i = 0; i < strings.size(); ++i) {
        if (strings.offsets[i] > strings.offsets[i + 1]) refuse("offsets must not fall");
    }
    for (const auto code : strings.codes) {
        if (code < 0 || code >= n_symbols) refuse("a code is out of range");
    }
    return strings;
}

BoundHmm make(const In<double>& initial, const In2<double>& transition, const In2<double>& emission,
              const std::optional<In<double>>& empty, const std::optional<In<double>>& final, double at_once,
              std::int64_t n_single) {
    const std::size_t n = initial.size();
    if (n == 0) refuse("there must be a state");
    if (transition.shape(0) != n || transition.shape(1) != n) refuse("the transition does not fit the states");
    if (emission.shape(0) != n || emission.shape(1) == 0) refuse("the emission does not fit the states");
    if (n_single < -1 || n_single > static_cast<std::int64_t>(emission.shape(1))) refuse("there are fewer symbols");
    if (empty && empty->size() != n) refuse("empty does not fit the states");
    if (final && final->size() != n) refuse("final does not fit the states");
    HmmParts parts{view(initial), {transition.data(), transition.size()}, {emission.data(), emission.size()}, {}, {},
                   at_once, n_single};
    if (empty) parts.empty = view(*empty);
    if (final) parts.final = view(*final);
    check_values(parts.initial, "initial");
    check_values(parts.transition, "transition");
    check_values(parts.emission, "emission");
    check_values(parts.empty, "empty");
    check_values(parts.final, "final");
    check_values({&at_once, 1}, "at_once");
    const nb::gil_scoped_release release;
    return {make_hmm(parts)};
}

const HmmModel& usable(const BoundHmm& self) {
    if (self.model.singular >= 0) refuse("the model is singular");
    return self.model;
}

Out<double> log_prob(const BoundHmm& self, const In<std::int32_t>& codes, const In<std::int64_t>& offsets) {
    const auto& model = usable(self);
    const auto strings = checked_strings(codes, offsets, model.n_symbols);
    std::vector<double> out(static_cast<std::size_t>(strings.size()));
    {
        const nb::gil_scoped_release release;
        hmm_log_prob(model, strings, out, check_signals);
    }
    return to_python(std::move(out));
}

// Derivatives, a row a block of strings, and the log-probability of each string.
nb::tuple derivatives(const BoundHmm& self, const In<std::int32_t>& codes, const In<std::int64_t>& offsets,
                      std::int64_t block, bool transitions, std::int64_t most_rows) {
    const auto& model = usable(self);
    const auto strings = checked_strings(codes, offsets, model.n_symbols);
    if (block < 1) refuse("a block must have a string");
    block = std::min(block, std::max<std::int64_t>(strings.size(), 1));
    if (most_rows < 0) refuse("most_rows must not be negative");
    const auto width = static_cast<std::size_t>(hmm_width(model, transitions));
    std::vector<double> rows(static_cast<std::size_t>((strings.size() + block - 1) / block) * width);
    std::vector<double> logs(static_cast<std::size_t>(strings.size()));
    {
        const nb::gil_scoped_release release;
        hmm_derivatives(model, strings, {block, transitions, most_rows}, rows, logs, check_signals);
    }
    return nb::make_tuple(to_python(std::move(rows), width), to_python(std::move(logs)));
}

nb::tuple posterior(const BoundHmm& self, const In<std::int32_t>& codes, const In<std::int64_t>& offsets) {
    const auto& model = usable(self);
    const auto strings = checked_strings(codes, offsets, model.n_symbols);
    const auto n = static_cast<std::size_t>(model.n_states);
    std::vector<double> out(codes.size() * n), logs(static_cast<std::size_t>(strings.size()));
    {
        const nb::gil_scoped_release release;
        hmm_posterior(model, strings, out, logs, check_signals);
    }
    return nb::make_tuple(to_python(std::move(out), n), to_python(std::move(logs)));
}

nb::tuple best(const In<double>& start, const In2<double>& moves, const In2<double>& emission, const In<double>& end,
               const In<std::int32_t>& codes, const In<std::int64_t>& offsets) {
    const std::size_t n = start.size();
    if (n == 0 || n > 65535) refuse("there must be from 1 to 65535 states");
    if (moves.shape(0) != n || moves.shape(1) != n) refuse("the moves do not fit the states");
    if (emission.shape(0) != n || emission.shape(1) == 0) refuse("the emission does not fit the states");
    if (end.size() != n) refuse("end does not fit the states");
    const auto strings = checked_strings(codes, offsets, static_cast<std::int64_t>(emission.shape(1)));
    const HmmLogs logs{static_cast<std::int64_t>(n), view(start), {moves.data(), moves.size()},
                       {emission.data(), emission.size()}, view(end)};
    std::vector<std::int32_t> states(codes.size());
    std::vector<double> out(static_cast<std::size_t>(strings.size()));
    {
        const nb::gil_scoped_release release;
        hmm_best(logs, strings, states, out, check_signals);
    }
    return nb::make_tuple(to_python(std::move(states)), to_python(std::move(out)));
}

// The log-probability of each sequence, and empty arrays where nothing was wanted: the posteriors of steps, the
// derivatives by the initial probabilities, and those by the transition, a row a block of sequences.
nb::tuple of_densities(const In<double>& initial, const In2<double>& transition, const In2<double>& logs,
                       const In<std::int64_t>& offsets, bool posterior, bool derivatives, std::int64_t block) {
    const std::size_t n = initial.size(), n_steps = logs.shape(0);
    if (n == 0) refuse("there must be a state");
    if (transition.shape(0) != n || transition.shape(1) != n) refuse("the transition does not fit the states");
    if (logs.shape(1) != n) refuse("the densities do not fit the states");
    if (block < 1) refuse("a block must have a sequence");
    check_values(view(initial), "initial");
    check_values({transition.data(), transition.size()}, "transition");
    const std::span<const double> values{logs.data(), logs.size()};
    for (const double value : values) {
        if (!(value < std::numeric_limits<double>::infinity())) refuse("log-densities must be numbers or -inf");
    }
    const std::span<const std::int64_t> ends = view(offsets);
    if (ends.empty() || ends.front() != 0 || ends.back() != static_cast<std::int64_t>(n_steps)) {
        refuse("offsets do not fit the steps");
    }
    for (std::size_t i = 1; i < ends.size(); ++i) {
        if (ends[i - 1] > ends[i]) refuse("offsets must not fall");
    }
    const std::size_t size = ends.size() - 1;
    block = std::min(block, std::max<std::int64_t>(static_cast<std::int64_t>(size), 1));
    const auto of_block = static_cast<std::size_t>(block);
    std::vector<double> log_prob(size), shares(posterior ? n_steps * n : 0), first(derivatives ? size * n : 0);
    std::vector<double> moves(derivatives ? (size + of_block - 1) / of_block * n * n : 0);
    {
        const nb::gil_scoped_release release;
        hmm_of_densities({static_cast<std::int64_t>(n), view(initial), {transition.data(), transition.size()}, values, ends},
                         {log_prob, shares, first, moves, block}, check_signals);
    }
    return nb::make_tuple(to_python(std::move(log_prob)), to_python(std::move(shares), n), to_python(std::move(first), n),
                          to_python(std::move(moves), n * n));
}

}  // namespace

void bind_hmm(nb::module_& m) {
    nb::class_<BoundHmm>(m, "HiddenMarkov")
        .def("__init__",
             [](BoundHmm* self, const In<double>& initial, const In2<double>& transition, const In2<double>& emission,
                const std::optional<In<double>>& empty, const std::optional<In<double>>& final, double at_once,
                std::int64_t n_single) {
                 new (self) BoundHmm(make(initial, transition, emission, empty, final, at_once, n_single));
             },
             nb::arg("initial").noconvert(), nb::arg("transition").noconvert(), nb::arg("emission").noconvert(),
             nb::arg("empty").none().noconvert(), nb::arg("final").none().noconvert(), nb::arg("at_once"),
             nb::arg("n_single") = -1)
        .def_prop_ro("singular", [](const BoundHmm& self) { return self.model.singular; })
        .def_prop_ro("dense", [](const BoundHmm& self) { return self.model.dense; })
        .def("log_prob", &log_prob, nb::arg("codes").noconvert(), nb::arg("offsets").noconvert())
        .def("derivatives", &derivatives, nb::arg("codes").noconvert(), nb::arg("offsets").noconvert(), nb::arg("block"),
             nb::arg("transitions"), nb::arg("most_rows") = 0)
        .def("posterior", &posterior, nb::arg("codes").noconvert(), nb::arg("offsets").noconvert());
    m.def("hmm_of_densities", &of_densities, nb::arg("initial").noconvert(), nb::arg("transition").noconvert(),
          nb::arg("logs").noconvert(), nb::arg("offsets").noconvert(), nb::arg("posterior"), nb::arg("derivatives"),
          nb::arg("block") = 1);
    m.def("hmm_best", &best, nb::arg("start").noconvert(), nb::arg("moves").noconvert(), nb::arg("emission").noconvert(),
          nb::arg("end").noconvert(), nb::arg("codes").noconvert(), nb::arg("offsets").noconvert());
}

}  // namespace fishernet::bind
