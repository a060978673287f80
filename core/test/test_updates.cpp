#include "networks/updates.hpp"

#include <cmath>
#include <random>

#include "networks/gibbs.hpp"
#include "networks/krylov.hpp"
#include "test/check.hpp"

using namespace fishernet;

namespace {

// Binary variables in a ring, each given its neighbours, with random numbers; and a variable of three states.
std::vector<FreeConditional> ring(std::size_t n) {
    std::mt19937 random(1);
    std::vector<FreeConditional> conditionals(n);
    for (std::size_t v = 0; v < n; ++v) {
        auto& c = conditionals[v];
        c.states = v == 1 ? 3 : 2;
        const auto left = (v + n - 1) % n, right = (v + 1) % n;
        const std::int64_t of_right = right == 1 ? 3 : 2, of_left = left == 1 ? 3 : 2;
        c.inputs = {static_cast<std::int32_t>(left), static_cast<std::int32_t>(right)};
        c.strides = {c.states * of_right, c.states};
        for (std::int64_t row = 0; row < of_left * of_right; ++row) {
            std::vector<double> numbers;
            double sum = 0;
            for (std::int64_t k = 0; k < c.states; ++k) sum += numbers.emplace_back(1 + random() % 9);
            for (const auto x : numbers) c.theta.push_back(x / sum);
        }
    }
    return conditionals;
}

std::vector<double> updated(const std::vector<FreeConditional>& of, const std::vector<double>& p, std::size_t v) {
    std::vector<std::int64_t> steps(of.size(), 1);
    for (std::size_t u = of.size() - 1; u-- > 0;) steps[u] = steps[u + 1] * of[u + 1].states;
    std::vector<double> out(p.size());
    for (std::size_t x = 0; x < p.size(); ++x) {
        const auto state = [&](std::size_t u) { return static_cast<std::int64_t>(x) / steps[u] % of[u].states; };
        double rest = 0;
        for (std::int64_t k = 0; k < of[v].states; ++k) rest += p[x + static_cast<std::size_t>((k - state(v)) * steps[v])];
        std::int64_t at = state(v);
        for (std::size_t i = 0; i < of[v].inputs.size(); ++i) {
            at += of[v].strides[i] * state(static_cast<std::size_t>(of[v].inputs[i]));
        }
        out[x] = rest * of[v].theta[static_cast<std::size_t>(at)];
    }
    return out;
}

void check_operators(std::size_t n) {
    const auto conditionals = ring(n);
    const Updates updates(conditionals);
    std::mt19937 random(2);
    std::vector<double> p(static_cast<std::size_t>(updates.n_states())), weights(n);
    double sum = 0;
    for (auto& x : p) sum += x = 1 + random() % 100;
    for (auto& x : p) x /= sum;
    for (std::size_t v = 0; v < n; ++v) weights[v] = static_cast<double>(v + 1) / static_cast<double>(n * (n + 1) / 2);
    std::vector<double> average(p.size()), expected(p.size(), 0.0), visited(p.size()), seen(p.size(), 0.0);
    updates.average(p.data(), weights, average.data(), nullptr);
    auto swept = p;
    auto step = p;
    updates.sweep(swept.data(), visited.data(), nullptr);
    for (std::size_t v = 0; v < n; ++v) {
        const auto alone = updated(conditionals, p, v);
        for (std::size_t x = 0; x < p.size(); ++x) {
            expected[x] += weights[v] * alone[x];
            seen[x] += step[x];
        }
        step = updated(conditionals, step, v);
    }
    for (std::size_t x = 0; x < p.size(); ++x) {
        CHECK(std::abs(average[x] - expected[x]) < 1e-15);
        CHECK(std::abs(swept[x] - step[x]) < 1e-15);
        CHECK(std::abs(visited[x] - seen[x]) < 1e-14);
    }
}

// Two binary variables that ask each other, one by a table, one by a tree or by factors.
void check_chains() {
    const std::vector<double> copy{0.75, 0.25, 0.25, 0.75};
    Updatable first;
    first.child = 0;
    first.states = 2;
    first.inputs = {1};
    first.strides = {1};
    first.thresholds = thresholds(copy.data(), 2, 2);
    Updatable second = first;
    second.child = 1;
    second.inputs = {0};
    Updatable tree = second;
    tree.tree = {{0, -1, -1}, {0, 1, 0}, {2, 1}};  // the branches cross, and so do the groups
    Updatable product = second;
    product.factors = {{{0}, {2}, 1, copy.data()}};
    for (const auto& other : {second, tree, product}) {
        const std::vector<Updatable> both{first, other};
        std::vector<std::uint8_t> a(20000), b(20000);
        const std::vector<Output> columns{{a.data(), 1}, {b.data(), 1}};
        const std::vector<std::int32_t> starts{0, 1, 1, 0, 0, 0, 1, 1};
        sample_gibbs(both, {{0, 1}, false, {}}, {20000, 4, 10, 6}, starts, columns, 3, nullptr);
        double equal = 0;
        for (std::size_t i = 0; i < a.size(); ++i) equal += a[i] == b[i];
        CHECK(std::abs(equal / 20000 - 0.75) < 0.02);  // the joint distribution with these conditionals
        sample_gibbs(both, {{1}, true, {}}, {20000, 1, 0, 1}, std::span(starts).first(2), columns, 3, nullptr);
        CHECK(a[0] == 0 && a[19999] == 0 && b[0] == 1);  // what is not free stays
        sample_gibbs(both, {{0, 1}, false, {0.0, 1.0}}, {100, 1, 0, 1}, std::span(starts).first(2), columns, 3, nullptr);
        CHECK(a[99] == 0);
    }
}

void check_krylov() {
    const std::vector<double> matrix{0.5, 0.25, 0.25, 0.25, 0.5, 0.25, 0.25, 0.25, 0.5};  // columns sum to 1
    Krylov krylov(3, 4, [&](const double* from, double* to, StopCheck) {
        for (int i = 0; i < 3; ++i) to[i] = matrix[3 * i] * from[0] + matrix[3 * i + 1] * from[1] + matrix[3 * i + 2] * from[2];
    });
    krylov.current()[0] = 1;
    krylov.current()[1] = krylov.current()[2] = 0;
    CHECK(std::abs(krylov.step(nullptr) - 1.0) < 1e-15);
    const auto columns = krylov.cycle(3, nullptr);
    CHECK(columns.size() == 8);  // two columns: the rest of the space is never reached
    CHECK(columns[7] == 0);
}

}  // namespace

TEST(operators_update_a_few_variables) { check_operators(4); }
TEST(operators_update_several_tiles_and_groups) { check_operators(15); }
TEST(gibbs_chains_keep_the_distribution) { check_chains(); }
TEST(krylov_vectors_satisfy_arnoldi) { check_krylov(); }
