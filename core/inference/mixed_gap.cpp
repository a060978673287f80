#include "inference/mixed_gap.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "gaussian/normal_mass.hpp"

namespace fishernet {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
constexpr std::size_t most_kept = std::size_t{1} << 21;  // numbers of a run, of what rows with equal labels share
constexpr double most_keys = 4e18;

// The logarithm of the sum of exponentials of n values a stride apart.
double log_sum(const double* values, std::size_t n, std::size_t stride) {
    double top = values[0];
    for (std::size_t i = 1; i < n; ++i) top = std::max(top, values[i * stride]);
    if (n == 1 || !std::isfinite(top)) return top;
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += std::exp(values[i * stride] - top);
    return top + std::log(sum);
}

// Makes the rows of a (d, d) matrix a lower triangle by reflections from the right: an LQ decomposition.
void make_triangular(double* matrix, std::size_t d) {
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
std::size_t chosen(const double* values, std::size_t n, std::size_t stride, const double* uniform) {
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

}  // namespace

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
    // the lower triangles of its members' spread, then their covariances. Rows with equal labels share it.
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
        found.assign(states * (d * d + 2 * h * h), 0.0);
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
                total += log_known(row, at(block.known[i]), off, std::fabs(load[i]));
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
    double log_known(const double* row, std::size_t v, double off, double sd) const {
        const std::size_t n = gap_.n_variables();
        const double width = intervals_ ? row[2 * n + v] : 0;
        if (width == 0) return log_normal_density(off / sd) - std::log(sd);
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

MixedGap::MixedGap(const MixedModel& model, Scope missing, std::vector<std::int32_t> families,
                   std::vector<MixedConditional> soft)
    : cardinalities_(model.cardinalities), missing_(std::move(missing)), place_(cardinalities_.size(), -1),
      families_(std::move(families)), soft_(std::move(soft)), n_model_(model.conditionals.size()) {
    for (std::size_t i = 0; i < missing_.size(); ++i) place_[at(missing_[i])] = static_cast<std::int32_t>(i);
    struct Group {
        Scope numbers;
        std::vector<std::size_t> ranks;
    };
    std::vector<Group> groups;  // regressions that share missing numbers
    for (std::size_t rank = 0; rank < families_.size(); ++rank) {
        const auto& own = model.conditionals[at(families_[rank])];
        border_.insert(border_.end(), own.labels.begin(), own.labels.end());
        if (!own.number) {
            tables_.push_back(families_[rank]);
            scopes_.push_back(missing_in(own.labels));
            continue;
        }
        Scope of = own.numbers;
        of.push_back(own.variable);
        const Scope mine = missing_in(std::move(of));
        Group group{mine, {rank}};
        std::erase_if(groups, [&](const Group& other) {
            if (std::ranges::none_of(mine, [&](std::int32_t v) { return scope_has(other.numbers, v); })) return false;
            group.numbers = joined(group.numbers, other.numbers);
            group.ranks.insert(group.ranks.end(), other.ranks.begin(), other.ranks.end());
            return true;
        });
        groups.push_back(std::move(group));
    }
    for (std::size_t i = 0; i < soft_.size(); ++i) {
        tables_.push_back(static_cast<std::int32_t>(n_model_ + i));
        border_.insert(border_.end(), soft_[i].labels.begin(), soft_[i].labels.end());
        scopes_.push_back(missing_in(soft_[i].labels));
    }
    for (auto& group : groups) {
        std::sort(group.ranks.begin(), group.ranks.end());
        Block block;
        for (const auto rank : group.ranks) {
            const auto& own = model.conditionals[at(families_[rank])];
            block.regressions.push_back(families_[rank]);
            (is_missing(own.variable) ? block.members : block.known).push_back(own.variable);
            block.scope = joined(block.scope, missing_in(own.labels));
        }
        scopes_.push_back(block.scope);
        blocks_.push_back(std::move(block));
    }
    std::sort(border_.begin(), border_.end());
    border_.erase(std::unique(border_.begin(), border_.end()), border_.end());
    std::erase_if(border_, [&](std::int32_t v) { return is_missing(v); });
    order_ = label_order(scopes_, cardinalities_, {});
}

LabelPlan MixedGap::plan(const Scope& keep) const {
    return {scopes_, cardinalities_, keep, keep.empty() ? order_.labels : label_order(scopes_, cardinalities_, keep).labels};
}

Scope MixedGap::missing_in(Scope scope) const {
    std::erase_if(scope, [&](std::int32_t v) { return !is_missing(v); });
    std::sort(scope.begin(), scope.end());
    return scope;
}

Scope MixedGap::family_scope(const MixedConditional& own) const {
    Scope numbers = own.numbers;
    if (own.number) numbers.push_back(own.variable);
    return mixture_scope(missing_in(std::move(numbers)), missing_in(own.labels));
}

const MixedConditional& MixedGap::conditional(const MixedModel& model, std::size_t table) const {
    const auto c = at(tables_[table]);
    return c < n_model_ ? model.conditionals[c] : soft_[c - n_model_];
}

Scope MixedGap::mixture_scope(const Scope& wanted, const Scope& keep) const {
    Scope scope = keep;
    for (const auto& block : blocks_) {
        const bool asked = std::ranges::any_of(block.members, [&](std::int32_t v) { return scope_has(wanted, v); });
        if (asked) scope = joined(scope, block.scope);
    }
    return scope;
}

double MixedGap::most_cells(const Scope& keep) const {
    double most = keep.empty() ? order_.most : label_order(scopes_, cardinalities_, keep).most;
    for (const auto& block : blocks_) {
        const auto h = static_cast<double>(block.members.size());
        most = std::max(most, cells_of(block.scope, cardinalities_) * std::max(1.0, h * (h + 1)));
    }
    return most;
}

double MixedGap::most_states() const {
    double most = order_.most;
    for (const auto& scope : scopes_) most = std::max(most, cells_of(scope, cardinalities_));
    return most;
}

std::vector<double> MixedGap::joint(const MixedModel& model, const MixedRows& rows, const Scope& keep,
                                    StopCheck check) const {
    const auto plan = this->plan(keep);
    Run run(*this, model, rows);
    Patience patience(check);
    std::vector<double> found;
    found.reserve(rows.rows.size() * plan.steps().back().cells);
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
        patience.ask();
        run.read(rows.of(i));
        const auto sums = run.sum(plan);
        found.insert(found.end(), sums.begin(), sums.end());
    }
    return found;
}

MixedAnswer MixedGap::mixture(const MixedModel& model, const MixedRows& rows, const Scope& wanted, const Scope& keep,
                              StopCheck check) const {
    Scope ascending = wanted;
    std::sort(ascending.begin(), ascending.end());
    const Scope scope = mixture_scope(ascending, keep);
    const std::size_t n = rows.rows.size(), d = wanted.size();
    const auto states = static_cast<std::size_t>(cells_of(scope, cardinalities_));
    const auto plan = this->plan(scope);
    Run run(*this, model, rows);
    MixedAnswer found{{}, std::vector<double>(n * states * d), std::vector<double>(n * states * d * d)};
    found.log_weights.reserve(n * states);
    struct Asked {
        std::size_t h;
        std::vector<std::pair<std::size_t, std::size_t>> places;  // among the wanted, among the members
        std::vector<std::uint32_t> state;
    };
    std::vector<Asked> asked;
    for (const auto& block : blocks_) {
        asked.push_back({block.members.size(), {}, offsets(scope, cardinalities_, strides_of(block.scope, cardinalities_))});
        for (std::size_t i = 0; i < d; ++i) {
            const auto member = std::find(block.members.begin(), block.members.end(), wanted[i]);
            if (member == block.members.end()) continue;
            asked.back().places.emplace_back(i, static_cast<std::size_t>(member - block.members.begin()));
        }
    }
    Patience patience(check);
    for (std::size_t row = 0; row < n; ++row) {
        patience.ask();
        run.read(rows.of(row));
        const auto sums = run.sum(plan);
        found.log_weights.insert(found.log_weights.end(), sums.begin(), sums.end());
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            const auto& [h, places, state] = asked[b];
            for (std::size_t s = 0; s < states && !places.empty(); ++s) {
                const double* mean = run.numbers[b].mean.data() + state[s] * h;
                const double* covariance = run.numbers[b].covariance + state[s] * h * h;
                const std::size_t cell = row * states + s;
                for (const auto& [i, member] : places) {
                    found.mean[cell * d + i] = mean[member];
                    for (const auto& [j, other] : places) {
                        found.covariance[(cell * d + i) * d + j] = covariance[member * h + other];
                    }
                }
            }
        }
    }
    return found;
}

std::vector<double> MixedGap::completed(const MixedModel& model, const MixedRows& rows, std::span<const double> noise,
                                        std::size_t n, StopCheck check) const {
    const auto plan = this->plan({});
    Run run(*this, model, rows);
    const std::size_t m = missing_.size();
    std::vector<double> found(n * m);
    std::vector<std::vector<std::int64_t>> strides, block_strides;
    for (const auto& step : plan.steps()) strides.push_back(strides_of(step.scope, cardinalities_));
    for (const auto& block : blocks_) block_strides.push_back(strides_of(block.scope, cardinalities_));
    const auto cell_of = [&](const double* row, const Scope& scope, std::span<const std::int64_t> of) {
        std::int64_t cell = 0;
        for (const auto v : scope) cell += static_cast<std::int64_t>(row[place_[at(v)]]) * of[at(v)];
        return static_cast<std::size_t>(cell);
    };
    const auto draws = n / std::max<std::size_t>(rows.rows.size(), 1);  // of each row
    Patience patience(check);
    for (std::size_t i = 0; i < n; ++i) {
        patience.ask();
        if (i % draws == 0) {
            run.read(rows.of(i / draws));
            run.sum(plan, noise.empty());
        }
        double* row = found.data() + i * m;
        for (std::size_t s = plan.steps().size() - 1; s-- > 0;) {
            const auto& step = plan.steps()[s];
            row[place_[at(step.variable)]] = 0;
            const double* first = run.products[s].data() + cell_of(row, step.scope, strides[s]);
            const double* uniform = noise.empty() ? nullptr : noise.data() + s * n + i;
            row[place_[at(step.variable)]] = static_cast<double>(chosen(first, step.states, step.inner, uniform));
        }
        std::size_t end = m;  // of the noise of numbers, the first block's at the end
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            const auto& block = blocks_[b];
            const std::size_t h = block.members.size(), cell = cell_of(row, block.scope, block_strides[b]);
            end -= h;
            for (std::size_t j = 0; j < h; ++j) {
                double value = run.numbers[b].mean[cell * h + j];
                for (std::size_t e = 0; e < h && !noise.empty(); ++e) {
                    value += run.numbers[b].spread[(cell * h + j) * h + e] * noise[(end + e) * n + i];
                }
                row[place_[at(block.members[j])]] = value;
            }
        }
    }
    return found;
}

