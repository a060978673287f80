// A product of factors as Python hands it over.
#pragma once

#include <vector>

#include "bind/arrays.hpp"
#include "inference/factors.hpp"

namespace fishernet::bind {

// A product of factors over variables 0 .. n - 1. The arrays of values are kept alive by it. The first plan ends the
// list: plans read it without the GIL.
struct Factors {
    explicit Factors(std::vector<std::int64_t> cardinalities) : model(std::move(cardinalities)) {}
    FactorModel model;
    std::vector<In<double>> kept;
    bool used = false;
};

inline void check_scope(const FactorModel& model, std::span<const std::int32_t> scope) {
    std::vector<bool> met(model.size(), false);
    for (const auto v : scope) {
        if (v < 0 || static_cast<std::size_t>(v) >= model.size()) refuse("a variable is out of range");
        if (met[static_cast<std::size_t>(v)]) refuse("a variable comes twice");
        met[static_cast<std::size_t>(v)] = true;
    }
}

}  // namespace fishernet::bind
