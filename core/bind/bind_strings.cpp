#include <algorithm>
#include <utility>

#include "bind/arrays.hpp"
#include "sequences/hmm_kernel.hpp"
#include "sequences/pair_kernel.hpp"

namespace fishernet::bind {
namespace {

void check_weights(std::span<const double> values, const char* what) {
    for (const double value : values) {
        if (!(value >= 0) || !(value < 1e300)) refuse(std::string(what) + " must be finite and not negative");
    }
}

template <class T>
std::vector<T> copy(std::span<const T> values) {
    return {values.begin(), values.end()};
}

// Starts of n runs that together are all of `size`.
void check_starts(std::span<const std::int64_t> starts, std::int64_t size, const char* what) {
    const bool whole = !starts.empty() && starts.front() == 0 && starts.back() == size;
    if (!whole || !std::is_sorted(starts.begin(), starts.end())) refuse(std::string(what) + " do not fit");
}

void make_model(StringModel* self, const In2<double>& emission, const In<double>& empty, const In<double>& initial,
                const In<double>& end, double nothing, const In<std::int64_t>& group_starts,
                const In<std::int64_t>& starts, const In<std::int32_t>& from, const In<double>& weights) {
    const std::size_t n = emission.shape(0);
    const auto n_states = static_cast<std::int64_t>(n);
    if (emission.shape(1) < 1) refuse("there must be a symbol");
    if (empty.size() != n || initial.size() != n || end.size() != n) refuse("one number a state is needed");
    check_starts(view(group_starts), n_states, "the starts of the groups");
    check_starts(view(starts), static_cast<std::int64_t>(from.size()), "the starts of the moves");
    if (starts.size() != n + 1 || weights.size() != from.size()) refuse("the moves do not fit");
    const auto n_groups = static_cast<std::int64_t>(group_starts.size()) - 1;
    for (const auto group : view(from)) {
        if (group < 0 || group >= n_groups) refuse("a group is out of range");
    }
    StringModel model;
    model.emission.assign(emission.data(), emission.data() + n * emission.shape(1));
    model.shifts.assign(emission.shape(1), 0.0);
    model.empty = copy(view(empty));
    model.group_starts = copy(view(group_starts));
    model.starts = copy(view(starts));
    model.from = copy(view(from));
    model.weights = copy(view(weights));
    model.initial = copy(view(initial));
    model.end = copy(view(end));
    model.nothing = nothing;
    for (const auto& values : {model.emission, model.empty, model.weights, model.initial, model.end, {nothing}}) {
        check_weights(values, "weights");
    }
    prepare(model);
    new (self) StringModel(std::move(model));
}

void check_codes(const StringModel& model, std::span<const std::int32_t> codes) {
    const auto n = model.n_symbols();
    for (const auto code : codes) {
        if (code < 0 || code >= n) refuse("a symbol is out of range");
    }
}

FlatStrings checked_strings(const StringModel& model, const In<std::int32_t>& codes, const In<std::int64_t>& offsets) {
    check_starts(view(offsets), static_cast<std::int64_t>(codes.size()), "the offsets of the strings");
    check_codes(model, view(codes));
    return {view(codes), view(offsets)};
}

void check_numbers(std::span<const std::int64_t> numbers, std::int64_t n) {
    for (const auto number : numbers) {
        if (number < 0 || number >= n) refuse("a string's number is out of range");
    }
}

// log kernel of string x_of[k] of x and y_of[k] of y
Out<double> pairs(const StringModel& self, const In<std::int32_t>& x_codes, const In<std::int64_t>& x_offsets,
                  const In<std::int32_t>& y_codes, const In<std::int64_t>& y_offsets, const In<std::int64_t>& x_of,
                  const In<std::int64_t>& y_of) {
    const FlatStrings x = checked_strings(self, x_codes, x_offsets);
    const FlatStrings y = checked_strings(self, y_codes, y_offsets);
    if (x_of.size() != y_of.size()) refuse("pairs need two strings");
    check_numbers(view(x_of), x.size());
    check_numbers(view(y_of), y.size());
    std::vector<double> out(x_of.size());
    {
        const nb::gil_scoped_release release;
        pair_logs(self, x, y, view(x_of), view(y_of), out.data(), check_signals);
    }
    return to_python(std::move(out));
}

EqualStrings checked_block(const StringModel& model, const In2<std::int32_t>& codes) {
    const std::span<const std::int32_t> all(codes.data(), codes.shape(0) * codes.shape(1));
    check_codes(model, all);
    return {all, static_cast<std::int64_t>(codes.shape(0)), static_cast<std::int64_t>(codes.shape(1))};
}

Out2<double> equal_lengths(const StringModel& self, const In2<std::int32_t>& x_codes, const In2<std::int32_t>& y_codes,
                           bool symmetric) {
    const EqualStrings x = checked_block(self, x_codes);
    const EqualStrings y = checked_block(self, y_codes);
    if (x.length != y.length) refuse("strings must have one length");
    if (symmetric && x.n != y.n) refuse("a symmetric matrix needs the same strings twice");
    std::vector<double> out(static_cast<std::size_t>(x.n * y.n));
    {
        const nb::gil_scoped_release release;
        equal_length_logs(self, x, y, symmetric, out.data(), check_signals);
    }
    return to_python(std::move(out), static_cast<std::size_t>(y.n));
}

Out<double> diagonal(const StringModel& self, const In2<std::int32_t>& codes) {
    const EqualStrings x = checked_block(self, codes);
    std::vector<double> out(static_cast<std::size_t>(x.n));
    {
        const nb::gil_scoped_release release;
        equal_length_diagonal(self, x, out.data(), check_signals);
    }
    return to_python(std::move(out));
}

}  // namespace

void bind_strings(nb::module_& m) {
    nb::class_<StringModel>(m, "StringModel")
        .def("__init__", &make_model, nb::kw_only(), nb::arg("emission").noconvert(), nb::arg("empty").noconvert(),
             nb::arg("initial").noconvert(), nb::arg("end").noconvert(), nb::arg("nothing"),
             nb::arg("group_starts").noconvert(), nb::arg("starts").noconvert(), nb::arg("from_").noconvert(),
             nb::arg("weights").noconvert())
        .def("pairs", &pairs, nb::kw_only(), nb::arg("x_codes").noconvert(), nb::arg("x_offsets").noconvert(),
             nb::arg("y_codes").noconvert(), nb::arg("y_offsets").noconvert(), nb::arg("x_of").noconvert(),
             nb::arg("y_of").noconvert())
        .def("equal_lengths", &equal_lengths, nb::arg("x").noconvert(), nb::arg("y").noconvert(), nb::arg("symmetric"))
        .def("diagonal", &diagonal, nb::arg("x").noconvert());
}

}  // namespace fishernet::bind
