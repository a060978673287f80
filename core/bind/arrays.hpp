// What every bind file needs: array types that are the contract, and the one place that owns memory handed to Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "counts/families.hpp"

namespace fishernet::bind {

namespace nb = nanobind;

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;
template <class T>
using Out2 = nb::ndarray<nb::numpy, T, nb::ndim<2>, nb::c_contig>;

template <class T>
std::span<const T> view(const In<T>& array) {
    return {array.data(), array.size()};
}

// Gives a vector to Python without a copy.
template <class T>
Out<T> to_python(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Out<T>(kept->data(), {kept->size()}, owner);
}

template <class T>
Out2<T> to_python(std::vector<T>&& values, std::size_t rows, std::size_t columns) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Out2<T>(kept->data(), {rows, columns}, owner);
}

template <class T>
Out2<T> to_python(std::vector<T>&& values, std::size_t columns) {
    const std::size_t rows = columns ? values.size() / columns : 0;
    return to_python(std::move(values), rows, columns);
}

// Throws what Python raised, when a signal (Ctrl-C) has come.
inline void check_signals() {
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

[[noreturn]] inline void refuse(const std::string& what) { throw std::invalid_argument(what); }

// Positions that rise, from 0 on.
inline void require_ascending(std::span<const std::int32_t> positions) {
    std::int32_t last = -1;
    for (const auto v : positions) {
        if (v <= last) refuse("positions must be ascending");
        last = v;
    }
}

// Families whose every position is within range: children of n variables, parents ascending and without the child.
inline Families checked_families(const In<std::int32_t>& children, const In<std::int64_t>& offsets,
                                 const In<std::int32_t>& parents, std::size_t n) {
    const Families families{view(children), view(offsets), view(parents)};
    if (offsets.size() != children.size() + 1 || families.offsets.front() != 0 ||
        families.offsets.back() != static_cast<std::int64_t>(parents.size())) {
        refuse("offsets do not fit the families");
    }
    for (std::size_t f = 0; f < families.size(); ++f) {
        if (families.offsets[f] > families.offsets[f + 1]) refuse("offsets must not fall");
    }
    for (std::size_t f = 0; f < families.size(); ++f) {
        const auto child = families.children[f];
        if (child < 0 || static_cast<std::size_t>(child) >= n) refuse("a child is out of range");
        std::int32_t last = -1;
        for (const auto p : families.parents_of(f)) {
            if (p <= last || static_cast<std::size_t>(p) >= n || p == child) {
                refuse("parents must be ascending, in range and without the child");
            }
            last = p;
        }
    }
    return families;
}

// Sets of n variables, each ascending and in range.
inline std::vector<std::vector<std::int32_t>> checked_sets(const In<std::int64_t>& offsets,
                                                           const In<std::int32_t>& members, std::size_t n) {
    std::vector<std::vector<std::int32_t>> sets;
    if (offsets.size() == 0 || offsets.data()[0] != 0 ||
        offsets.data()[offsets.size() - 1] != static_cast<std::int64_t>(members.size())) {
        refuse("offsets do not fit the sets");
    }
    if (!std::is_sorted(offsets.data(), offsets.data() + offsets.size())) refuse("offsets must not fall");
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
        sets.emplace_back(members.data() + offsets.data()[s], members.data() + offsets.data()[s + 1]);
        std::int32_t last = -1;
        for (const auto v : sets.back()) {
            if (v <= last || static_cast<std::size_t>(v) >= n) refuse("a set must be ascending and in range");
            last = v;
        }
    }
    return sets;
}

void bind_threads(nb::module_& m);
void bind_counts(nb::module_& m);
void bind_scores(nb::module_& m);
void bind_search(nb::module_& m);
void bind_exact(nb::module_& m);
void bind_layer_walk(nb::module_& m);
void bind_comparison(nb::module_& m);
void bind_completion(nb::module_& m);
void bind_conditionals(nb::module_& m);
void bind_gaussian(nb::module_& m);
void bind_gibbs(nb::module_& m);
void bind_hidden_forest(nb::module_& m);
void bind_hmm(nb::module_& m);
void bind_inference(nb::module_& m);
void bind_kernels(nb::module_& m);
void bind_knn(nb::module_& m);
void bind_mixed(nb::module_& m);
void bind_mixed_scores(nb::module_& m);
void bind_select(nb::module_& m);
void bind_stationary(nb::module_& m);
void bind_trees(nb::module_& m);
void bind_strings(nb::module_& m);

}  // namespace fishernet::bind
