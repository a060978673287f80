// What the messages of a run give: marginals, the most probable states, rows.
#include <algorithm>
#include <cmath>

#include "inference/clique_draws.hpp"
#include "inference/inference.hpp"
#include "inference/propagation.hpp"

namespace fishernet {

// Whether no product of factors can leave the range of double numbers. Without findings, what underflows in a Bayesian
// network is a probability below all numbers anyway.
bool Inference::safe_in_linear_numbers() const {
    constexpr double most = 900;  // of 1022 binary orders of magnitude
    if (!has_findings_ && model_.directed()) return true;
    double low = 0;
    double high = 0;
    for (const auto& piece : pieces_) {
        if (piece.factor < 0) continue;  // likelihoods come with the run, which looks at them
        low += std::min(0.0, model_.factors[piece.factor].lowest);
        high += std::max(0.0, model_.factors[piece.factor].highest);
    }
    return low > -most && high < most;
}

// False: the numbers would leave their range.
template <class Domain>
bool Inference::answer(Propagation<Domain> messages, Answer& answer, StopCheck check) const {
    if (!messages.collect()) return false;
    answer.log_evidence = messages.log_evidence();
    if (answer.log_evidence == no_chance) return true;
    answer.marginals.resize(targets_.size());
    if (calibrates()) messages.distribute();
    for (std::size_t t = 0; t < targets_.size(); ++t) {
        if (targets_[t].empty()) answer.marginals[t] = {1.0};
    }
    messages.visit(false, [&](std::size_t c, bool parallel) {
        for (const auto& [shape, members, operands, whole] : rooms()[c].targets) {
            const bool alone = members.size() == 1;
            const auto size = [&](std::int32_t t) { return cells_of_target(static_cast<std::size_t>(t)); };
            auto sums = messages.sums(c, whole, alone ? size(members[0]) : shape.cells(), parallel);
            if (alone) {
                answer.marginals[members[0]] = normalized<Domain>(std::move(sums));
                continue;
            }
            for (std::size_t m = 0; m < members.size(); ++m) {
                answer.marginals[members[m]] = normalized<Domain>(
                    table_sums<Domain>(shape, sums.data(), operands[m], size(members[m]), false, check));
            }
        }
    });
    return true;
}

Answer Inference::run(const Findings& findings, StopCheck check, bool parallel) const {
    Answer found;
    const bool watched = !findings.likelihoods.empty() || !safe_in_linear_numbers();
    if (answer(Propagation<Linear>(*this, findings, check, parallel, watched), found, check)) return found;
    found = {};
    answer(Propagation<Logarithmic>(*this, findings, check, parallel, false), found, check);
    return found;
}

// The states of a clique's variables where its table is largest, given those of its separator.
void Inference::choose_states(std::size_t c, const double* table, std::vector<std::int32_t>& best) const {
    const auto& variables = tree_.cliques[c].variables;
    const auto n_separator = static_cast<std::size_t>(tree_.cliques[c].n_separator);
    std::int64_t row = 0;
    for (std::size_t axis = 0; axis < n_separator; ++axis) {
        row = row * cardinalities_[variables[axis]] + best[variables_[variables[axis]]];
    }
    const std::int64_t rest = rooms()[c].shape.cells() / rooms()[c].separator_cells;
    const double* slice = table + row * rest;
    std::int64_t at = std::max_element(slice, slice + rest) - slice;
    for (std::size_t axis = variables.size(); axis-- > n_separator;) {
        const auto r = cardinalities_[variables[axis]];
        best[variables_[variables[axis]]] = static_cast<std::int32_t>(at % r);
        at /= r;
    }
}

std::vector<std::int32_t> Inference::maximize(const Findings& findings, StopCheck check) const {
    Propagation<Maximal> messages(*this, findings, check, true, false);
    messages.collect();
    if (!messages.all_possible()) return {};
    std::vector<std::int32_t> best(findings.states.begin(), findings.states.end());
    for (std::size_t c = 0; c < rooms().size(); ++c) choose_states(c, messages.table(c), best);  // parents first
    return best;
}

// Row i is a function of (key, i) alone. `possible` gets whether there are any; false: the numbers would leave their range.
template <class Domain>
bool Inference::draw(Propagation<Domain> messages, const DrawnRows& rows, StopCheck check, bool& possible) const {
    if (!messages.collect()) return false;
    possible = messages.all_possible();
    if (!possible) return true;
    std::vector<CliqueDraw> cliques;
    for (std::size_t c = 0; c < tree_.cliques.size(); ++c) {
        const auto slices = rooms()[c].separator_cells;
        cliques.push_back({&tree_.cliques[c], messages.table(c), slices, rooms()[c].shape.cells() / slices});
        accumulate_slices(cliques.back(), Domain::logarithmic);
    }
    draw_rows(cliques, variables_, cardinalities_, messages.inputs().states(), rows.n, rows.key, rows.columns, check);
    return true;
}

bool Inference::sample(const Findings& findings, const DrawnRows& rows, StopCheck check) const {
    bool possible = false;
    if (draw(Propagation<Linear>(*this, findings, check, true, true), rows, check, possible)) return possible;
    draw(Propagation<Logarithmic>(*this, findings, check, true, false), rows, check, possible);
    return possible;
}

}  // namespace fishernet
