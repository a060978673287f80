#include "trees/tree_model.hpp"

#include <algorithm>
#include <utility>

namespace fishernet {
namespace {

// The same emissions with a last column of ones, for a missing symbol.
std::vector<double> with_missing(const std::vector<double>& emission, std::int32_t symbols) {
    std::vector<double> wider;
    wider.reserve(emission.size() + emission.size() / static_cast<std::size_t>(symbols));
    for (std::size_t i = 0; i < emission.size(); ++i) {
        wider.push_back(emission[i]);
        if ((i + 1) % static_cast<std::size_t>(symbols) == 0) wider.push_back(1.0);
    }
    return wider;
}

// The product of each number with itself; the square of a tiny one is not 0.
ScaledTable squared(const ScaledTable& table) {
    ScaledTable squares = table;
    for (std::size_t i = 0; i < table.values.size(); ++i) {
        squares.values[i] = table.values[i] * table.values[i];
        squares.mantissas[i] = table.mantissas[i] * table.mantissas[i];
        squares.exponents[i] = 2 * table.exponents[i];
    }
    scaled_kernels().settle(squares.mantissas.data(), squares.exponents.data(),
                            static_cast<std::int64_t>(squares.values.size()));
    squares.lowest = 2 * table.lowest;
    return squares;
}

}  // namespace

ScaledTable::ScaledTable(std::vector<double> numbers) : values(std::move(numbers)) {
    for (const double value : values) {
        int exponent = 0;
        const double half = std::frexp(value, &exponent);
        mantissas.push_back(2 * half);
        exponents.push_back(value > 0 ? exponent - 1 : exponent_of_zero);
        if (value > 0) lowest = std::min(lowest, std::log2(value));
    }
}

TreeModel::TreeModel(TreeShape tree, std::int32_t n_states, std::int32_t n_symbols,
                     std::vector<std::uint8_t> allowed_states, std::vector<double> root,
                     std::vector<double> transition, std::vector<double> emission)
    : shape(std::move(tree)), states(n_states), symbols(n_symbols), allowed(std::move(allowed_states)),
      of_root(std::move(root)), of_transition(std::move(transition)), of_emission(with_missing(emission, n_symbols)),
      of_squared_emission(squared(of_emission)) {
    arrange();
}

// Finds who is above whom, and an order in which few nodes are open at a time: at most the logarithm of their number.
void TreeModel::arrange() {
    const auto n = static_cast<std::size_t>(shape.n_nodes());
    parent.assign(n, -1);
    edge_to.assign(n, -1);
    std::vector<std::int64_t> below(n, 1);
    for (std::size_t v = n; v-- > 0;) {
        for (auto e = shape.first[v]; e < shape.first[v + 1]; ++e) {
            if (shape.child[e] < 0) continue;
            parent[shape.child[e]] = static_cast<std::int32_t>(v);
            edge_to[shape.child[e]] = e;
            below[v] += below[shape.child[e]];
        }
    }
    // Depth first from the root, the child with the fewest below first; read backwards.
    std::vector<std::int32_t> open{0};
    while (!open.empty()) {
        const auto v = open.back();
        open.pop_back();
        bottom_up.push_back(v);
        const auto begin = static_cast<std::ptrdiff_t>(open.size());
        for (auto e = shape.first[v]; e < shape.first[v + 1]; ++e) {
            if (shape.child[e] >= 0) open.push_back(shape.child[e]);
        }
        std::stable_sort(open.begin() + begin, open.end(),
                         [&](std::int32_t a, std::int32_t b) { return below[a] > below[b]; });
    }
    std::reverse(bottom_up.begin(), bottom_up.end());
}

}  // namespace fishernet
