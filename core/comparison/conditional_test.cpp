#include "comparison/conditional_test.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/pool.hpp"
#include "comparison/divergences.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t tables_at_once = 32;  // that are drawn by one task
constexpr std::size_t most_shifted = 256;    // deviations summed over configurations, whose covariance is inverted
constexpr std::int64_t rows_a_cell = 4;      // up to which rows are drawn one by one, where there are many groups
constexpr double dependent = 1e-9;           // the share of a variance that others leave, below which it is none
constexpr double digits = 1e9;  // of statistics and ranks that are compared: a draw that is the observed table ties
constexpr std::array<double, ConditionalTest::n_statistics> weights{3.0 / 6, 1.0 / 6, 1.0 / 6, 1.0 / 6};
constexpr double pi = 3.14159265358979323846;
constexpr std::size_t counts_looked_up = 2048;

// 2 n log n.
double twice_n_log_n(std::int64_t n) {
    static const std::vector<double> values = [] {
        std::vector<double> found(counts_looked_up, 0.0);
        for (std::size_t i = 2; i < found.size(); ++i) {
            const auto x = static_cast<double>(i);
            found[i] = 2 * x * std::log(x);
        }
        return found;
    }();
    if (static_cast<std::size_t>(n) < values.size()) return values[static_cast<std::size_t>(n)];
    return 2 * static_cast<double>(n) * std::log(static_cast<double>(n));
}

// The share of values that are at least as large as each.
std::vector<double> ranks(std::vector<double> values) {
    for (double& value : values) value = std::nearbyint(value * digits) / digits;
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    for (double& value : values) {
        const auto below = std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin();
        value = static_cast<double>(static_cast<std::ptrdiff_t>(sorted.size()) - below) /
                static_cast<double>(sorted.size());
    }
    return values;
}

}  // namespace

struct ConditionalTest::Sums {
    double likelihoods = 0, large = 0, largest = -1e300;
    std::vector<double> shift;  // (groups - 1, states)
};

ConditionalTest::Sums ConditionalTest::no_sums() const {
    Sums sums;
    sums.shift.resize(n_groups_ < 2 ? 0 : (n_groups_ - 1) * n_states_);
    return sums;
}

