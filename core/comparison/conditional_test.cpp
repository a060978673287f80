#include "comparison/conditional_test.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/pool.hpp"
#include "comparison/dispersed_count.hpp"
#include "comparison/divergences.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t tables_at_once = 32;  // that are drawn by one task
constexpr std::int64_t rows_a_draw = 8;      // for each cell that is free, up to which rows are drawn one by one
constexpr double digits = 1e9;  // of statistics and ranks that are compared: a draw that is the observed table ties
// Of the statistics. Simulated over five kinds of change, a trend is seen far oftener by its share, others little less.
using Shares = std::array<double, ConditionalTest::n_statistics>;
constexpr Shares without_trend{3.0 / 6, 1.0 / 6, 1.0 / 6, 1.0 / 6, 0};
constexpr Shares with_trend{3.0 / 7, 1.0 / 7, 1.0 / 7, 1.0 / 7, 1.0 / 7};
constexpr Shares of_one_configuration{3.0 / 4, 0, 0, 0, 1.0 / 4};  // in which the first four say the same
constexpr double pi = 3.14159265358979323846;
constexpr std::size_t counts_looked_up = 2048;

// How far dispersed tables lie apart: all configurations by as much, or some of them.
struct Dispersion {
    std::size_t times;  // which of those below
    double share;       // of the configurations
};
constexpr std::array<double, 4> variances{1, 2, 5, 20};  // of counts, as many times as by chance
constexpr std::array<Dispersion, 5> dispersions{{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {3, 0.25}}};
constexpr double by_chance = 0.5;  // the share of dispersed tables that chance draws as ever
constexpr double small = 1e-200;   // products are taken to logarithms before they underflow
constexpr double least_weight = 1e-300;

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

// What the counts of a configuration add to G beside its margins.
double terms(const std::int64_t* counts, std::size_t n) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += twice_n_log_n(counts[i]);
    return sum;
}

std::vector<std::size_t> places(const std::vector<char>& marked) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < marked.size(); ++i) {
        if (marked[i]) found.push_back(i);
    }
    return found;
}

// Numbers those that are marked (not 0) from 0 on, and says how many there are.
std::size_t number(std::vector<std::size_t>& marked) {
    std::size_t n = 0;
    for (std::size_t& one : marked) {
        if (one) one = n++;
    }
    return n;
}

// The share, by weight, of values that are at least as large as each.
std::vector<double> ranks(std::vector<double> values, std::span<const double> weights) {
    const std::size_t n = values.size();
    std::vector<std::pair<double, double>> sorted(n);
    for (std::size_t i = 0; i < n; ++i) {
        values[i] = std::nearbyint(values[i] * digits) / digits;
        sorted[i] = {values[i], weights[i]};
    }
    std::sort(sorted.begin(), sorted.end());
    double sum = 0;
    for (std::size_t i = n; i-- > 0;) sorted[i].second = sum += sorted[i].second;
    for (double& value : values) {
        value = std::ranges::lower_bound(sorted, value, {}, &std::pair<double, double>::first)->second / sum;
    }
    return values;
}

}  // namespace

struct ConditionalTest::Sums {
    double likelihoods = 0, large = 0, largest = -1e300;
    std::vector<double> shift;  // (groups, states) that are seen

    void begin(std::size_t n) {
        likelihoods = large = 0;
        largest = -1e300;
        shift.assign(n, 0.0);
    }
};

// How likely each dispersion makes a table beside chance, in logarithms, one configuration after the other.
struct ConditionalTest::Ratios {
    std::array<double, dispersions.size()> sums{};

    void add(const std::array<double, variances.size()>& ratios) {
        for (std::size_t d = 0; d < sums.size(); ++d) {
            const auto [times, share] = dispersions[d];
            const double most = std::max(ratios[times], 0.0);  // of the two that are mixed
            sums[d] += share == 1 ? ratios[times]
                                  : most + std::log((1 - share) * std::exp(-most) + share * std::exp(ratios[times] - most));
        }
    }

