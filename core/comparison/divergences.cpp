#include "comparison/divergences.hpp"

#include <algorithm>
#include <cmath>

#include "base/count_draws.hpp"
#include "base/pool.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t tables_at_once = 16;  // that are drawn by one task

// How many of n have each of some states. `after[k]` is the sum of the probabilities from k on.
void draw_multinomial(std::int64_t n, const double* p, const double* after, std::size_t n_states, std::int64_t* found,
                      Draws& draws) {
    for (std::size_t k = 0; k + 1 < n_states; ++k) {
        found[k] = n == 0 ? 0 : draw_binomial(n, after[k] > 0 ? p[k] / after[k] : 0, draws);
        n -= found[k];
    }
    found[n_states - 1] = n;
}

// In each row, the sums from each place on.
std::vector<double> sums_from(std::span<const double> p, std::size_t n_states) {
    std::vector<double> sums(p.begin(), p.end());
    for (std::size_t i = p.size(); i-- > 0;) {
        if (i % n_states + 1 < n_states) sums[i] += sums[i + 1];
    }
    return sums;
}

}  // namespace

double fitted_divergence(const std::int64_t* before, const std::int64_t* after, std::size_t n_states) {
    std::int64_t n_before = 0, n_after = 0;
    for (std::size_t k = 0; k < n_states; ++k) {
        n_before += before[k];
        n_after += after[k];
    }
    if (n_after == 0) return 0;
    const auto n = static_cast<double>(n_after);
    const double per_row = 1 / static_cast<double>(n_before + n_after);
    const double quotient = static_cast<double>(n_before + 1) / (n + 1);
    double sum = 0;
    for (std::size_t k = 0; k < n_states; ++k) {
        if (before[k] + after[k] == 0) continue;
        const double share = static_cast<double>(before[k] + after[k]) * per_row;
        const double later = static_cast<double>(after[k]) + share;
        sum += later * std::log(later / (static_cast<double>(before[k]) + share) * quotient);
    }
    return n * std::max(sum / (n + 1), 0.0);
}

std::vector<double> drawn_divergences(const DrawnTables& tables, std::uint64_t key, std::int64_t n_draws,
                                      StopCheck check) {
    const std::size_t n_states = tables.n_states, n_configurations = tables.sizes.size();
    const auto earlier = sums_from(tables.earlier, n_states), later = sums_from(tables.later, n_states);
    const auto shares = sums_from(tables.shares, n_configurations);
    std::vector<double> found(static_cast<std::size_t>(n_draws));
    run_tasks((n_draws + tables_at_once - 1) / tables_at_once, [&](std::int64_t task) {
        Draws draws(key, static_cast<std::uint32_t>(task));
        std::vector<std::int64_t> sizes(n_configurations), before(n_states), after(n_states);
        const std::int64_t last = std::min(n_draws, (task + 1) * tables_at_once);
        for (std::int64_t i = task * tables_at_once; i < last; ++i) {
            draw_multinomial(tables.n_later, tables.shares.data(), shares.data(), n_configurations, sizes.data(), draws);
            double sum = 0;
            for (std::size_t j = 0; j < n_configurations; ++j) {
                if (sizes[j] == 0) continue;
                const std::size_t at = j * n_states;
                draw_multinomial(tables.sizes[j], tables.earlier.data() + at, earlier.data() + at, n_states,
                                 before.data(), draws);
                draw_multinomial(sizes[j], tables.later.data() + at, later.data() + at, n_states, after.data(), draws);
                sum += fitted_divergence(before.data(), after.data(), n_states);
            }
            found[static_cast<std::size_t>(i)] = sum / static_cast<double>(tables.n_later);
        }
    }, check);
    return found;
}

}  // namespace fishernet
