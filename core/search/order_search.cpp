#include "search/order_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace fishernet {
namespace {

constexpr double families_of_climb = 3;  // that one search over orders asks for at most, for each that restarts do

}  // namespace

OrderSearch::OrderSearch(Rules rules, const ParentLists& start, OrderOptions options)
    : rules_(std::move(rules)), options_(std::move(options)),
      graph_(rules_, start, {options_.patience, options_.tenure, 0, 0, 0}), narrow_(rules_, options_.pairs_among),
      wide_(rules_, options_.pairs_among, true),
      best_(start), order_(OrderClimb::order_of(start)), restarts_(options_.restarts) {}

void OrderSearch::run(Scorer& scorer, StopCheck check) {
    Patience patience(check);
    if (!options_.graphs && std::isnan(score_)) score_start(scorer);
    for (; restart() < restarts_; ++stage_) {
        if (!begun_) begin();
        if (over_graphs()) graph_.climb(scorer, patience);
        else orders().climb(scorer, patience, turns_within_reach());
        end();
    }
}

void OrderSearch::score_start(Scorer& scorer) {
    FamilyList families;
    for (std::int32_t v = 0; v < rules_.n; ++v) families.add(v, best_[v]);
    const std::vector<double> scores = scorer(families);
    score_ = std::accumulate(scores.begin(), scores.end(), 0.0);
}

Draws OrderSearch::draws() const {
    return {options_.key, static_cast<std::uint32_t>(std::max<std::int64_t>(restart(), 0))};
}

// From the best graph or order, or in a restart from near it.
void OrderSearch::begin() {
    const auto& amounts = over_graphs() ? options_.steps : options_.moves;
    const auto turn = static_cast<std::size_t>(options_.graphs ? restart() / 2 : restart());
    const auto amount = restart() < 0 ? 0 : amounts[turn % amounts.size()];
    Draws random = draws();
    if (over_graphs()) {
        graph_.move_to(chains() ? last_ : best_);
        graph_.perturb(chains() ? 0 : amount, random);
    } else {
        if (is_wide()) wide_.borrow(best_);
        orders().move_to(order_);
        orders().perturb(amount, random);
    }
    begun_ = true;
}

// Keeps what a stage found.
void OrderSearch::end() {
    last_ = over_graphs() ? ParentLists() : orders().parents();
    last_steps_ = over_graphs() || betters() ? std::vector<Step>() : steps_over_orders();
    if (betters()) {
        steps_ = steps();
        best_ = parents();
        order_ = over_graphs() ? OrderClimb::order_of(best_) : orders().order();
        score_ = stage_score();
    }
    n_steps_ += stage_steps();
    begun_ = false;
    if (restart() == -1) restarts_ = restarts_within_reach();
}

// A turn of all variables asks for about as many families as the graph's arcs squared: each of n variables is put in each of
// n places, and its p parents are grown again one by one, each of them in some p places.
std::int64_t OrderSearch::families_of_turns() const {
    std::int64_t arcs = 1;
    for (const auto& of : best_) arcs += static_cast<std::int64_t>(of.size());
    return arcs * arcs;
}

// Of a restart, that is, of a turn of all variables or little more.
std::int64_t OrderSearch::restarts_within_reach() const {
    return std::min(options_.restarts, std::max(options_.least_restarts, options_.most_families / families_of_turns()));
}

// Of one search over orders: a quarter of the variables have one at least.
std::int64_t OrderSearch::turns_within_reach() const {
    const double turns = families_of_climb * static_cast<double>(options_.most_families) / static_cast<double>(families_of_turns());
    return static_cast<std::int64_t>(std::clamp(turns, 0.25, 1e9) * rules_.n);
}

// Whether the stage has found a better graph than there was before it.
bool OrderSearch::betters() const {
    if (!begun_) return false;
    return std::isnan(score_) ? !std::isnan(stage_score()) : stage_score() > score_ + tie_of(score_);
}

ParentLists OrderSearch::parents() const {
    if (!betters()) return best_;
    return over_graphs() ? graph_.parents() : orders().parents();
}

// The first step of a search over orders takes what the others leave of the gain.
std::vector<Step> OrderSearch::steps() const {
    std::vector<Step> steps = steps_;
    if (!betters()) return steps;
    if (over_graphs()) {
        if (chains()) steps.insert(steps.end(), last_steps_.begin(), last_steps_.end());
        steps.insert(steps.end(), graph_.steps().begin(), graph_.steps().end());
        return steps;
    }
    const std::vector<Step> more = steps_over_orders();
    steps.insert(steps.end(), more.begin(), more.end());
    return steps;
}

std::vector<Step> OrderSearch::steps_over_orders() const {
    std::vector<Step> steps = orders().steps();
    double rest = orders().score() - score_;
    for (std::size_t step = 1; step < steps.size(); ++step) rest -= steps[step].gain;
    steps.front().gain = rest;
    return steps;
}

void OrderSearch::save(SavedState& state) const {
    state.put(stage_);
    state.put(static_cast<std::int64_t>(begun_));
    state.put(n_steps_);
    state.put(restarts_);
    for (const auto& list : best_) state.put(list);
    state.put(static_cast<std::int64_t>(!last_.empty()));
    for (const auto& list : last_) state.put(list);
    save_steps(state, last_steps_);
    state.put(order_);
    state.real.push_back(score_);
    save_steps(state, steps_);
    if (!begun_) return;
    if (over_graphs()) graph_.save(state);
    else orders().save(state);
}

void OrderSearch::restore(StateReader& state) {
    stage_ = state.whole(0, StateReader::any);
    begun_ = state.whole(0, 1) == 1;
    n_steps_ = state.whole(0, StateReader::any);
    restarts_ = state.whole(0, StateReader::any);
    ParentLists graph = state.graph(rules_);
    if (OrderClimb::order_of(graph).size() != graph.size()) StateReader::refuse();  // it has a cycle
    best_ = std::move(graph);
    last_.clear();
    if (state.whole(0, 1) == 1) {
        last_ = state.graph(rules_);
        if (OrderClimb::order_of(last_).size() != last_.size()) StateReader::refuse();
    }
    last_steps_ = read_steps(state, rules_.n);
    order_ = state.order(rules_);
    score_ = state.real();
    steps_ = read_steps(state, rules_.n);
    if (!begun_) return;
    if (!over_graphs()) {
        if (is_wide()) wide_.borrow(best_);
        orders().restore(state);
        return;
    }
    graph_.move_to(chains() ? last_ : best_);
    graph_.perturb(0, draws());
    graph_.restore(state);
}

}  // namespace fishernet
