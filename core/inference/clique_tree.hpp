// A tree of cliques with the running intersection property: what two cliques share lies in every clique between them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inference/elimination.hpp"

namespace fishernet {

struct Clique {
    Scope variables;             // the separator to the parent first: it varies slowest in the clique's table
    std::int32_t n_separator = 0;
    std::int32_t parent = -1;    // -1: a root (one in every connected part)
    std::int32_t depth = 0;
    std::vector<std::int32_t> children;
};

struct CliqueTree {
    std::vector<Clique> cliques;             // parents before children
    std::vector<std::int32_t> scope_cliques;  // for every scope, the smallest clique that holds it; -1: it is empty

    // What its tables would need.
    double cells = 0;
    double largest = 0;
    std::int32_t width = 0;  // the number of variables of the largest clique, less one
};

// The maximal cliques of an elimination, joined. The clique of scope `root` becomes a root; -1: the largest of each
// part.
CliqueTree make_tree(const Elimination& elimination, std::span<const std::int64_t> cardinalities,
                     std::span<const Scope> scopes, std::int64_t root);

}  // namespace fishernet
