// What rows with the same cells missing know, one after the other: the factors of their missing labels, and of each
// state of these the numbers that are left open.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gaussian/normal_mass.hpp"
#include "inference/mixed_gap.hpp"

namespace fishernet {

inline constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
inline constexpr std::size_t most_kept = std::size_t{1} << 21;  // numbers of a run, of what rows with equal labels share
inline constexpr double most_keys = 4e18;

// The logarithm of the sum of exponentials of n values a stride apart.
inline double log_sum(const double* values, std::size_t n, std::size_t stride) {
    double top = values[0];
    for (std::size_t i = 1; i < n; ++i) top = std::max(top, values[i * stride]);
    if (n == 1 || !std::isfinite(top)) return top;
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += std::exp(values[i * stride] - top);
    return top + std::log(sum);
}

// Makes the rows of a (d, d) matrix a lower triangle by reflections from the right: an LQ decomposition.
inline void make_triangular(double* matrix, std::size_t d) {
    for (std::size_t i = 0; i + 1 < d; ++i) {
        double* row = matrix + i * d;
        double largest = 0;
        for (std::size_t j = i + 1; j < d; ++j) largest = std::max(largest, std::fabs(row[j]));
        if (largest == 0) continue;
        largest = std::max(largest, std::fabs(row[i]));
        double squares = 0;
        for (std::size_t j = i; j < d; ++j) squares += (row[j] / largest) * (row[j] / largest);
        const double diagonal = -std::copysign(largest * std::sqrt(squares), row[i]);
        const double scale = row[i] - diagonal, tau = -scale / diagonal;
        for (std::size_t j = i + 1; j < d; ++j) row[j] /= scale;
        for (std::size_t other = i + 1; other < d; ++other) {
            double* of = matrix + other * d;
            double along = of[i];
            for (std::size_t j = i + 1; j < d; ++j) along += of[j] * row[j];
            along *= tau;
            of[i] -= along;
            for (std::size_t j = i + 1; j < d; ++j) of[j] -= along * row[j];
        }
        row[i] = diagonal;
        std::fill(row + i + 1, row + d, 0.0);
    }
}

// The place of the largest of some values, or one that is drawn by their exponentials.
inline std::size_t chosen(const double* values, std::size_t n, std::size_t stride, const double* uniform) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < n; ++i) {
        if (values[i * stride] > values[best * stride]) best = i;
    }
    if (uniform == nullptr) return best;
    const double top = values[best * stride];
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) total += std::exp(values[i * stride] - top);
    double sum = 0;
    for (std::size_t i = 0; i + 1 < n; ++i) {
        sum += std::exp(values[i * stride] - top);
        if (sum > *uniform * total) return i;
    }
    return n - 1;
}

// Finds a row's configurations of some labels: what its known labels say, and where those with each state of the missing
// ones of a scope lie from there.
class MixedGap::Reader {
public:
    Reader(const MixedGap& gap, const Scope& labels, const Scope& scope) {
        auto strides = strides_of(labels, gap.cardinalities_);
        for (const auto v : labels) {
            if (gap.is_missing(v)) continue;
            known_.emplace_back(at(v), strides[at(v)]);
            strides[at(v)] = 0;
        }
        offsets_ = offsets(scope, gap.cardinalities_, strides);
    }

    std::size_t base(const double* row) const {
        std::int64_t sum = 0;
        for (const auto& [v, stride] : known_) sum += static_cast<std::int64_t>(row[v]) * stride;
        return static_cast<std::size_t>(sum);
    }
    std::span<const std::uint32_t> offsets_of_states() const { return offsets_; }

private:
    std::vector<std::pair<std::size_t, std::int64_t>> known_;
    std::vector<std::uint32_t> offsets_;
};

// What is known of one row after the other.
class MixedGap::Run {
public:
    // Of one block: of each state of its scope, the means of its members, a lower triangle whose product with its
    // transpose is their covariance, and this.
    struct Numbers {
        std::vector<double> mean;
        const double *spread = nullptr, *covariance = nullptr;
    };

