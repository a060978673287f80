#include "gaussian/regression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/float_kernels.hpp"

namespace fishernet {

Regression::Regression(Products products, std::span<const std::int32_t> columns)
    : products_(products), columns_(columns.begin(), columns.end()), together_(columns.size()), rest_(columns.size()) {}

void Regression::load(std::int32_t column, double* into) const {
    const double* row = products_.row(column);
    for (std::size_t c = 0; c < columns_.size(); ++c) into[c] = row[columns_[c]];
}

void Regression::begin(std::int32_t child) {
    child_ = child;
    members_.clear();
    rows_.clear();
    inverse_.clear();
    shares_.clear();
    slopes_.clear();
    spreads_.clear();
    start();
}

// What there is before the first member.
void Regression::start() {
    load(child_, together_.data());
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        const auto column = columns_[c];
        rest_[c] = column == child_ ? std::numeric_limits<double>::infinity() : products_.row(column)[column];
    }
    residual_ = products_.row(child_)[child_];
}

// What member t explains, taken off what the members before it left.
void Regression::take_off(std::int32_t t) {
    const auto width = static_cast<std::int64_t>(columns_.size());
    const double* row = rows_.data() + t * width;
    const double share = shares_[t];
    for (std::int64_t c = 0; c < width; ++c) {
        together_[c] -= share * row[c];
        rest_[c] -= row[c] * row[c];
    }
    rest_[members_[t]] = std::numeric_limits<double>::infinity();
    residual_ -= share * share;
    const double* inverse = inverse_row(t);
    slopes_.push_back(0);
    spreads_.push_back(0);
    for (std::int32_t m = 0; m <= t; ++m) {
        slopes_[m] += inverse[m] * share;
        spreads_[m] += inverse[m] * inverse[m];
    }
}

void Regression::add(std::int32_t place) {
    const auto& kernels = float_kernels();
    const auto width = static_cast<std::int64_t>(columns_.size());
    const auto t = size();
    const double scale = 1 / std::sqrt(rest_[place]);
    rows_.resize(static_cast<std::size_t>((t + 1) * width));
    double* row = rows_.data() + t * width;
    load(columns_[place], row);
    inverse_.resize(inverse_.size() + static_cast<std::size_t>(t) + 1, 0.0);
    double* inverse = inverse_.data() + (inverse_.size() - static_cast<std::size_t>(t) - 1);
    for (std::int32_t s = 0; s < t; ++s) {
        const double* before = rows_.data() + s * width;
        const double along = before[place];
        kernels.add_scaled(row, before, -along, width);
        kernels.add_scaled(inverse, inverse_row(s), -along * scale, s + 1);
    }
    kernels.scale(row, scale, width);
    inverse[t] = scale;
    shares_.push_back(together_[place] * scale);
    members_.push_back(place);
    take_off(t);
}

void Regression::remove(std::int32_t position) {
    const std::vector<std::int32_t> later(members_.begin() + position + 1, members_.end());
    const auto kept = static_cast<std::size_t>(position);
    members_.resize(kept);
    rows_.resize(kept * columns_.size());
    inverse_.resize(kept * (kept + 1) / 2);
    shares_.resize(kept);
    slopes_.clear();
    spreads_.clear();
    start();
    for (std::int32_t t = 0; t < position; ++t) take_off(t);
    for (const auto place : later) add(place);
}

}  // namespace fishernet
