#include "search/order_search.hpp"

#include <cmath>
#include <numeric>
#include <utility>

namespace fishernet {

OrderSearch::OrderSearch(Rules rules, const ParentLists& start, OrderOptions options)
    : rules_(std::move(rules)), options_(std::move(options)),
      graph_(rules_, start, {options_.patience, options_.tenure, 0, 0, 0}), orders_(rules_, options_.pairs_among),
      best_(start), order_(OrderClimb::order_of(start)) {}

void OrderSearch::run(Scorer& scorer, StopCheck check) {
    Patience patience(check);
    Draws draws(options_.key, 0);  // none is drawn before the restarts
    if (options_.graphs) search_graphs(scorer, patience, 0, draws);
    else score_start(scorer);
    search_orders(scorer, patience, 0, draws);
    if (options_.graphs) search_graphs(scorer, patience, 0, draws);
    for (std::int64_t number = 0; number < options_.restarts; ++number) {
        patience.ask();
        restart(number, scorer, patience);
    }
}

void OrderSearch::restart(std::int64_t number, Scorer& scorer, Patience& patience) {
    Draws draws(options_.key, static_cast<std::uint32_t>(number));
    const bool over_graphs = options_.graphs && number % 2 == 1;
    const auto& amounts = over_graphs ? options_.steps : options_.moves;
    const auto turn = static_cast<std::size_t>(options_.graphs ? number / 2 : number);
    const auto amount = amounts[turn % amounts.size()];
    if (over_graphs) search_graphs(scorer, patience, amount, draws);
    else search_orders(scorer, patience, amount, draws);
}

void OrderSearch::score_start(Scorer& scorer) {
    FamilyList families;
    for (std::int32_t v = 0; v < rules_.n; ++v) families.add(v, best_[v]);
    const std::vector<double> scores = scorer(families);
    score_ = std::accumulate(scores.begin(), scores.end(), 0.0);
}

// From the best graph, or from near it.
void OrderSearch::search_graphs(Scorer& scorer, Patience& patience, std::int64_t steps, Draws& draws) {
    graph_.move_to(best_);
    try {
        if (steps > 0) graph_.perturb(steps, draws, scorer);
        graph_.climb(scorer, patience);
    } catch (...) {
        keep_graph();
        throw;
    }
    keep_graph();
}

void OrderSearch::search_orders(Scorer& scorer, Patience& patience, std::int64_t moves, Draws& draws) {
    orders_.move_to(order_);
    orders_.perturb(moves, draws);
    try {
        orders_.climb(scorer, patience);
    } catch (...) {
        keep_order();
        throw;
    }
    keep_order();
}

bool OrderSearch::betters(double score) const {
    return std::isnan(score_) ? !std::isnan(score) : score > score_ + tie_of(score_);
}

void OrderSearch::keep_graph() {
    if (!betters(graph_.score())) return;
    best_ = graph_.parents();
    order_ = OrderClimb::order_of(best_);
    score_ = graph_.score();
    steps_.insert(steps_.end(), graph_.steps().begin(), graph_.steps().end());
}

// The first step takes what the others leave of the gain.
void OrderSearch::keep_order() {
    if (!betters(orders_.score())) return;
    const auto first = steps_.size();
    steps_.insert(steps_.end(), orders_.steps().begin(), orders_.steps().end());
    double rest = orders_.score() - score_;
    for (auto step = first + 1; step < steps_.size(); ++step) rest -= steps_[step].gain;
    steps_[first].gain = rest;
    best_ = orders_.parents();
    order_ = orders_.order();
    score_ = orders_.score();
}

}  // namespace fishernet
