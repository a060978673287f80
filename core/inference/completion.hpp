// Answers to the questions of missing components (missing_components.hpp) under a model: how probable the known cells are,
// and how probable each state of the missing ones. Small components are enumerated; others have a clique tree of their own,
// planned once for all runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "inference/factors.hpp"
#include "inference/inference.hpp"
#include "inference/missing_components.hpp"
#include "networks/sampling.hpp"

namespace fishernet {

// Where the cells of a factor lie that agree with what is known.
struct Slice {
    std::int32_t factor;
    std::vector<std::int64_t> offsets;  // in the factor's table, of each state of its missing variables, the last fastest
    std::vector<std::pair<std::int32_t, std::int64_t>> border;  // place in the component's border, stride
    std::size_t first;                  // in the answers to the component's questions

    std::int64_t base(std::span<const std::int32_t> states) const {
        std::int64_t at = 0;
        for (const auto& [place, stride] : border) at += stride * states[static_cast<std::size_t>(place)];
        return at;
    }
};

// Likely states of a component's members: all that are possible with their probabilities, or draws with equal shares.
struct Completed {
    std::vector<std::int64_t> first;   // completion of every question; one more
    std::vector<std::int64_t> begin;   // of every question: where the states of its completions begin
    std::vector<std::int32_t> states;  // of the members, one completion after the other
    std::vector<double> probabilities;  // of every completion; an impossible question has none
};

class Completion {
public:
    // `model` has the components' factors. Tables of more than `most` cells are not planned. The components outlive it.
    Completion(const MissingComponents& components, const FactorModel& model, double most, StopCheck check);

    bool complete() const { return too_large_ == 0; }  // or given up: it cannot be run
    double cells_held() const;

    // Takes other values of the same factors; not while it runs.
    void take(const FactorModel& model);

    const MissingComponents& components() const { return components_; }

    // Of every question: the logarithm of the sum of the factors' products over the states of its component; -inf where the
    // known cells are impossible.
    std::vector<double> log_sums(StopCheck check) const;

    // The same; and adds to counts[factor][cell] the probability of each cell, given what is known, times the question's
    // weight. Impossible questions add nothing.
    std::vector<double> add_expected(std::span<const double> weights, std::span<double* const> counts,
                                     StopCheck check) const;

    // Calls found(question, log sum, slices, probabilities), in the order of the questions, with the probabilities of the
    // cells of the slices one after the other.
    using Found = std::function<void(std::size_t, double, std::span<const Slice>, std::span<const double>)>;
    void for_each(const Found& found, StopCheck check) const;

    // The most probable states of the members of every question's component; none: it is impossible.
    std::vector<std::vector<std::int32_t>> most_probable(StopCheck check) const;

    // Puts drawn states into the missing cells of all columns; what no component holds stays missing.
    // False: a row is impossible. Row i is a function of (key, i, its question) alone.
    bool draw(std::uint64_t key, std::span<const Output> columns, StopCheck check) const;

    // Completions of every question: all that are possible, where the component has at most so many cells (65536 are the
    // most); otherwise as many draws.
    Completed completed(std::int64_t most, std::uint64_t key, StopCheck check) const;

private:
    struct Tree {
        Scope variables;  // what the local numbers mean: members, then border
        FactorModel model;
        std::unique_ptr<Inference> marginals;
    };
    struct Layout {
        std::vector<Slice> slices;
        std::size_t size = 0;              // cells of all slices
        std::int64_t cells = 0;            // of the members together; 0: a tree
        std::vector<std::uint16_t> places;  // of an enumerated component
        std::unique_ptr<Tree> tree;
    };
    struct Work {
        std::vector<double> values, joint;
    };

    static double cells_held_by(const Layout& layout);
    Layout lay_out(const MissingComponent& component, const FactorModel& model, double most) const;
    Slice slice_of(const MissingComponent& component, std::int32_t number, const Factor& factor) const;
    std::unique_ptr<Tree> tree_of(const MissingComponent& component, const FactorModel& model, double most) const;
    double cells_of(const MissingComponent& component) const;
    std::vector<std::uint16_t> places_of(const MissingComponent& component, std::int64_t cells) const;
    double sum(std::size_t question, Work& work) const;
    double sum(std::size_t question, std::span<const std::uint16_t> places, std::int64_t cells, Work& work) const;
    double sum_logs(const Layout& layout, std::span<const std::uint16_t> places, Work& work) const;
    double answer(std::size_t question, Work& work, std::span<double> cells) const;
    static Scope border_of(const Tree& tree, const MissingComponent& component);
    std::vector<std::int32_t> tree_states(std::size_t question) const;
    bool draw_from_tree(std::size_t question, std::int64_t n, std::uint64_t key, std::vector<std::int32_t>& states) const;
    bool draw_completions(std::size_t question, std::int64_t n, std::uint64_t key, Work& work,
                          std::vector<std::int32_t>& states) const;
    std::vector<std::int32_t> states_of(const MissingComponent& component, std::int64_t cell) const;

    const MissingComponents& components_;
    std::vector<std::int64_t> cardinalities_;
    std::vector<Layout> layouts_;  // one a component
    const FactorModel* model_;
    double too_large_ = 0;
};

}  // namespace fishernet
