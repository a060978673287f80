// Small random tables for the core's tests.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "base/columns.hpp"

namespace fishernet {

struct TestTable {
    std::vector<std::vector<std::uint8_t>> codes;
    std::vector<std::int64_t> weights;
    Columns columns;

    TestTable(unsigned seed, std::int64_t n_rows, const std::vector<int>& cardinalities, bool weighted = false) {
        std::mt19937 random(seed);
        for (std::size_t v = 0; v < cardinalities.size(); ++v) {
            std::vector<std::uint8_t> column(static_cast<std::size_t>(n_rows));
            for (std::size_t i = 0; i < column.size(); ++i) {
                const bool copy = v > 0 && random() % 2 == 0;
                column[i] = static_cast<std::uint8_t>((copy ? codes[v - 1][i] : random()) % cardinalities[v]);
            }
            codes.push_back(std::move(column));
        }
        columns.n_rows = columns.total = n_rows;
        for (std::size_t v = 0; v < codes.size(); ++v) {
            columns.columns.push_back({codes[v].data(), 1, static_cast<std::uint32_t>(cardinalities[v]), false});
        }
        if (!weighted) return;
        columns.total = 0;
        for (std::int64_t i = 0; i < n_rows; ++i) {
            weights.push_back(random() % 4);
            columns.total += weights.back();
        }
        columns.weights = weights.data();
    }

    std::int64_t weight(std::size_t row) const { return weights.empty() ? 1 : weights[row]; }

    // How often each row occurs, by its codes: few are distinct.
    std::map<std::vector<std::uint32_t>, std::int64_t> distinct() const {
        std::map<std::vector<std::uint32_t>, std::int64_t> counts;
        std::vector<std::uint32_t> row(codes.size());
        for (std::size_t i = 0; i < static_cast<std::size_t>(columns.n_rows); ++i) {
            for (std::size_t v = 0; v < codes.size(); ++v) row[v] = codes[v][i];
            if (weight(i)) counts[row] += weight(i);
        }
        return counts;
    }
};

}  // namespace fishernet
