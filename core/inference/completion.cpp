#include "inference/completion.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/draws.hpp"
#include "base/pool.hpp"

namespace fishernet {
namespace {

constexpr double no_sum = -std::numeric_limits<double>::infinity();
constexpr std::int64_t most_enumerated = 256;  // cells of a component, beyond which a tree costs less
constexpr std::int64_t at_once = 64;           // questions that one task answers
constexpr std::int64_t in_a_wave = 4096;       // questions whose answers are held at once
constexpr double least = 1e-290;               // products below it have lost digits
constexpr double small = 1e-60;                // where products are scaled

// Runs work(question) for all questions, in waves: after each, done(first, last) is called.
template <class Work, class Done>
void in_waves(std::int64_t n, StopCheck check, Work work, Done done) {
    for (std::int64_t first = 0; first < n; first += in_a_wave) {
        const auto last = std::min(n, first + in_a_wave);
        run_tasks((last - first + at_once - 1) / at_once, [&](std::int64_t task) {
            const auto end = std::min(last, first + (task + 1) * at_once);
            for (auto q = first + task * at_once; q < end; ++q) work(static_cast<std::size_t>(q));
        }, check, last - first > at_once);
        done(static_cast<std::size_t>(first), static_cast<std::size_t>(last));
    }
}

std::size_t place_in(const Scope& scope, std::int32_t variable) {
    return static_cast<std::size_t>(std::lower_bound(scope.begin(), scope.end(), variable) - scope.begin());
}

// The cell in which a share of the whole lies, by the running sums; never one of probability 0.
std::int64_t cell_at(std::span<const double> sums, double share) {
    const auto at = std::upper_bound(sums.begin(), sums.end(), share * sums.back());
    if (at != sums.end()) return at - sums.begin();
    return std::lower_bound(sums.begin(), sums.end(), sums.back()) - sums.begin();
}

// Another key for every question.
std::uint64_t mixed(std::uint64_t key, std::uint64_t question) {
    std::uint64_t z = key + 0x9E3779B97F4A7C15u * (question + 1);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

void put_states(const MissingComponent& component, std::span<const std::int32_t> states, std::int64_t row,
                std::span<const Output> columns) {
    for (std::size_t m = 0; m < component.members.size(); ++m) {
        put_code(columns[static_cast<std::size_t>(component.members[m])], row, static_cast<std::uint32_t>(states[m]));
    }
}

}  // namespace

Completion::Completion(const MissingComponents& components, const FactorModel& model, double most, StopCheck check)
    : components_(components),
      cardinalities_(model.cardinalities),
      layouts_(components.components().size()),
      model_(&model) {
    std::atomic<double> too_large{0};
    run_tasks(static_cast<std::int64_t>(layouts_.size()), [&](std::int64_t g) {
        auto& layout = layouts_[static_cast<std::size_t>(g)];
        layout = lay_out(components.components()[static_cast<std::size_t>(g)], model, most);
        const double held = cells_held_by(layout);
        if (held <= most && (!layout.tree || layout.tree->marginals->complete())) return;
        double known = too_large;
        while (known < held && !too_large.compare_exchange_weak(known, held)) {}
    }, check);
    too_large_ = too_large;
}

Completion::Layout Completion::lay_out(const MissingComponent& component, const FactorModel& model, double most) const {
    Layout layout;
    for (const auto f : component.factors) {
        layout.slices.push_back(slice_of(component, f, model.factors[static_cast<std::size_t>(f)]));
        layout.slices.back().first = layout.size;
        layout.size += layout.slices.back().offsets.size();
    }
    if (cells_of(component) <= most_enumerated) {
        layout.cells = static_cast<std::int64_t>(cells_of(component));
        layout.places = places_of(component, layout.cells);
    } else {
        layout.tree = tree_of(component, model, most);
    }
    return layout;
}

Slice Completion::slice_of(const MissingComponent& component, std::int32_t number, const Factor& factor) const {
    Slice slice{number, {0}, {}, 0};
    for (std::size_t axis = 0; axis < factor.scope.size(); ++axis) {
        const auto v = factor.scope[axis];
        if (!std::binary_search(component.members.begin(), component.members.end(), v)) {
            slice.border.emplace_back(static_cast<std::int32_t>(place_in(component.border, v)), factor.strides[axis]);
            continue;
        }
        std::vector<std::int64_t> finer;
        for (const auto offset : slice.offsets) {
            for (std::int64_t k = 0; k < cardinalities_[static_cast<std::size_t>(v)]; ++k) {
                finer.push_back(offset + k * factor.strides[axis]);
            }
        }
        slice.offsets = std::move(finer);
    }
    return slice;
}

// A model of the component alone: its factors are potentials over its members and its border, which is observed.
std::unique_ptr<Completion::Tree> Completion::tree_of(const MissingComponent& component, const FactorModel& model,
                                                      double most) const {
    Scope variables = component.members;
    variables.insert(variables.end(), component.border.begin(), component.border.end());
    std::vector<std::int64_t> sizes;
    for (const auto v : variables) sizes.push_back(cardinalities_[static_cast<std::size_t>(v)]);
    std::unique_ptr<Tree> tree(new Tree{variables, FactorModel(std::move(sizes)), nullptr});
    const auto n_members = component.members.size();
    std::vector<Scope> targets;
    for (const auto f : component.factors) {
        const auto& factor = model.factors[static_cast<std::size_t>(f)];
        Scope scope;
        auto& target = targets.emplace_back();
        for (const auto v : factor.scope) {
            const auto at = place_in(component.members, v);
            const bool member = at < n_members && component.members[at] == v;
            scope.push_back(static_cast<std::int32_t>(member ? at : n_members + place_in(component.border, v)));
            if (member) target.push_back(scope.back());
        }
        tree->model.adopt(factor, std::move(scope));
    }
    tree->marginals =
        std::make_unique<Inference>(tree->model, border_of(*tree, component), Scope{}, std::move(targets), false, most);
    return tree;
}

double Completion::cells_of(const MissingComponent& component) const {
    double cells = 1;
    for (const auto v : component.members) cells *= static_cast<double>(cardinalities_[static_cast<std::size_t>(v)]);
    return cells;
}

// Of every slice and cell of a component's members: the cell of the slice.
std::vector<std::uint16_t> Completion::places_of(const MissingComponent& component, std::int64_t cells) const {
    std::vector<std::uint16_t> places;
    for (const auto f : component.factors) {
        std::vector<std::pair<std::size_t, std::int64_t>> axes;  // of the slice: member, cardinality
        for (const auto v : model_->factors[static_cast<std::size_t>(f)].scope) {
            const auto at = place_in(component.members, v);
            if (at == component.members.size() || component.members[at] != v) continue;
            axes.emplace_back(at, cardinalities_[static_cast<std::size_t>(v)]);
        }
        for (std::int64_t cell = 0; cell < cells; ++cell) {
            const auto states = states_of(component, cell);
            std::int64_t place = 0;
            for (const auto& [member, r] : axes) place = place * r + states[member];
            places.push_back(static_cast<std::uint16_t>(place));
        }
    }
    return places;
}

double Completion::cells_held() const {
    double most = too_large_;
    for (const auto& layout : layouts_) most = std::max(most, cells_held_by(layout));
    return most;
}

double Completion::cells_held_by(const Layout& layout) {
    return layout.tree ? layout.tree->marginals->cells_held() : static_cast<double>(layout.cells);
}

void Completion::take(const FactorModel& model) {
    model_ = &model;
    for (std::size_t g = 0; g < layouts_.size(); ++g) {
        if (!layouts_[g].tree) continue;
        const auto& factors = components_.components()[g].factors;
        for (std::size_t i = 0; i < factors.size(); ++i) {
            layouts_[g].tree->model.revalue(i, model.factors[static_cast<std::size_t>(factors[i])]);
        }
    }
}

// The states of a component's members in one of the cells that they have together, the last fastest.
std::vector<std::int32_t> Completion::states_of(const MissingComponent& component, std::int64_t cell) const {
    std::vector<std::int32_t> states(component.members.size());
    for (std::size_t i = component.members.size(); i-- > 0;) {
        const auto r = cardinalities_[static_cast<std::size_t>(component.members[i])];
        states[i] = static_cast<std::int32_t>(cell % r);
        cell /= r;
    }
    return states;
}

// The joint of an enumerated component, up to a constant, in `work.joint`; returns the logarithm of its sum, -inf if it is
// impossible.
double Completion::sum(std::size_t question, Work& work) const {
    const auto& layout = layouts_[static_cast<std::size_t>(components_.component_number(question))];
    return sum(question, layout.places, layout.cells, work);
}

double Completion::sum(std::size_t question, std::span<const std::uint16_t> all, std::int64_t cells, Work& work) const {
    const auto& layout = layouts_[static_cast<std::size_t>(components_.component_number(question))];
    const auto border = components_.border_of(question);
    work.values.resize(layout.size);
    work.joint.assign(static_cast<std::size_t>(cells), 1.0);
    double* joint = work.joint.data();
    const std::uint16_t* places = all.data();
    double log_scale = 0;
    for (const auto& slice : layout.slices) {
        const double* table = model_->factors[static_cast<std::size_t>(slice.factor)].values + slice.base(border);
        double* values = work.values.data() + slice.first;
        for (std::size_t i = 0; i < slice.offsets.size(); ++i) values[i] = table[slice.offsets[i]];
    }
    for (const auto& slice : layout.slices) {
        const double* values = work.values.data() + slice.first;
        double largest = 0;
        bool lost = false;
        for (std::int64_t cell = 0; cell < cells; ++cell) {
            const double value = values[places[cell]];
            const double product = joint[cell] * value;
            lost |= (product < least) & (joint[cell] > 0) & (value > 0);
            joint[cell] = product;
            largest = std::max(largest, product);
        }
        if (lost) return sum_logs(layout, all, work);
        if (largest == 0) return no_sum;
        places += cells;
        if (largest >= small) continue;
        for (std::int64_t cell = 0; cell < cells; ++cell) joint[cell] /= largest;
        log_scale += std::log(largest);
    }
    double total = 0;
    for (std::int64_t cell = 0; cell < cells; ++cell) total += joint[cell];
    return log_scale + std::log(total);
}

// The same where the products leave the range of numbers; impossible states have -inf.
double Completion::sum_logs(const Layout& layout, std::span<const std::uint16_t> all, Work& work) const {
    std::fill(work.joint.begin(), work.joint.end(), 0.0);
    for (std::size_t s = 0; s < layout.slices.size(); ++s) {
        const double* values = work.values.data() + layout.slices[s].first;
        const std::uint16_t* places = all.data() + s * work.joint.size();
        for (std::size_t cell = 0; cell < work.joint.size(); ++cell) work.joint[cell] += std::log(values[places[cell]]);
    }
    const double largest = *std::max_element(work.joint.begin(), work.joint.end());
    if (largest == no_sum) return no_sum;
    double total = 0;
    for (auto& value : work.joint) total += value = std::exp(value - largest);
    return largest + std::log(total);
}

// Writes the probabilities of the cells of the component's slices; returns the logarithm of the sum.
double Completion::answer(std::size_t question, Work& work, std::span<double> cells) const {
    const auto& layout = layouts_[static_cast<std::size_t>(components_.component_number(question))];
    if (layout.tree) {
        const auto states = tree_states(question);
        const Answer found = layout.tree->marginals->run({states, {}}, nullptr, false);
        if (found.marginals.empty()) return no_sum;
        for (std::size_t s = 0; s < layout.slices.size(); ++s) {
            std::copy(found.marginals[s].begin(), found.marginals[s].end(), cells.begin() + layout.slices[s].first);
        }
        return found.log_evidence;
    }
    const double log_sum = sum(question, work);
    if (log_sum == no_sum) return no_sum;
    double total = 0;
    for (const auto p : work.joint) total += p;
    for (auto& p : work.joint) p /= total;
    std::fill(cells.begin(), cells.end(), 0.0);
    const std::uint16_t* places = layout.places.data();
    for (const auto& slice : layout.slices) {
        double* out = cells.data() + slice.first;
        for (std::int64_t cell = 0; cell < layout.cells; ++cell) out[places[cell]] += work.joint[cell];
        places += layout.cells;
    }
    return log_sum;
}

// The border, as a component's tree numbers it: after the members.
Scope Completion::border_of(const Tree& tree, const MissingComponent& component) {
    Scope border;
    for (std::size_t i = component.members.size(); i < tree.variables.size(); ++i) {
        border.push_back(static_cast<std::int32_t>(i));
    }
    return border;
}

// The states of the members (not read) and of the border, as the component's tree numbers them.
std::vector<std::int32_t> Completion::tree_states(std::size_t question) const {
    std::vector<std::int32_t> states(components_.component_of(question).members.size(), 0);
    const auto border = components_.border_of(question);
    states.insert(states.end(), border.begin(), border.end());
    return states;
}

std::vector<double> Completion::log_sums(StopCheck check) const {
    std::vector<double> sums(components_.n_questions());
    const auto work = [&](std::size_t q) {
        thread_local Work own;
        const auto& layout = layouts_[static_cast<std::size_t>(components_.component_number(q))];
        sums[q] = layout.tree ? layout.tree->marginals->run({tree_states(q), {}}, nullptr, false).log_evidence
                              : sum(q, own);
    };
    in_waves(static_cast<std::int64_t>(sums.size()), check, work, [](std::size_t, std::size_t) {});
    return sums;
}

void Completion::for_each(const Found& found, StopCheck check) const {
    const auto n = components_.n_questions();
    std::vector<std::vector<double>> cells(std::min<std::size_t>(n, in_a_wave));
    std::vector<double> sums(cells.size());
    const auto work = [&](std::size_t q) {
        thread_local Work own;
        auto& of = cells[q % in_a_wave];
        of.resize(layouts_[static_cast<std::size_t>(components_.component_number(q))].size);
        sums[q % in_a_wave] = answer(q, own, of);
    };
    in_waves(static_cast<std::int64_t>(n), check, work, [&](std::size_t first, std::size_t last) {
        for (auto q = first; q < last; ++q) {
            const auto& layout = layouts_[static_cast<std::size_t>(components_.component_number(q))];
            found(q, sums[q % in_a_wave], layout.slices, cells[q % in_a_wave]);
        }
    });
}

std::vector<double> Completion::add_expected(std::span<const double> weights, std::span<double* const> counts,
                                             StopCheck check) const {
    std::vector<double> log_sums(components_.n_questions());
    for_each([&](std::size_t q, double log_sum, std::span<const Slice> slices, std::span<const double> cells) {
        log_sums[q] = log_sum;
        if (log_sum == no_sum || weights[q] == 0) return;
        for (const auto& slice : slices) {
            double* into = counts[static_cast<std::size_t>(slice.factor)] + slice.base(components_.border_of(q));
            const double* from = cells.data() + slice.first;
            for (std::size_t i = 0; i < slice.offsets.size(); ++i) into[slice.offsets[i]] += weights[q] * from[i];
        }
    }, check);
    return log_sums;
}

std::vector<std::vector<std::int32_t>> Completion::most_probable(StopCheck check) const {
    std::vector<std::vector<std::int32_t>> best(components_.n_questions());
    const auto work = [&](std::size_t q) {
        thread_local Work own;
        const auto& component = components_.component_of(q);
        const auto& layout = layouts_[static_cast<std::size_t>(components_.component_number(q))];
        if (layout.tree) {
            const Inference whole(layout.tree->model, border_of(*layout.tree, component), {}, {}, true, 0x1p31);
            best[q] = whole.maximize({tree_states(q), {}}, nullptr);
            best[q].resize(std::min(best[q].size(), component.members.size()));
        } else if (sum(q, own) != no_sum) {
            const auto top = std::max_element(own.joint.begin(), own.joint.end()) - own.joint.begin();
            best[q] = states_of(component, top);
        }
    };
    in_waves(static_cast<std::int64_t>(best.size()), check, work, [](std::size_t, std::size_t) {});
    return best;
}

// Draws of the members' states, one after the other, by the clique tree; false: the question is impossible.
bool Completion::draw_from_tree(std::size_t question, std::int64_t n, std::uint64_t key,
                                std::vector<std::int32_t>& states) const {
    const auto& component = components_.component_of(question);
    const auto& tree = *layouts_[static_cast<std::size_t>(components_.component_number(question))].tree;
    const Inference whole(tree.model, border_of(tree, component), {}, {}, true, 0x1p31);
    std::vector<std::vector<std::uint32_t>> columns(tree.variables.size());
    std::vector<Output> outputs;
    for (auto& column : columns) {
        column.resize(static_cast<std::size_t>(n));
        outputs.push_back({column.data(), 4});
    }
    if (!whole.sample({tree_states(question), {}}, {n, mixed(key, question), outputs}, nullptr)) return false;
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::size_t m = 0; m < component.members.size(); ++m) {
            states.push_back(static_cast<std::int32_t>(columns[m][static_cast<std::size_t>(i)]));
        }
    }
    return true;
}