ConditionalTest::ConditionalTest(std::span<const std::int64_t> counts, std::size_t n_groups,
                                 std::size_t n_configurations, std::size_t n_states) {
    const auto at = [&](std::size_t g, std::size_t j, std::size_t k) {
        return counts[(g * n_configurations + j) * n_states + k];
    };
    std::vector<char> takes_part(n_groups, 0), occurs(n_states, 0);
    for (std::size_t j = 0; j < n_configurations; ++j) {
        std::vector<char> groups(n_groups, 0), states(n_states, 0);
        for (std::size_t g = 0; g < n_groups; ++g) {
            for (std::size_t k = 0; k < n_states; ++k) {
                if (at(g, j, k) > 0) groups[g] = states[k] = 1;
            }
        }
        if (std::count(groups.begin(), groups.end(), 1) < 2 || std::count(states.begin(), states.end(), 1) < 2) continue;
        told_.push_back(static_cast<std::int64_t>(j));
        for (std::size_t g = 0; g < n_groups; ++g) takes_part[g] |= groups[g];
        for (std::size_t k = 0; k < n_states; ++k) occurs[k] |= states[k];
    }
    for (std::size_t g = 0; g < n_groups; ++g) {
        if (!takes_part[g]) continue;
        for (const std::int64_t j : told_) {
            for (std::size_t k = 0; k < n_states; ++k) {
                if (occurs[k]) counts_.push_back(at(g, static_cast<std::size_t>(j), k));
            }
        }
    }
    n_groups_ = static_cast<std::size_t>(std::count(takes_part.begin(), takes_part.end(), 1));
    n_states_ = static_cast<std::size_t>(std::count(occurs.begin(), occurs.end(), 1));
    n_seen_ = n_groups_ == 2 ? 1 : n_groups_;
    by_state_.assign(n_seen_ * n_states_, 0.0);
    for (std::size_t j = 0; j < n_told(); ++j) {
        std::int64_t total = 0;
        double inverse_sizes = 0;
        for (std::size_t k = 0; k < n_states_; ++k) {
            std::int64_t pooled = 0;
            for (std::size_t g = 0; g < n_groups_; ++g) pooled += count(g, j, k);
            pooled_.push_back(pooled);
            total += pooled;
        }
        for (std::size_t g = 0; g < n_groups_; ++g) {
            std::int64_t size = 0;
            for (std::size_t k = 0; k < n_states_; ++k) size += count(g, j, k);
            sizes_.push_back(size);
            if (size > 0) inverse_sizes += 1 / static_cast<double>(size);
        }
        totals_.push_back(total);
        of_margins_ += twice_n_log_n(total);
        for (std::size_t k = 0; k < n_states_; ++k) of_margins_ -= twice_n_log_n(pooled_[j * n_states_ + k]);
        for (std::size_t g = 0; g < n_groups_; ++g) of_margins_ -= twice_n_log_n(sizes_[j * n_groups_ + g]);
        const std::int64_t* pooled = pooled_.data() + j * n_states_;
        const std::int64_t* sizes = sizes_.data() + j * n_groups_;
        const auto all = static_cast<double>(total), others = std::max(all - 1, 1.0);
        for (std::size_t g = 0; g < n_seen_; ++g) {
            const auto size = static_cast<double>(sizes[g]);
            const double per_row = n_seen_ == 1 ? inverse_sizes : size > 0 ? 1 / size : 0;
            const double spread = size * (all - size) / others;  // of a state that half of the rows have
            for (std::size_t k = 0; k < n_states_; ++k) {
                const auto of_state = static_cast<double>(pooled[k]);
                expected_.push_back(size * of_state / all);
                by_cell_.push_back(of_state > 0 ? per_row * (all - 1) / of_state : 0);
                by_state_[g * n_states_ + k] += spread * of_state / all;
            }
        }
        const auto n_here = std::count_if(sizes, sizes + n_groups_, [](std::int64_t n) { return n > 0; });
        const auto n_occur = std::count_if(pooled, pooled + n_states_, [](std::int64_t n) { return n > 0; });
        degrees_.push_back(static_cast<double>((n_here - 1) * (n_occur - 1)));
        off_.push_back(1 - 2 / (9 * degrees_.back()));
        scale_.push_back(std::sqrt(2 / (9 * degrees_.back())));
        // the second largest first, which has a table, the others by size, and what is left has the largest state
        const auto order = order_.insert(order_.end(), n_states_, 0);
        std::iota(order, order_.end(), std::size_t{0});
        std::stable_sort(order, order_.end(), [&](std::size_t a, std::size_t b) { return pooled[a] > pooled[b]; });
        std::rotate(order, order + 1, order_.end());
        first_.emplace_back(Hypergeometric{total, pooled[order_[j * n_states_]], sizes[0]});
    }
    const double overall = std::accumulate(by_state_.begin(), by_state_.end(), 0.0);
    for (double& weight : by_state_) weight = weight > 0 ? overall / weight : 0;
    invert_shift();
}

// Factors the covariance of the deviations summed over configurations, which may be singular: it is that of as many as
// are independent, and the others add nothing.
void ConditionalTest::invert_shift() {
    const std::size_t n = n_groups_ < 2 ? 0 : (n_groups_ - 1) * n_states_;
    if (n > most_shifted) return;
    std::vector<double> covariance(n * n, 0.0);
    for (std::size_t j = 0; j < n_told(); ++j) {
        const auto all = static_cast<double>(totals_[j]);
        const std::int64_t* pooled = pooled_.data() + j * n_states_;
        for (std::size_t a = 0; a < n; ++a) {
            const auto size = static_cast<double>(sizes_[j * n_groups_ + a / n_states_]);
            const double share = static_cast<double>(pooled[a % n_states_]) / all;
            for (std::size_t b = 0; b <= a; ++b) {
                const auto other = static_cast<double>(sizes_[j * n_groups_ + b / n_states_]);
                const double groups = (a / n_states_ == b / n_states_ ? size : 0) - size * other / all;
                const double states = (a % n_states_ == b % n_states_ ? share : 0) -
                                      share * static_cast<double>(pooled[b % n_states_]) / all;
                covariance[a * n + b] += groups * states * all / std::max(all - 1, 1.0);
            }
        }
    }
    const auto entry = [&](std::size_t a, std::size_t b) { return covariance[std::max(a, b) * n + std::min(a, b)]; };
    std::vector<double> left(n);
    for (std::size_t a = 0; a < n; ++a) left[a] = entry(a, a);
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
            double sum = entry(a, best);
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
}

