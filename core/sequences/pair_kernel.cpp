#include "sequences/pair_kernel.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/pool.hpp"
#include "sequences/string_steps.hpp"
#include "sequences/wide.hpp"

namespace fishernet {
namespace {

using Codes = std::span<const std::int32_t>;

constexpr std::int64_t most_work = 2'000'000;  // numbers a task makes, some milliseconds
constexpr std::int64_t wide_cost = 30;         // how much dearer a number with an exponent of its own is
constexpr std::int64_t most_open = 64;         // pairs of long strings under work at a time

// The recursion over two strings, diagonal by diagonal; the first is the shorter.
class PairRun {
public:
    virtual ~PairRun() = default;
    // Makes diagonals until about `work` numbers are made, and returns whether all are.
    virtual bool advance(std::int64_t work) = 0;
    virtual double log_value() const = 0;
};

double sum_of_shifts(const StringModel& model, Codes s) {
    double sum = 0;
    for (const auto code : s) sum += model.shifts[code];
    return sum;
}

// The prefixes i of s, with d - i of t, that a diagonal has.
struct Range {
    std::int64_t first, last;
    Range(std::int64_t d, std::int64_t n, std::int64_t m) : first(std::max<std::int64_t>(0, d - m)), last(std::min(n, d)) {}
    std::int64_t size() const { return last - first + 1; }
};

// The logarithm of the kernel: the last visit of every state, and stopping after it. arrived(a, back, shift) is the
// weight of arriving in state a `back` diagonals before the last, at the prefix n + shift of s.
template <class Arrived>
double log_of_last(const StringModel& model, Codes s, Codes t, Arrived arrived) {
    const auto n_symbols = model.n_symbols();
    Wide total;
    for (std::int64_t a = 0; a < model.n_states(); ++a) {
        const double* emission = model.emission.data() + a * n_symbols;
        Wide visit;
        const Wide of_s = s.empty() ? Wide() : wide(emission[s.back()]);
        const Wide of_t = t.empty() ? Wide() : wide(emission[t.back()]);
        const Wide empty = wide(model.empty[a]);
        if (!s.empty() && !t.empty()) visit += arrived(a, 2, -1) * of_s * of_t;
        if (!s.empty()) visit += arrived(a, 1, -1) * of_s * empty;
        if (!t.empty()) visit += arrived(a, 1, 0) * empty * of_t;
        total += visit * wide(model.end[a]);
    }
    return log(total, sum_of_shifts(model, s) + sum_of_shifts(model, t));
}

class NarrowRun final : public PairRun {
public:
    NarrowRun(const StringModel& model, Codes s, Codes t)
        : model_(model), view_(model.view()), s_(s), t_(t), n_(std::ssize(s)), m_(std::ssize(t)),
          stride_(n_ + 2 * lanes + 1),
          values_(3 * model.n_states() * stride_, 0.0), exponents_(3 * stride_, no_exponent),
          of_s_(model.n_states() * stride_, 0.0), of_t_(model.n_states() * t_stride(), 0.0),
          scratch_((model.n_states() + model.n_groups()) * lanes, 0.0) {
        const auto n_symbols = model.n_symbols();
        for (std::int64_t a = 0; a < model.n_states(); ++a) {
            const double* emission = model.emission.data() + a * n_symbols;
            for (std::int64_t i = 1; i <= n_; ++i) of_s_[a * stride_ + i] = emission[s[i - 1]];
            // position m - j holds prefix j, so that i and the position run together along a diagonal
            for (std::int64_t j = 1; j <= m_; ++j) of_t_[a * t_stride() + m_ - j] = emission[t[j - 1]];
            values(0)[a * stride_] = model.initial[a];
        }
        exponents(0)[0] = 0;
    }

    bool advance(std::int64_t work) override {
        for (; d_ < n_ + m_ && work > 0; ++d_) {
            const Range range(d_, n_, m_);
            step(range);
            if (!lowest_.in_range()) return true;
            work -= range.size() * model_.n_states();
        }
        return d_ >= n_ + m_;
    }

    double log_value() const override {
        return log_of_last(model_, s_, t_, [this](std::int64_t a, std::int64_t back, std::int64_t at) {
            const std::int64_t d = n_ + m_ - back;
            return wide(values(d)[a * stride_ + n_ + at], exponents(d)[n_ + at]);
        });
    }

    bool in_range() const { return lowest_.in_range(); }

private:
    std::int64_t t_stride() const { return m_ + 2 * lanes + 1; }
    std::size_t place(std::int64_t d) const { return static_cast<std::size_t>((d + 3) % 3); }
    // lane 0 of a diagonal; lane -1 is there too
    double* values(std::int64_t d) { return values_.data() + place(d) * model_.n_states() * stride_ + 1; }
    const double* values(std::int64_t d) const { return values_.data() + place(d) * model_.n_states() * stride_ + 1; }
    double* exponents(std::int64_t d) { return exponents_.data() + place(d) * stride_ + 1; }
    const double* exponents(std::int64_t d) const { return exponents_.data() + place(d) * stride_ + 1; }

