// Pseudo-Gibbs sampling (Takabatake and Akaho, 2021, Algorithms 1 to 3): one variable at a time is redrawn from its conditional, given the rest.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interrupt.hpp"
#include "networks/code_tree.hpp"
#include "networks/sampling.hpp"

namespace fishernet {

// One factor of a conditional that is a product: its value for state k is values[sum of code * stride + k * child_stride].
struct ConditionalFactor {
    std::vector<std::int32_t> others;
    std::vector<std::int64_t> strides;
    std::int64_t child_stride = 1;
    const double* values = nullptr;
};

// What is updated: thresholds by group, or factors to be multiplied.
struct Updatable {
    std::int32_t child = 0;
    std::int32_t states = 1;
    std::vector<std::int32_t> inputs;
    std::vector<std::uint32_t> strides;
    std::vector<std::int32_t> map;                // configuration -> group; empty: the same
    CodeTree tree;                                // the group instead; empty: none
    std::vector<std::uint32_t> thresholds;        // states - 1 a group
    std::vector<ConditionalFactor> factors;       // instead of all that
};

struct Scan {
    std::vector<std::int32_t> free;               // the variables that are updated, by position among the updatables
    bool ordered = false;                         // one after the other; else at random,
    std::vector<double> weights;                  // with these probabilities; empty: equal ones
};

struct ChainPlan {
    std::int64_t rows = 0;                        // of all chains together, divided as evenly as can be
    std::int64_t chains = 1;
    std::int64_t burn_in = 0;                     // updates before the first row
    std::int64_t thin = 1;                        // updates between two rows
};

// Rows come chain after chain; a row is written before the updates that follow it. `starts` has one row of states a
// chain. Chain c is a function of (key, c) and its start alone.
void sample_gibbs(std::span<const Updatable> conditionals, const Scan& scan, const ChainPlan& plan,
                  std::span<const std::int32_t> starts, std::span<const Output> columns, std::uint64_t key,
                  StopCheck check);

}  // namespace fishernet