// Rows one by one, without putting back: quick where most cells of the table stay empty.
void ConditionalTest::deal(std::size_t j, std::int64_t* table, Draws& draws) const {
    thread_local std::vector<std::size_t> states;  // of the rows that are left
    states.clear();
    for (std::size_t k = 0; k < n_states_; ++k) {
        states.insert(states.end(), static_cast<std::size_t>(pooled_[j * n_states_ + k]), k);
    }
    std::fill_n(table, n_groups_ * n_states_, 0);
    std::int64_t rows = totals_[j];
    for (std::size_t g = 0; g < n_groups_; ++g) {
        std::int64_t* here = table + g * n_states_;
        for (std::int64_t wanted = sizes_[j * n_groups_ + g]; wanted > 0; --wanted) {
            std::size_t& one = states[static_cast<std::size_t>(draws.below(rows))];
            ++here[one];
            one = states[static_cast<std::size_t>(--rows)];
        }
    }
}

// table[group][state] of one configuration.
void ConditionalTest::draw(std::size_t j, std::int64_t* table, Draws& draws) const {
    if (n_groups_ > 2 && totals_[j] <= rows_a_cell * static_cast<std::int64_t>(n_groups_ * n_states_)) {
        return deal(j, table, draws);
    }
    const std::size_t* order = order_.data() + j * n_states_;
    std::int64_t* last = table + (n_groups_ - 1) * n_states_;
    std::copy_n(pooled_.data() + j * n_states_, n_states_, last);  // which other groups take their rows from
    std::int64_t rows = totals_[j];
    for (std::size_t g = 0; g + 1 < n_groups_; ++g) {
        std::int64_t* here = table + g * n_states_;
        std::int64_t wanted = sizes_[j * n_groups_ + g], all = rows;
        rows -= wanted;
        for (std::size_t i = 0; i + 1 < n_states_; ++i) {
            const std::size_t k = order[i];
            const std::int64_t having = last[k];
            here[k] = g == 0 && i == 0 ? first_[j].draw(draws) : draw_hypergeometric({all, having, wanted}, draws);
            all -= having;
            wanted -= here[k];
            last[k] -= here[k];
        }
        const std::size_t k = order[n_states_ - 1];
        here[k] = wanted;
        last[k] -= wanted;
    }
}

void ConditionalTest::observe(std::size_t j, std::int64_t* table) const {
    for (std::size_t g = 0; g < n_groups_; ++g) {
        for (std::size_t k = 0; k < n_states_; ++k) table[g * n_states_ + k] = count(g, j, k);
    }
}

double ConditionalTest::chi_squared(std::size_t j, const std::int64_t* table) const {
    const std::size_t n = n_seen_ * n_states_;
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double off = static_cast<double>(table[i]) - expected_[j * n + i];
        sum += off * off * by_cell_[j * n + i];
    }
    return sum;
}

// As a normal score (Wilson and Hilferty, 1931).
double ConditionalTest::deviation(std::size_t j, double chi_squared) const {
    return (std::cbrt(chi_squared / degrees_[j]) - off_[j]) / scale_[j];
}

// What the counts of a configuration add to G beside its margins.
double ConditionalTest::terms(const std::int64_t* table) const {
    double sum = 0;
    for (std::size_t i = 0; i < n_groups_ * n_states_; ++i) sum += twice_n_log_n(table[i]);
    return sum;
}

void ConditionalTest::add(std::size_t j, const std::int64_t* table, Sums& sums) const {
    const std::size_t n = n_seen_ * n_states_;
    for (std::size_t i = 0; i < n; ++i) {
        const double off = static_cast<double>(table[i]) - expected_[j * n + i];
        sums.large += off * off * by_state_[i];
        if (i < sums.shift.size()) sums.shift[i] += off;
    }
    sums.likelihoods += terms(table);
    sums.largest = std::max(sums.largest, deviation(j, chi_squared(j, table)));
}

void ConditionalTest::finish(const Sums& sums, double* statistics) const {
    const std::size_t n = pivots_.size();
    thread_local std::vector<double> rest;
    rest.resize(n);
    for (std::size_t a = 0; a < n; ++a) rest[a] = sums.shift[pivots_[a]];
    double of_shift = 0;
    for (std::size_t a = 0; a < n; ++a) {
        const double* column = root_.data() + a * n;
        const double solved = rest[a] / column[a];
        for (std::size_t b = a + 1; b < n; ++b) rest[b] -= column[b] * solved;
        of_shift += solved * solved;
    }
    const std::array<double, n_statistics> found{sums.likelihoods + of_margins_, sums.large, of_shift, sums.largest};
    std::copy(found.begin(), found.end(), statistics);
}

