#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

#include "base/pool.hpp"
#include "bind/arrays.hpp"
#include "bind/turns.hpp"
#include "search/layer_walk.hpp"

namespace fishernet::bind {
namespace {

// Several walks over the same networks.
struct Walks {
    std::unique_ptr<const std::vector<ParentChoices>> choices;  // to which the walks refer
    std::vector<LayerWalk> walks;
};

using BoundWalks = OneAtATime<Walks>;

constexpr std::size_t most_in_a_mask = 63;

std::vector<ParentChoices> choices_of(const Families& families, std::span<const double> scores, std::size_t n) {
    std::vector<ParentChoices> choices(n);
    for (std::size_t f = 0; f < scores.size(); ++f) {
        auto& others = choices[families.children[f]].others;
        for (const auto p : families.parents_of(f)) {
            if (!holds(others, p)) insert_sorted(others, p);
        }
        if (others.size() > most_in_a_mask) refuse("a child has too many variables that may be its parents");
        if (!std::isfinite(scores[f])) refuse("a score is not finite");
    }
    for (std::size_t f = 0; f < scores.size(); ++f) {
        auto& [others, sets] = choices[families.children[f]];
        std::uint64_t mask = 0;
        for (const auto p : families.parents_of(f)) {
            mask |= std::uint64_t{1} << (std::lower_bound(others.begin(), others.end(), p) - others.begin());
        }
        sets.push_back({mask, scores[f]});
    }
    for (auto& [others, sets] : choices) {
        std::sort(sets.begin(), sets.end(), [](auto& a, auto& b) { return a.set < b.set; });
        const auto same = [](auto& a, auto& b) { return a.set == b.set; };
        if (std::adjacent_find(sets.begin(), sets.end(), same) != sets.end()) refuse("a family comes twice");
        std::stable_sort(sets.begin(), sets.end(), [](auto& a, auto& b) { return a.score > b.score; });
    }
    return choices;
}

// The parents of each variable in each start.
std::vector<ParentLists> starts_of(const Families& families, std::size_t n) {
    if (families.size() == 0 || families.size() % n != 0) refuse("a start has a family for each variable");
    std::vector<ParentLists> starts(families.size() / n, ParentLists(n));
    for (std::size_t f = 0; f < families.size(); ++f) {
        if (families.children[f] != static_cast<std::int32_t>(f % n)) refuse("a start's families come in order");
        const auto parents = families.parents_of(f);
        starts[f / n][f % n].assign(parents.begin(), parents.end());
    }
    return starts;
}

void make(BoundWalks* self, std::size_t n, const In<std::int32_t>& children, const In<std::int64_t>& offsets,
          const In<std::int32_t>& parents, const In<double>& scores, const In<std::int32_t>& start_children,
          const In<std::int64_t>& start_offsets, const In<std::int32_t>& start_parents, std::uint64_t key) {
    const Families families = checked_families(children, offsets, parents, n);
    const Families of_starts = checked_families(start_children, start_offsets, start_parents, n);
    if (n == 0 || scores.size() != children.size()) refuse("one score for each family is needed");
    const auto starts = starts_of(of_starts, n);
    auto choices = std::make_unique<std::vector<ParentChoices>>(choices_of(families, view(scores), n));
    std::vector<LayerWalk> walks;
    for (const auto& start : starts) {
        walks.emplace_back(*choices, start, key, static_cast<std::uint32_t>(walks.size()));
        if (!walks.back().is_possible()) refuse("a start has a cycle, or parents that are no choice");
    }
    new (self) BoundWalks(Walks{std::move(choices), std::move(walks)});
}

// Takes each walk on for so many sweeps, in parallel.
void advance(BoundWalks& self, std::int64_t n_sweeps) {
    if (n_sweeps < 0) refuse("the number of sweeps is negative");
    const Turn turn(self);
    const nb::gil_scoped_release release;
    auto& walks = turn->walks;
    const std::int64_t target = walks.front().n_sweeps() + n_sweeps;
    const auto is_there = [&](const LayerWalk& walk) { return walk.n_sweeps() >= target; };
    const auto work = [&](std::int64_t i) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
        while (!is_there(walks[i]) && std::chrono::steady_clock::now() < end) walks[i].step();
    };
    while (!std::all_of(walks.begin(), walks.end(), is_there)) {
        run_tasks(static_cast<std::int64_t>(walks.size()), work, check_signals);
    }
}

// (n_walks, n ** 2): the probabilities of the arcs, summed over the sweeps.
Out2<double> arcs(BoundWalks& self) {
    const Turn turn(self);
    std::vector<double> all;
    for (const auto& walk : turn->walks) all.insert(all.end(), walk.arcs().begin(), walk.arcs().end());
    const std::size_t n = turn->choices->size();
    return to_python(std::move(all), n * n);
}

std::int64_t n_sweeps(BoundWalks& self) {
    const Turn turn(self);
    return turn->walks.front().n_sweeps();
}

}  // namespace

void bind_layer_walk(nb::module_& m) {
    nb::class_<BoundWalks>(m, "LayerWalks")
        .def("__init__", &make, nb::arg("n"), nb::arg("children").noconvert(), nb::arg("offsets").noconvert(),
             nb::arg("parents").noconvert(), nb::arg("scores").noconvert(), nb::arg("start_children").noconvert(),
             nb::arg("start_offsets").noconvert(), nb::arg("start_parents").noconvert(), nb::arg("key"))
        .def("advance", &advance, nb::arg("n_sweeps"))
        .def("arcs", &arcs)
        .def_prop_ro("n_sweeps", &n_sweeps);
}

}  // namespace fishernet::bind
