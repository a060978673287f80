#include "inference/label_plan.hpp"

namespace fishernet {

Scope joined(const Scope& a, const Scope& b) {
    Scope both;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return both;
}

double cells_of(const Scope& scope, std::span<const std::int64_t> cardinalities) {
    double cells = 1;
    for (const auto v : scope) cells *= static_cast<double>(cardinalities[at(v)]);
    return cells;
}

std::vector<std::uint32_t> offsets(const Scope& scope, std::span<const std::int64_t> cardinalities,
                                   std::span<const std::int64_t> strides) {
    std::vector<std::uint32_t> found{0};
    for (const auto v : scope) {
        std::vector<std::uint32_t> next;
        next.reserve(found.size() * static_cast<std::size_t>(cardinalities[at(v)]));
        for (const auto before : found) {
            for (std::int64_t k = 0; k < cardinalities[at(v)]; ++k) {
                next.push_back(before + static_cast<std::uint32_t>(k * strides[at(v)]));
            }
        }
        found = std::move(next);
    }
    return found;
}

std::vector<std::int64_t> strides_of(const Scope& labels, std::span<const std::int64_t> cardinalities) {
    std::vector<std::int64_t> strides(cardinalities.size(), 0);
    std::int64_t stride = 1;
    for (std::size_t i = labels.size(); i-- > 0;) {
        strides[at(labels[i])] = stride;
        stride *= cardinalities[at(labels[i])];
    }
    return strides;
}

LabelPlan::LabelPlan(const std::vector<Scope>& scopes, std::span<const std::int64_t> cardinalities, const Scope& keep,
                     bool held)
    : keep_(keep), most_(cells_of(keep, cardinalities)) {
    std::vector<std::pair<std::size_t, Scope>> pool;
    Scope left;
    for (std::size_t f = 0; f < scopes.size(); ++f) {
        pool.emplace_back(f, scopes[f]);
        left = joined(left, scopes[f]);
    }
    std::erase_if(left, [&](std::int32_t v) { return scope_has(keep, v); });
    std::size_t n = scopes.size();
    while (!left.empty()) {
        std::int32_t best = -1;
        double fewest = 0;
        Scope scope;
        for (const auto v : left) {
            Scope with;
            for (const auto& [_, of] : pool) {
                if (scope_has(of, v)) with = joined(with, of);
            }
            const double cells = cells_of(with, cardinalities);
            if (best < 0 || cells < fewest) best = v, fewest = cells, scope = std::move(with);
        }
        most_ = std::max(most_, fewest);
        std::erase(left, best);
        Scope rest = scope;
        std::erase(rest, best);
        add(pool, best, std::move(scope), cardinalities, held);
        pool.emplace_back(n++, std::move(rest));
    }
    add(pool, -1, keep, cardinalities, held);
}

void LabelPlan::add(std::vector<std::pair<std::size_t, Scope>>& pool, std::int32_t variable, Scope scope,
                    std::span<const std::int64_t> cardinalities, bool held) {
    Step step{variable, std::move(scope), {}, {}};
    for (const auto& [number, of] : pool) {
        if (variable >= 0 && !scope_has(of, variable)) continue;
        step.inputs.push_back(number);
        if (held) step.offsets.push_back(offsets(step.scope, cardinalities, strides_of(of, cardinalities)));
    }
    std::erase_if(pool, [&](const auto& one) { return variable < 0 || scope_has(one.second, variable); });
    if (held) {
        step.cells = static_cast<std::size_t>(cells_of(step.scope, cardinalities));
        if (variable >= 0) {
            step.states = static_cast<std::size_t>(cardinalities[at(variable)]);
            step.inner = static_cast<std::size_t>(strides_of(step.scope, cardinalities)[at(variable)]);
        }
    }
    steps_.push_back(std::move(step));
}

}  // namespace fishernet
