#include "networks/gibbs.hpp"

#include <algorithm>
#include <cmath>

#include "base/kernels.hpp"
#include "base/pool.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t draws_at_once = 4096;
constexpr std::uint32_t never = 0xFFFFFFFFu;  // no draw reaches it

// Draws of one chain, in order.
class Stream {
public:
    Stream(std::uint64_t key, std::uint32_t task) : key_(key), task_(task), draws_(draws_at_once) {}

    std::uint32_t next() {
        if (at_ == draws_at_once) fill();
        return draws_[at_++];
    }

    // Room for so many draws without a look in between.
    const std::uint32_t* take(std::int64_t n) {
        if (at_ + n > draws_at_once) fill();
        const auto* from = draws_.data() + at_;
        at_ += n;
        return from;
    }

private:
    void fill() {
        kernels().draw(key_, task_, block_++, draws_.data(), draws_at_once);
        at_ = 0;
    }

    std::uint64_t key_;
    std::uint32_t task_;
    std::uint64_t block_ = 0;
    std::int64_t at_ = draws_at_once;
    std::vector<std::uint32_t> draws_;
};

// Walker's table of aliases: two draws choose a number with given probabilities.
struct Aliases {
    std::vector<std::uint32_t> keep;  // below it the number itself is taken, else its alias
    std::vector<std::int32_t> alias;

    explicit Aliases(std::span<const double> weights) : keep(weights.size(), never), alias(weights.size(), 0) {
        const auto n = static_cast<double>(weights.size());
        std::vector<double> share;
        std::vector<std::int32_t> poor, rich;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            share.push_back(weights[i] * n);
            alias[i] = static_cast<std::int32_t>(i);
            (share[i] < 1 ? poor : rich).push_back(static_cast<std::int32_t>(i));
        }
        while (!poor.empty() && !rich.empty()) {
            const auto p = poor.back(), r = rich.back();
            poor.pop_back();
            keep[p] = static_cast<std::uint32_t>(std::min(std::ldexp(share[p], 32), 4294967295.0));
            alias[p] = r;
            share[r] -= 1 - share[p];
            if (share[r] < 1) {
                rich.pop_back();
                poor.push_back(r);
            }
        }
    }
};

// Everything of a conditional in one place, its inputs padded to `width`: those beyond its own add nothing.
template <int width>
struct Padded {
    const std::uint32_t* thresholds;
    const std::int32_t* map;
    std::int32_t child;
    std::int32_t most;  // thresholds a group
    std::int32_t inputs[width];
    std::uint32_t strides[width];
};

template <int width>
std::vector<Padded<width>> pad(std::span<const Updatable> conditionals) {
    std::vector<Padded<width>> padded;
    for (const auto& c : conditionals) {
        Padded<width> p{c.thresholds.data(), c.map.empty() ? nullptr : c.map.data(), c.child, c.states - 1, {}, {}};
        std::copy(c.inputs.begin(), c.inputs.end(), p.inputs);
        std::copy(c.strides.begin(), c.strides.end(), p.strides);
        padded.push_back(p);
    }
    return padded;
}

// Redraws one variable; `binary` says that all variables have two states and no map.
template <int width, bool binary>
inline void update(const Padded<width>& c, std::uint32_t* state, std::uint32_t draw) {
    std::uint32_t group = 0;
    for (int i = 0; i < width; ++i) group += c.strides[i] * state[c.inputs[i]];
    if constexpr (binary) {
        state[c.child] = draw >= c.thresholds[group];
    } else {
        if (c.map != nullptr) group = static_cast<std::uint32_t>(c.map[group]);
        const auto* limits = c.thresholds + static_cast<std::size_t>(group) * static_cast<std::size_t>(c.most);
        std::uint32_t passed = 0;
        for (std::int32_t k = 0; k < c.most; ++k) passed += draw >= limits[k];
        state[c.child] = passed;
    }
}

