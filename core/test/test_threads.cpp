// What several threads may ask at once: every bound class that is not one call at a time. Run under ThreadSanitizer.
#include <barrier>
#include <thread>
#include <vector>

#include "base/packed.hpp"
#include "base/pool.hpp"
#include "counts/counting.hpp"
#include "inference/family_plan.hpp"
#include "inference/inference.hpp"
#include "neighbours/knn.hpp"
#include "networks/conditionals.hpp"
#include "sequences/hmm.hpp"
#include "sequences/pair_kernel.hpp"
#include "test/check.hpp"
#include "test/data.hpp"

using namespace fishernet;

namespace {

// All threads begin at once, and find what one thread finds.
template <class Ask>
void same_for_all(Ask ask) {
    constexpr int n_threads = 4;
    std::vector<decltype(ask())> answers(n_threads);
    std::barrier go(n_threads);
    std::vector<std::thread> threads;
    for (auto& answer : answers) {
        threads.emplace_back([&] {
            go.arrive_and_wait();
            answer = ask();
        });
    }
    for (auto& thread : threads) thread.join();
    const auto alone = ask();
    for (const auto& answer : answers) CHECK(answer == alone);
}

// A chain of variables with three states; each copies the one before with probability 0.8.
struct Chain {
    std::vector<double> first{0.2, 0.3, 0.5};
    std::vector<double> copies{0.8, 0.1, 0.1, 0.1, 0.8, 0.1, 0.1, 0.1, 0.8};
    FactorModel model;

    explicit Chain(std::int32_t n) : model(std::vector<std::int64_t>(static_cast<std::size_t>(n), 3)) {
        model.add({0}, first.data(), 0);
        for (std::int32_t v = 1; v < n; ++v) model.add({v - 1, v}, copies.data(), v);
    }
};

void plans_of_inference() {
    const Chain chain(12);
    const std::vector<std::int32_t> states(12, 1);
    const std::vector<double> tiny{1e-300, 1e-310, 0.0};  // so small that logarithms are taken
    const std::vector<const double*> likelihoods(3, tiny.data());
    for (int round = 0; round < 20; ++round) {
        const Inference tree(chain.model, {0}, {}, {{3}, {5, 6}, {11}}, false, 1e9);
        same_for_all([&] { return tree.run({states, {}}, nullptr).marginals; });
        const Inference soft(chain.model, {}, {2, 5, 9}, {{3}, {4}}, false, 1e9);
        same_for_all([&] { return soft.run({states, likelihoods}, nullptr).marginals; });
        const Inference whole(chain.model, {0}, {}, {}, true, 1e9);
        same_for_all([&] { return whole.maximize({states, {}}, nullptr); });
        const FamilyPlan families(chain.model, {0}, {}, FamilyMethod::elimination, 1e9, nullptr);
        same_for_all([&] { return families.run({states, {}}, nullptr); });
    }
}

void counts_of_one_table() {
    const TestTable table(3, 20000, {2, 3, 4, 2, 5});
    same_for_all([&] {
        std::vector<std::vector<std::int64_t>> counts;
        for (const auto& found : count_sets(table.columns, {{0, 1}, {1, 2, 4}, {0, 3}, {2}, {3}}, 1000, nullptr)) {
            counts.push_back(found.counts);
        }
        return counts;
    });
}

void groups_of_one_model() {
    const TestTable table(5, 20000, {2, 3, 4});
    FlatConditional conditional;
    conditional.child = 2;
    conditional.states = 4;
    conditional.n_groups = 6;
    conditional.parents = {0, 1};
    conditional.strides = {3, 1};
    const std::vector<FlatConditional> list{conditional};
    const std::vector<double> values(24, 0.5);
    const std::vector<const double*> tables{values.data()};
    same_for_all([&] {
        std::vector<double> sums(20000);
        look_up(table.columns, list, tables, true, sums.data(), nullptr);
        return sums;
    });
}

void neighbours_of_one_table() {
    std::vector<double> x, y;
    for (int i = 0; i < 300; ++i) x.push_back(i * 37 % 101), y.push_back(i * 53 % 89);
    const KnnInformation information({x, 300, 1}, {y, 300, 1}, {{}, 300, 0}, 3);
    std::vector<std::int32_t> order(300);
    for (int i = 0; i < 300; ++i) order[static_cast<std::size_t>(i)] = i;
    same_for_all([&] { return information.estimate(order, nullptr); });
}

void strings_of_one_model() {
    const std::vector<double> initial{0.5, 0.5}, transition{0.9, 0.1, 0.2, 0.8}, emission{0.7, 0.3, 0.4, 0.6};
    const HmmModel model = make_hmm({initial, transition, emission, {}, {}, 1.0});
    const std::vector<std::int32_t> codes(500, 1);
    const std::vector<std::int64_t> offsets{0, 100, 250, 500};
    same_for_all([&] {
        std::vector<double> logs(3);
        hmm_log_prob(model, {codes, offsets}, logs, nullptr);
        return logs;
    });
}

void on_pools(void (*test)()) {
    for (const int threads : {1, 3}) {
        set_threads(threads);
        test();
    }
}

}  // namespace

TEST(threads_share_plans_of_inference) { on_pools(plans_of_inference); }
TEST(threads_share_a_table) { on_pools(counts_of_one_table); }
TEST(threads_share_a_model) { on_pools(groups_of_one_model); }
TEST(threads_share_neighbours) { on_pools(neighbours_of_one_table); }
TEST(threads_share_a_model_of_strings) { on_pools(strings_of_one_model); }