std::size_t MixedGap::expected_states(const MixedModel& model, std::size_t family) const {
    return static_cast<std::size_t>(cells_of(family_scope(model.conditionals[at(families_[family])]), cardinalities_));
}

std::vector<double> MixedGap::add_expected(const MixedModel& model, const MixedRows& rows,
                                           std::span<const double> weights, std::span<const double> origin,
                                           std::span<const MixedSums> sums, StopCheck check) const {
    struct Family {
        Scope numbers;  // ascending
        std::size_t block = 0, h = 0;
        std::vector<std::pair<std::size_t, std::size_t>> missing;  // places of numbers, and among the block's members
        std::vector<std::uint32_t> state;   // of the block, at each state of the mixture
        Reader reader;
        MixedSums sums;
    };
    struct Question {
        std::size_t step, states;
        std::vector<std::uint32_t> state;  // at each cell of the step's table
        Scope scope;
        std::vector<Family> families;
    };
    const auto plan = this->plan({});
    std::vector<Question> questions;  // families whose mixtures have the same components are added together
    for (std::size_t f = 0; f < families_.size(); ++f) {
        const auto& own = model.conditionals[at(families_[f])];
        Scope labels = own.labels, family = own.numbers;
        if (own.number) family.push_back(own.variable);
        std::sort(labels.begin(), labels.end());
        std::sort(family.begin(), family.end());
        const Scope scope = family_scope(own);
        auto question = std::ranges::find(questions, scope, &Question::scope);
        if (question == questions.end()) {
            const auto& step = plan.with(scope);
            questions.push_back({static_cast<std::size_t>(&step - plan.steps().data()),
                                 static_cast<std::size_t>(cells_of(scope, cardinalities_)),
                                 offsets(step.scope, cardinalities_, strides_of(scope, cardinalities_)), scope, {}});
            question = questions.end() - 1;
        }
        Family found{std::move(family), 0, 0, {}, {}, Reader(*this, labels, scope), sums[f]};
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            const auto& members = blocks_[b].members;
            for (std::size_t i = 0; i < found.numbers.size(); ++i) {
                const auto member = std::ranges::find(members, found.numbers[i]);
                if (member == members.end()) continue;
                found.block = b;
                found.h = members.size();
                found.missing.emplace_back(i, static_cast<std::size_t>(member - members.begin()));
            }
        }
        if (found.h > 0) {
            found.state = offsets(scope, cardinalities_, strides_of(blocks_[found.block].scope, cardinalities_));
        }
        question->families.push_back(std::move(found));
    }
    Run run(*this, model, rows);
    Patience patience(check);
    std::vector<double> log_prob(rows.rows.size()), shares, values, products;
    const auto multiply = [&](std::size_t d) {
        for (std::size_t i = 0; i < d; ++i) {
            for (std::size_t j = 0; j < d; ++j) products[i * d + j] = values[i] * values[j];
        }
    };
    for (std::size_t r = 0; r < rows.rows.size(); ++r) {
        patience.ask();
        const double* row = rows.of(r);
        run.read(row);
        log_prob[r] = run.sum(plan)[0];
        if (log_prob[r] == minus_infinity) continue;
        run.turn_back(plan);
        const double weight = weights.empty() ? 1 : weights[static_cast<std::size_t>(rows.rows[r])];
        for (const auto& [step, n_states, state, _, families] : questions) {
            shares.assign(n_states, 0.0);
            for (std::size_t c = 0; c < state.size(); ++c) shares[state[c]] += weight * run.products[step][c];
            for (const auto& family : families) {
                const auto base = family.reader.base(row);
                const auto states = family.reader.offsets_of_states();
                const std::size_t d = family.numbers.size(), h = family.h;
                values.resize(d);
                products.resize(d * d);
                for (std::size_t i = 0; i < d; ++i) {
                    values[i] = row[at(family.numbers[i])] - origin[at(family.numbers[i])];
                }
                if (h == 0) multiply(d);
                for (std::size_t s = 0; s < shares.size(); ++s) {
                    const double w = shares[s];
                    std::size_t cell = base + states[s];
                    if (family.sums.places != nullptr) {
                        const auto own = r * shares.size() + s;
                        family.sums.places[own] = static_cast<std::int64_t>(cell);
                        cell = own;
                    }
                    family.sums.weights[cell] += w;
                    if (d == 0 || w == 0) continue;
                    if (h > 0) {
                        const auto& numbers = run.numbers[family.block];
                        const double* covariance = numbers.covariance + family.state[s] * h * h;
                        for (const auto& [i, member] : family.missing) {
                            values[i] = numbers.mean[family.state[s] * h + member] - origin[at(family.numbers[i])];
                        }
                        multiply(d);
                        for (const auto& [i, member] : family.missing) {
                            for (const auto& [j, other] : family.missing) {
                                products[i * d + j] += covariance[member * h + other];
                            }
                        }
                    }
                    double* first = family.sums.first + cell * d;
                    double* second = family.sums.second + cell * d * d;
                    for (std::size_t i = 0; i < d; ++i) first[i] += w * values[i];
                    for (std::size_t e = 0; e < d * d; ++e) second[e] += w * products[e];
                }
            }
        }
    }
    return log_prob;
}

}  // namespace fishernet
