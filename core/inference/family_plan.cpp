#include "inference/family_plan.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "base/pool.hpp"

namespace fishernet {
namespace {

Scope parents_of(const FactorModel& model, std::int32_t variable) {
    const auto& scope = model.conditional(variable).scope;  // the child comes last
    return {scope.begin(), scope.end() - 1};
}

Scope topological_order(const FactorModel& model) {
    const auto n = static_cast<std::int32_t>(model.size());
    std::vector<Scope> children(model.size());
    std::vector<std::size_t> waiting(model.size());
    Scope order;
    for (std::int32_t v = 0; v < n; ++v) {
        for (const auto p : parents_of(model, v)) children[p].push_back(v);
        waiting[v] = parents_of(model, v).size();
        if (waiting[v] == 0) order.push_back(v);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        for (const auto child : children[order[i]]) {
            if (--waiting[child] == 0) order.push_back(child);
        }
    }
    return order;
}

// The parent of `variable` whose family holds all its parents; -1: none does.
std::int32_t find_source(const FactorModel& model, std::int32_t variable) {
    const Scope parents = parents_of(model, variable);
    for (const auto candidate : parents) {
        const auto& family = model.conditional(candidate).scope;
        const bool holds = std::all_of(parents.begin(), parents.end(), [&](std::int32_t p) {
            return std::find(family.begin(), family.end(), p) != family.end();
        });
        if (holds) return candidate;
    }
    return -1;
}

Scope without(const Scope& scope, const Scope& observed) {
    Scope left;
    for (const auto v : scope) {
        if (std::find(observed.begin(), observed.end(), v) == observed.end()) left.push_back(v);
    }
    return left;
}

}  // namespace

FamilyPlan::FamilyPlan(const FactorModel& model, const Scope& observed, const Scope& soft, FamilyMethod method,
                       double most, StopCheck check)
    : model_(model), has_findings_(!observed.empty() || !soft.empty()), most_(most), sources_(model.size(), -1),
      order_(topological_order(model)) {
    if (order_.size() != model.size()) throw std::invalid_argument("the conditionals have a cycle");
    std::vector<Request> requests;
    for (const auto v : order_) {
        if (has_findings_) {
            requests.push_back({v, without(model.conditional(v).scope, observed)});
            continue;
        }
        Scope parents = parents_of(model, v);
        sources_[v] = find_source(model, v);
        if (sources_[v] < 0 && !parents.empty()) requests.push_back({v, std::move(parents)});
    }
    if (requests.empty()) return;
    if (method == FamilyMethod::elimination) {
        plan_by_elimination(observed, soft, requests, check);
        return;
    }
    std::vector<Scope> targets;
    std::vector<std::int32_t> variables;
    for (const auto& request : requests) {
        targets.push_back(request.target);
        variables.push_back(request.variable);
    }
    Inference tree(model, observed, soft, targets, false, most);
    const bool fits = tree.complete() && tree.cells_held() <= most;
    if (method == FamilyMethod::automatic &&
        !(fits && tree.cost() <= cost_of_planning(observed, soft, requests))) {
        plan_by_elimination(observed, soft, requests, check);
        if (!fits || (complete() && cost() <= tree.cost())) return;
        jobs_.clear();
        answers_.clear();
    }
    too_large_ = fits ? 0 : tree.cells_held();
    add_job(std::move(tree), std::move(variables));
}

// What the elimination orders of all requests would cost, in the same measure as the work they could spare.
double FamilyPlan::cost_of_planning(const Scope& observed, const Scope& soft,
                                    const std::vector<Request>& requests) const {
    constexpr double of_a_vertex = 2000;  // measured: 2 microseconds, and a nanosecond a cell
    double vertices = 0;
    for (const auto& request : requests) {
        Scope asked = request.target;
        asked.insert(asked.end(), observed.begin(), observed.end());
        asked.insert(asked.end(), soft.begin(), soft.end());
        const auto kept = model_.relevant(asked);
        vertices += static_cast<double>(std::count(kept.begin(), kept.end(), true));
    }
    return of_a_vertex * vertices;
}

void FamilyPlan::add_job(Inference inference, std::vector<std::int32_t> variables) {
    jobs_.push_back(std::move(inference));
    answers_.push_back(std::move(variables));
}

// One elimination a request. The later a variable comes, the larger its ancestral graph: if one is too large for exact
// inference, it is found out early, and the rest is spared.
std::vector<Inference> FamilyPlan::plan_singly(const Scope& observed, const Scope& soft,
                                               const std::vector<Request>& requests, StopCheck check) {
    std::vector<std::optional<Inference>> planned(requests.size());
    std::atomic<bool> given_up{false};
    const auto n = static_cast<std::int64_t>(requests.size());
    run_tasks(n, [&](std::int64_t task) {
        if (given_up) return;
        const auto q = static_cast<std::size_t>(n - 1 - task);
        planned[q].emplace(model_, observed, soft, std::vector<Scope>{requests[q].target}, false, most_);
        if (!planned[q]->complete()) given_up = true;
    }, check);
    std::vector<Inference> single;
    for (auto& one : planned) {
        if (one && !one->complete()) too_large_ = one->cells_held();
        if (one) single.push_back(std::move(*one));
    }
    return single;
}

// One elimination a request in its ancestral graph; where many requests lie in the ancestral graph of one of them, a
// junction tree of that graph if it costs less than they do.
void FamilyPlan::plan_by_elimination(const Scope& observed, const Scope& soft, const std::vector<Request>& requests,
                                     StopCheck check) {
    std::vector<Inference> single = plan_singly(observed, soft, requests, check);
    if (!complete()) return;
    std::vector<std::size_t> largest_first(requests.size());
    std::iota(largest_first.begin(), largest_first.end(), std::size_t{0});
    std::stable_sort(largest_first.begin(), largest_first.end(), [&](std::size_t a, std::size_t b) {
        return single[a].variables().size() > single[b].variables().size();
    });
    std::vector<bool> answered(requests.size(), false);
    std::vector<bool> inside(model_.size());
    for (const auto q : largest_first) {
        if (answered[q]) continue;
        inside.assign(model_.size(), false);
        for (const auto v : single[q].variables()) inside[v] = true;
        for (const auto v : observed) inside[v] = true;
        double apart = 0;
        std::vector<Scope> targets;
        std::vector<std::int32_t> variables;
        std::vector<std::size_t> covered;
        for (std::size_t other = 0; other < requests.size(); ++other) {
            const auto v = requests[other].variable;
            if (answered[other] || !(other == q || (inside[v] && model_.conditional(v).scope.size() > 0))) continue;
            apart += single[other].cost();
            targets.push_back(requests[other].target);
            variables.push_back(v);
            covered.push_back(other);
        }
        if (targets.size() > 2 && 3 * single[q].cost() < apart) {
            Inference together(model_, observed, soft, targets, false, most_);
            if (together.complete() && together.cells_held() <= most_ && together.cost() < apart) {
                for (const auto other : covered) answered[other] = true;
                add_job(std::move(together), std::move(variables));
            }
        }
    }
    for (std::size_t q = 0; q < requests.size(); ++q) {
        if (!answered[q]) add_job(std::move(single[q]), {requests[q].variable});
    }
}

double FamilyPlan::cells_held() const {
    double most = too_large_;
    for (const auto& job : jobs_) most = std::max(most, job.cells_held());
    return most;
}

double FamilyPlan::cost() const {
    double sum = 0;
    for (const auto& job : jobs_) sum += job.cost();
    return sum;
}

// P(parents) out of the family of one of them.
void FamilyPlan::derive(std::int32_t variable, std::vector<std::vector<double>>& found) const {
    const auto source = sources_[variable];
    const auto& family = model_.conditional(source);
    const Scope parents = parents_of(model_, variable);
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;
    for (const auto v : family.scope) {
        sizes.push_back(model_.cardinalities[v]);
        std::int64_t stride = 0;
        for (std::size_t axis = parents.size(), step = 1; axis-- > 0;) {
            if (parents[axis] == v) stride = static_cast<std::int64_t>(step);
            step *= static_cast<std::size_t>(model_.cardinalities[parents[axis]]);
        }
        strides.push_back(stride);
    }
    std::int64_t cells = 1;
    for (const auto p : parents) cells *= model_.cardinalities[p];
    std::vector<double> out(static_cast<std::size_t>(cells), 0.0);
    std::vector<std::int64_t> at(sizes.size(), 0);
    std::int64_t to = 0;
    const std::int64_t states = sizes.back();
    for (std::int64_t cell = 0; cell < family.cells; ++cell) {
        out[static_cast<std::size_t>(to)] +=
            found[static_cast<std::size_t>(source)][static_cast<std::size_t>(cell / states)] * family.values[cell];
        for (std::size_t axis = sizes.size(); axis-- > 0;) {
            to += strides[axis];
            if (++at[axis] < sizes[axis]) break;
            to -= strides[axis] * sizes[axis];
            at[axis] = 0;
        }
    }
    found[static_cast<std::size_t>(variable)] = std::move(out);
}

std::vector<std::vector<double>> FamilyPlan::run(const Findings& findings, StopCheck check) const {
    std::vector<std::vector<double>> found(model_.size(), std::vector<double>{1.0});
    std::vector<char> possible(jobs_.size(), 1);
    const bool side_by_side = jobs_.size() > 1;
    std::vector<std::size_t> dearest_first(jobs_.size());
    std::iota(dearest_first.begin(), dearest_first.end(), std::size_t{0});
    std::stable_sort(dearest_first.begin(), dearest_first.end(),
                     [&](std::size_t a, std::size_t b) { return jobs_[a].cost() > jobs_[b].cost(); });
    const auto one = [&](std::int64_t task) {
        const auto j = dearest_first[static_cast<std::size_t>(task)];
        Answer answer = jobs_[j].run(findings, side_by_side ? nullptr : check, !side_by_side);
        possible[j] = !answer.marginals.empty();
        for (std::size_t t = 0; t < answer.marginals.size(); ++t) {
            found[static_cast<std::size_t>(answers_[j][t])] = std::move(answer.marginals[t]);
        }
    };
    if (side_by_side) {
        run_tasks(static_cast<std::int64_t>(jobs_.size()), one, check, cost() > 50000);
    } else if (jobs_.size() == 1) {
        one(0);
    }
    for (const auto p : possible) {
        if (!p) return {};
    }
    for (const auto v : order_) {
        if (sources_[static_cast<std::size_t>(v)] >= 0) derive(v, found);
    }
    return found;
}

}  // namespace fishernet