template <class See>
void ConditionalTest::each(std::uint64_t key, std::int64_t n_draws, StopCheck check, See see) const {
    const std::int64_t n_tasks = (n_draws + tables_at_once - 1) / tables_at_once;
    run_tasks(n_tasks, [&](std::int64_t task) {
        Draws draws(key, static_cast<std::uint32_t>(task));
        std::vector<std::int64_t> table(n_groups_ * n_states_);
        const std::int64_t last = std::min(n_draws, (task + 1) * tables_at_once);
        for (std::int64_t t = task * tables_at_once; t < last; ++t) {
            for (std::size_t j = 0; j < n_told(); ++j) {
                draw(j, table.data(), draws);
                see(static_cast<std::size_t>(t), j, table.data());
            }
        }
    }, check);
}

std::vector<double> ConditionalTest::statistics() const {
    std::vector<std::int64_t> table(n_groups_ * n_states_);
    Sums sums = no_sums();
    for (std::size_t j = 0; j < n_told(); ++j) {
        observe(j, table.data());
        add(j, table.data(), sums);
    }
    std::vector<double> found(n_statistics);
    finish(sums, found.data());
    return found;
}

std::vector<double> ConditionalTest::p_values(std::uint64_t key, std::int64_t n_draws, StopCheck check) const {
    const auto n = static_cast<std::size_t>(1 + n_draws);
    std::vector<double> found = statistics();
    if (n_told() == 1) {  // the statistics say the same
        found.resize(n);
        each(key, n_draws, check, [&](std::size_t t, std::size_t, const std::int64_t* table) {
            found[1 + t] = terms(table) + of_margins_;
        });
        return ranks(std::move(found));
    }
    found.resize(n * n_statistics);
    each(key, n_draws, check, [&](std::size_t t, std::size_t j, const std::int64_t* table) {
        thread_local Sums sums;
        if (j == 0) sums = no_sums();
        add(j, table, sums);
        if (j + 1 == n_told()) finish(sums, found.data() + (1 + t) * n_statistics);
    });
    std::vector<double> scores(n, 0.0);
    for (std::size_t s = 0; s < n_statistics; ++s) {
        std::vector<double> column(n);
        for (std::size_t t = 0; t < n; ++t) column[t] = found[t * n_statistics + s];
        column = ranks(std::move(column));
        for (std::size_t t = 0; t < n; ++t) {  // what sees nothing shall not outweigh the others
            scores[t] += std::tan(std::max(0.5 - column[t], -0.25) * pi) * weights[s];
        }
    }
    return ranks(std::move(scores));
}

std::vector<double> ConditionalTest::deviations(std::uint64_t key, std::int64_t n_draws, StopCheck check) const {
    std::vector<double> found(static_cast<std::size_t>(1 + n_draws) * n_told());
    std::vector<std::int64_t> table(n_groups_ * n_states_);
    for (std::size_t j = 0; j < n_told(); ++j) {
        observe(j, table.data());
        found[j] = deviation(j, chi_squared(j, table.data()));
    }
    each(key, n_draws, check, [&](std::size_t t, std::size_t j, const std::int64_t* drawn_table) {
        found[(1 + t) * n_told() + j] = deviation(j, chi_squared(j, drawn_table));
    });
    return found;
}

std::vector<double> ConditionalTest::divergences(std::uint64_t key, std::int64_t n_draws, StopCheck check) const {
    std::vector<double> found(static_cast<std::size_t>(1 + n_draws), 0.0);
    std::vector<std::int64_t> table(n_groups_ * n_states_);
    for (std::size_t j = 0; j < n_told(); ++j) {
        observe(j, table.data());
        found[0] += fitted_divergence(table.data(), table.data() + n_states_, n_states_);
    }
    each(key, n_draws, check, [&](std::size_t t, std::size_t, const std::int64_t* drawn_table) {
        found[1 + t] += fitted_divergence(drawn_table, drawn_table + n_states_, n_states_);
    });
    return found;
}

std::vector<std::int64_t> ConditionalTest::drawn(std::uint64_t key, std::int64_t n_draws, StopCheck check) const {
    std::vector<std::int64_t> found(static_cast<std::size_t>(n_draws) * n_cells());
    each(key, n_draws, check, [&](std::size_t t, std::size_t j, const std::int64_t* table) {
        for (std::size_t g = 0; g < n_groups_; ++g) {
            const std::size_t at = ((t * n_groups_ + g) * n_told() + j) * n_states_;
            std::copy_n(table + g * n_states_, n_states_, found.data() + at);
        }
    });
    return found;
}

}  // namespace fishernet