bool Completion::draw(std::uint64_t key, std::span<const Output> columns, StopCheck check) const {
    const auto n = components_.n_questions();
    std::vector<std::vector<std::pair<std::int64_t, std::int32_t>>> asked(n);  // the rows, and which of theirs it is
    for (std::int64_t row = 0; row < components_.n_rows(); ++row) {
        const auto of_row = components_.questions_of(row);
        for (std::size_t i = 0; i < of_row.size(); ++i) asked[of_row[i]].emplace_back(row, static_cast<std::int32_t>(i));
    }
    std::atomic<bool> possible{true};
    const auto work = [&](std::size_t q) {
        thread_local Work own;
        const auto& component = components_.component_of(q);
        const auto& layout = layouts_[static_cast<std::size_t>(components_.component_number(q))];
        if (!layout.tree) {
            if (sum(q, own) == no_sum) {
                possible = false;
                return;
            }
            for (std::size_t i = 1; i < own.joint.size(); ++i) own.joint[i] += own.joint[i - 1];
            for (const auto& [row, which] : asked[q]) {
                Draws draws(key, static_cast<std::uint32_t>(row));
                std::int64_t number = 0;
                for (std::int32_t i = 0; i <= which; ++i) number = draws.below(std::int64_t{1} << 32);
                const double share = (static_cast<double>(number) + 0.5) * 0x1p-32;
                put_states(component, states_of(component, cell_at(own.joint, share)), row, columns);
            }
            return;
        }
        std::vector<std::int32_t> states;
        if (!draw_from_tree(q, static_cast<std::int64_t>(asked[q].size()), key, states)) {
            possible = false;
            return;
        }
        for (std::size_t i = 0; i < asked[q].size(); ++i) {
            const auto size = component.members.size();
            put_states(component, {states.data() + i * size, size}, asked[q][i].first, columns);
        }
    };
    in_waves(static_cast<std::int64_t>(n), check, work, [](std::size_t, std::size_t) {});
    return possible;
}