    // What a table weighs that was drawn by one of them, or by chance.
    double weight() const {
        const double most = std::max(*std::ranges::max_element(sums), 0.0);
        double mixed = by_chance * std::exp(-most);
        for (const double sum : sums) mixed += (1 - by_chance) / sums.size() * std::exp(sum - most);
        return std::max(std::exp(-most), least_weight) / mixed;
    }
};

ConditionalTest::ConditionalTest(std::span<const std::int64_t> counts, std::size_t n_groups,
                                 std::size_t n_configurations, std::size_t n_states, Ordered ordered) {
    const auto at = [&](std::size_t g, std::size_t j, std::size_t k) {
        return counts[(g * n_configurations + j) * n_states + k];
    };
    std::vector<std::vector<std::size_t>> groups, states;  // of the configurations that tell something
    std::vector<std::size_t> group_at(n_groups, 0), state_at(n_states, 0);
    for (std::size_t j = 0; j < n_configurations; ++j) {
        std::vector<char> has_group(n_groups, 0), has_state(n_states, 0);
        for (std::size_t g = 0; g < n_groups; ++g) {
            for (std::size_t k = 0; k < n_states; ++k) {
                if (at(g, j, k) > 0) has_group[g] = has_state[k] = 1;
            }
        }
        if (std::ranges::count(has_group, 1) < 2 || std::ranges::count(has_state, 1) < 2) continue;
        told_.push_back(static_cast<std::int64_t>(j));
        groups.push_back(places(has_group));
        states.push_back(places(has_state));
        for (const std::size_t g : groups.back()) group_at[g] = 1;
        for (const std::size_t k : states.back()) state_at[k] = 1;
    }
    n_groups_ = number(group_at);
    n_states_ = number(state_at);
    by_state_.assign(n_seen() * n_states_, 0.0);
    std::vector<std::int64_t> cells;
    for (std::size_t j = 0; j < n_told(); ++j) {
        // the largest group last, which has what the others leave
        if (n_groups_ > 2) {
            const auto size = [&](std::size_t g) {
                std::int64_t sum = 0;
                for (const std::size_t k : states[j]) sum += at(g, static_cast<std::size_t>(told_[j]), k);
                return sum;
            };
            std::ranges::stable_sort(groups[j], {}, size);
        }
        cells.clear();
        for (const std::size_t g : groups[j]) {
            for (const std::size_t k : states[j]) cells.push_back(at(g, static_cast<std::size_t>(told_[j]), k));
        }
        for (std::size_t& g : groups[j]) g = group_at[g];
        for (std::size_t& k : states[j]) k = state_at[k];
        add_part(cells, groups[j], states[j]);
    }
    starts_.push_back({counts_.size(), expected_.size(), sizes_.size(), pooled_.size()});
    const double overall = std::accumulate(by_state_.begin(), by_state_.end(), 0.0);
    for (double& weight : by_state_) weight = weight > 0 ? overall / weight : 0;
    if (n_groups_ < 2) return;
    shift_ = shift(false, false);
    const bool rank_groups = ordered.groups && n_groups_ > 2, rank_states = ordered.states && n_states_ > 2;
    if (rank_groups || rank_states) trend_ = shift(rank_groups, rank_states);
}

