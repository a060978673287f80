#include "sequences/hmm_densities.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "base/pool.hpp"
#include "sequences/wide.hpp"

namespace fishernet {
namespace {

constexpr double never = -std::numeric_limits<double>::infinity();
constexpr double tiny = 1e-290;   // a share of a state below it may have lost digits, or all
constexpr double large = 1e250;   // a lost share may matter to steps that are so much more probable after it
constexpr double largest = 1e300;
constexpr double deepest = 1e15;  // digits (binary) of a density below the largest; more would not fit exponents
constexpr std::int64_t sequences_a_task = 16;

// A sum whose rounding errors are kept.
struct Sum {
    double high = 0.0, low = 0.0;
    void add(double x) {
        const double next = high + x;
        low += std::abs(high) >= std::abs(x) ? (high - next) + x : (x - next) + high;
        high = next;
    }
    double value() const { return high + low; }
};

// What is wanted of one sequence; null what is not.
struct Wanted {
    double* posterior;
    double* first;
    double* moves;  // added to
    bool any() const { return posterior != nullptr || first != nullptr || moves != nullptr; }
};

// One sequence in doubles.
class Dense {
   public:
    explicit Dense(const HmmDensities& model)
        : m(model), n(model.n_states), u(size()), next(size()), z(size()), sums(size() * size()), back(sums.size()) {
        for (std::int64_t a = 0; a < n; ++a) {
            for (std::int64_t s = 0; s < n; ++s) back[s * n + a] = m.transition[a * n + s];
        }
    }

    // False where doubles do not do; nothing was added then.
    bool run(const double* logs, std::int64_t length, const Wanted& wanted, double& log_prob) {
        f.resize(static_cast<std::size_t>(length * n));
        b.resize(f.size());
        c.resize(static_cast<std::size_t>(length));
        lost = false;
        if (!forward(logs, length, log_prob)) return false;
        if (log_prob == never) return !lost;
        return (!wanted.any() && !lost) || backward(length, wanted);
    }

   private:
    std::size_t size() const { return static_cast<std::size_t>(n); }

    bool forward(const double* logs, std::int64_t length, double& log_prob) {
        Sum sum;
        double scale = 1.0;
        std::copy(m.initial.begin(), m.initial.end(), u.begin());
        for (std::int64_t t = 0; t < length; ++t, logs += n) {
            double top = never;
            for (std::int64_t s = 0; s < n; ++s) {
                if (u[s] > 0.0) top = std::max(top, logs[s]);
            }
            if (top == never) {
                log_prob = never;
                return true;
            }
            double* density = b.data() + t * n;
            double* share = f.data() + t * n;
            double total = 0.0;
            for (std::int64_t s = 0; s < n; ++s) {
                density[s] = std::min(std::exp(logs[s] - top), largest);
                share[s] = u[s] * density[s];
                total += share[s];
            }
            if (!(total > tiny)) return false;
            c[t] = total;
            const double by = 1.0 / total;
            for (std::int64_t s = 0; s < n; ++s) {
                share[s] *= by;
                lost = lost || (share[s] < tiny && u[s] > 0.0 && logs[s] > never);
            }
            scale *= total;
            if (scale < 1e-10 || scale > 1e10) {
                sum.add(std::log(scale));
                scale = 1.0;
            }
            sum.add(top);
            if (t + 1 < length) move(share);
        }
        sum.add(std::log(scale));
        log_prob = sum.value();
        return true;
    }

    // out[s] += sum over a of weights[a] * rows[a, s]
    void add_rows(const double* rows, const double* weights, double* __restrict out) const {
        for (std::int64_t a = 0; a < n; ++a, rows += n) {
            const double weight = weights[a];
            if (weight == 0.0) continue;
            for (std::int64_t s = 0; s < n; ++s) out[s] += weight * rows[s];
        }
    }

    void move(const double* share) {
        std::fill(u.begin(), u.end(), 0.0);
        add_rows(m.transition.data(), share, u.data());
    }

    bool backward(std::int64_t length, const Wanted& wanted) {
        std::vector<double>& after = next;  // what follows a state at the step, over what follows the step
        std::fill(after.begin(), after.end(), 1.0);
        std::fill(sums.begin(), sums.end(), 0.0);
        for (std::int64_t t = length - 1; t >= 0; --t) {
            const double* share = f.data() + t * n;
            const double* density = b.data() + t * n;
            double total = 0.0, most = 0.0;
            for (std::int64_t s = 0; s < n; ++s) total += share[s] * after[s];
            const double by = 1.0 / total, by_density = 1.0 / c[t];
            for (std::int64_t s = 0; s < n; ++s) {
                after[s] = std::min(after[s] * by, largest);  // takes back what rounding has added up to
                z[s] = std::min(std::min(density[s] * after[s], largest) * by_density, largest);
                most = std::max(most, std::max(after[s], z[s]));
            }
            if (lost && most > large) return false;
            if (wanted.posterior != nullptr) {
                for (std::int64_t s = 0; s < n; ++s) wanted.posterior[t * n + s] = share[s] * after[s];
            }
            if (t == 0) break;
            const double* before = share - n;
            std::fill(after.begin(), after.end(), 0.0);
            add_rows(back.data(), z.data(), after.data());
            for (std::int64_t a = 0; a < n; ++a) after[a] = std::min(after[a], largest);
            if (wanted.moves == nullptr) continue;
            const double* follows = z.data();
            for (std::int64_t a = 0; a < n; ++a) {
                const double weight = before[a];
                if (weight == 0.0) continue;
                double* __restrict out = sums.data() + a * n;
                for (std::int64_t s = 0; s < n; ++s) out[s] += weight * follows[s];
            }
        }
        if (wanted.first != nullptr) std::copy(z.begin(), z.end(), wanted.first);
        if (wanted.moves != nullptr) {
            for (std::size_t i = 0; i < sums.size(); ++i) wanted.moves[i] += sums[i];
        }
        return true;
    }

