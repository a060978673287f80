// Hidden Markov models: doubles, edges without limits, checkpoints and padding must all give the same.
#include <cmath>
#include <vector>

#include "sequences/hmm.hpp"
#include "test/check.hpp"

namespace {

using namespace fishernet;

bool close(double a, double b) { return std::abs(a - b) <= 1e-10 * (1.0 + std::abs(b)); }

// Any model of n states and three symbols; with empties and a final state or without.
struct Numbers {
    std::vector<double> initial, transition, emission, empty, final;

    Numbers(std::int64_t n, bool more) {
        const double stop = more ? 0.1 : 0.0, silent = more ? 0.2 : 0.0;
        for (std::int64_t a = 0; a < n; ++a) {
            initial.push_back(1.0 / static_cast<double>(n));
            for (std::int64_t b = 0; b < n; ++b) {
                const double share = 2.0 * static_cast<double>((a + b) % n + 1) / static_cast<double>(n * (n + 1));
                transition.push_back((1.0 - stop) * share);
            }
            const double first = static_cast<double>(a % 4 + 1) / 10.0;
            for (const double share : {first, 0.5, 0.5 - first}) emission.push_back((1.0 - silent) * share);
            if (more) empty.push_back(silent), final.push_back(stop);
        }
    }

    HmmParts parts() const { return {initial, transition, emission, empty, final, 0.0}; }
};

std::vector<double> rows(const HmmModel& model, const FlatStrings& strings, HmmDerivatives how,
                         std::vector<double>& logs) {
    const auto n = (strings.size() + how.block - 1) / how.block;
    std::vector<double> out(static_cast<std::size_t>(n * hmm_width(model, how.transitions)));
    logs.resize(static_cast<std::size_t>(strings.size()));
    hmm_derivatives(model, strings, how, out, logs, nullptr);
    return out;
}

void check_model(std::int64_t n, bool more) {
    const Numbers numbers(n, more);
    HmmModel model = make_hmm(numbers.parts());
    CHECK(model.singular == -1 && model.dense);
    std::vector<std::int32_t> codes;
    for (int i = 0; i < 150; ++i) codes.push_back(i * i % 3);
    const std::vector<std::int64_t> offsets{0, 0, 1, 17, 33, 150};
    const FlatStrings strings{codes, offsets};
    std::vector<double> logs, again;
    const auto whole = rows(model, strings, {1, true, 0}, logs);
    const auto parts = rows(model, strings, {1, true, 1}, again);
    std::vector<double> alone(logs.size()), posterior(codes.size() * static_cast<std::size_t>(n));
    hmm_log_prob(model, strings, alone, nullptr);
    hmm_posterior(model, strings, posterior, again, nullptr);
    model.dense = false;
    const auto wide = rows(model, strings, {1, true, 0}, again);
    const auto wide_parts = rows(model, strings, {1, true, 1}, again);
    for (std::size_t i = 0; i < whole.size(); ++i) {
        CHECK(close(parts[i], whole[i]) && close(wide[i], whole[i]) && wide_parts[i] == wide[i]);
    }
    for (std::size_t i = 0; i < logs.size(); ++i) CHECK(close(again[i], logs[i]) && close(alone[i], logs[i]));
    for (std::size_t t = 0; t < codes.size(); ++t) {
        double sum = 0.0;
        for (std::int64_t a = 0; a < n; ++a) sum += posterior[t * static_cast<std::size_t>(n) + a];
        CHECK(close(sum, 1.0));
    }
}

void check_best(std::int64_t n) {
    const Numbers numbers(n, false);
    std::vector<double> start, moves, emission, end(static_cast<std::size_t>(n), 0.0);
    for (const double p : numbers.initial) start.push_back(std::log(p));
    for (const double p : numbers.transition) moves.push_back(std::log(p));
    for (const double p : numbers.emission) emission.push_back(std::log(p));
    const std::vector<std::int32_t> codes{0, 1, 2, 2, 1};
    const std::vector<std::int64_t> offsets{0, 0, 5};
    std::vector<std::int32_t> states(codes.size());
    std::vector<double> best(2);
    hmm_best({n, start, moves, emission, end}, {codes, offsets}, states, best, nullptr);
    double along = start[states[0]] + emission[states[0] * 3 + codes[0]];
    for (std::size_t t = 1; t < codes.size(); ++t) {
        along += moves[states[t - 1] * n + states[t]] + emission[states[t] * 3 + codes[t]];
    }
    CHECK(close(along, best[1]) && best[0] == 0.0);
}

}  // namespace

TEST(hidden_markov_models_equal_the_sum_over_paths) {
    for (const std::int64_t n : {1, 3, 8, 16, 19}) {
        check_model(n, false);
        check_model(n, true);
    }
}

TEST(best_paths_are_the_best) {
    for (const std::int64_t n : {1, 3, 8, 16, 19}) check_best(n);
}