    void step(const Range& range) {
        DiagonalStep now;
        now.model = &view_;
        now.s = of_s_.data();
        now.t = of_t_.data();
        now.t_shift = m_ - d_;
        now.s_stride = stride_;
        now.t_stride = t_stride();
        now.stride = stride_;
        now.before_last = {values(d_ - 2), exponents(d_ - 2)};
        now.last = {values(d_ - 1), exponents(d_ - 1)};
        now.next = {values(d_), exponents(d_)};
        now.scratch = scratch_.data();
        now.first = range.first;
        now.end = range.last + 1;
        string_steps().diagonal(now, lowest_);
    }

    const StringModel& model_;
    const StringView view_;
    Codes s_, t_;
    std::int64_t n_, m_, stride_;
    std::vector<double> values_, exponents_, of_s_, of_t_, scratch_;
    std::int64_t d_ = 1;
    Lowest lowest_;
};

// The same with an exponent for every number: slow, and never out of range.
class WideRun final : public PairRun {
public:
    WideRun(const StringModel& model, Codes s, Codes t)
        : model_(model), s_(s), t_(t), n_(std::ssize(s)), m_(std::ssize(t)), stride_(n_ + 1),
          values_(3 * model.n_states() * stride_), sums_(model.n_groups()) {
        for (std::int64_t a = 0; a < model.n_states(); ++a) at(0, a, 0) = wide(model.initial[a]);
    }

    bool advance(std::int64_t work) override {
        for (; d_ < n_ + m_ && work > 0; ++d_) {
            const Range range(d_, n_, m_);
            for (std::int64_t i = range.first; i <= range.last; ++i) cell(i);
            work -= wide_cost * range.size() * model_.n_states();
        }
        return d_ >= n_ + m_;
    }

    double log_value() const override {
        return log_of_last(model_, s_, t_, [this](std::int64_t a, std::int64_t back, std::int64_t shift) {
            return arrived(n_ + m_ - back, a, n_ + shift);
        });
    }

private:
    std::size_t place(std::int64_t d, std::int64_t a, std::int64_t i) const {
        return static_cast<std::size_t>((((d + 3) % 3) * model_.n_states() + a) * stride_ + i);
    }
    Wide& at(std::int64_t d, std::int64_t a, std::int64_t i) { return values_[place(d, a, i)]; }
    Wide arrived(std::int64_t d, std::int64_t a, std::int64_t i) const {
        const bool there = d >= 0 && i >= 0 && i <= n_ && i <= d && d - i <= m_;
        return there ? values_[place(d, a, i)] : Wide();
    }

    void cell(std::int64_t i) {
        for (std::int64_t g = 0; g < model_.n_groups(); ++g) {
            sums_[g] = Wide();
            for (auto a = model_.group_starts[g]; a < model_.group_starts[g + 1]; ++a) sums_[g] += visit(a, i);
        }
        for (std::int64_t a = 0; a < model_.n_states(); ++a) {
            Wide sum;
            for (auto k = model_.starts[a]; k < model_.starts[a + 1]; ++k) {
                sum += sums_[model_.from[k]] * wide(model_.weights[k]);
            }
            at(d_, a, i) = sum;
        }
    }

    Wide visit(std::int64_t a, std::int64_t i) const {
        const std::int64_t j = d_ - i;
        const double* emission = model_.emission.data() + a * model_.n_symbols();
        const Wide empty = wide(model_.empty[a]);
        const Wide s = i > 0 ? wide(emission[s_[i - 1]]) : Wide();
        const Wide t = j > 0 ? wide(emission[t_[j - 1]]) : Wide();
        Wide sum = arrived(d_ - 2, a, i - 1) * s * t;
        sum += arrived(d_ - 1, a, i - 1) * s * empty;
        sum += arrived(d_ - 1, a, i) * empty * t;
        return sum;
    }

    const StringModel& model_;
    Codes s_, t_;
    std::int64_t n_, m_, stride_;
    std::vector<Wide> values_, sums_;
    std::int64_t d_ = 1;
};

// What is asked of many pairs of strings.
struct Pairs {
    const StringModel& model;
    const FlatStrings& x;
    const FlatStrings& y;
    std::span<const std::int64_t> x_of, y_of;
    double* out;

