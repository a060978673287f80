#include "inference/expected_counts.hpp"

#include <algorithm>
#include <cmath>

#include "base/pool.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t rows_at_once = 4096;

template <class Work>
void for_row_blocks(std::int64_t n_rows, StopCheck check, Work work) {
    run_tasks((n_rows + rows_at_once - 1) / rows_at_once, [&](std::int64_t task) {
        const auto last = std::min(n_rows, (task + 1) * rows_at_once);
        for (auto row = task * rows_at_once; row < last; ++row) work(row);
    }, check, n_rows > rows_at_once);
}

// A state of some variables of a set: where it lies among the set's cells, and how probable it is.
struct Place {
    std::int64_t cell;
    double probability;
};

// What counting one set needs: the strides of its variables.
class SetCounter {
public:
    SetCounter(const Columns& table, const MissingComponents& components, const Completed& completed, const Scope& set)
        : table_(table), components_(components), completed_(completed), set_(set), strides_(set.size(), 1),
          known_(components.n_questions(), {-1, -1}) {
        for (std::size_t i = set.size(); i-- > 1;) {
            strides_[i - 1] = strides_[i] * table.columns[static_cast<std::size_t>(set[i])].cardinality;
        }
    }

    // The cells in which a row may lie, with their probabilities; a cell may come twice.
    std::span<const Place> places_of(std::int64_t row) {
        places_.assign(1, {0, 1.0});
        bool known = true;
        for (std::size_t i = 0; i < set_.size(); ++i) {
            const auto& column = table_.columns[static_cast<std::size_t>(set_[i])];
            const auto code = code_at(column, row);
            if (code == column.cardinality) known = false;
            else places_[0].cell += strides_[i] * code;
        }
        if (known) return places_;
        for (const auto q : components_.questions_of(row)) spread(q);
        return places_;
    }

private:
    // Every place so far, once for each state of the question's members that are in the set.
    void spread(std::uint32_t question) {
        const auto own = projected(question);
        if (own.empty()) return;
        finer_.clear();
        for (const auto& [cell, probability] : own) {
            for (const auto& place : places_) finer_.push_back({place.cell + cell, place.probability * probability});
        }
        std::swap(places_, finer_);
    }

    // The states of the question's members that are in the set, with their probabilities; none where none is. Most
    // questions are asked by many rows: it is found once.
    std::span<const Place> projected(std::uint32_t question) {
        auto& [begin, end] = known_[question];
        if (begin < 0) {
            begin = static_cast<std::int64_t>(kept_.size());
            project(question);
            end = static_cast<std::int64_t>(kept_.size());
        }
        return {kept_.data() + begin, static_cast<std::size_t>(end - begin)};
    }

    void project(std::uint32_t question) {
        const auto& members = components_.component_of(question).members;
        inside_.clear();
        for (std::size_t i = 0; i < set_.size(); ++i) {
            const auto at = std::lower_bound(members.begin(), members.end(), set_[i]) - members.begin();
            if (static_cast<std::size_t>(at) < members.size() && members[static_cast<std::size_t>(at)] == set_[i]) {
                inside_.emplace_back(at, strides_[i]);
            }
        }
        if (inside_.empty()) return;
        const auto first = static_cast<std::ptrdiff_t>(kept_.size());
        const auto* states = completed_.states.data() + completed_.begin[question];
        for (auto c = completed_.first[question]; c < completed_.first[question + 1]; ++c) {
            std::int64_t cell = 0;
            for (const auto& [member, stride] : inside_) cell += stride * states[member];
            const double p = completed_.probabilities[static_cast<std::size_t>(c)];
            const auto met = std::find_if(kept_.begin() + first, kept_.end(), [&](const Place& k) { return k.cell == cell; });
            if (met == kept_.end()) kept_.push_back({cell, p});
            else met->probability += p;
            states += members.size();
        }
    }

    const Columns& table_;
    const MissingComponents& components_;
    const Completed& completed_;
    const Scope& set_;
    std::vector<std::int64_t> strides_;
    std::vector<Place> places_, finer_;
    std::vector<std::pair<std::int64_t, std::int64_t>> inside_;  // place among the component's members, stride
    std::vector<std::pair<std::int64_t, std::int64_t>> known_;   // of every question: where its places are kept
    std::vector<Place> kept_;
};

}  // namespace

std::vector<double> log_probabilities(const Columns& table, const FactorModel& model, const MissingComponents& components,
                                      std::span<const double> log_sums, StopCheck check) {
    std::vector<double> out(static_cast<std::size_t>(table.n_rows));
    std::vector<const double*> logs;
    for (std::size_t f = 0; f < model.factors.size(); ++f) logs.push_back(model.logs(f));
    for_row_blocks(table.n_rows, check, [&](std::int64_t row) {
        double sum = 0;
        visit_known(table, model.factors, row, [&](std::size_t f, std::int64_t cell) { sum += logs[f][cell]; });
        for (const auto q : components.questions_of(row)) sum += log_sums[q];
        out[static_cast<std::size_t>(row)] = sum;
    });
    return out;
}