    const HmmDensities& m;
    std::int64_t n;
    std::vector<double> u, next, z, sums, back, f, b, c;  // back: the transition's transpose
    bool lost = false;
};

Wide density(double log, double top) {
    if (log == never) return {};
    const double digits = std::max((log - top) / std::numbers::ln2, -deepest), whole = std::floor(digits);
    return wide(std::exp2(digits - whole), whole);
}

// One sequence without limits.
double run_without_limits(const HmmDensities& m, const double* logs, std::int64_t length, const Wanted& wanted) {
    const std::int64_t n = m.n_states;
    const auto cells = static_cast<std::size_t>(n);
    std::vector<Wide> moves(m.transition.size()), f(static_cast<std::size_t>(length) * cells), u(cells), b(f.size());
    std::transform(m.transition.begin(), m.transition.end(), moves.begin(), [](double p) { return wide(p); });
    std::transform(m.initial.begin(), m.initial.end(), u.begin(), [](double p) { return wide(p); });
    Sum tops;
    for (std::int64_t t = 0; t < length; ++t) {
        const double top = *std::max_element(logs + t * n, logs + (t + 1) * n);
        if (top == never) return never;
        tops.add(top);
        for (std::int64_t s = 0; s < n; ++s) {
            b[t * n + s] = density(logs[t * n + s], top);
            f[t * n + s] = u[s] * b[t * n + s];
        }
        std::fill(u.begin(), u.end(), Wide{});
        for (std::int64_t a = 0; a < n; ++a) {
            for (std::int64_t s = 0; s < n; ++s) u[s] += f[t * n + a] * moves[a * n + s];
        }
    }
    Wide total;
    for (std::int64_t s = 0; s < n; ++s) total += f[(length - 1) * n + s];
    if (total.v == 0.0) return never;
    const double log_prob = log(total) + tops.value();
    if (!wanted.any()) return log_prob;
    std::vector<Wide> after(cells, inverse(total)), z(cells);
    for (std::int64_t t = length - 1; t >= 0; --t) {
        for (std::int64_t s = 0; s < n; ++s) {
            z[s] = b[t * n + s] * after[s];
            if (wanted.posterior != nullptr) wanted.posterior[t * n + s] = narrow(f[t * n + s] * after[s]);
        }
        if (t == 0) break;
        for (std::int64_t a = 0; a < n; ++a) {
            after[a] = {};
            for (std::int64_t s = 0; s < n; ++s) {
                after[a] += moves[a * n + s] * z[s];
                if (wanted.moves != nullptr) wanted.moves[a * n + s] += narrow(f[(t - 1) * n + a] * z[s]);
            }
        }
    }
    for (std::int64_t s = 0; wanted.first != nullptr && s < n; ++s) wanted.first[s] = narrow(z[s]);
    return log_prob;
}

}  // namespace

void hmm_of_densities(const HmmDensities& model, const HmmDensityAnswers& answers, StopCheck check) {
    const std::int64_t n = model.n_states, size = model.size();
    const std::int64_t block = answers.moves.empty() ? 1 : answers.block;
    const std::int64_t a_task = block * std::max(std::int64_t{1}, sequences_a_task / block);
    const std::int64_t n_tasks = (size + a_task - 1) / a_task;
    for (const auto out : {answers.posterior, answers.first, answers.moves}) std::fill(out.begin(), out.end(), 0.0);
    const auto place = [](std::span<double> out, std::int64_t at) { return out.empty() ? nullptr : out.data() + at; };
    run_tasks(
        n_tasks,
        [&](std::int64_t task) {
            Dense dense(model);
            for (std::int64_t i = task * a_task; i < std::min(size, (task + 1) * a_task); ++i) {
                const std::int64_t begin = model.offsets[i], length = model.offsets[i + 1] - begin;
                answers.log_prob[i] = 0.0;
                if (length == 0) continue;
                const double* logs = model.logs.data() + begin * n;
                const Wanted wanted{place(answers.posterior, begin * n), place(answers.first, i * n),
                                    place(answers.moves, i / block * n * n)};
                if (!dense.run(logs, length, wanted, answers.log_prob[i])) {
                    answers.log_prob[i] = run_without_limits(model, logs, length, wanted);
                }
                if (answers.log_prob[i] == never && wanted.posterior != nullptr) {
                    std::fill_n(wanted.posterior, length * n, 0.0);
                }
            }
        },
        check, n_tasks > 1);
}

}  // namespace fishernet
