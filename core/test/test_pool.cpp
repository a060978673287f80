#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/pool.hpp"
#include "base/sequence_map.hpp"
#include "base/shared_patience.hpp"
#include "test/check.hpp"

using namespace fishernet;

namespace {

void every_task_runs_once(std::int64_t n) {
    std::vector<std::atomic<int>> runs(static_cast<std::size_t>(n));
    run_tasks(n, [&](std::int64_t task) { ++runs[static_cast<std::size_t>(task)]; }, nullptr);
    for (const auto& r : runs) CHECK(r == 1);
}

void exceptions_reach_the_caller() {
    bool caught = false;
    try {
        run_tasks(1000, [](std::int64_t task) {
            if (task == 500) throw std::runtime_error("task");
        }, nullptr);
    } catch (const std::runtime_error&) {
        caught = true;
    }
    CHECK(caught);
    every_task_runs_once(100);
}

// Later ones fail at once, the first only after a while.
void the_first_of_several_errors_is_told() {
    for (int round = 0; round < 20; ++round) {
        try {
            run_tasks(100, [](std::int64_t task) {
                if (task == 3) std::this_thread::sleep_for(std::chrono::milliseconds(2));
                if (task >= 3) throw std::runtime_error(std::to_string(task));
            }, nullptr);
            CHECK(false);
        } catch (const CheckFailed&) {
            throw;
        } catch (const std::runtime_error& error) {
            CHECK(error.what() == std::string("3"));
        }
    }
}

void stop() { throw std::logic_error("stop"); }

void the_check_stops_the_work() {
    std::atomic<int> done{0};
    bool caught = false;
    try {
        run_tasks(10000, [&](std::int64_t) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            ++done;
        }, stop);
    } catch (const std::logic_error&) {
        caught = true;
    }
    CHECK(caught);
    CHECK(done < 10000);
}

void several_callers_at_once() {
    std::vector<std::future<void>> callers;
    for (int i = 0; i < 4; ++i) {
        callers.push_back(std::async(std::launch::async, [] {
            for (int k = 0; k < 50; ++k) every_task_runs_once(20);
        }));
    }
    for (auto& caller : callers) caller.get();
}

// In the child, too, several threads ask at once.
int run_in_child() {
    try {
        several_callers_at_once();
        return 0;
    } catch (const CheckFailed&) {
        return 1;
    }
}

void a_forked_child_works_on() {
    every_task_runs_once(100);
    const pid_t child = fork();
    if (child == 0) _exit(run_in_child());
    int status = 1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void with_any_threads(void (*test)()) {
    for (const int threads : {1, 2, 5}) {
        set_threads(threads);
        CHECK(get_threads() == threads);
        test();
    }
}

// One thread is stopped in the middle of its task, and the others end with it: the reason reaches the caller, whichever
// task was the first.
void the_reason_for_stopping_is_told() {
    for (int time = 0; time < 20; ++time) {
        SharedPatience patience(StopCheck([] { throw std::runtime_error("enough"); }));
        std::string told;
        try {
            run_tasks(
                64, [&](std::int64_t) { for (;;) patience.ask(); }, nullptr, true);
        } catch (const std::runtime_error& error) {
            told = error.what();
        }
        CHECK(told == "enough");
    }
}

}  // namespace

TEST(every_task_runs_once) {
    with_any_threads([] {
        for (const std::int64_t n : {0, 1, 2, 1000}) every_task_runs_once(n);
    });
}

TEST(exceptions_of_tasks_reach_the_caller) { with_any_threads(exceptions_reach_the_caller); }
TEST(the_first_of_several_errors_is_told) { with_any_threads(the_first_of_several_errors_is_told); }
TEST(a_check_stops_the_work) { with_any_threads(the_check_stops_the_work); }
TEST(the_reason_for_stopping_is_told) { with_any_threads(the_reason_for_stopping_is_told); }
TEST(several_callers_share_the_pool) { with_any_threads(several_callers_at_once); }

TEST(a_forked_child_works_on) {
    if (!thread_sanitizer) with_any_threads(a_forked_child_works_on);  // it does not follow threads into a child
}

TEST(sequences_are_found_again) {
    SequenceMap<int> map;
    const std::vector<std::int32_t> empty;
    CHECK(map.find(empty) == nullptr);
    CHECK(map.find_or_insert(empty, -1) == 0);
    for (std::int32_t i = 0; i < 3000; ++i) {
        const std::vector<std::int32_t> key{i % 7, i, i / 3};
        CHECK(map.find(key) == nullptr);
        CHECK(map.find_or_insert(key, i) == static_cast<std::size_t>(i) + 1);
    }
    for (std::int32_t i = 0; i < 3000; ++i) {
        const std::vector<std::int32_t> key{i % 7, i, i / 3};
        CHECK(*map.find(key) == i);
        CHECK(map[map.find_or_insert(key, -5)] == i);
    }
    CHECK(*map.find(empty) == -1);
    CHECK(map.size() == 3001);
}
