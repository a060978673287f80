// Large arrays of numbers that are written before they are read.
#pragma once

#include <cstddef>
#include <memory>

namespace fishernet {

struct FreeBuffer {
    void operator()(double* values) const;
};

using Buffer = std::unique_ptr<double[], FreeBuffer>;

// Room for so many numbers; huge pages where the system has them, which halves the time of touching them first.
Buffer make_buffer(std::size_t cells);

}  // namespace fishernet
