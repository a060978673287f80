// A function that is written as one loop and stops wherever it needs something from outside: it waits with
// `co_await std::suspend_always()` until it is resumed.
#pragma once

#include <coroutine>
#include <utility>

namespace fishernet {

class Resumable {
public:
    struct promise_type {
        Resumable get_return_object() { return Resumable(Handle::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { throw; }  // to whoever resumed it
    };

    Resumable(Resumable&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    Resumable& operator=(Resumable&&) = delete;
    ~Resumable() {
        if (handle_) handle_.destroy();
    }

    bool finished() const { return handle_.done(); }
    void resume() { handle_.resume(); }

private:
    using Handle = std::coroutine_handle<promise_type>;
    explicit Resumable(Handle handle) : handle_(handle) {}

    Handle handle_;
};

}  // namespace fishernet
