// How far apart conditionals are that are fitted to two tables of counts, where the conditionals behind them are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/interrupt.hpp"

namespace fishernet {

// n KL(later || earlier) for the n rows of the later table in one configuration. Each distribution is fitted to counts
// of the states and one pseudo-row of both tables together.
double fitted_divergence(const std::int64_t* before, const std::int64_t* after, std::size_t n_states);

// Two tables whose rows are drawn from a conditional each.
struct DrawnTables {
    std::size_t n_states = 0;
    std::span<const double> earlier, later;  // (configurations, states)
    std::span<const std::int64_t> sizes;     // rows of each configuration in the earlier table
    std::span<const double> shares;          // of the configurations in the later one
    std::int64_t n_later = 0;                // its rows
};

// KL of the fitted conditionals, of each draw; draw i is a function of the key and of i alone.
std::vector<double> drawn_divergences(const DrawnTables& tables, std::uint64_t key, std::int64_t n_draws,
                                      StopCheck check);

}  // namespace fishernet
