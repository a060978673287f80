#include "inference/factors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fishernet {

void FactorModel::add(Scope scope, const double* values, std::int32_t child) {
    Factor factor;
    factor.strides.assign(scope.size(), 1);
    for (std::size_t axis = scope.size(); axis-- > 0;) {
        factor.strides[axis] = factor.cells;
        factor.cells *= cardinalities[scope[axis]];
    }
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    for (std::int64_t i = 0; i < factor.cells; ++i) {
        if (values[i] > 0) low = std::min(low, values[i]);
        high = std::max(high, values[i]);
    }
    factor.lowest = high > 0 ? std::log2(low) : 0;
    factor.highest = high > 0 ? std::log2(high) : 0;
    factor.scope = std::move(scope);
    factor.values = values;
    factor.child = child;
    if (child >= 0) {
        by_child_.resize(cardinalities.size(), -1);
        by_child_[child] = static_cast<std::int32_t>(factors.size());
        ++conditionals_;
    }
    factors.push_back(std::move(factor));
}

const double* FactorModel::logs(std::size_t factor) const {
    std::call_once(logs_->made, [this] {
        std::vector<std::vector<double>> made;
        for (const auto& f : factors) {
            auto& logs = made.emplace_back(static_cast<std::size_t>(f.cells));
            for (std::int64_t i = 0; i < f.cells; ++i) logs[i] = std::log(f.values[i]);
        }
        logs_->of_factors = std::move(made);
    });
    return logs_->of_factors[factor].data();
}

void FactorModel::adopt(const Factor& factor, Scope scope) {
    factors.push_back(factor);
    factors.back().scope = std::move(scope);
    factors.back().child = -1;
}

void FactorModel::revalue(std::size_t factor, const Factor& from) {
    factors[factor].values = from.values;
    factors[factor].lowest = from.lowest;
    factors[factor].highest = from.highest;
    logs_ = std::make_unique<Logs>();
}

std::vector<bool> FactorModel::relevant(std::span<const std::int32_t> of) const {
    std::vector<bool> found(size(), !directed());
    if (!directed()) return found;
    Scope open;
    const auto enter = [&](std::int32_t v) {
        if (found[v]) return;
        found[v] = true;
        open.push_back(v);
    };
    for (const auto v : of) enter(v);
    while (!open.empty()) {
        const auto v = open.back();
        open.pop_back();
        for (const auto p : conditional(v).scope) enter(p);
    }
    return found;
}

}  // namespace fishernet
