#include "gaussian/cell_moments.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/float_kernels.hpp"

namespace fishernet {
namespace {

// The rows of each cell, in their order.
class RowsByCell {
public:
    RowsByCell(std::span<const std::int64_t> cells, std::size_t n_cells) : ends_(n_cells + 1), rows_(cells.size()) {
        for (const auto cell : cells) ++ends_[static_cast<std::size_t>(cell) + 1];
        for (std::size_t cell = 0; cell < n_cells; ++cell) ends_[cell + 1] += ends_[cell];
        auto next = ends_;
        for (std::size_t row = 0; row < cells.size(); ++row) {
            rows_[next[static_cast<std::size_t>(cells[row])]++] = static_cast<std::uint32_t>(row);
        }
    }

    std::span<const std::uint32_t> of(std::size_t cell) const {
        return std::span(rows_).subspan(ends_[cell], ends_[cell + 1] - ends_[cell]);
    }

private:
    std::vector<std::size_t> ends_;
    std::vector<std::uint32_t> rows_;
};

// Products of the numbers of a cell's rows, which are brought together some at a time, so that they stay near while each
// tile of products is added up.
class CellProducts {
public:
    explicit CellProducts(std::size_t d)
        : d_(d),
          width_((d + columns - 1) / columns * columns),
          apart_(rows_at_once * width_),
          scaled_(rows_at_once * width_),
          sums_(width_ * width_) {}

    void add(const NumberBlock& block, std::span<const std::uint32_t> rows, const double* centre, double* products) {
        for (std::size_t i = 0; i < d_; ++i) std::copy_n(products + i * d_, d_, sums_.data() + i * width_);
        for (std::size_t first = 0; first < rows.size(); first += rows_at_once) {
            const auto some = rows.subspan(first, std::min(rows_at_once, rows.size() - first));
            bring(block, some, centre);
            const double* left = block.weights.empty() ? apart_.data() : scaled_.data();
            for (std::size_t i = 0; i < d_; i += tile_rows) {
                for (std::size_t j = 0; j < i + tile_rows && j < d_; j += columns) {
                    kernels_.add_tile(sums_.data() + i * width_ + j, static_cast<std::int64_t>(width_), left + i,
                                      apart_.data() + j, static_cast<std::int64_t>(width_),
                                      static_cast<std::int64_t>(some.size()));
                }
            }
        }
        for (std::size_t i = 0; i < d_; ++i) {
            for (std::size_t k = 0; k <= i; ++k) products[i * d_ + k] = products[k * d_ + i] = sums_[i * width_ + k];
        }
    }

private:
    static constexpr std::size_t rows_at_once = 64;
    static constexpr auto tile_rows = static_cast<std::size_t>(FloatKernels::tile_rows);
    static constexpr auto columns = static_cast<std::size_t>(FloatKernels::tile_columns);

    void bring(const NumberBlock& block, std::span<const std::uint32_t> rows, const double* centre) {
        const auto width = static_cast<std::size_t>(block.width);
        double *apart = apart_.data(), *scaled = scaled_.data();
        for (const auto row : rows) {
            const double* x = block.values.data() + row * width;
            for (std::size_t i = 0; i < d_; ++i) apart[i] = x[block.members[i]] - centre[i];
            if (!block.weights.empty()) {
                for (std::size_t i = 0; i < d_; ++i) scaled[i] = block.weights[row] * apart[i];
            }
            apart += width_;
            scaled += width_;
        }
    }

    std::size_t d_, width_;
    std::vector<double> apart_, scaled_, sums_;  // padded by zeros to whole tiles
    const FloatKernels& kernels_ = float_kernels();
};

}  // namespace

OwnedMoments pooled(const CellMoments& cells, std::span<const std::int32_t> members, std::span<const std::int64_t> groups,
                    std::size_t n_groups) {
    const auto d = members.size(), width = static_cast<std::size_t>(cells.d);
    const auto n_products = CellMoments::n_products(d), products_of_cell = CellMoments::n_products(width);
    OwnedMoments found{std::vector<double>(n_groups), std::vector<double>(n_groups * d),
                       std::vector<double>(n_groups * n_products), static_cast<std::int32_t>(d)};
    std::vector<std::size_t> first(n_groups, cells.size());  // means are taken from that of a group's first cell
    const auto mean_of = [&](std::size_t cell, std::size_t i) { return cells.means[cell * width + members[i]]; };
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
        const auto group = static_cast<std::size_t>(groups[cell]);
        const double weight = cells.weights[cell];
        if (!(weight > 0)) continue;
        if (first[group] == cells.size()) first[group] = cell;
        found.weights[group] += weight;
        double* mean = found.means.data() + group * d;
        for (std::size_t i = 0; i < d; ++i) mean[i] += weight * (mean_of(cell, i) - mean_of(first[group], i));
    }
    for (std::size_t group = 0; group < n_groups; ++group) {
        if (first[group] == cells.size()) continue;
        double* mean = found.means.data() + group * d;
        for (std::size_t i = 0; i < d; ++i) mean[i] = mean_of(first[group], i) + mean[i] / found.weights[group];
    }
    std::vector<double> apart(d);
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
        const auto group = static_cast<std::size_t>(groups[cell]);
        const double weight = cells.weights[cell];
        if (!(weight > 0)) continue;
        const double* mean = found.means.data() + group * d;
        for (std::size_t i = 0; i < d; ++i) apart[i] = mean_of(cell, i) - mean[i];
        const double* of_cell = cells.products.data() + cell * products_of_cell;
        double* into = found.products.data() + group * n_products;
        for (std::size_t i = 0; i < d; ++i) {
            const double* from = of_cell + CellMoments::place(static_cast<std::size_t>(members[i]), 0);
            const double scaled = weight * apart[i];
            for (std::size_t k = 0; k <= i; ++k) into[k] += from[members[k]] + scaled * apart[k];
            into += i + 1;
        }
    }
    return found;
}

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
    const auto d = block.d();
    if (d == 0) return;
    const auto n_cells = centres.size() / d;
    const RowsByCell rows(block.cells, n_cells);
    CellProducts of_cell(d);
    for (std::size_t cell = 0; cell < n_cells; ++cell) {
        const auto of = rows.of(cell);
        if (!of.empty()) of_cell.add(block, of, centres.data() + cell * d, products.data() + cell * d * d);
    }
}

}  // namespace fishernet