    Run(const MixedGap& gap, const MixedModel& model, const MixedRows& rows)
        : gap_(gap), model_(model), intervals_(rows.intervals) {
        for (std::size_t t = 0; t < gap.tables_.size(); ++t) {
            readers_.emplace_back(gap, gap.conditional(model, t).labels, gap.scopes_[t]);
            factors_.emplace_back(readers_.back().offsets_of_states().size());
        }
        for (const auto& block : gap.blocks_) {
            std::vector<Regression> regressions;
            for (const auto c : block.regressions) {
                const auto& own = model.conditionals[at(c)];
                regressions.push_back({Reader(gap, own.labels, block.scope), &own, place(block, own.variable), {}});
                for (const auto p : own.numbers) {
                    regressions.back().parents.push_back(gap.is_missing(p) ? static_cast<std::int32_t>(place(block, p))
                                                                           : -1);
                }
            }
            regressions_.push_back(std::move(regressions));
            const auto states = static_cast<std::size_t>(cells_of(block.scope, gap.cardinalities_));
            factors_.emplace_back(states);
            numbers.push_back({std::vector<double>(states * block.members.size())});
            loads_.emplace_back(gap, model, block);
        }
    }

    void read(const double* row) {
        for (std::size_t t = 0; t < readers_.size(); ++t) {
            const double* values = gap_.conditional(model_, t).values.data() + readers_[t].base(row);
            const auto states = readers_[t].offsets_of_states();
            for (std::size_t s = 0; s < states.size(); ++s) factors_[t][s] = values[states[s]];
        }
        for (std::size_t b = 0; b < regressions_.size(); ++b) read_block(b, row);
    }

    // Sums (or, with `most`, takes the largest); the product of each step is kept for `completed`.
    std::span<const double> sum(const LabelPlan& plan, bool most = false) {
        const std::size_t n = factors_.size();
        products.resize(std::max(products.size(), plan.steps().size()));
        sums_.resize(std::max(sums_.size(), plan.steps().size()));
        for (std::size_t i = 0; i < plan.steps().size(); ++i) {
            const auto& step = plan.steps()[i];
            auto& whole = products[i];
            whole.assign(step.cells, 0.0);
            for (std::size_t k = 0; k < step.inputs.size(); ++k) {
                const auto input = step.inputs[k];
                const double* values = input < n ? factors_[input].data() : sums_[input - n].data();
                const auto* from = step.offsets[k].data();
                for (std::size_t c = 0; c < step.cells; ++c) whole[c] += values[from[c]];
            }
            if (step.variable < 0) return whole;
            auto& out = sums_[i];
            out.resize(step.cells / step.states);
            for (std::size_t c = 0; c < out.size(); ++c) {
                const double* first = whole.data() + c / step.inner * step.inner * step.states + c % step.inner;
                if (!most) {
                    out[c] = log_sum(first, step.states, step.inner);
                    continue;
                }
                out[c] = first[chosen(first, step.states, step.inner, nullptr) * step.inner];
            }
        }
        return {};
    }

    // Turns the products of each step of a plan that keeps nothing into the probabilities of its table's states, once labels
    // have been summed out: the last step's are known first, and each step's go by those that it gives to.
    void turn_back(const LabelPlan& plan) {
        const std::size_t n = factors_.size(), last = plan.steps().size() - 1;
        shares_.resize(plan.steps().size());  // of what each step gives
        for (std::size_t i = 0; i < last; ++i) shares_[i].assign(sums_[i].size(), 0.0);
        products[last].assign(1, 1.0);
        for (std::size_t i = last + 1; i-- > 0;) {
            const auto& step = plan.steps()[i];
            auto& whole = products[i];
            for (std::size_t c = 0; c < step.cells && i < last; ++c) {
                const auto out = step.out(c);
                whole[c] = shares_[i][out] > 0 ? shares_[i][out] * std::exp(whole[c] - sums_[i][out]) : 0.0;
            }
            for (std::size_t k = 0; k < step.inputs.size(); ++k) {
                if (step.inputs[k] < n) continue;
                auto& given = shares_[step.inputs[k] - n];
                for (std::size_t c = 0; c < step.cells; ++c) given[step.offsets[k][c]] += whole[c];
            }
        }
    }

