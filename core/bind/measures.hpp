// The scores' measures by their names, and what a table must be to be scored.
#pragma once

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "bind/arrays.hpp"
#include "bind/table.hpp"
#include "counts/score_term.hpp"

namespace fishernet::bind {

inline constexpr std::pair<std::string_view, Measure> measures[] = {
    {"likelihood", Measure::likelihood}, {"bdeu", Measure::bdeu}, {"k2", Measure::k2},
    {"fnml", Measure::fnml},             {"qnml", Measure::qnml}, {"bdq", Measure::bdq},
};

inline Measure checked_measure(std::string_view name, double parameter) {
    for (const auto& [known, measure] : measures) {
        if (known != name) continue;
        const bool prior = measure == Measure::bdeu || measure == Measure::bdq;
        constexpr double most = 1e30;  // beyond it, scores of large families would overflow
        if (!(parameter <= most) || parameter < 0 || (prior && parameter == 0)) refuse("a bad parameter");
        return measure;
    }
    refuse("no such measure");
}

inline void check_complete(const BoundColumns& table) {
    const auto& columns = table.columns.columns;
    if (std::any_of(columns.begin(), columns.end(), [](const Column& c) { return c.has_missing; })) {
        refuse("a table with missing cells cannot be scored");
    }
}

}  // namespace fishernet::bind
