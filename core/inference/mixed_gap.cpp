#include "inference/mixed_gap.hpp"

#include <algorithm>
#include <cmath>

#include "inference/mixed_gap_run.hpp"

namespace fishernet {
namespace {

constexpr double next_to_nothing = 0x1p-60;  // the share of a row that changes no sum of it and others

}  // namespace

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
                    if (!(w > next_to_nothing * weight)) continue;
                    family.sums.weights[cell] += w;
                    if (d == 0) continue;
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
