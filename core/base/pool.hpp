// The one pool of threads. Tasks are claimed one by one; the caller works too, so a thread that the machine does not
// run costs nothing but the task it holds. Waiting threads sleep. What a task computes must not depend on who runs it.
#pragma once

#include <cstdint>
#include <functional>

#include "base/interrupt.hpp"

namespace fishernet {

inline constexpr int max_threads = 256;

int get_threads();
void set_threads(int n);

// Runs work(task) for every task from 0 to n_tasks - 1, in any order, in parallel when that is allowed and worth it.
// The first exception, of a task or of the check, ends the work and is thrown here. Tasks should take well under 50 ms.
void run_tasks(std::int64_t n_tasks, const std::function<void(std::int64_t)>& work, StopCheck check,
               bool parallel = true);

}  // namespace fishernet
