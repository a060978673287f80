#include "inference/clique_tree.hpp"

#include <algorithm>

namespace fishernet {
namespace {

// Maximal cliques and the undirected edges between them.
struct Loose {
    std::vector<Scope> cliques;
    std::vector<std::vector<std::int32_t>> joined;
    std::vector<std::int32_t> holder;  // for every vertex, the clique that holds its own elimination clique
    std::vector<std::int32_t> place;   // for every vertex, when it was eliminated
};

// The clique of v hangs on that of the next to go among v's neighbours; where it is that clique and v, it replaces it.
Loose join_cliques(const Elimination& elimination, std::size_t n) {
    Loose loose;
    loose.holder.assign(n, -1);
    loose.place.assign(n, 0);
    const auto& cliques = elimination.cliques;
    for (std::size_t i = 0; i < cliques.size(); ++i) loose.place[cliques[i].front()] = static_cast<std::int32_t>(i);
    std::vector<std::int32_t> waiting(n, -1);  // for every vertex, a clique that swallows its elimination clique
    std::vector<std::pair<std::int32_t, std::int32_t>> edges;  // a clique, and the vertex whose clique it hangs on
    for (const auto& clique : cliques) {
        const auto v = clique.front();
        std::int32_t own = waiting[v];
        if (own < 0) {
            own = static_cast<std::int32_t>(loose.cliques.size());
            loose.cliques.push_back(clique);
        }
        loose.holder[v] = own;
        if (clique.size() == 1) continue;
        const auto next = *std::min_element(clique.begin() + 1, clique.end(), [&](std::int32_t a, std::int32_t b) {
            return loose.place[a] < loose.place[b];
        });
        const auto size_of_next = cliques[loose.place[next]].size();
        if (waiting[next] < 0 && size_of_next + 1 == clique.size()) {
            waiting[next] = own;
        } else {
            edges.emplace_back(own, next);
        }
    }
    loose.joined.resize(loose.cliques.size());
    for (const auto& [clique, vertex] : edges) {
        const auto other = loose.holder[vertex];
        loose.joined[clique].push_back(other);
        loose.joined[other].push_back(clique);
    }
    return loose;
}

double table_cells(const Scope& variables, std::span<const std::int64_t> cardinalities) {
    double cells = 1;
    for (const auto v : variables) cells *= static_cast<double>(cardinalities[v]);
    return cells;
}

bool holds(const Scope& clique, const Scope& scope) {
    return std::all_of(scope.begin(), scope.end(),
                       [&](std::int32_t v) { return std::find(clique.begin(), clique.end(), v) != clique.end(); });
}

// The smallest clique that holds a scope, among the first eliminated of its variables' and all that lie around it.
std::int32_t find_smallest(const Loose& loose, const Scope& scope, std::span<const std::int64_t> cardinalities) {
    if (scope.empty()) return -1;
    const auto first = *std::min_element(scope.begin(), scope.end(), [&](std::int32_t a, std::int32_t b) {
        return loose.place[a] < loose.place[b];
    });
    std::int32_t best = loose.holder[first];
    std::vector<std::int32_t> met{best};
    std::vector<std::int32_t> from{-1};
    for (std::size_t i = 0; i < met.size(); ++i) {
        for (const auto next : loose.joined[met[i]]) {
            if (next == from[i] || !holds(loose.cliques[next], scope)) continue;
            met.push_back(next);
            from.push_back(met[i]);
            if (table_cells(loose.cliques[next], cardinalities) < table_cells(loose.cliques[best], cardinalities)) {
                best = next;
            }
        }
    }
    return best;
}

// Puts the variables shared with the parent first, in the parent's order.
void order_variables(Clique& clique, const Clique* parent) {
    Scope ordered;
    if (parent != nullptr) {
        for (const auto v : parent->variables) {
            if (std::find(clique.variables.begin(), clique.variables.end(), v) != clique.variables.end()) {
                ordered.push_back(v);
            }
        }
    }
    clique.n_separator = static_cast<std::int32_t>(ordered.size());
    for (const auto v : clique.variables) {
        if (std::find(ordered.begin(), ordered.begin() + clique.n_separator, v) ==
            ordered.begin() + clique.n_separator) {
            ordered.push_back(v);
        }
    }
    clique.variables = std::move(ordered);
}

}  // namespace

CliqueTree make_tree(const Elimination& elimination, std::span<const std::int64_t> cardinalities,
                     std::span<const Scope> scopes, std::int64_t root) {
    Loose loose = join_cliques(elimination, cardinalities.size());
    const std::size_t n = loose.cliques.size();
    std::vector<std::int32_t> held;  // before the cliques get their places in the tree
    for (const auto& scope : scopes) held.push_back(find_smallest(loose, scope, cardinalities));
    std::vector<std::int32_t> roots(n);
    for (std::size_t i = 0; i < n; ++i) roots[i] = static_cast<std::int32_t>(i);
    std::stable_sort(roots.begin(), roots.end(), [&](std::int32_t a, std::int32_t b) {
        return table_cells(loose.cliques[a], cardinalities) > table_cells(loose.cliques[b], cardinalities);
    });
    if (root >= 0 && held[root] >= 0) roots.insert(roots.begin(), held[root]);

    CliqueTree tree;
    std::vector<std::int32_t> place(n, -1);
    const auto enter = [&](std::int32_t which, std::int32_t parent) {
        place[which] = static_cast<std::int32_t>(tree.cliques.size());
        Clique clique;
        clique.variables = std::move(loose.cliques[which]);
        clique.parent = parent;
        clique.depth = parent < 0 ? 0 : tree.cliques[parent].depth + 1;
        order_variables(clique, parent < 0 ? nullptr : &tree.cliques[parent]);
        const double cells = table_cells(clique.variables, cardinalities);
        tree.cells += cells;
        tree.largest = std::max(tree.largest, cells);
        tree.width = std::max(tree.width, static_cast<std::int32_t>(clique.variables.size()) - 1);
        if (parent >= 0) tree.cliques[parent].children.push_back(place[which]);
        tree.cliques.push_back(std::move(clique));
    };
    std::vector<std::int32_t> open;  // breadth first: cliques of the tree whose neighbours have not been entered
    for (const auto start : roots) {
        if (place[start] >= 0) continue;
        enter(start, -1);
        open.assign(1, start);
        for (std::size_t i = 0; i < open.size(); ++i) {
            for (const auto next : loose.joined[open[i]]) {
                if (place[next] >= 0) continue;
                enter(next, place[open[i]]);
                open.push_back(next);
            }
        }
    }
    for (const auto h : held) tree.scope_cliques.push_back(h < 0 ? -1 : place[h]);
    return tree;
}

}  // namespace fishernet