void ConditionalTest::add_part(std::span<const std::int64_t> cells, std::span<const std::size_t> groups,
                               std::span<const std::size_t> states) {
    const std::size_t n_here = groups.size(), n_occur = states.size();
    starts_.push_back({counts_.size(), expected_.size(), sizes_.size(), pooled_.size()});
    most_cells_ = std::max(most_cells_, cells.size());
    counts_.insert(counts_.end(), cells.begin(), cells.end());
    sizes_.resize(sizes_.size() + n_here);
    pooled_.resize(pooled_.size() + n_occur);
    const auto sizes = std::span(sizes_).last(n_here), pooled = std::span(pooled_).last(n_occur);
    std::int64_t total = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        sizes[i / n_occur] += cells[i];
        pooled[i % n_occur] += cells[i];
        total += cells[i];
    }
    totals_.push_back(total);
    of_margins_ += twice_n_log_n(total);
    log_margins_.push_back(log_factorial(total));
    for (const auto margin : {pooled, sizes}) {
        for (const std::int64_t n : margin) {
            of_margins_ -= twice_n_log_n(n);
            log_margins_.back() -= log_factorial(n);
        }
    }
    const auto all = static_cast<double>(total);
    for (std::size_t g = 0; g < std::min(n_here, n_seen()); ++g) {
        const auto size = static_cast<double>(sizes[g]);
        // the deviations of the second of two groups are those of the first
        const double per_row = n_seen() == 1 ? 1 / size + 1 / static_cast<double>(sizes[1]) : 1 / size;
        const double spread = size * (all - size) / (all - 1);  // of a state that half of the rows have
        for (std::size_t k = 0; k < n_occur; ++k) {
            const auto of_state = static_cast<double>(pooled[k]);
            expected_.push_back(size * of_state / all);
            by_cell_.push_back(per_row * (all - 1) / of_state);
            place_.push_back(groups[g] * n_states_ + states[k]);
            by_state_[place_.back()] += spread * of_state / all;
        }
    }
    degrees_.push_back(static_cast<double>((n_here - 1) * (n_occur - 1)));
    off_.push_back(1 - 2 / (9 * degrees_.back()));
    scale_.push_back(std::sqrt(2 / (9 * degrees_.back())));
    // the second largest first, which has a table, the others by size, and what is left has the largest state
    const auto order = order_.insert(order_.end(), n_occur, 0);
    std::iota(order, order_.end(), std::size_t{0});
    std::stable_sort(order, order_.end(), [&](std::size_t a, std::size_t b) { return pooled[a] > pooled[b]; });
    std::rotate(order, order + 1, order_.end());
    first_.emplace_back(Hypergeometric{total, pooled[order_[order_.size() - n_occur]], sizes[0]});
}

ConditionalTest::Part ConditionalTest::part(std::size_t j) const {
    const Start &from = starts_[j], &to = starts_[j + 1];
    const std::size_t n_cells = to.cell - from.cell, n_seen = to.seen - from.seen;
    const std::size_t n_here = to.group - from.group, n_occur = to.state - from.state;
    return {totals_[j],
            {counts_.data() + from.cell, n_cells},
            {sizes_.data() + from.group, n_here},
            {pooled_.data() + from.state, n_occur},
            {order_.data() + from.state, n_occur},
            {expected_.data() + from.seen, n_seen},
            {by_cell_.data() + from.seen, n_seen},
            {place_.data() + from.seen, n_seen}};
}

// Ranks are those among the rows of all configurations.
Shift ConditionalTest::shift(bool rank_groups, bool rank_states) const {
    std::vector<std::int64_t> by_group(n_groups_, 0), by_state(n_states_, 0);
    std::vector<std::size_t> groups, states;
    const auto each_part = [&](auto see) {
        for (std::size_t j = 0; j < n_told(); ++j) {
            const Part here = part(j);
            const std::size_t n_occur = here.pooled.size();
            groups.clear();
            states.clear();
            for (std::size_t i = 0; i < here.place.size(); i += n_occur) groups.push_back(here.place[i] / n_states_);
            for (std::size_t k = 0; k < n_occur; ++k) states.push_back(here.place[k] % n_states_);
            see(here);
        }
    };
    each_part([&](const Part& here) {
        for (std::size_t g = 0; g < groups.size(); ++g) by_group[groups[g]] += here.sizes[g];
        for (std::size_t k = 0; k < states.size(); ++k) by_state[states[k]] += here.pooled[k];
    });
    Shift found(rank_groups ? mean_ranks(by_group) : std::vector<double>{}, n_groups_,
                rank_states ? mean_ranks(by_state) : std::vector<double>{}, n_states_);
    each_part([&](const Part& here) { found.add(groups, here.sizes, states, here.pooled, here.total); });
    found.factor();
    return found;
}

