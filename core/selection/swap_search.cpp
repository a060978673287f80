#include "selection/swap_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/float_kernels.hpp"
#include "base/kernels.hpp"
#include "base/pool.hpp"

namespace fishernet {
namespace {

constexpr double share_to_gain = 1e-12;  // a change must lower the value by more than this share of it
constexpr double tied = 1e-12;           // values this near to the smallest are ties, where it is below 1

// Puts k of the numbers in `all` (0 .. n - 1, in order) first; `undo` brings the order back.
void shuffle_first(std::vector<std::int64_t>& all, std::int64_t k, std::uint64_t key, std::uint32_t task,
                   std::vector<std::int64_t>& undo) {
    const auto n = static_cast<std::int64_t>(all.size());
    std::vector<std::uint32_t> draws(static_cast<std::size_t>((k + 63) / 64 * 64));
    kernels().draw(key, task, 0, draws.data(), static_cast<std::int64_t>(draws.size()));
    undo.clear();
    for (std::int64_t i = 0; i < k; ++i) {
        const auto left = static_cast<std::uint64_t>(n - i);
        const auto other = i + static_cast<std::int64_t>((draws[i] * left) >> 32);
        std::swap(all[i], all[other]);
        undo.push_back(other);
    }
}

void bring_back(std::vector<std::int64_t>& all, const std::vector<std::int64_t>& undo) {
    for (auto i = static_cast<std::int64_t>(undo.size()); i-- > 0;) std::swap(all[i], all[undo[i]]);
}

}  // namespace

std::vector<std::int64_t> draw_subset(std::int64_t n, std::int64_t k, std::uint64_t key, std::uint32_t task) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), std::int64_t{0});
    std::vector<std::int64_t> undo;
    shuffle_first(all, k, key, task, undo);
    all.resize(static_cast<std::size_t>(k));
    return all;
}

SwapSearch::SwapSearch(const CellRows& distinct, std::span<const std::int64_t> kind_of,
                       std::unique_ptr<Criterion> criterion, std::int64_t k)
    : distinct_(distinct), kind_of_(kind_of.begin(), kind_of.end()), starts_(distinct.n_rows + 1, 0),
      members_(kind_of.size()), criterion_(std::move(criterion)), k_(k), sums_(distinct.n_rows) {
    for (const auto kind : kind_of_) ++starts_[kind + 1];
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    std::vector<std::int64_t> next(starts_.begin(), starts_.end() - 1);
    for (std::size_t row = 0; row < kind_of_.size(); ++row) {
        members_[next[kind_of_[row]]++] = static_cast<std::int64_t>(row);
    }
}

void SwapSearch::draw_start(std::uint64_t key, std::int64_t n_starts, StopCheck check) {
    constexpr std::int64_t at_once = 8;
    const std::size_t width = distinct_.n_conditionals();
    std::vector<std::uint32_t> by_row(width * static_cast<std::size_t>(distinct_.n_rows));
    for (std::size_t c = 0; c < width; ++c) {
        for (std::int64_t d = 0; d < distinct_.n_rows; ++d) by_row[d * width + c] = distinct_.at(c, d);
    }
    std::vector<double> values(static_cast<std::size_t>(n_starts));
    run_tasks((n_starts + at_once - 1) / at_once, [&](std::int64_t task) {
        std::vector<std::int64_t> all(kind_of_.size());
        std::iota(all.begin(), all.end(), std::int64_t{0});
        std::vector<std::int64_t> undo;
        std::vector<std::int32_t> counts(static_cast<std::size_t>(distinct_.n_cells()));
        for (auto start = task * at_once; start < std::min(n_starts, (task + 1) * at_once); ++start) {
            shuffle_first(all, k_, key, static_cast<std::uint32_t>(start), undo);
            std::fill(counts.begin(), counts.end(), 0);
            for (std::int64_t i = 0; i < k_; ++i) {
                const auto* cells = by_row.data() + static_cast<std::size_t>(kind_of_[all[i]]) * width;
                for (std::size_t c = 0; c < width; ++c) ++counts[cells[c]];
            }
            values[start] = criterion_->value(counts);
            bring_back(all, undo);
        }
    }, check);
    const auto best = std::min_element(values.begin(), values.end()) - values.begin();
    set_start(draw_subset(n_rows(), k_, key, static_cast<std::uint32_t>(best)));
}

