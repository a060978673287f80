#include "inference/inference.hpp"

#include <algorithm>
#include <cmath>

#include "inference/family_plan.hpp"
#include "test/check.hpp"
#include "test/data.hpp"
#include "test/network.hpp"

using namespace fishernet;

namespace {

void check_against_enumeration(const TestNetwork& net, const Scope& observed, const std::vector<std::int32_t>& known,
                               const Scope& soft, const std::vector<double>& likelihood) {
    std::vector<Scope> targets;
    for (const auto& factor : net.model.factors) {
        Scope target;
        for (const auto v : factor.scope) {
            if (std::find(observed.begin(), observed.end(), v) == observed.end()) target.push_back(v);
        }
        std::reverse(target.begin(), target.end());
        targets.push_back(std::move(target));
    }
    std::vector<std::vector<double>> expected;
    for (const auto& target : targets) {
        std::int64_t cells = 1;
        for (const auto v : target) cells *= net.model.cardinalities[static_cast<std::size_t>(v)];
        expected.emplace_back(static_cast<std::size_t>(cells), 0.0);
    }
    double total = 0;
    double most = 0;
    for (std::int64_t cell = 0; cell < net.n_states(); ++cell) {
        const auto x = net.states(cell);
        if (std::any_of(observed.begin(), observed.end(), [&](std::int32_t v) {
                return x[static_cast<std::size_t>(v)] != known[static_cast<std::size_t>(v)];
            })) {
            continue;
        }
        double p = net.probability(x);
        for (const auto v : soft) p *= likelihood[static_cast<std::size_t>(x[static_cast<std::size_t>(v)])];
        total += p;
        most = std::max(most, p);
        for (std::size_t t = 0; t < targets.size(); ++t) expected[t][net.place(targets[t], x)] += p;
    }
    const std::vector<const double*> likelihoods(soft.size(), likelihood.data());
    const Findings findings{known, likelihoods};
    Inference whole(net.model, observed, soft, targets, false, 1e9);
    const Answer answer = whole.run(findings, nullptr);
    CHECK(std::abs(answer.log_evidence - std::log(total)) < 1e-9);
    for (std::size_t t = 0; t < targets.size(); ++t) {
        Inference single(net.model, observed, soft, {targets[t]}, false, 1e9);
        const Answer alone = single.run(findings, nullptr);
        for (std::size_t i = 0; i < expected[t].size(); ++i) {
            CHECK(std::abs(answer.marginals[t][i] - expected[t][i] / total) < 1e-12);
            CHECK(std::abs(alone.marginals[0][i] - expected[t][i] / total) < 1e-12);
        }
    }
    Inference best(net.model, observed, soft, {}, true, 1e9);
    const auto states = best.maximize(findings, nullptr);
    double found = net.probability(states);
    for (const auto v : soft) found *= likelihood[static_cast<std::size_t>(states[static_cast<std::size_t>(v)])];
    CHECK(found > most * (1 - 1e-12));
}

void check_families(const TestNetwork& net) {
    const std::vector<std::int32_t> states(net.model.size(), 0);
    for (const auto method : {FamilyMethod::automatic, FamilyMethod::tree, FamilyMethod::elimination}) {
        const auto found = FamilyPlan(net.model, {}, {}, method, 1e9, nullptr).run({states, {}}, nullptr);
        for (std::size_t v = 0; v < net.model.size(); ++v) {
            Scope parents = net.model.conditional(static_cast<std::int32_t>(v)).scope;
            parents.pop_back();
            std::vector<double> expected(found[v].size(), 0.0);
            for (std::int64_t cell = 0; cell < net.n_states(); ++cell) {
                const auto x = net.states(cell);
                expected[net.place(parents, x)] += net.probability(x);
            }
            for (std::size_t i = 0; i < expected.size(); ++i) CHECK(std::abs(found[v][i] - expected[i]) < 1e-12);
        }
    }
}

// Tables of more than one block and more than one part.
void check_large_tables() {
    const TestNetwork net(5, {40, 30, 20, 17, 2}, 4);
    const std::vector<std::int32_t> states(5, 0);
    Inference plan(net.model, {}, {}, {{0, 1, 2, 3}, {3}, {4, 1}}, false, 1e9);
    const Answer two = plan.run({states, {}}, nullptr, true);
    const Answer one = plan.run({states, {}}, nullptr, false);
    CHECK(two.marginals == one.marginals);
    std::vector<double> sums(17, 0.0);
    for (std::size_t i = 0; i < two.marginals[0].size(); ++i) sums[i % 17] += two.marginals[0][i];
    for (std::size_t k = 0; k < 17; ++k) CHECK(std::abs(sums[k] - two.marginals[1][k]) < 1e-12);
}

}  // namespace

TEST(inference_equals_enumeration) {
    const std::vector<double> likelihood{0.25, 4.0, 1.0};
    for (unsigned seed = 0; seed < 20; ++seed) {
        const TestNetwork net(seed, {2, 3, 1, 3, 2, 3}, 1 + seed % 3);
        check_against_enumeration(net, {}, std::vector<std::int32_t>(6, 0), {}, likelihood);
        check_against_enumeration(net, {5, 0}, {1, 0, 0, 0, 0, 2}, {3}, likelihood);
    }
}

TEST(family_marginals_equal_enumeration) {
    for (unsigned seed = 0; seed < 20; ++seed) check_families(TestNetwork(seed, {2, 3, 1, 3, 2, 3}, 1 + seed % 3));
}

TEST(large_tables_are_cut_into_parts) { check_large_tables(); }