// The same for any number of inputs, and for products.
void update_any(const Updatable& c, std::uint32_t* state, Stream& stream, std::vector<double>& weights) {
    const std::uint32_t draw = stream.next();
    if (c.factors.empty()) {
        std::uint64_t group = 0;
        for (std::size_t i = 0; i < c.inputs.size(); ++i) group += std::uint64_t{c.strides[i]} * state[c.inputs[i]];
        if (!c.map.empty()) group = static_cast<std::uint64_t>(c.map[group]);
        if (!c.tree.empty()) group = static_cast<std::uint64_t>(c.tree.group([&](std::int32_t v) { return state[v]; }));
        const auto* limits = c.thresholds.data() + group * static_cast<std::uint64_t>(c.states - 1);
        state[c.child] = static_cast<std::uint32_t>(std::upper_bound(limits, limits + c.states - 1, draw) - limits);
        return;
    }
    weights.assign(static_cast<std::size_t>(c.states), 1.0);
    for (const auto& factor : c.factors) {
        std::int64_t at = 0;
        for (std::size_t i = 0; i < factor.others.size(); ++i) at += factor.strides[i] * state[factor.others[i]];
        double top = 0;
        for (std::int32_t k = 0; k < c.states; ++k) {
            weights[static_cast<std::size_t>(k)] *= factor.values[at + k * factor.child_stride];
            top = std::max(top, weights[static_cast<std::size_t>(k)]);
        }
        if (top > 0 && top < 1e-200) {  // a long product: only ratios matter
            for (auto& w : weights) w /= top;
        }
    }
    double total = 0;
    for (const auto w : weights) total += w;
    if (!(total > 0)) return;  // a state of the rest that nothing fits: nothing moves
    double left = (draw + 0.5) * 0x1p-32 * total;
    std::int32_t chosen = -1;
    for (std::int32_t k = 0; k < c.states; ++k) {
        if (weights[static_cast<std::size_t>(k)] <= 0) continue;
        chosen = k;
        left -= weights[static_cast<std::size_t>(k)];
        if (left < 0) break;
    }
    state[c.child] = static_cast<std::uint32_t>(chosen);
}

// Which of the free variables is updated next.
class Chooser {
public:
    explicit Chooser(const Scan& scan)
        : free_(scan.free), ordered_(scan.ordered), aliases_(scan.weights.empty() ? std::span<const double>{} : std::span<const double>(scan.weights)),
          weighted_(!scan.weights.empty()) {}

    bool plain() const { return !ordered_ && !weighted_; }  // one draw a choice, and nothing to remember
    std::uint64_t n_free() const { return free_.size(); }

    std::int32_t next(Stream& stream) {
        const std::uint64_t n = free_.size();
        if (ordered_) {
            const auto which = turn_;
            turn_ = turn_ + 1 == n ? 0 : turn_ + 1;
            return free_[which];
        }
        const auto which = (stream.next() * n) >> 32;
        if (!weighted_) return free_[which];
        return free_[stream.next() < aliases_.keep[which] ? which : static_cast<std::uint64_t>(aliases_.alias[which])];
    }

private:
    const std::vector<std::int32_t>& free_;
    bool ordered_;
    Aliases aliases_;
    bool weighted_;
    std::uint64_t turn_ = 0;
};

template <int width, bool binary>
void update_times(std::span<const Padded<width>> conditionals, const Scan& scan, Chooser& chooser, Stream& stream,
                std::uint32_t* state, std::int64_t times) {
    if (chooser.plain()) {
        const std::uint64_t n = chooser.n_free();
        while (times > 0) {
            const std::int64_t now = std::min<std::int64_t>(times, 32);
            const auto* draws = stream.take(2 * now);
            for (std::int64_t i = 0; i < now; ++i) {
                update<width, binary>(conditionals[scan.free[(draws[i] * n) >> 32]], state, draws[now + i]);
            }
            times -= now;
        }
        return;
    }
    for (std::int64_t i = 0; i < times; ++i) {
        const auto which = chooser.next(stream);
        update<width, binary>(conditionals[which], state, stream.next());
    }
}

void write_row(std::span<const Output> columns, const std::uint32_t* state, std::int64_t row) {
    for (std::size_t v = 0; v < columns.size(); ++v) put_code(columns[v], row, state[v]);
}

