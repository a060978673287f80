// New columns of codes, which a sampler writes and Python owns.
#pragma once

#include "bind/arrays.hpp"
#include "networks/sampling.hpp"

namespace fishernet::bind {

template <class Code>
nb::object new_column(std::int64_t n, Output& output) {
    auto* kept = new Code[static_cast<std::size_t>(n)];
    nb::capsule owner(kept, [](void* p) noexcept { delete[] static_cast<Code*>(p); });
    output = {kept, sizeof(Code)};
    return nb::cast(Out<Code>(kept, {static_cast<std::size_t>(n)}, owner));
}

// One column a variable, each of the smallest type that holds its codes and a missing cell's.
inline nb::list new_columns(std::span<const std::int64_t> cardinalities, std::int64_t n, std::vector<Output>& outputs) {
    nb::list columns;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const auto r = cardinalities[i];
        columns.append(r < 256     ? new_column<std::uint8_t>(n, outputs[i])
                       : r < 65536 ? new_column<std::uint16_t>(n, outputs[i])
                                   : new_column<std::uint32_t>(n, outputs[i]));
    }
    return columns;
}

}  // namespace fishernet::bind
