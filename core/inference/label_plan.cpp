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

LabelOrder label_order(const std::vector<Scope>& scopes, std::span<const std::int64_t> cardinalities, const Scope& keep) {
    auto pool = scopes;
    Scope left;
    for (const auto& scope : scopes) left = joined(left, scope);
    std::erase_if(left, [&](std::int32_t v) { return scope_has(keep, v); });
    std::vector<Scope> tables(cardinalities.size());  // that would be made if a label went next
    const auto look_at = [&](std::int32_t v) {
        auto& table = tables[at(v)];
        table.clear();
        for (const auto& of : pool) {
            if (scope_has(of, v)) table = joined(table, of);
        }
    };
    for (const auto v : left) look_at(v);
    LabelOrder found{{}, cells_of(keep, cardinalities)};
    while (!left.empty()) {
        const auto cells = [&](std::int32_t v) { return cells_of(tables[at(v)], cardinalities); };
        const auto next = *std::ranges::min_element(left, {}, cells);
        found.labels.push_back(next);
        found.most = std::max(found.most, cells(next));
        std::erase(left, next);
        std::erase_if(pool, [&](const Scope& of) { return scope_has(of, next); });
        pool.push_back(tables[at(next)]);
        std::erase(pool.back(), next);
        for (const auto v : Scope(pool.back())) {
            if (!scope_has(keep, v)) look_at(v);
        }
    }
    return found;
}

LabelPlan::LabelPlan(const std::vector<Scope>& scopes, std::span<const std::int64_t> cardinalities, const Scope& keep,
                     const Scope& order) {
    std::vector<std::pair<std::size_t, Scope>> pool;
    for (const auto& scope : scopes) pool.emplace_back(pool.size(), scope);
    const auto make = [&](std::int32_t variable, const auto& takes) {
        Step step{variable, {}, {}, {}};
        for (const auto& [number, of] : pool) {
            if (!takes(of)) continue;
            step.scope = joined(step.scope, of);
            step.inputs.push_back(number);
        }
        if (variable < 0) step.scope = keep;
        for (const auto& [_, of] : pool) {
            if (!takes(of)) continue;
            step.offsets.push_back(offsets(step.scope, cardinalities, strides_of(of, cardinalities)));
        }
        std::erase_if(pool, [&](const auto& one) { return takes(one.second); });
        step.cells = static_cast<std::size_t>(cells_of(step.scope, cardinalities));
        steps_.push_back(std::move(step));
    };
    for (const auto v : order) {
        make(v, [&](const Scope& of) { return scope_has(of, v); });
        auto& step = steps_.back();
        step.states = static_cast<std::size_t>(cardinalities[at(v)]);
        step.inner = static_cast<std::size_t>(strides_of(step.scope, cardinalities)[at(v)]);
        pool.emplace_back(scopes.size() + steps_.size() - 1, step.scope);
        std::erase(pool.back().second, v);
    }
    make(-1, [](const Scope&) { return true; });
}

const LabelPlan::Step& LabelPlan::with(const Scope& scope) const {
    return *std::ranges::find_if(steps_, [&](const Step& step) { return std::ranges::includes(step.scope, scope); });
}

}  // namespace fishernet