    std::vector<Numbers> numbers;
    std::vector<std::vector<double>> products;

private:
    struct Regression {
        Reader reader;
        const MixedConditional* own;
        std::size_t child;                  // among the block's numbers, known ones first
        std::vector<std::int32_t> parents;  // the same, of missing ones; -1: known
    };

    static std::size_t place(const Block& block, std::int32_t v) {
        const auto known = std::find(block.known.begin(), block.known.end(), v);
        if (known != block.known.end()) return static_cast<std::size_t>(known - block.known.begin());
        const auto found = std::find(block.members.begin(), block.members.end(), v);
        return block.known.size() + static_cast<std::size_t>(found - block.members.begin());
    }

    // What the labels of rows say of a block's numbers, whatever these are: of each state of its scope the loadings, then
    // the lower triangles of its members' spread, then their covariances, then the logarithms of the spreads that known
    // numbers have given those before them. Rows with equal labels share it.
    struct Loads {
        Loads(const MixedGap& gap, const MixedModel& model, const Block& block) : key(gap, labels_of(gap, model, block), {}) {
            keyed = cells_of(labels_of(gap, model, block), gap.cardinalities_) < most_keys;
        }
        static Scope labels_of(const MixedGap& gap, const MixedModel& model, const Block& block) {
            Scope known;
            for (const auto c : block.regressions) known = joined(known, ascending(model.conditionals[at(c)].labels));
            std::erase_if(known, [&](std::int32_t v) { return gap.is_missing(v); });
            return known;
        }
        static Scope ascending(Scope scope) {
            std::sort(scope.begin(), scope.end());
            return scope;
        }

        Reader key;
        bool keyed;
        std::unordered_map<std::size_t, std::vector<double>> known;
        std::vector<double> last;
    };

    // Every number of a block is a sum of independent noises. Their loadings are made triangular, known numbers first:
    // the triangle gives the density of what is known and, without cancellation, what is left open of the rest.
    void find_loads(std::size_t number, std::vector<double>& found) {
        const auto& block = gap_.blocks_[number];
        const std::size_t d = block.size(), k = block.known.size(), h = d - k;
        const std::size_t states = factors_[readers_.size() + number].size();
        found.assign(states * (d * d + 2 * h * h + k), 0.0);
        for (std::size_t s = 0; s < states; ++s) {
            double* loads = found.data() + s * d * d;
            for (std::size_t r = 0; r < bases_.size(); ++r) {
                const auto& [reader, own, child, parents] = regressions_[number][r];
                const double* values = values_of(number, r, s);
                double* load = loads + child * d;
                for (std::size_t p = 0; p < parents.size(); ++p) {
                    if (parents[p] < 0) continue;
                    for (std::size_t j = 0; j < d; ++j) load[j] += values[p + 1] * loads[at(parents[p]) * d + j];
                }
                load[child] = values[parents.size() + 1];
            }
            make_triangular(loads, d);
            double* logs = found.data() + states * (d * d + 2 * h * h) + s * k;
            for (std::size_t i = 0; i < k; ++i) logs[i] = std::log(std::fabs(loads[i * d + i]));
            double* spread = found.data() + states * d * d + s * h * h;
            double* covariance = spread + states * h * h;
            for (std::size_t i = 0; i < h; ++i) {
                std::copy_n(loads + (k + i) * d + k, h, spread + i * h);
                for (std::size_t j = 0; j <= i; ++j) {
                    double sum = 0;
                    for (std::size_t e = 0; e < h; ++e) sum += spread[i * h + e] * spread[j * h + e];
                    covariance[i * h + j] = covariance[j * h + i] = sum;
                }
            }
        }
    }

