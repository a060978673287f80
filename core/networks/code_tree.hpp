// A decision tree over the codes of variables: which group a row belongs to.
#pragma once

#include <cstdint>
#include <vector>

namespace fishernet {

struct CodeTree {
    std::vector<std::int32_t> variable;  // of every node, the root first; -1: a leaf
    std::vector<std::int32_t> first;     // of a leaf its group, else where its entries in `next` begin, one a state
    std::vector<std::int32_t> next;      // nodes; each comes after the node that leads to it

    bool empty() const { return variable.empty(); }

    // code(variable) gives the row's state.
    template <class CodeOf>
    std::int32_t group(CodeOf code) const {
        std::int32_t node = 0;
        while (variable[node] >= 0) node = next[first[node] + static_cast<std::int32_t>(code(variable[node]))];
        return first[node];
    }
};

}  // namespace fishernet