// Rows one by one, without putting back: quick where most cells of the table stay empty.
void ConditionalTest::deal(const Part& part, std::int64_t* table, Draws& draws) const {
    thread_local std::vector<std::uint32_t> states;  // of the rows that are left
    const std::size_t n_occur = part.pooled.size();
    states.clear();
    for (std::size_t k = 0; k < n_occur; ++k) {
        states.insert(states.end(), static_cast<std::size_t>(part.pooled[k]), static_cast<std::uint32_t>(k));
    }
    std::fill_n(table, part.counts.size(), 0);
    std::int64_t rows = part.total;
    for (const std::int64_t size : part.sizes.first(part.sizes.size() - 1)) {
        for (std::int64_t wanted = size; wanted > 0; --wanted) {
            std::uint32_t& one = states[static_cast<std::size_t>(draws.below(rows))];
            ++table[one];
            one = states[static_cast<std::size_t>(--rows)];
        }
        table += n_occur;
    }
    for (const std::uint32_t one : std::span(states).first(static_cast<std::size_t>(rows))) ++table[one];
}

// table[group][state] of one configuration, by chance or with so many times the variance.
void ConditionalTest::draw(std::size_t j, std::int64_t* table, double variance, Draws& draws) const {
    const Part here = part(j);
    const std::size_t n_here = here.sizes.size(), n_occur = here.pooled.size();
    const auto n_free = static_cast<std::int64_t>((n_here - 1) * (n_occur - 1));
    const bool is_sparse = n_groups_ > 2 && here.total - here.sizes.back() <= rows_a_draw * n_free;
    if (is_sparse && variance == 0) return deal(here, table, draws);
    each_count(here, table, [&](const Hypergeometric& of, std::int64_t& count) {
        if (variance > 0 && of.least() < of.most()) {
            count = DispersedCount(of.least(), of.mode(), of.most(), variance * of.variance()).draw(draws);
        } else {
            count = &count == table + here.order[0] ? first_[j].draw(draws) : draw_hypergeometric(of, draws);
        }
    });
}

// see(what the count can be, the count), of those counts that are free given the ones before them. It may change it:
// then the others are what is left.
template <class See>
void ConditionalTest::each_count(const Part& here, std::int64_t* table, See see) {
    const std::size_t n_here = here.sizes.size(), n_occur = here.pooled.size();
    std::int64_t* last = table + (n_here - 1) * n_occur;
    std::ranges::copy(here.pooled, last);  // which other groups take their rows from
    std::int64_t rows = here.total;
    for (std::size_t g = 0; g + 1 < n_here; ++g, table += n_occur) {
        std::int64_t wanted = here.sizes[g], all = rows;
        rows -= wanted;
        for (std::size_t i = 0; i + 1 < n_occur; ++i) {
            const std::size_t k = here.order[i];
            const std::int64_t having = last[k];
            see(Hypergeometric{all, having, wanted}, table[k]);
            all -= having;
            wanted -= table[k];
            last[k] -= table[k];
        }
        const std::size_t k = here.order[n_occur - 1];
        table[k] = wanted;
        last[k] -= wanted;
    }
}

// How likely each variance makes the counts of a configuration beside chance, in logarithms.
void ConditionalTest::add_ratios(std::size_t j, std::int64_t* table, Ratios& ratios) const {
    const Part here = part(j);
    double log_chances = log_margins_[j];
    for (std::size_t i = 0; i < here.counts.size(); ++i) log_chances += log_factorial(table[i]);
    std::array<double, variances.size()> logs, products;
    logs.fill(log_chances);
    products.fill(1.0);
    each_count(here, table, [&](const Hypergeometric& of, const std::int64_t& count) {
        const std::int64_t least = of.least(), most = of.most();
        if (least == most) return;
        const std::int64_t mode = of.mode();
        const double variance = of.variance();
        for (std::size_t v = 0; v < variances.size(); ++v) {
            products[v] *= DispersedCount(least, mode, most, variances[v] * variance).probability(count);
            if (products[v] < small) {
                logs[v] += std::log(products[v]);
                products[v] = 1;
            }
        }
    });
    for (std::size_t v = 0; v < variances.size(); ++v) logs[v] += std::log(products[v]);
    ratios.add(logs);
}

double ConditionalTest::chi_squared(const Part& part, const std::int64_t* table) const {
    double sum = 0;
    for (std::size_t i = 0; i < part.expected.size(); ++i) {
        const double off = static_cast<double>(table[i]) - part.expected[i];
        sum += off * off * part.by_cell[i];
    }
    return sum;
}

