#include "search/order_search.hpp"

#include <cmath>
#include <queue>

namespace fishernet {
namespace {

constexpr std::int64_t long_walks = 20000;  // some ten milliseconds
constexpr std::int32_t beyond = std::numeric_limits<std::int32_t>::max();

// Turns the lists over: who has each variable among its parents.
ParentLists turned(const ParentLists& parents) {
    ParentLists children(parents.size());
    for (std::size_t child = 0; child < parents.size(); ++child) {
        for (const auto p : parents[child]) children[p].push_back(static_cast<std::int32_t>(child));
    }
    return children;
}

// Parents before children, the first variable that may come next first.
std::vector<std::int32_t> order_of(const ParentLists& parents) {
    const ParentLists children = turned(parents);
    std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> ready;
    std::vector<std::size_t> open;
    for (const auto& list : parents) open.push_back(list.size());
    for (std::size_t v = 0; v < open.size(); ++v) {
        if (open[v] == 0) ready.push(static_cast<std::int32_t>(v));
    }
    std::vector<std::int32_t> order;
    while (!ready.empty()) {
        order.push_back(ready.top());
        ready.pop();
        for (const auto child : children[order.back()]) {
            if (--open[child] == 0) ready.push(child);
        }
    }
    return order;
}

}  // namespace

OrderSearch::OrderSearch(Rules rules, const ParentLists& start, std::int64_t restarts, std::int64_t perturb,
                         std::uint64_t key)
    : rules_(std::move(rules)), trees_(rules_), children_(turned(rules_.allowed)),
      required_children_(turned(rules_.required)), restarts_(restarts), perturb_(perturb), draws_(key, 0),
      order_(order_of(start)), place_(start.size()), end_(start.size(), -1), other_end_(start.size(), -1),
      best_order_(order_), best_parents_(start) {
    for (std::size_t i = 0; i < order_.size(); ++i) place_[order_[i]] = static_cast<std::int32_t>(i);
    round_ = order_;
    advance();
}

void OrderSearch::tell(std::span<const double> scores) {
    walks_ = 0;
    if (breath_.children.empty()) trees_.tell(scores);
    breath_.clear();
    if (trees_.wanted().children.empty()) advance();
}

// Goes on until something has to be asked for, or all is done.
void OrderSearch::advance() {
    while (phase_ != Phase::finished) {
        const bool done = phase_ == Phase::enter ? enter() : improve();
        if (!done) return trees_.ask();
        if (phase_ == Phase::enter) {
            phase_ = Phase::improve;
        } else {
            keep_best();
            if (restarts_-- <= 0) phase_ = Phase::finished;
            else restart();
        }
    }
}

// Work that needs no new score is divided as well.
bool OrderSearch::breathe() {
    if (walks_ < long_walks) return false;
    breath_.add(0, trees_.parents(0));
    return true;
}

// Walks everyone's tree for an order that was not come to by moves.
bool OrderSearch::enter() {
    if (breathe()) return false;
    bool all = true;
    walks_ += rules_.n;
    for (const auto v : order_) {
        if (end_[v] < 0) end_[v] = trees_.walk(v, place_, place_[v]);
        all &= end_[v] >= 0;
    }
    if (!all) return false;
    score_ = 0;
    for (const auto node : end_) score_ += trees_.score(node);
    if (moves_.size() > best_moves_.size()) moves_.back().gain = score_ - best_score_;  // of all random moves together
    keep_best();
    round_ = order_;
    next_ = idle_ = 0;
    opened_ = false;
    return true;
}

// Tries variable after variable until none moves any more.
bool OrderSearch::improve() {
    while (idle_ < order_.size()) {
        if (breathe()) return false;
        if (next_ == round_.size()) {
            round_ = order_;
            next_ = 0;
        }
        if (!try_variable(round_[next_])) return false;
        ++next_;
        opened_ = false;
    }
    return true;
}

// Moves a variable to where it is best; false when walks have to wait for scores.
bool OrderSearch::try_variable(std::int32_t variable) {
    if (!opened_) open_slots(variable);
    opened_ = true;
    if (!walk_all(variable)) return false;
    move_to_best(variable);
    return true;
}

// The first and the last place for a variable between those before a place and the others: required arcs keep their
// direction.
std::pair<std::int32_t, std::int32_t> OrderSearch::bounds(std::int32_t variable) const {
    std::int32_t first = 0, last = rules_.n;
    for (const auto p : rules_.required[variable]) first = std::max(first, place_[p] + 1);
    for (const auto c : required_children_[variable]) last = std::min(last, place_[c]);
    return {first, last};
}

// Only next to those who may be its parents or children does it matter where a variable is.
void OrderSearch::open_slots(std::int32_t variable) {
    const auto [first, last] = bounds(variable);
    slots_.assign(1, {first, -1});
    for (const auto* others : {&rules_.allowed[variable], &children_[variable]}) {
        for (const auto other : *others) {
            if (place_[other] >= first && place_[other] < last) slots_.push_back({place_[other] + 1, -1});
        }
    }
    std::sort(slots_.begin(), slots_.end(), [](const Slot& a, const Slot& b) { return a.place < b.place; });
    slots_.erase(std::unique(slots_.begin(), slots_.end(), [](const Slot& a, const Slot& b) { return a.place == b.place; }),
                 slots_.end());
    for (const auto child : children_[variable]) other_end_[child] = -1;
}

bool OrderSearch::walk_all(std::int32_t variable) {
    bool all = true;
    const auto here = place_[variable];
    walks_ += static_cast<std::int64_t>(slots_.size() + children_[variable].size());
    for (Slot& slot : slots_) {
        if (slot.own < 0) slot.own = trees_.walk(variable, place_, slot.place);
        all &= slot.own >= 0;
    }
    for (const auto child : children_[variable]) {
        if (other_end_[child] >= 0) continue;
        place_[variable] = here < place_[child] ? beyond : -1;
        other_end_[child] = trees_.walk(child, place_, place_[child]);
        place_[variable] = here;
        all &= other_end_[child] >= 0;
    }
    return all;
}

void OrderSearch::move_to_best(std::int32_t variable) {
    const auto here = place_[variable];
    std::vector<std::int32_t> children = children_[variable];
    std::sort(children.begin(), children.end(), [&](auto a, auto b) { return place_[a] < place_[b]; });
    // the children's gain while the variable comes before all of them
    double gain = 0;
    for (const auto child : children) {
        if (place_[child] < here) gain += trees_.score(other_end_[child]) - trees_.score(end_[child]);
    }
    std::size_t passed = 0;
    double best_gain = tie_of(score_);
    const Slot* best = nullptr;
    for (const Slot& slot : slots_) {
        for (; passed < children.size() && place_[children[passed]] < slot.place; ++passed) {
            const auto child = children[passed];
            const double change = trees_.score(other_end_[child]) - trees_.score(end_[child]);
            gain += place_[child] < here ? -change : change;
        }
        const double total = gain + trees_.score(slot.own) - trees_.score(end_[variable]);
        if (total > best_gain + (best ? tie_of(score_) : 0)) best_gain = total, best = &slot;
    }
    ++idle_;
    if (best == nullptr) return;
    idle_ = 0;
    for (const auto child : children) {
        if ((place_[child] < here) != (place_[child] < best->place)) end_[child] = other_end_[child];
    }
    end_[variable] = best->own;
    move(variable, best->place, best_gain);
    score_ = 0;
    for (const auto node : end_) score_ += trees_.score(node);
}

// Puts a variable between those before a place and the others.
void OrderSearch::move(std::int32_t variable, std::int32_t place, double gain) {
    const auto here = place_[variable];
    auto before = place - 1;
    if (before == here) --before;
    moves_.push_back({variable, before < 0 ? -1 : order_[before], gain});
    ++n_moves_;
    const auto at = order_.begin() + here;
    if (place > here) std::rotate(at, at + 1, order_.begin() + place);
    else std::rotate(order_.begin() + place, at, at + 1);
    for (auto i = std::min(here, place); i < std::max(here + 1, place); ++i) place_[order_[i]] = i;
}

bool OrderSearch::leads() const {
    return phase_ == Phase::improve && score_ > best_score_ + tie_of(best_score_);
}

ParentLists OrderSearch::parents() const {
    if (!leads()) return best_parents_;
    ParentLists parents;
    for (const auto node : end_) parents.push_back(trees_.parents(node));
    return parents;
}

void OrderSearch::keep_best() {
    if (!std::isnan(best_score_) && !(score_ > best_score_ + tie_of(best_score_))) return;
    best_score_ = score_;
    best_order_ = order_;
    best_moves_ = moves_;
    for (std::size_t v = 0; v < end_.size(); ++v) best_parents_[v] = trees_.parents(end_[v]);
}

// Goes back to the best order and puts some of its variables elsewhere.
void OrderSearch::restart() {
    order_ = best_order_;
    moves_ = best_moves_;
    for (std::size_t i = 0; i < order_.size(); ++i) place_[order_[i]] = static_cast<std::int32_t>(i);
    for (std::int64_t i = 0; i < perturb_; ++i) {
        const auto variable = static_cast<std::int32_t>(draws_.below(rules_.n));
        const auto [first, last] = bounds(variable);
        const auto place = first + static_cast<std::int32_t>(draws_.below(last - first + 1));
        move(variable, place, 0);
    }
    std::fill(end_.begin(), end_.end(), -1);
    phase_ = Phase::enter;
}

}  // namespace fishernet
