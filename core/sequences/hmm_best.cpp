#include <algorithm>
#include <limits>
#include <vector>

#include "base/pool.hpp"
#include "sequences/hmm.hpp"

namespace fishernet {
namespace {

constexpr double never = -std::numeric_limits<double>::infinity();
constexpr std::int64_t strings_a_task = 16;

// A matrix with its rows padded to a multiple of 8 by -inf.
std::vector<double> padded_rows(std::span<const double> values, std::int64_t rows, std::int64_t padded) {
    std::vector<double> out(static_cast<std::size_t>(rows * padded), never);
    const auto columns = static_cast<std::int64_t>(values.size()) / rows;
    for (std::int64_t row = 0; row < rows; ++row) {
        std::copy_n(values.data() + row * columns, columns, out.data() + row * padded);
    }
    return out;
}

// By symbol, padded.
std::vector<double> by_symbol(const HmmLogs& logs, std::int64_t padded) {
    const auto n_symbols = static_cast<std::int64_t>(logs.emission.size()) / logs.n_states;
    std::vector<double> out(static_cast<std::size_t>(n_symbols * padded), never);
    for (std::int64_t a = 0; a < logs.n_states; ++a) {
        for (std::int64_t s = 0; s < n_symbols; ++s) out[s * padded + a] = logs.emission[a * n_symbols + s];
    }
    return out;
}

}  // namespace

void hmm_best(const HmmLogs& logs, const FlatStrings& strings, std::span<std::int32_t> states, std::span<double> best,
              StopCheck check) {
    const std::int64_t n = logs.n_states, padded = (n + 7) / 8 * 8;
    const auto moves = padded_rows(logs.moves, n, padded);
    const auto emission = by_symbol(logs, padded);
    const std::int64_t n_tasks = (strings.size() + strings_a_task - 1) / strings_a_task;
    const auto decode = [&](std::int64_t i, std::vector<double>& scores, std::vector<double>& next,
                            std::vector<std::uint16_t>& from) {
        const auto codes = strings[i];
        const auto length = static_cast<std::int64_t>(codes.size());
        if (length == 0) {
            best[i] = 0.0;
            return;
        }
        from.resize(static_cast<std::size_t>(length * padded));
        for (std::int64_t a = 0; a < n; ++a) scores[a] = logs.start[a] + emission[codes[0] * padded + a];
        for (std::int64_t t = 1; t < length; ++t) {
            hmm_steps().best(scores.data(), moves.data(), n, padded, next.data(), from.data() + t * padded);
            const double* of_symbol = emission.data() + codes[t] * padded;
            for (std::int64_t a = 0; a < padded; ++a) scores[a] = next[a] + of_symbol[a];
        }
        for (std::int64_t a = 0; a < n; ++a) scores[a] += logs.end[a];
        auto state = static_cast<std::int32_t>(std::max_element(scores.begin(), scores.begin() + n) - scores.begin());
        best[i] = scores[state];
        std::int32_t* out = states.data() + strings.offsets[i];
        for (std::int64_t t = length - 1; t >= 0; --t) {
            out[t] = state;
            if (t > 0) state = from[t * padded + state];
        }
    };
    run_tasks(
        n_tasks,
        [&](std::int64_t task) {
            std::vector<double> scores(static_cast<std::size_t>(padded), never), next(scores);
            std::vector<std::uint16_t> from;
            const std::int64_t first = task * strings_a_task;
            for (std::int64_t i = first; i < std::min(strings.size(), first + strings_a_task); ++i) {
                decode(i, scores, next, from);
            }
        },
        check, n_tasks > 1);
}

}  // namespace fishernet
