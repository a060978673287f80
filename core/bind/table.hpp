// The bound form of a table's columns: the core's view and the arrays that it looks at.
#pragma once

#include <nanobind/nanobind.h>

#include "base/columns.hpp"

namespace fishernet::bind {

struct BoundColumns {
    Columns columns;
    nanobind::object arrays;  // keeps the memory alive
};

}  // namespace fishernet::bind
