// Elimination of the vertices of a graph, one after the other: each one's neighbours are joined before it goes. The
// vertex and its neighbours at that moment are a clique of the triangulated graph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fishernet {

using Scope = std::vector<std::int32_t>;  // vertices (variables) that belong together

// Which vertex goes next: the one that adds the fewest edges (ties: the smallest table), the one with the smallest
// table (ties: the fewest edges), or the one whose added edges weigh least (an edge weighs the product of its ends'
// cardinalities). Further ties go to the first vertex.
enum class Greed { fill, table, weighted_fill };

struct Elimination {
    std::vector<Scope> cliques;  // in the order of elimination; the vertex that goes is the first of its clique
    double cells = 0;            // of all cliques' tables together
    double largest = 0;
    bool complete = true;        // false: it was given up when a table had more than the cells allowed
};

// Every scope is a clique of the graph. It is given up at a clique of more than `most` cells.
Elimination eliminate(std::span<const std::int64_t> cardinalities, std::span<const Scope> scopes, Greed greed,
                      double most);

// The cheapest of what the greeds give and, with `chance`, of what chance does between nearly equal vertices; small tables are
// not worth a second try. The same every time.
Elimination eliminate_cheaply(std::span<const std::int64_t> cardinalities, std::span<const Scope> scopes, double most, bool chance);

}  // namespace fishernet
