// Hidden Markov models: doubles, edges without limits, checkpoints and padding must all give the same.
#include <cmath>
#include <limits>
#include <vector>

#include "sequences/hmm.hpp"
#include "sequences/hmm_densities.hpp"
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

// Densities of symbols, each with another factor, are the model of symbols; without limits they are the same.
void check_densities(std::int64_t n, double apart) {
    const Numbers numbers(n, false);
    const HmmModel model = make_hmm(numbers.parts());
    const std::vector<std::int32_t> codes{0, 1, 2, 2, 1, 0};
    const std::vector<std::int64_t> offsets{0, 0, 5, 6};
    std::vector<double> expected(3), logs(3), posterior(codes.size() * static_cast<std::size_t>(n));
    hmm_log_prob(model, {codes, offsets}, expected, nullptr);
    std::vector<double> shares(posterior), densities(posterior), first(static_cast<std::size_t>(3 * n)), moves(n * n);
    hmm_posterior(model, {codes, offsets}, shares, logs, nullptr);
    for (std::size_t t = 0; t < codes.size(); ++t) {
        for (std::int64_t a = 0; a < n; ++a) {
            densities[t * n + a] = std::log(numbers.emission[a * 3 + codes[t]]) + apart;
        }
    }
    hmm_of_densities({n, numbers.initial, numbers.transition, densities, offsets}, {logs, posterior, first, moves, 3},
                     nullptr);
    const double lengths[] = {0.0, 5.0, 1.0};
    for (std::size_t i = 0; i < 3; ++i) CHECK(std::abs(logs[i] - apart * lengths[i] - expected[i]) < 1e-9);
    for (std::size_t i = 0; i < shares.size(); ++i) CHECK(close(posterior[i], shares[i]));
    double used = 0.0, begun = 0.0;
    for (std::int64_t i = 0; i < n * n; ++i) used += moves[i] * numbers.transition[i];
    for (std::int64_t a = 0; a < n; ++a) begun += first[n + a] * numbers.initial[a];
    CHECK(close(used, 4.0) && close(begun, 1.0));
}

// Two states of which the second is out of reach for doubles until the last step, which the first cannot be in.
void check_late_states() {
    const std::vector<double> initial{1.0, 0.0}, transition{0.9, 0.1, 0.0, 1.0};
    const double never = -std::numeric_limits<double>::infinity();
    const std::vector<double> logs{0.0, -2e3, 0.0, -3e3, 0.0, -1e3, never, 0.0};
    const std::vector<std::int64_t> offsets{0, 4};
    std::vector<double> log_prob(1), posterior(8), first(2), moves(4);
    hmm_of_densities({2, initial, transition, logs, offsets}, {log_prob, posterior, first, moves, 1}, nullptr);
    CHECK(close(log_prob[0], std::log(0.9 * 0.9 * 0.1)));
    CHECK(close(posterior[4], 1.0) && posterior[6] == 0.0 && close(posterior[7], 1.0));
    CHECK(close(moves[0] * 0.9, 2.0) && close(moves[1] * 0.1, 1.0));
}

}  // namespace

TEST(models_of_densities_equal_models_of_symbols) {
    for (const std::int64_t n : {1, 3, 8, 19}) {
        for (const double apart : {0.0, 900.0, -900.0}) check_densities(n, apart);
    }
    check_late_states();
}

TEST(hidden_markov_models_equal_the_sum_over_paths) {
    for (const std::int64_t n : {1, 3, 8, 16, 19}) {
        check_model(n, false);
        check_model(n, true);
    }
}

TEST(best_paths_are_the_best) {
    for (const std::int64_t n : {1, 3, 8, 16, 19}) check_best(n);
}
