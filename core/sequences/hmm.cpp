#include "sequences/hmm.hpp"

#include <algorithm>

#include "base/pool.hpp"
#include "sequences/hmm_runs.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t strings_a_task = 16;
constexpr std::int64_t table_cells = 1 << 18;  // of a forward table, 2 MiB

double run(const HmmModel& model, Codes codes, const HmmWanted& wanted) {
    double log_prob = 0.0;
    if (model.dense && !codes.empty() && run_dense(model, codes, wanted, log_prob)) return log_prob;
    return run_wide(model, codes, wanted);
}

// Strings in tasks: work(first, end).
template <class Work>
void over(std::int64_t n, std::int64_t size, StopCheck check, const Work& work) {
    const std::int64_t n_tasks = (n + size - 1) / size;
    run_tasks(
        n_tasks, [&](std::int64_t task) { work(task * size, std::min(n, (task + 1) * size)); }, check, n_tasks > 1);
}

std::int64_t rows_held(const HmmModel& model, std::int64_t asked) {
    return asked > 0 ? asked : table_cells / (2 * model.padded);
}

// Sums a block of strings. In doubles; from the first string on that leaves their range, without limits.
void sum_block(const HmmModel& model, const FlatStrings& strings, std::int64_t first, std::int64_t end,
               const HmmWanted& wanted, std::span<double> log_prob) {
    std::int64_t wide_from = model.dense ? end : first;
    for (bool complete = false; !complete;) {
        clear(model, *wanted.totals);
        complete = true;
        for (std::int64_t i = first; i < end; ++i) {
            const Codes codes = strings[i];
            if (codes.empty() || i >= wide_from) {
                log_prob[i] = run_wide(model, codes, wanted);
            } else if (!run_dense(model, codes, wanted, log_prob[i])) {
                wide_from = i;
                complete = false;
                break;
            }
        }
    }
}

// The transition's derivatives, with C put back in.
void write_transitions(const HmmModel& model, const HmmTotals& totals, double* out) {
    const std::int64_t n = model.n_states;
    for (std::int64_t a = 0; a < n; ++a) {
        const double* moves = totals.moves.empty() ? nullptr : totals.moves.data() + a * model.padded;
        const double* direct = totals.direct.data() + a * model.padded;
        for (std::int64_t b = 0; b < n; ++b) {
            double sum = direct[b];
            if (moves != nullptr && !model.has_empty) sum += moves[b];
            if (moves != nullptr && model.has_empty) {
                const double* c = model.closure.data() + b * n;
                for (std::int64_t next = 0; next < n; ++next) {
                    if (c[next] > 0) sum += moves[next] * c[next];
                }
                if (model.rest[b] > 0) sum += totals.last[a] * model.rest[b];
            }
            out[a * n + b] = sum;
        }
    }
}

void write_initial(const HmmModel& model, const HmmTotals& totals, double* out) {
    const std::int64_t n = model.n_states;
    for (std::int64_t a = 0; a < n; ++a) {
        out[a] = totals.first_direct[a];
        if (model.closure.empty()) {
            out[a] += totals.first[a];
            continue;
        }
        for (std::int64_t next = 0; next < n; ++next) {
            const double c = model.closure[a * n + next];
            if (c > 0 && totals.first[next] > 0) out[a] += totals.first[next] * c;  // C may be beyond all doubles
        }
    }
}

void write(const HmmModel& model, const HmmTotals& totals, double* out) {
    const std::int64_t n = model.n_states, columns = model.n_symbols + (model.has_empty ? 1 : 0);
    for (std::int64_t a = 0; a < n; ++a) {
        for (std::int64_t s = 0; s < model.n_symbols; ++s) out[a * columns + s] = totals.emission[s * model.padded + a];
        if (model.has_empty) out[a * columns + model.n_symbols] = totals.empty[a];
    }
    out += n * columns;
    if (totals.transitions) {
        write_transitions(model, totals, out);
        out += n * n;
    }
    write_initial(model, totals, out);
    if (!model.has_final) return;
    for (std::int64_t a = 0; a < n; ++a) out[n + a] = totals.last[a] + totals.last_direct[a];
}

}  // namespace

void clear(const HmmModel& model, HmmTotals& totals) {
    const auto padded = static_cast<std::size_t>(model.padded), n = static_cast<std::size_t>(model.n_states);
    totals.emission.assign(static_cast<std::size_t>(model.n_symbols) * padded, 0.0);
    totals.moves.assign(totals.transitions && model.dense ? n * padded : 0, 0.0);
    totals.direct.assign(totals.transitions ? n * padded : 0, 0.0);
    for (auto* sums : {&totals.empty, &totals.last, &totals.last_direct, &totals.first, &totals.first_direct}) {
        sums->assign(padded, 0.0);
    }
}

std::int64_t hmm_width(const HmmModel& model, bool transitions) {
    const std::int64_t n = model.n_states;
    const std::int64_t columns = model.n_symbols + (model.has_empty ? 1 : 0) + (model.has_final ? 2 : 1);
    return n * (columns + (transitions ? n : 0));
}

void hmm_log_prob(const HmmModel& model, const FlatStrings& strings, std::span<double> out, StopCheck check) {
    over(strings.size(), strings_a_task, check, [&](std::int64_t first, std::int64_t end) {
        for (std::int64_t i = first; i < end; ++i) out[i] = run(model, strings[i], {});
    });
}

void hmm_derivatives(const HmmModel& model, const FlatStrings& strings, HmmDerivatives how, std::span<double> rows,
                     std::span<double> log_prob, StopCheck check) {
    const std::int64_t width = hmm_width(model, how.transitions), n = strings.size();
    const std::int64_t n_rows = (n + how.block - 1) / how.block;
    const std::int64_t rows_a_task = std::max(std::int64_t{1}, strings_a_task / how.block);
    over(n_rows, rows_a_task, check, [&](std::int64_t first, std::int64_t end) {
        HmmTotals totals;
        totals.transitions = how.transitions;
        const HmmWanted wanted{&totals, nullptr, rows_held(model, how.most_rows)};
        for (std::int64_t row = first; row < end; ++row) {
            sum_block(model, strings, row * how.block, std::min(n, (row + 1) * how.block), wanted, log_prob);
            write(model, totals, rows.data() + row * width);
        }
    });
}

void hmm_posterior(const HmmModel& model, const FlatStrings& strings, std::span<double> out, std::span<double> log_prob,
                   StopCheck check) {
    std::fill(out.begin(), out.end(), 0.0);
    over(strings.size(), strings_a_task, check, [&](std::int64_t first, std::int64_t end) {
        for (std::int64_t i = first; i < end; ++i) {
            const HmmWanted wanted{nullptr, out.data() + strings.offsets[i] * model.n_states, rows_held(model, 0)};
            log_prob[i] = run(model, strings[i], wanted);
        }
    });
}

}  // namespace fishernet