    std::int64_t size() const { return std::ssize(x_of); }
    std::int64_t work(std::int64_t k) const {
        return (std::ssize(x[x_of[k]]) + 1) * (std::ssize(y[y_of[k]]) + 1) * model.n_states();
    }
    template <class Run>
    std::unique_ptr<Run> run(std::int64_t k) const {
        const Codes s = x[x_of[k]];
        const Codes t = y[y_of[k]];
        return s.size() <= t.size() ? std::make_unique<Run>(model, s, t) : std::make_unique<Run>(model, t, s);
    }
    bool nothing(std::int64_t k) const { return x[x_of[k]].empty() && y[y_of[k]].empty(); }
};

// One of the pairs that take more than a task's time, or whose numbers left their range.
class LongPair {
public:
    LongPair(const Pairs& pairs, std::int64_t k, bool wide) : pairs_(pairs), k_(k) { wide ? start_wide() : start(); }

    // Returns whether the value is there.
    bool advance() {
        if (!run_->advance(most_work)) return false;
        if (narrow_ != nullptr && !narrow_->in_range()) {
            start_wide();
            return false;
        }
        pairs_.out[k_] = run_->log_value();
        return true;
    }

private:
    void start() {
        auto run = pairs_.run<NarrowRun>(k_);
        narrow_ = run.get();
        run_ = std::move(run);
    }
    void start_wide() {
        narrow_ = nullptr;
        run_ = pairs_.run<WideRun>(k_);
    }

    const Pairs& pairs_;
    std::int64_t k_;
    std::unique_ptr<PairRun> run_;
    const NarrowRun* narrow_ = nullptr;
};

void run_long(const Pairs& pairs, std::span<const std::int64_t> which, const std::vector<char>& wide, StopCheck check) {
    Patience patience(check);  // a round of few tasks is over before the pool's own runs out
    for (std::size_t begin = 0; begin < which.size(); begin += most_open) {
        std::vector<LongPair> open;
        for (const auto k : which.subspan(begin, std::min<std::size_t>(most_open, which.size() - begin))) {
            open.emplace_back(pairs, k, wide[static_cast<std::size_t>(k)] != 0);
        }
        while (!open.empty()) {
            std::vector<char> done(open.size(), 0);
            run_tasks(std::ssize(open), [&](std::int64_t i) { done[i] = open[i].advance(); }, check);
            std::vector<LongPair> left;
            for (std::size_t i = 0; i < open.size(); ++i) {
                if (!done[i]) left.push_back(std::move(open[i]));
            }
            open = std::move(left);
            patience.ask();
        }
    }
}

// How pairs are worked on: what is short, in tasks of pairs that follow one another; the others a piece at a time.
struct Plan {
    std::vector<std::int64_t> cuts{0};
    std::vector<char> wide, later;

    explicit Plan(const Pairs& pairs)
        : wide(static_cast<std::size_t>(pairs.size()), !pairs.model.narrow),
          later(static_cast<std::size_t>(pairs.size()), 0) {
        constexpr std::int64_t overhead = 1000;
        std::int64_t work = 0;
        for (std::int64_t k = 0; k < pairs.size(); ++k) {
            const std::int64_t more = pairs.work(k) * (pairs.model.narrow ? 1 : wide_cost);
            later[k] = more > most_work;
            work += overhead + (later[k] ? 0 : more);
            if (work >= most_work) {
                cuts.push_back(k + 1);
                work = 0;
            }
        }
        cuts.push_back(pairs.size());
    }
};

void run_short(const Pairs& pairs, Plan& plan, std::int64_t k) {
    if (pairs.nothing(k)) {
        pairs.out[k] = log(wide(pairs.model.nothing), 0);
        plan.later[k] = 0;
    } else if (!plan.later[k] && plan.wide[k]) {
        const auto run = pairs.run<WideRun>(k);
        run->advance(most_work);
        pairs.out[k] = run->log_value();
    } else if (!plan.later[k]) {
        const auto run = pairs.run<NarrowRun>(k);
        run->advance(most_work);
        plan.wide[k] = plan.later[k] = !run->in_range();
        if (!plan.later[k]) pairs.out[k] = run->log_value();
    }
}

}  // namespace

void pair_logs(const StringModel& model, const FlatStrings& x, const FlatStrings& y,
               std::span<const std::int64_t> x_of, std::span<const std::int64_t> y_of, double* out, StopCheck check) {
    const Pairs pairs{model, x, y, x_of, y_of, out};
    Plan plan(pairs);
    run_tasks(std::ssize(plan.cuts) - 1, [&](std::int64_t task) {
        for (auto k = plan.cuts[task]; k < plan.cuts[task + 1]; ++k) run_short(pairs, plan, k);
    }, check);
    std::vector<std::int64_t> left;
    for (std::int64_t k = 0; k < pairs.size(); ++k) {
        if (plan.later[k]) left.push_back(k);
    }
    run_long(pairs, left, plan.wide, check);
}

}  // namespace fishernet
