// Objects whose calls change them serve one call at a time.
#pragma once

#include <atomic>
#include <concepts>
#include <mutex>
#include <thread>
#include <utility>

#include "bind/arrays.hpp"

namespace fishernet::bind {

template <class T>
struct OneAtATime {
    template <class... Arguments>
        requires std::constructible_from<T, Arguments...>
    explicit OneAtATime(Arguments&&... arguments) : object(std::forward<Arguments>(arguments)...) {}

    OneAtATime(const OneAtATime&) = delete;
    OneAtATime& operator=(const OneAtATime&) = delete;

    T object;
    std::mutex mutex;
    std::atomic<std::thread::id> at_work{};
};

// The right to use an object. It is waited for without the GIL, which who has it may need before it ends.
template <class T>
class Turn {
public:
    explicit Turn(OneAtATime<T>& of) : of_(of) {
        if (of.at_work == std::this_thread::get_id()) refuse("a signal's handler cannot use the object it interrupted");
        if (!of.mutex.try_lock()) {
            const nb::gil_scoped_release release;
            of.mutex.lock();
        }
        of.at_work = std::this_thread::get_id();
    }
    ~Turn() {
        of_.at_work = std::thread::id();
        of_.mutex.unlock();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    T* operator->() const { return &of_.object; }
    T& operator*() const { return of_.object; }

private:
    OneAtATime<T>& of_;
};

// A property of such an object.
template <class T, auto member>
auto read(OneAtATime<T>& self) {
    const Turn turn(self);
    return ((*turn).*member)();
}

}  // namespace fishernet::bind