void SwapSearch::set_start(std::span<const std::int64_t> rows) {
    rows_.assign(rows.begin(), rows.end());
    chosen_.assign(kind_of_.size(), 0);
    free_.resize(static_cast<std::size_t>(distinct_.n_rows));
    for (std::size_t d = 0; d < free_.size(); ++d) free_[d] = starts_[d + 1] - starts_[d];
    for (const auto row : rows_) {
        chosen_[row] = 1;
        --free_[kind_of_[row]];
    }
    trace_.assign(1, 0.0);
    take_stock();
}

// The counts are exact; what is computed from them is made anew, without the roundings of many updates.
void SwapSearch::take_stock() {
    counts_.assign(static_cast<std::size_t>(distinct_.n_cells()), 0);
    for (const auto row : rows_) {
        for (std::size_t c = 0; c < distinct_.n_conditionals(); ++c) ++counts_[distinct_.at(c, kind_of_[row])];
    }
    criterion_->update_all(counts_);
    trace_.back() = criterion_->value(counts_);
}

void SwapSearch::change(std::int64_t row, std::int32_t step) {
    const auto kind = kind_of_[row];
    chosen_[row] = step > 0;
    free_[kind] -= step;
    for (std::size_t c = 0; c < distinct_.n_conditionals(); ++c) counts_[distinct_.at(c, kind)] += step;
    criterion_->update(counts_, kind);
}

void SwapSearch::add_up(StopCheck check) {
    constexpr std::int64_t block = 2048;
    const std::int64_t n = distinct_.n_rows;
    const bool parallel = n * static_cast<std::int64_t>(distinct_.n_conditionals()) > 500000;
    run_tasks((n + block - 1) / block, [&](std::int64_t task) {
        const auto first = task * block;
        const auto length = std::min(block, n - first);
        std::fill_n(sums_.data() + first, length, 0.0);
        for (std::size_t c = 0; c < distinct_.n_conditionals(); ++c) {
            float_kernels().add_looked_up(sums_.data() + first, criterion_->addends.data(), distinct_.of(c) + first,
                                          length);
        }
    }, check, parallel);
}

std::int64_t SwapSearch::first_free(std::int64_t kind) const {
    for (auto m = starts_[kind]; m < starts_[kind + 1]; ++m) {
        if (!chosen_[members_[m]]) return members_[m];
    }
    return -1;
}

// The lowest of the best free rows that do not equal the one that was taken out; -1 when there is none.
std::int64_t SwapSearch::find_best(std::int64_t own, double tolerance) const {
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t d = 0; d < distinct_.n_rows; ++d) {
        if (sums_[d] < least && free_[d] > 0 && d != own) least = sums_[d];
    }
    std::int64_t best = -1;
    for (std::int64_t d = 0; d < distinct_.n_rows; ++d) {
        if (!(sums_[d] <= least + tolerance) || free_[d] == 0 || d == own) continue;
        const auto row = first_free(d);
        if (best < 0 || row < best) best = row;
    }
    return best;
}

bool SwapSearch::replace(std::int64_t position, StopCheck check) {
    const auto row = rows_[position];
    const auto own = kind_of_[row];
    change(row, -1);
    add_up(check);
    const double value = trace_.back();
    const auto best = find_best(own, tied * std::max(1.0, value));
    const double before = sums_[own];
    const double after = best < 0 ? before : sums_[kind_of_[best]];
    const double roundings = std::numeric_limits<double>::epsilon() *
                             static_cast<double>(distinct_.n_conditionals()) * (std::abs(before) + std::abs(after));
    // infinitely far is the start of a set with a state that only rows of weight 0 have
    const bool better = std::isinf(before) ? after < before : before - after > share_to_gain * std::abs(value) + roundings;
    change(better ? best : row, 1);
    if (!better) return false;
    rows_[position] = best;
    trace_.push_back(std::isinf(value) ? criterion_->value(counts_) : value + (after - before));
    return true;
}

std::int64_t SwapSearch::visit(std::int64_t first, std::int64_t last, StopCheck check) {
    Patience patience(check);
    std::int64_t replaced = 0;
    if (first == 0) take_stock();
    for (auto position = first; position < last; ++position) {
        replaced += replace(position, check);
        patience.ask();
    }
    if (last == k_) take_stock();
    return replaced;
}

}  // namespace fishernet