// As a normal score (Wilson and Hilferty, 1931).
double ConditionalTest::deviation(std::size_t j, double chi_squared) const {
    return (std::cbrt(chi_squared / degrees_[j]) - off_[j]) / scale_[j];
}

void ConditionalTest::add(std::size_t j, const std::int64_t* table, Sums& sums) const {
    const Part here = part(j);
    double chi_squared = 0;
    for (std::size_t i = 0; i < here.expected.size(); ++i) {
        const double off = static_cast<double>(table[i]) - here.expected[i];
        chi_squared += off * off * here.by_cell[i];
        sums.large += off * off * by_state_[here.place[i]];
        sums.shift[here.place[i]] += off;
    }
    sums.likelihoods += terms(table, here.counts.size());
    sums.largest = std::max(sums.largest, deviation(j, chi_squared));
}

void ConditionalTest::finish(const Sums& sums, double* statistics) const {
    const std::array<double, n_statistics> found{sums.likelihoods + of_margins_, sums.large,
                                                 shift_.squared(sums.shift), sums.largest,
                                                 trend_.squared(sums.shift)};
    std::copy(found.begin(), found.end(), statistics);
}

template <class Variance, class See>
void ConditionalTest::each(std::uint64_t key, std::int64_t n_draws, StopCheck check, Variance variance, See see) const {
    const std::int64_t n_tasks = (n_draws + tables_at_once - 1) / tables_at_once;
    run_tasks(n_tasks, [&](std::int64_t task) {
        Draws draws(key, static_cast<std::uint32_t>(task));
        std::vector<std::int64_t> table(most_cells_);
        const std::int64_t last = std::min(n_draws, (task + 1) * tables_at_once);
        for (std::int64_t t = task * tables_at_once; t < last; ++t) {
            for (std::size_t j = 0; j < n_told(); ++j) {
                draw(j, table.data(), variance(j, draws), draws);
                see(static_cast<std::size_t>(t), j, table.data());
            }
        }
    }, check);
}

template <class See>
void ConditionalTest::each(std::uint64_t key, std::int64_t n_draws, StopCheck check, See see) const {
    each(key, n_draws, check, [](std::size_t, Draws&) { return 0.0; }, see);
}

std::vector<double> ConditionalTest::statistics() const {
    Sums sums;
    sums.begin(by_state_.size());
    for (std::size_t j = 0; j < n_told(); ++j) add(j, part(j).counts.data(), sums);
    std::vector<double> found(n_statistics);
    finish(sums, found.data());
    return found;
}

std::vector<double> ConditionalTest::p_values(std::uint64_t key, std::int64_t n_draws, StopCheck check) const {
    const auto n = static_cast<std::size_t>(1 + n_draws);
    const std::vector<double> weights(n, 1.0);
    std::vector<double> found = statistics();
    if (says_one_thing()) {
        found.resize(n);
        each(key, n_draws, check, [&](std::size_t t, std::size_t, const std::int64_t* table) {
            found[1 + t] = terms(table, counts_.size()) + of_margins_;
        });
        return ranks(std::move(found), weights);
    }
    found.resize(n * n_statistics);
    each(key, n_draws, check, [&](std::size_t t, std::size_t j, const std::int64_t* table) {
        thread_local Sums sums;
        if (j == 0) sums.begin(by_state_.size());
        add(j, table, sums);
        if (j + 1 == n_told()) finish(sums, found.data() + (1 + t) * n_statistics);
    });
    return joined(found, weights);
}

