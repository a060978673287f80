#include "comparison/shift.hpp"

#include <cmath>
#include <numeric>
#include <utility>

namespace fishernet {
namespace {

constexpr std::size_t most_sums = 256;   // whose covariance is factored
constexpr double dependent = 1e-9;       // the share of a variance that others leave, below which it is none

// Of rows whose groups (or states) are `places`: the covariance of one row's sums, times the rows that have any.
std::vector<double> covariance_of(std::span<const std::size_t> places, std::span<const std::int64_t> rows, double all,
                                  std::span<const double> scores, std::size_t n_sums) {
    std::vector<double> found(n_sums * n_sums, 0.0), means(n_sums, 0.0);
    for (std::size_t i = 0; i < places.size(); ++i) {
        const std::size_t at = scores.empty() ? places[i] : 0;
        if (at >= n_sums) continue;
        const double score = scores.empty() ? 1 : scores[places[i]];
        means[at] += score * static_cast<double>(rows[i]);
        found[at * n_sums + at] += score * score * static_cast<double>(rows[i]);
    }
    for (std::size_t a = 0; a < n_sums; ++a) {
        for (std::size_t b = 0; b < n_sums; ++b) found[a * n_sums + b] -= means[a] * means[b] / all;
    }
    return found;
}

}  // namespace

Shift::Shift(std::vector<double> group_scores, std::size_t n_groups, std::vector<double> state_scores,
             std::size_t n_states)
    : group_scores_(std::move(group_scores)),
      state_scores_(std::move(state_scores)),
      n_states_(n_states),
      by_group_(group_scores_.empty() ? n_groups - 1 : 1),
      by_state_(state_scores_.empty() ? n_states : 1) {
    if (size() <= most_sums) covariance_.assign(size() * size(), 0.0);
}

void Shift::add(std::span<const std::size_t> groups, std::span<const std::int64_t> sizes,
                std::span<const std::size_t> states, std::span<const std::int64_t> pooled, std::int64_t total) {
    if (covariance_.empty()) return;
    const auto all = static_cast<double>(total);
    const auto of_groups = covariance_of(groups, sizes, all, group_scores_, by_group_);
    const auto of_states = covariance_of(states, pooled, all, state_scores_, by_state_);
    for (std::size_t g = 0; g < by_group_; ++g) {
        for (std::size_t h = 0; h < by_group_; ++h) {
            const double both = of_groups[g * by_group_ + h] / (all - 1);
            if (both == 0) continue;
            for (std::size_t k = 0; k < by_state_; ++k) {
                double* row = covariance_.data() + (g * by_state_ + k) * size() + h * by_state_;
                for (std::size_t i = 0; i < by_state_; ++i) row[i] += both * of_states[k * by_state_ + i];
            }
        }
    }
}

void Shift::factor() {
    if (covariance_.empty()) return;
    const std::size_t n = size();
    std::vector<double> left(n);
    for (std::size_t a = 0; a < n; ++a) left[a] = covariance_[a * n + a];
    const std::vector<double> variances = left;
    std::vector<std::vector<double>> columns;  // of the factor, over all n
    while (true) {
        std::size_t best = n;
        for (std::size_t a = 0; a < n; ++a) {
            const bool is_free = left[a] > dependent * variances[a];
            if (is_free && (best == n || left[a] * variances[best] > left[best] * variances[a])) best = a;
        }
        if (best == n) break;
        std::vector<double> column(n);
        const double root = std::sqrt(left[best]);
        for (std::size_t a = 0; a < n; ++a) {
            double sum = covariance_[a * n + best];
            for (const auto& before : columns) sum -= before[a] * before[best];
            column[a] = sum / root;
            left[a] -= column[a] * column[a];
        }
        left[best] = 0;
        pivots_.push_back(best);
        columns.push_back(std::move(column));
    }
    for (const auto& column : columns) {
        for (const std::size_t pivot : pivots_) root_.push_back(column[pivot]);
    }
    covariance_.clear();
}

double Shift::squared(std::span<const double> deviations) const {
    const std::size_t n = pivots_.size();
    if (n == 0) return 0;
    thread_local std::vector<double> sums, rest;
    std::span<const double> of = deviations;
    if (!group_scores_.empty() || !state_scores_.empty()) {
        sums.assign(size(), 0.0);
        for (std::size_t i = 0; i < deviations.size(); ++i) {
            const std::size_t g = i / n_states_, k = i % n_states_;
            const double by_group = group_scores_.empty() ? 1 : group_scores_[g];
            const double by_state = state_scores_.empty() ? 1 : state_scores_[k];
            const std::size_t at = (group_scores_.empty() ? g * by_state_ : 0) + (state_scores_.empty() ? k : 0);
            if (at < sums.size()) sums[at] += by_group * by_state * deviations[i];
        }
        of = sums;
    }
    rest.resize(n);
    for (std::size_t a = 0; a < n; ++a) rest[a] = of[pivots_[a]];
    double found = 0;
    for (std::size_t a = 0; a < n; ++a) {
        const double* column = root_.data() + a * n;
        const double solved = rest[a] / column[a];
        for (std::size_t b = a + 1; b < n; ++b) rest[b] -= column[b] * solved;
        found += solved * solved;
    }
    return found;
}

std::vector<double> mean_ranks(std::span<const std::int64_t> rows) {
    const auto all = static_cast<double>(std::accumulate(rows.begin(), rows.end(), std::int64_t{0}));
    std::vector<double> found;
    double before = 0;
    for (const std::int64_t n : rows) {
        found.push_back((before + static_cast<double>(n) / 2) / all - 0.5);
        before += static_cast<double>(n);
    }
    return found;
}

}  // namespace fishernet
