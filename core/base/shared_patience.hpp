// How tasks that may take long are stopped from outside, all of them.
#pragma once

#include <atomic>
#include <thread>

#include "base/interrupt.hpp"

namespace fishernet {

// Made by the thread that begins the work, and asked by every task now and then. That thread alone calls the check; the
// others learn from it that they shall end.
class SharedPatience {
public:
    explicit SharedPatience(StopCheck check) : patience_(check) {}

    void ask() {
        if (stopped_) throw Stopped();
        if (std::this_thread::get_id() != beginner_) return;
        try {
            patience_.ask();
        } catch (...) {
            stopped_ = true;
            throw;
        }
    }

private:
    const std::thread::id beginner_ = std::this_thread::get_id();
    Patience patience_;
    std::atomic<bool> stopped_{false};
};

}  // namespace fishernet