// A chain that can be left and taken up again.
struct Chain {
    Chain(const Scan& scan, std::uint64_t key, std::int64_t number, std::int64_t first, std::int64_t last,
          std::int64_t burn_in, std::span<const std::int32_t> start)
        : row(first), end(last), wait(burn_in), stream(key, static_cast<std::uint32_t>(number)), chooser(scan),
          state(start.begin(), start.end()) {}

    std::int64_t row;   // the next to be written
    std::int64_t end;
    std::int64_t wait;  // updates until then
    Stream stream;
    Chooser chooser;
    std::vector<std::uint32_t> state;
};

// Algorithm 3: burn in; then a row, `thin` updates, a row, ...; no more than so many updates at one go.
template <class Update>
void advance(Chain& chain, const ChainPlan& plan, std::span<const Output> columns, std::int64_t budget, Update update_now) {
    while (chain.row < chain.end && budget > 0) {
        if (chain.wait == 0) {
            write_row(columns, chain.state.data(), chain.row++);
            chain.wait = plan.thin;
            continue;
        }
        const std::int64_t now = std::min(chain.wait, budget);
        update_now(chain, now);
        chain.wait -= now;
        budget -= now;
    }
}

// All chains side by side, a stretch of each at a time, so that the work can be stopped.
template <class Update>
void run_chains(std::vector<Chain>& chains, const ChainPlan& plan, std::span<const Output> columns, StopCheck check,
                Update update_now) {
    constexpr std::int64_t stretch = 1000000;  // updates: some ten milliseconds
    const auto n = static_cast<std::int64_t>(chains.size());
    Patience patience(check);
    while (std::any_of(chains.begin(), chains.end(), [](const Chain& chain) { return chain.row < chain.end; })) {
        const auto one = [&](std::int64_t c) { advance(chains[static_cast<std::size_t>(c)], plan, columns, stretch, update_now); };
        if (n == 1) {
            one(0);
        } else {
            run_tasks(n, one, check);
        }
        patience.ask();
    }
}

template <int width, bool binary>
void run_padded(std::span<const Updatable> conditionals, const Scan& scan, std::vector<Chain>& chains,
                const ChainPlan& plan, std::span<const Output> columns, StopCheck check) {
    const auto padded = pad<width>(conditionals);
    run_chains(chains, plan, columns, check, [&](Chain& chain, std::int64_t times) {
        update_times<width, binary>(std::span<const Padded<width>>(padded), scan, chain.chooser, chain.stream,
                                  chain.state.data(), times);
    });
}

void run_any(std::span<const Updatable> conditionals, std::vector<Chain>& chains, const ChainPlan& plan,
             std::span<const Output> columns, StopCheck check) {
    run_chains(chains, plan, columns, check, [&](Chain& chain, std::int64_t times) {
        thread_local std::vector<double> weights;
        for (std::int64_t i = 0; i < times; ++i) {
            update_any(conditionals[chain.chooser.next(chain.stream)], chain.state.data(), chain.stream, weights);
        }
    });
}

}  // namespace

void sample_gibbs(std::span<const Updatable> conditionals, const Scan& scan, const ChainPlan& plan,
                  std::span<const std::int32_t> starts, std::span<const Output> columns, std::uint64_t key,
                  StopCheck check) {
    std::size_t widest = 0;
    bool binary = true;
    bool walks = false;  // products and trees
    for (const auto& c : conditionals) {
        widest = std::max(widest, c.inputs.size());
        binary &= c.states == 2 && c.map.empty();
        walks |= !c.factors.empty() || !c.tree.empty();
    }
    std::vector<Chain> chains;
    for (std::int64_t c = 0; c < plan.chains; ++c) {
        chains.emplace_back(scan, key, c, plan.rows * c / plan.chains, plan.rows * (c + 1) / plan.chains, plan.burn_in,
                            starts.subspan(static_cast<std::size_t>(c) * columns.size(), columns.size()));
    }
    if (walks || widest > 8) {
        run_any(conditionals, chains, plan, columns, check);
    } else if (widest <= 4) {
        (binary ? run_padded<4, true> : run_padded<4, false>)(conditionals, scan, chains, plan, columns, check);
    } else {
        (binary ? run_padded<8, true> : run_padded<8, false>)(conditionals, scan, chains, plan, columns, check);
    }
}

}  // namespace fishernet
