#include "gaussian/cell_moments.hpp"

#include <cstddef>
#include <vector>

namespace fishernet {

void add_sums(const NumberBlock& block, std::span<double> sums) {
    const auto d = block.d(), width = static_cast<std::size_t>(block.width);
    for (std::size_t row = 0; row < block.cells.size(); ++row) {
        const double* x = block.values.data() + row * width;
        double* sum = sums.data() + static_cast<std::size_t>(block.cells[row]) * d;
        const double weight = block.weights.empty() ? 1.0 : block.weights[row];
        for (std::size_t i = 0; i < d; ++i) sum[i] += weight * x[block.members[i]];
    }
}

void add_products(const NumberBlock& block, std::span<const double> centres, std::span<double> products) {
    const auto d = block.d(), width = static_cast<std::size_t>(block.width);
    std::vector<double> apart(d);
    for (std::size_t row = 0; row < block.cells.size(); ++row) {
        const double* x = block.values.data() + row * width;
        const auto cell = static_cast<std::size_t>(block.cells[row]);
        const double* centre = centres.data() + cell * d;
        double* of_cell = products.data() + cell * d * d;
        const double weight = block.weights.empty() ? 1.0 : block.weights[row];
        for (std::size_t i = 0; i < d; ++i) apart[i] = x[block.members[i]] - centre[i];
        for (std::size_t i = 0; i < d; ++i) {
            const double scaled = weight * apart[i];
            for (std::size_t j = 0; j <= i; ++j) of_cell[i * d + j] += scaled * apart[j];
        }
    }
}

}  // namespace fishernet