// The table that was observed and those that were drawn are exchangeable but for their weights.
std::vector<double> ConditionalTest::dispersed_p_values(std::uint64_t key, std::int64_t n_draws,
                                                        StopCheck check) const {
    const auto n = static_cast<std::size_t>(1 + n_draws);
    std::vector<double> found = statistics(), weights(n);
    found.resize(n * n_statistics);
    std::vector<std::int64_t> observed = counts_;
    Ratios of_observed;
    for (std::size_t j = 0; j < n_told(); ++j) add_ratios(j, observed.data() + starts_[j].cell, of_observed);
    weights[0] = of_observed.weight();
    const auto variance = [](std::size_t j, Draws& draws) {
        thread_local Dispersion kind;
        if (j == 0) {
            const auto drawn = static_cast<std::size_t>(draws.below(dispersions.size()));
            kind = draws.uniform() < by_chance ? Dispersion{0, 0} : dispersions[drawn];
        }
        return draws.uniform() < kind.share ? variances[kind.times] : 0.0;
    };
    each(key, n_draws, check, variance, [&](std::size_t t, std::size_t j, std::int64_t* table) {
        thread_local Sums sums;
        thread_local Ratios ratios;
        if (j == 0) {
            sums.begin(by_state_.size());
            ratios = {};
        }
        add(j, table, sums);
        add_ratios(j, table, ratios);
        if (j + 1 == n_told()) {
            finish(sums, found.data() + (1 + t) * n_statistics);
            weights[1 + t] = ratios.weight();
        }
    });
    return joined(found, weights);
}

// The ranks of tables by all statistics (tables, n_statistics), each of which is ranked first.
std::vector<double> ConditionalTest::joined(std::span<const double> statistics,
                                            std::span<const double> weights) const {
    const std::size_t n = weights.size();
    const auto of = [&](std::size_t s) {
        std::vector<double> column(n);
        for (std::size_t t = 0; t < n; ++t) column[t] = statistics[t * n_statistics + s];
        return ranks(std::move(column), weights);
    };
    if (says_one_thing()) return of(0);
    const Shares& shares = trend_.degrees() == 0 ? without_trend : n_told() == 1 ? of_one_configuration : with_trend;
    std::vector<double> scores(n, 0.0);
    for (std::size_t s = 0; s < n_statistics; ++s) {
        if (shares[s] == 0) continue;
        const std::vector<double> column = of(s);
        for (std::size_t t = 0; t < n; ++t) {  // what sees nothing shall not outweigh the others
            scores[t] += std::tan(std::max(0.5 - column[t], -0.25) * pi) * shares[s];
        }
    }
    return ranks(std::move(scores), weights);
}

std::vector<double> ConditionalTest::deviations(std::uint64_t key, std::int64_t n_draws, StopCheck check) const {
    std::vector<double> found(static_cast<std::size_t>(1 + n_draws) * n_told());
    for (std::size_t j = 0; j < n_told(); ++j) found[j] = deviation(j, chi_squared(part(j), part(j).counts.data()));
    each(key, n_draws, check, [&](std::size_t t, std::size_t j, const std::int64_t* drawn_table) {
        found[(1 + t) * n_told() + j] = deviation(j, chi_squared(part(j), drawn_table));
    });
    return found;
}

std::vector<double> ConditionalTest::divergences(std::uint64_t key, std::int64_t n_draws, StopCheck check) const {
    std::vector<double> found(static_cast<std::size_t>(1 + n_draws), 0.0);
    const auto divergence = [&](std::size_t j, const std::int64_t* table) {
        const std::size_t n_occur = part(j).pooled.size();
        return fitted_divergence(table, table + n_occur, n_occur);
    };
    for (std::size_t j = 0; j < n_told(); ++j) found[0] += divergence(j, part(j).counts.data());
    each(key, n_draws, check, [&](std::size_t t, std::size_t j, const std::int64_t* table) {
        found[1 + t] += divergence(j, table);
    });
    return found;
}

std::vector<std::int64_t> ConditionalTest::drawn(std::uint64_t key, std::int64_t n_draws, StopCheck check) const {
    std::vector<std::int64_t> found(static_cast<std::size_t>(n_draws) * n_cells());
    each(key, n_draws, check, [&](std::size_t t, std::size_t j, const std::int64_t* table) {
        const Part here = part(j);
        const std::size_t n_occur = here.pooled.size();
        for (std::size_t i = 0; i < here.counts.size(); ++i) {
            const std::size_t g = n_seen() == 1 ? i / n_occur : here.place[i] / n_states_;
            const std::size_t k = here.place[i % n_occur] % n_states_;
            found[((t * n_groups_ + g) * n_told() + j) * n_states_ + k] = table[i];
        }
    });
    return found;
}

}  // namespace fishernet
