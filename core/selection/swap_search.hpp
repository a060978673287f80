// Algorithm 1 of Leppä-aho et al. (2020) over the rows of a table, for criteria in which a row adds a number for each of its cells. Equal
// rows are one candidate.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/interrupt.hpp"
#include "selection/cells.hpp"
#include "selection/criteria.hpp"

namespace fishernet {

// k of n numbers, in the order drawn from stream (key, task).
std::vector<std::int64_t> draw_subset(std::int64_t n, std::int64_t k, std::uint64_t key, std::uint32_t task);

class SwapSearch {
public:
    // kind_of: of every row, which distinct row it equals.
    SwapSearch(const CellRows& distinct, std::span<const std::int64_t> kind_of, std::unique_ptr<Criterion> criterion,
               std::int64_t k);

    // The best of random subsets, or the given rows.
    void draw_start(std::uint64_t key, std::int64_t n_starts, StopCheck check);
    void set_start(std::span<const std::int64_t> rows);

    // Visits the positions from first to last - 1 of a pass; returns how many rows were replaced.
    std::int64_t visit(std::int64_t first, std::int64_t last, StopCheck check);

    double value() const { return trace_.back(); }
    const std::vector<double>& trace() const { return trace_; }  // the start's value, then after every replacement
    const std::vector<std::int64_t>& rows() const { return rows_; }
    std::int64_t n_rows() const { return static_cast<std::int64_t>(kind_of_.size()); }
    std::int64_t k() const { return k_; }

private:
    void change(std::int64_t row, std::int32_t step);
    void take_stock();
    bool replace(std::int64_t position, StopCheck check);
    void add_up(StopCheck check);
    std::int64_t find_best(std::int64_t own, double tolerance) const;
    std::int64_t first_free(std::int64_t kind) const;

    const CellRows& distinct_;
    std::vector<std::int64_t> kind_of_;
    std::vector<std::int64_t> starts_;   // the rows of kind d: members_[starts_[d] .. starts_[d + 1]], ascending
    std::vector<std::int64_t> members_;
    std::unique_ptr<Criterion> criterion_;
    std::int64_t k_;

    std::vector<std::int64_t> rows_;     // the set, by position
    std::vector<char> chosen_;           // of every row
    std::vector<std::int64_t> free_;     // of every kind, how many rows are not chosen
    std::vector<std::int32_t> counts_;   // of every cell, over the set
    std::vector<double> sums_;           // of the addends, of every kind
    std::vector<double> trace_;
};

}  // namespace fishernet
