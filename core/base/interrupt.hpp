// How long work is stopped from outside: a function that throws when it shall end.
#pragma once

#include <chrono>

namespace fishernet {

// Called by the thread that began the work, never by others. The default never stops anything.
using StopCheck = void (*)();

// Calls the check at most every 20 ms, so that it may be asked after every block.
class Patience {
public:
    explicit Patience(StopCheck check) : check_(check), last_(Clock::now()) {}

    void ask() {
        if (check_ == nullptr) return;
        const auto now = Clock::now();
        if (now - last_ < std::chrono::milliseconds(20)) return;
        last_ = now;
        check_();
    }

private:
    using Clock = std::chrono::steady_clock;
    StopCheck check_;
    Clock::time_point last_;
};

}  // namespace fishernet