    const double* loads_of(std::size_t number, const double* row) {
        auto& [key, keyed, known, last] = loads_[number];
        if (!keyed) {
            find_loads(number, last);
            return last.data();
        }
        const auto labels = key.base(row);
        if (const auto found = known.find(labels); found != known.end()) return found->second.data();
        auto& made = n_kept_ < most_kept ? known[labels] : last;
        find_loads(number, made);
        n_kept_ += made.size();
        return made.data();
    }

    const double* values_of(std::size_t number, std::size_t r, std::size_t state) const {
        const auto& regression = regressions_[number][r];
        const auto configuration = bases_[r] + regression.reader.offsets_of_states()[state];
        return regression.own->values.data() + configuration * (regression.parents.size() + 2);
    }

    void read_block(std::size_t number, const double* row) {
        const auto& block = gap_.blocks_[number];
        auto& density = factors_[readers_.size() + number];
        const std::size_t d = block.size(), k = block.known.size(), h = d - k;
        bases_.clear();
        for (const auto& regression : regressions_[number]) bases_.push_back(regression.reader.base(row));
        const double* of_labels = loads_of(number, row);
        auto& [mean, spread, covariance] = numbers[number];
        spread = of_labels + density.size() * d * d;
        covariance = spread + density.size() * h * h;
        const double* logs = covariance + density.size() * h * h;
        means_.resize(d);
        z_.resize(k);
        for (std::size_t s = 0; s < density.size(); ++s) {
            const double* loads = of_labels + s * d * d;
            for (std::size_t r = 0; r < bases_.size(); ++r) {
                const auto& [reader, own, child, parents] = regressions_[number][r];
                const double* values = values_of(number, r, s);
                double level = values[0];
                for (std::size_t p = 0; p < parents.size(); ++p) {
                    level += values[p + 1] * (parents[p] < 0 ? row[at(own->numbers[p])] : means_[at(parents[p])]);
                }
                means_[child] = level;
            }
            double total = 0;
            for (std::size_t i = 0; i < k; ++i) {
                const double* load = loads + i * d;
                double off = row[at(block.known[i])] - means_[i];
                for (std::size_t j = 0; j < i; ++j) off -= load[j] * z_[j];
                z_[i] = off / load[i];
                total += log_known(row, at(block.known[i]), off, std::fabs(load[i]), logs[s * k + i]);
            }
            density[s] = std::isnan(total) ? minus_infinity : total;
            for (std::size_t i = 0; i < h; ++i) {
                const double* load = loads + (k + i) * d;
                double value = means_[k + i];
                for (std::size_t j = 0; j < k; ++j) value += load[j] * z_[j];
                mean[s * h + i] = value;
            }
        }
    }

    // The log-density of a known number that is so far off what is expected of it, or its mass where it was rounded.
    double log_known(const double* row, std::size_t v, double off, double sd, double log_sd) const {
        const std::size_t n = gap_.n_variables();
        const double width = intervals_ ? row[2 * n + v] : 0;
        if (width == 0) return log_normal_density(off / sd) - log_sd;
        return log_normal_mass((off + row[n + v] - row[v]) / sd, width / sd);
    }

    const MixedGap& gap_;
    const MixedModel& model_;
    bool intervals_;
    std::vector<Reader> readers_;  // of the tables
    std::vector<std::vector<Regression>> regressions_;  // of the blocks
    std::vector<std::vector<double>> factors_, sums_, shares_;
    std::vector<Loads> loads_;  // of the blocks
    std::size_t n_kept_ = 0;
    std::vector<std::size_t> bases_;
    std::vector<double> means_, z_;
};

}  // namespace fishernet
