#include "sequences/string_model.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace fishernet {
namespace {

// The smallest positive one of some numbers; 1 where there is none below.
double smallest(std::span<const double> values) {
    double least = 1;
    for (const double value : values) {
        if (value > 0) least = std::min(least, value);
    }
    return least;
}

}  // namespace

void prepare(StringModel& model) {
    const auto n_symbols = model.n_symbols();
    for (std::int64_t s = 0; s < n_symbols; ++s) {
        double most = 0;
        for (std::int64_t a = 0; a < model.n_states(); ++a) most = std::max(most, model.emission[a * n_symbols + s]);
        const int shift = most > 0 ? std::ilogb(most) : 0;
        model.shifts[s] = shift;
        for (std::int64_t a = 0; a < model.n_states(); ++a) {
            double& value = model.emission[a * n_symbols + s];
            value = std::ldexp(value, -shift);
        }
    }
    const double symbol = smallest(model.emission);
    const double visit = symbol * std::min(symbol, smallest(model.empty));
    model.narrow = visit * smallest(model.weights) >= lowest_step && smallest(model.initial) >= lowest_part;
}

}  // namespace fishernet
