#include "selection/cells.hpp"

#include <algorithm>

#include "base/pool.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t block_rows = 4096;
constexpr std::size_t worth_threads = 200000;  // cells

}  // namespace

CellRows find_cell_rows(const Columns& table, std::span<const FlatConditional> conditionals, StopCheck check) {
    CellRows rows;
    rows.n_rows = table.n_rows;
    rows.firsts.push_back(0);
    for (const auto& c : conditionals) {
        rows.states.push_back(c.states);
        rows.firsts.push_back(rows.firsts.back() + c.n_groups * c.states);
    }
    rows.cells.resize(conditionals.size() * static_cast<std::size_t>(table.n_rows));
    const std::int64_t blocks = (table.n_rows + block_rows - 1) / block_rows;
    run_tasks(blocks, [&](std::int64_t block) {
        const std::int64_t begin = block * block_rows;
        const std::int64_t n = std::min(block_rows, table.n_rows - begin);
        for (std::size_t c = 0; c < conditionals.size(); ++c) {
            auto* cells = rows.cells.data() + static_cast<std::int64_t>(c) * table.n_rows + begin;
            find_cells(table, conditionals[c], begin, n, cells);
            const auto first = static_cast<std::uint32_t>(rows.firsts[c]);
            for (std::int64_t i = 0; i < n; ++i) cells[i] += first;
        }
    }, check, rows.cells.size() > worth_threads);
    return rows;
}

void count_cells(const CellRows& rows, const std::int64_t* weights, std::span<double> counts, StopCheck check) {
    run_tasks(static_cast<std::int64_t>(rows.n_conditionals()), [&](std::int64_t c) {
        const auto* cells = rows.of(static_cast<std::size_t>(c));
        for (std::int64_t i = 0; i < rows.n_rows; ++i) {
            counts[cells[i]] += weights != nullptr ? static_cast<double>(weights[i]) : 1.0;
        }
    }, check, rows.cells.size() > worth_threads);
}

void sum_cells(const CellRows& rows, std::span<const double> factors, std::span<double> sums) {
    for (std::size_t c = 0; c < rows.n_conditionals(); ++c) {
        const std::uint32_t* cells = rows.of(c);
        for (std::size_t i = 0; i < factors.size(); ++i) sums[cells[i]] += factors[i];
    }
}

}  // namespace fishernet
