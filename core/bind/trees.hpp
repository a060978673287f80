// Decision trees from Python, checked so that no walk can leave them.
#pragma once

#include <algorithm>

#include "bind/arrays.hpp"
#include "networks/code_tree.hpp"

namespace fishernet::bind {

// Every inner node asks an allowed variable and leads to a later node for each of its states; every leaf has a group.
inline CodeTree checked_tree(const In<std::int32_t>& variable, const In<std::int32_t>& first,
                             const In<std::int32_t>& next, std::span<const std::int64_t> cardinalities,
                             std::span<const std::int32_t> allowed, std::int64_t n_groups) {
    CodeTree tree{{variable.data(), variable.data() + variable.size()},
                  {first.data(), first.data() + first.size()},
                  {next.data(), next.data() + next.size()}};
    const auto n = static_cast<std::int64_t>(tree.variable.size());
    if (n == 0 || tree.first.size() != tree.variable.size()) refuse("a tree needs nodes, and an entry of each");
    for (std::int64_t node = 0; node < n; ++node) {
        const auto v = tree.variable[static_cast<std::size_t>(node)];
        const std::int64_t at = tree.first[static_cast<std::size_t>(node)];
        if (v < 0) {
            if (at < 0 || at >= n_groups) refuse("a leaf leads out of the groups");
            continue;
        }
        if (std::find(allowed.begin(), allowed.end(), v) == allowed.end()) refuse("a tree asks what is no parent");
        const auto r = cardinalities[static_cast<std::size_t>(v)];
        if (at < 0 || at + r > static_cast<std::int64_t>(tree.next.size())) refuse("a node lacks a branch");
        for (auto i = at; i < at + r; ++i) {
            const auto to = tree.next[static_cast<std::size_t>(i)];
            if (to <= node || to >= n) refuse("a branch must lead to a later node");
        }
    }
    return tree;
}

}  // namespace fishernet::bind
