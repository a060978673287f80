// How long work is stopped from outside: a function that throws when it shall end.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>

namespace fishernet {

// Called by the thread that began the work, never by others. The default never stops anything. It looks at what it was
// made from: a function, or an object that must outlive it.
class StopCheck {
public:
    StopCheck(std::nullptr_t = nullptr) {}
    template <std::convertible_to<void (*)()> Function>
    StopCheck(Function function) : function_(function) {}
    template <class Object>
    static StopCheck of(Object& object) {
        StopCheck check;
        check.object_ = const_cast<void*>(static_cast<const void*>(&object));  // given back as what it was
        check.call_ = [](void* known) { (*static_cast<Object*>(known))(); };
        return check;
    }

    explicit operator bool() const { return function_ != nullptr || call_ != nullptr; }
    void operator()() const {
        if (call_ != nullptr) call_(object_);
        else function_();
    }

private:
    void (*function_)() = nullptr;
    void (*call_)(void*) = nullptr;
    void* object_ = nullptr;
};

// Thrown by a task that ends because another one was stopped: no error of its own.
struct Stopped {};

// Calls the check at most every 20 ms, so that it may be asked after every block.
class Patience {
public:
    explicit Patience(StopCheck check) : check_(check), last_(Clock::now()) {}

    void ask() {
        if (!check_) return;
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
