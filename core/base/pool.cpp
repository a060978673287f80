#include "base/pool.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace fishernet {
namespace {

struct Job {
    const std::function<void(std::int64_t)>* work;
    std::int64_t n_tasks;
    std::atomic<std::int64_t> next{0};
    std::atomic<bool> stop{false};
    std::mutex error_mutex;
    std::exception_ptr error;
    std::int64_t failed = 0;  // whose error it is; -1: the check's

    // Tasks begin in their order and end what they began, so the first of those that fail is the same on any threads.
    void fail(std::int64_t task, std::exception_ptr what) {
        const std::lock_guard lock(error_mutex);
        if (!error || task < failed) {
            error = what;
            failed = task;
        }
        stop = true;
    }

    // One task; false when none is left.
    bool one() {
        if (stop) return false;
        const auto task = next.fetch_add(1);
        if (task >= n_tasks) return false;
        try {
            (*work)(task);
        } catch (const Stopped&) {
            stop = true;  // the error is that of the task that was stopped first, whatever its number
        } catch (...) {
            fail(task, std::current_exception());
        }
        return true;
    }
};

class Pool {
public:
    explicit Pool(int n_workers) : owner_(getpid()) {
        for (int i = 0; i < n_workers; ++i) {
            std::thread([this] { serve(); }).detach();
            ++size_;
        }
    }

    int size() const { return size_; }
    bool alive() const { return owner_ == getpid(); }  // a fork copies the object but not its threads

    void retire() {
        const std::lock_guard lock(mutex_);
        retired_ = true;
        wake_.notify_all();
    }

    void run(Job& job, StopCheck check) {
        {
            const std::lock_guard lock(mutex_);
            job_ = &job;
            ++generation_;
        }
        wake_.notify_all();
        Patience patience(check);
        while (job.one()) {
            try {
                patience.ask();
            } catch (...) {
                job.fail(-1, std::current_exception());
            }
        }
        std::unique_lock lock(mutex_);
        job_ = nullptr;
        done_.wait(lock, [this] { return active_ == 0; });
    }

private:
    void serve() {
        std::uint64_t seen = 0;
        std::unique_lock lock(mutex_);
        for (;;) {
            wake_.wait(lock, [&] { return retired_ || (job_ != nullptr && generation_ != seen); });
            if (retired_) return;
            seen = generation_;
            Job& job = *job_;
            ++active_;
            lock.unlock();
            while (job.one()) {
            }
            lock.lock();
            if (--active_ == 0) done_.notify_one();
        }
    }

    const pid_t owner_;
    int size_ = 0;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable done_;
    Job* job_ = nullptr;
    std::uint64_t generation_ = 0;
    int active_ = 0;
    bool retired_ = false;
};

std::atomic<int> wanted_threads{1};
std::mutex* pool_mutex = new std::mutex;  // one call at a time has the pool; the rest work alone
Pool* pool = nullptr;  // never destroyed: its threads may outlive every static object
auto& retired_pools = *new std::vector<Pool*>;  // for the same reason

// In a forked child the mutex may be held by a thread that is not there.
[[maybe_unused]] const int renewed = pthread_atfork(nullptr, nullptr, [] { pool_mutex = new std::mutex; });

void run_alone(Job& job, StopCheck check) {
    Patience patience(check);
    while (job.one()) patience.ask();
}

}  // namespace

int get_threads() { return wanted_threads; }

void set_threads(int n) { wanted_threads = std::clamp(n, 1, max_threads); }

void run_tasks(std::int64_t n_tasks, const std::function<void(std::int64_t)>& work, StopCheck check, bool parallel) {
    Job job;
    job.work = &work;
    job.n_tasks = n_tasks;
    const int workers = wanted_threads - 1;
    if (parallel && workers > 0 && n_tasks > 1) {
        std::unique_lock lock(*pool_mutex, std::try_to_lock);
        if (lock.owns_lock()) {
            if (pool != nullptr && (!pool->alive() || pool->size() != workers)) {
                if (pool->alive()) pool->retire();
                retired_pools.push_back(pool);
                pool = nullptr;
            }
            if (pool == nullptr) pool = new Pool(workers);
            pool->run(job, check);
            if (job.error) std::rethrow_exception(job.error);
            return;
        }
    }
    run_alone(job, check);
    if (job.error) std::rethrow_exception(job.error);
}

}  // namespace fishernet
