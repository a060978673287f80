// A model as a product of factors: the conditionals of a Bayesian network, or the potentials of a Markov network.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "inference/elimination.hpp"

namespace fishernet {

struct Factor {
    Scope scope;
    std::vector<std::int64_t> strides;  // in the scope's order; the last axis is the fastest
    std::int64_t cells = 1;
    const double* values = nullptr;
    std::int32_t child = -1;  // whose conditional it is; -1: a potential
    double lowest = 0;        // log2 of the smallest positive value
    double highest = 0;       // log2 of the largest value
};

class FactorModel {
public:
    explicit FactorModel(std::vector<std::int64_t> variable_sizes) : cardinalities(std::move(variable_sizes)) {}

    // The values must outlive the model.
    void add(Scope scope, const double* values, std::int32_t child);

    // A factor of another model as a potential of this one, over variables of this one.
    void adopt(const Factor& factor, Scope scope);
    // Takes the values of a factor of the same shape instead; not while others read the model.
    void revalue(std::size_t factor, const Factor& from);

    // The natural logarithms of a factor's values; those of all factors are made at the first call.
    const double* logs(std::size_t factor) const;

    // Every variable has one conditional.
    bool directed() const { return conditionals_ == factors.size() && factors.size() == cardinalities.size(); }

    // The variables on whose factors the joint distribution of `of` depends: their ancestors and themselves, in a
    // directed model; all, in others.
    std::vector<bool> relevant(std::span<const std::int32_t> of) const;

    std::size_t size() const { return cardinalities.size(); }
    bool has_conditional(std::int32_t variable) const { return !by_child_.empty() && by_child_[variable] >= 0; }
    const Factor& conditional(std::int32_t variable) const { return factors[by_child_[variable]]; }

    std::vector<std::int64_t> cardinalities;
    std::vector<Factor> factors;

private:
    std::size_t conditionals_ = 0;
    std::vector<std::int32_t> by_child_;
    struct Logs {
        std::once_flag made;
        std::vector<std::vector<double>> of_factors;
    };
    std::unique_ptr<Logs> logs_ = std::make_unique<Logs>();
};

}  // namespace fishernet
