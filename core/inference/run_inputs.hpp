// What one run multiplies: the factors at what is known, and the likelihoods, in one kind of numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "inference/block_products.hpp"
#include "inference/inference.hpp"

namespace fishernet {

// log2 of the smallest positive value; 0 where there is none.
inline double lowest_power(std::span<const double> values) {
    double low = std::numeric_limits<double>::infinity();
    for (const auto v : values) {
        if (v > 0) low = std::min(low, v);
    }
    return std::isinf(low) ? 0 : std::log2(low);
}

template <class Domain>
class RunInputs {
public:
    RunInputs(const FactorModel& model, std::span<const std::int64_t> likelihood_sizes, const Findings& findings)
        : model_(model), states_(findings.states) {
        for (std::size_t s = 0; s < findings.likelihoods.size(); ++s) {
            take_likelihood({findings.likelihoods[s], static_cast<std::size_t>(likelihood_sizes[s])});
        }
    }

    std::span<const std::int32_t> states() const { return states_; }  // of all variables
    std::int64_t exponents() const { return exponents_; }             // what was taken out of likelihoods, base 2

    const double* values_of(const Piece& piece) const {
        const double* values = piece.factor < 0       ? likelihoods_[static_cast<std::size_t>(piece.soft)].data()
                               : Domain::logarithmic ? model_.logs(static_cast<std::size_t>(piece.factor))
                                                      : factor_of(piece).values;
        for (const auto& [variable, stride] : piece.observed) values += stride * states_[static_cast<std::size_t>(variable)];
        return values;
    }

    // The same, of factors too in numbers that are at most 1: others are divided by a power of two.
    const double* scaled_values_of(const Piece& piece) {
        if (piece.factor < 0 || factor_of(piece).highest <= 0) return values_of(piece);
        const auto& factor = factor_of(piece);
        const int exponent = static_cast<int>(std::ceil(factor.highest));
        auto& values = scaled_.emplace_back(factor.values, factor.values + factor.cells);
        for (auto& value : values) value = std::ldexp(value, -exponent);
        exponents_ += exponent;
        return values.data() + (values_of(piece) - factor.values);
    }

    // Base 2 logarithm of the smallest positive value of a piece in units of its largest, or less.
    double lowest_of(const Piece& piece) const {
        if (piece.factor < 0) return lowest_[static_cast<std::size_t>(piece.soft)];
        const auto& factor = factor_of(piece);
        return std::min(0.0, factor.lowest) - std::max(0.0, factor.highest);
    }

private:
    const Factor& factor_of(const Piece& piece) const { return model_.factors[static_cast<std::size_t>(piece.factor)]; }

    // Logarithms, or numbers of which the largest is from 1/2 to 1.
    void take_likelihood(std::span<const double> given) {
        std::vector<double> taken(given.begin(), given.end());
        if constexpr (Domain::logarithmic) {
            for (auto& value : taken) value = std::log(value);
        } else {
            int exponent = 0;
            std::frexp(*std::max_element(given.begin(), given.end()), &exponent);
            for (auto& value : taken) value = std::ldexp(value, -exponent);
            exponents_ += exponent;
            lowest_.push_back(lowest_power(given) - exponent);
        }
        likelihoods_.push_back(std::move(taken));
    }

    const FactorModel& model_;
    std::span<const std::int32_t> states_;
    std::vector<std::vector<double>> likelihoods_;
    std::vector<std::vector<double>> scaled_;
    std::vector<double> lowest_;  // of the likelihoods: log2 of the smallest positive number in units of the largest
    std::int64_t exponents_ = 0;
};

}  // namespace fishernet