// The same by whatever the component has.
bool Completion::draw_completions(std::size_t question, std::int64_t n, std::uint64_t key, Work& work,
                                  std::vector<std::int32_t>& states) const {
    if (layouts_[static_cast<std::size_t>(components_.component_number(question))].tree) {
        return draw_from_tree(question, n, key, states);
    }
    if (sum(question, work) == no_sum) return false;
    for (std::size_t i = 1; i < work.joint.size(); ++i) work.joint[i] += work.joint[i - 1];
    Draws draws(mixed(key, question), 0);
    for (std::int64_t i = 0; i < n; ++i) {  // one in each n-th part of the whole: less noise than n draws apart
        const double within = (static_cast<double>(draws.below(std::int64_t{1} << 32)) + 0.5) * 0x1p-32;
        const double share = (static_cast<double>(i) + within) / static_cast<double>(n);
        const auto of_cell = states_of(components_.component_of(question), cell_at(work.joint, share));
        states.insert(states.end(), of_cell.begin(), of_cell.end());
    }
    return true;
}

Completed Completion::completed(std::int64_t most, std::uint64_t key, StopCheck check) const {
    const auto n = components_.n_questions();
    std::vector<std::vector<std::int32_t>> states(n);
    std::vector<std::vector<double>> shares(n);
    const auto work = [&](std::size_t q) {
        thread_local Work own;
        const auto& component = components_.component_of(q);
        const auto& layout = layouts_[static_cast<std::size_t>(components_.component_number(q))];
        const double cells = cells_of(component);
        if (cells > static_cast<double>(most)) {
            if (draw_completions(q, most, key, own, states[q])) {
                shares[q].assign(static_cast<std::size_t>(most), 1.0 / static_cast<double>(most));
            }
            return;
        }
        const auto n_cells = static_cast<std::int64_t>(cells);
        const double log_sum =
            layout.tree ? sum(q, places_of(component, n_cells), n_cells, own) : sum(q, layout.places, n_cells, own);
        if (log_sum != no_sum) {
            double total = 0;
            for (const auto p : own.joint) total += p;
            for (std::size_t cell = 0; cell < own.joint.size(); ++cell) {
                if (own.joint[cell] == 0) continue;
                const auto of_cell = states_of(component, static_cast<std::int64_t>(cell));
                states[q].insert(states[q].end(), of_cell.begin(), of_cell.end());
                shares[q].push_back(own.joint[cell] / total);
            }
        }
    };
    Completed found;
    found.first = {0};
    in_waves(static_cast<std::int64_t>(n), check, work, [&](std::size_t first, std::size_t last) {
        for (auto q = first; q < last; ++q) {
            found.begin.push_back(static_cast<std::int64_t>(found.states.size()));
            found.states.insert(found.states.end(), states[q].begin(), states[q].end());
            found.probabilities.insert(found.probabilities.end(), shares[q].begin(), shares[q].end());
            found.first.push_back(static_cast<std::int64_t>(found.probabilities.size()));
            states[q] = {};
            shares[q] = {};
        }
    });
    return found;
}

}  // namespace fishernet
