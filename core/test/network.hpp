// Small random networks for the core's tests.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "inference/factors.hpp"

namespace fishernet {

// A random network over variables 0 .. n - 1, parents before children.
struct TestNetwork {
    FactorModel model;
    std::vector<std::vector<double>> tables;

    TestNetwork(unsigned seed, const std::vector<std::int64_t>& cardinalities, std::size_t most_parents)
        : model(cardinalities) {
        std::mt19937 random(seed);
        tables.reserve(cardinalities.size());
        for (std::size_t v = 0; v < cardinalities.size(); ++v) {
            Scope scope;
            for (std::size_t p = 0; p < v && scope.size() < most_parents; ++p) {
                if (random() % 2) scope.push_back(static_cast<std::int32_t>(v - 1 - p));
            }
            std::int64_t rows = 1;
            for (const auto p : scope) rows *= cardinalities[static_cast<std::size_t>(p)];
            scope.push_back(static_cast<std::int32_t>(v));
            std::vector<double> table;
            for (std::int64_t row = 0; row < rows; ++row) {
                std::vector<double> numbers;
                double sum = 0;
                for (std::int64_t k = 0; k < cardinalities[v]; ++k) {
                    numbers.push_back(1 + random() % 99);
                    sum += numbers.back();
                }
                for (const auto x : numbers) table.push_back(x / sum);
            }
            tables.push_back(std::move(table));
            model.add(scope, tables.back().data(), static_cast<std::int32_t>(v));
        }
    }

    std::int64_t n_states() const {
        std::int64_t n = 1;
        for (const auto r : model.cardinalities) n *= r;
        return n;
    }

    std::vector<std::int32_t> states(std::int64_t cell) const {
        std::vector<std::int32_t> out(model.size());
        for (std::size_t v = model.size(); v-- > 0; cell /= model.cardinalities[v]) {
            out[v] = static_cast<std::int32_t>(cell % model.cardinalities[v]);
        }
        return out;
    }

    double probability(const std::vector<std::int32_t>& x) const {
        double p = 1;
        for (const auto& factor : model.factors) p *= factor.values[place(factor.scope, x)];
        return p;
    }

    std::size_t place(const Scope& scope, const std::vector<std::int32_t>& x) const {
        std::int64_t at = 0;
        for (const auto v : scope) at = at * model.cardinalities[static_cast<std::size_t>(v)] + x[static_cast<std::size_t>(v)];
        return static_cast<std::size_t>(at);
    }
};

}  // namespace fishernet