void add_known(const Columns& table, const FactorModel& model, std::span<const double> weights,
               std::span<double* const> counts, StopCheck check) {
    Patience patience(check);
    for (std::int64_t row = 0; row < table.n_rows; ++row) {
        if (row % rows_at_once == 0) patience.ask();
        const double weight = weights.empty() ? 1.0 : weights[static_cast<std::size_t>(row)];
        visit_known(table, model.factors, row, [&](std::size_t f, std::int64_t cell) { counts[f][cell] += weight; });
    }
}

std::vector<double> question_weights(const MissingComponents& components, std::span<const double> weights) {
    std::vector<double> sums(components.n_questions(), 0.0);
    for (std::int64_t row = 0; row < components.n_rows(); ++row) {
        const double weight = weights.empty() ? 1.0 : weights[static_cast<std::size_t>(row)];
        for (const auto q : components.questions_of(row)) sums[q] += weight;
    }
    return sums;
}

Indicators expected_indicators(const Columns& table, const FactorModel& model, const Completion& completion,
                               StopCheck check) {
    const auto& components = completion.components();
    std::vector<std::int64_t> begin{0};
    for (const auto& factor : model.factors) begin.push_back(begin.back() + factor.cells);
    std::vector<std::vector<std::int32_t>> cells(components.n_questions());
    std::vector<std::vector<double>> shares(components.n_questions());
    completion.for_each([&](std::size_t q, double, std::span<const Slice> slices, std::span<const double> found) {
        for (const auto& slice : slices) {
            const auto base = begin[static_cast<std::size_t>(slice.factor)] + slice.base(components.border_of(q));
            for (std::size_t i = 0; i < slice.offsets.size(); ++i) {
                if (!(found[slice.first + i] > 0)) continue;
                cells[q].push_back(static_cast<std::int32_t>(base + slice.offsets[i]));
                shares[q].push_back(found[slice.first + i]);
            }
        }
    }, check);
    Indicators out;
    out.first = {0};
    Patience patience(check);
    for (std::int64_t row = 0; row < table.n_rows; ++row) {
        if (row % rows_at_once == 0) patience.ask();
        visit_known(table, model.factors, row, [&](std::size_t f, std::int64_t cell) {
            out.cells.push_back(static_cast<std::int32_t>(begin[f] + cell));
            out.probabilities.push_back(1.0);
        });
        for (const auto q : components.questions_of(row)) {
            out.cells.insert(out.cells.end(), cells[q].begin(), cells[q].end());
            out.probabilities.insert(out.probabilities.end(), shares[q].begin(), shares[q].end());
        }
        out.first.push_back(static_cast<std::int64_t>(out.cells.size()));
    }
    return out;
}

TargetAnswers target_answers(const Columns& table, const FactorModel& model, const Completion& completion,
                             std::int32_t target, StopCheck check) {
    const auto& components = completion.components();
    const auto r = static_cast<std::size_t>(table.columns[static_cast<std::size_t>(target)].cardinality);
    std::vector<double> log_sums(components.n_questions());
    std::vector<double> of_questions(components.n_questions() * r, 0.0);
    completion.for_each([&](std::size_t q, double log_sum, std::span<const Slice> slices, std::span<const double> cells) {
        log_sums[q] = log_sum;
        for (const auto& slice : slices) {
            if (model.factors[static_cast<std::size_t>(slice.factor)].child != target) continue;
            for (std::size_t i = 0; i < slice.offsets.size(); ++i) {  // the child changes fastest
                const auto state = static_cast<std::size_t>(slice.offsets[i]) % r;
                of_questions[q * r + state] += std::isinf(log_sum) ? 0.0 : cells[slice.first + i];
            }
        }
    }, check);
    TargetAnswers found;
    found.log_probabilities = log_probabilities(table, model, components, log_sums, check);
    found.probabilities.assign(static_cast<std::size_t>(table.n_rows) * r, 0.0);
    for (std::int64_t row = 0; row < table.n_rows; ++row) {
        for (const auto q : components.questions_of(row)) {
            const auto& members = components.component_of(q).members;
            if (!std::binary_search(members.begin(), members.end(), target)) continue;
            std::copy_n(of_questions.data() + q * r, r, found.probabilities.data() + static_cast<std::size_t>(row) * r);
        }
    }
    return found;
}

SetCounts expected_counts(const Columns& table, const MissingComponents& components, const Completed& completed,
                          std::span<const double> weights, const Scope& set, std::int64_t most_dense) {
    SetCounter counter(table, components, completed, set);
    std::int64_t cells = 1;
    for (const auto v : set) cells *= table.columns[static_cast<std::size_t>(v)].cardinality;
    SetCounts found;
    std::vector<Place> places;
    const bool dense = cells <= most_dense;
    if (dense) found.counts.assign(static_cast<std::size_t>(cells), 0.0);
    for (std::int64_t row = 0; row < table.n_rows; ++row) {
        const double weight = weights.empty() ? 1.0 : weights[static_cast<std::size_t>(row)];
        for (const auto& [cell, probability] : counter.places_of(row)) {
            if (dense) found.counts[static_cast<std::size_t>(cell)] += weight * probability;
            else places.push_back({cell, weight * probability});
        }
    }
    std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.cell < b.cell; });
    for (const auto& [cell, count] : places) {
        if (found.cells.empty() || found.cells.back() != cell) {
            if (count == 0) continue;
            found.cells.push_back(cell);
            found.counts.push_back(0.0);
        }
        found.counts.back() += count;
    }
    return found;
}

}  // namespace fishernet
