#include "search/order_climb.hpp"

#include <algorithm>
#include <cmath>

namespace fishernet {
namespace {

constexpr std::int32_t beyond = std::numeric_limits<std::int32_t>::max();

// Turns the lists over: who has each variable among its parents.
ParentLists turned(const ParentLists& parents) {
    ParentLists children(parents.size());
    for (std::size_t child = 0; child < parents.size(); ++child) {
        for (const auto p : parents[child]) children[p].push_back(static_cast<std::int32_t>(child));
    }
    return children;
}

}  // namespace

std::vector<std::int32_t> OrderClimb::order_of(const ParentLists& parents, Draws* draws) {
    const ParentLists children = turned(parents);
    std::vector<std::int32_t> ready, order;  // those that may come next, ascending
    std::vector<std::size_t> open;
    for (const auto& list : parents) open.push_back(list.size());
    for (std::size_t v = 0; v < open.size(); ++v) {
        if (open[v] == 0) ready.push_back(static_cast<std::int32_t>(v));
    }
    while (!ready.empty()) {
        const auto next = ready.begin() + (draws == nullptr ? 0 : draws->below(static_cast<std::int64_t>(ready.size())));
        order.push_back(*next);
        ready.erase(next);
        for (const auto child : children[order.back()]) {
            if (--open[child] == 0) insert_sorted(ready, child);
        }
    }
    return order;
}

OrderClimb::OrderClimb(const Rules& rules, std::size_t pairs_among, bool wide)
    : rules_(rules), trees_(rules, pairs_among, wide), children_(turned(rules.allowed)), required_children_(turned(rules.required)),
      may_be_(rules.n, std::vector<bool>(rules.n)), place_(rules.n), end_(rules.n), other_end_(rules.n, -1) {
    for (std::int32_t child = 0; child < rules.n; ++child) {
        for (const auto parent : rules.allowed[child]) may_be_[child][parent] = true;
    }
}

void OrderClimb::move_to(std::vector<std::int32_t> order) {
    order_ = std::move(order);
    for (std::size_t i = 0; i < order_.size(); ++i) place_[order_[i]] = static_cast<std::int32_t>(i);
    std::fill(end_.begin(), end_.end(), -1);
    score_ = std::numeric_limits<double>::quiet_NaN();
    steps_.assign(1, {Kind::order, -1, -1, 0});
    turns_.clear();
    turn_ = idle_ = 0;
    n_turns_ = 0;
}

void OrderClimb::perturb(std::int64_t times, Draws& draws) {
    for (std::int64_t i = 0; i < times; ++i) {
        const auto variable = static_cast<std::int32_t>(draws.below(rules_.n));
        const auto [first, last] = bounds(variable);
        move(variable, first + static_cast<std::int32_t>(draws.below(last - first + 1)), 0);
    }
}

// Variable after variable, until none moves any more.
void OrderClimb::climb(Scorer& scorer, Patience& patience, std::int64_t most_turns) {
    enter(scorer);
    while (idle_ < order_.size() && n_turns_ < most_turns) {
        if (turn_ == turns_.size()) {
            turns_ = order_;
            turn_ = 0;
        }
        patience.ask();
        idle_ = try_variable(turns_[turn_], scorer) ? 0 : idle_ + 1;
        ++turn_;
        ++n_turns_;
    }
}

void OrderClimb::save(SavedState& state) const {
    state.put(order_);
    state.put(turns_);
    state.put(static_cast<std::int64_t>(turn_));
    state.put(static_cast<std::int64_t>(idle_));
    state.put(n_turns_);
    save_steps(state, steps_);
}

void OrderClimb::restore(StateReader& state) {
    move_to(state.order(rules_));
    turns_ = state.variables(rules_.n);
    turn_ = static_cast<std::size_t>(state.whole(0, static_cast<std::int64_t>(turns_.size())));
    idle_ = static_cast<std::size_t>(state.whole(0, rules_.n));
    n_turns_ = state.whole(0, StateReader::any);
    steps_ = read_steps(state, rules_.n);
    if (steps_.empty()) StateReader::refuse();
}

// Walks everyone's tree for an order that was not come to by moves.
void OrderClimb::enter(Scorer& scorer) {
    for (bool all = false; !all;) {
        all = true;
        for (const auto v : order_) {
            if (end_[v] < 0) end_[v] = trees_.walk(v, place_, place_[v]);
            all &= end_[v] >= 0;
        }
        trees_.score_noted(scorer);
    }
    add_up();
}

void OrderClimb::add_up() {
    score_ = 0;
    for (const auto node : end_) score_ += trees_.score(node);
}

// Moves a variable to where it is best, if that is elsewhere.
bool OrderClimb::try_variable(std::int32_t variable, Scorer& scorer) {
    open_slots(variable);
    while (!walk_all(variable)) trees_.score_noted(scorer);
    return move_to_best(variable);
}

// The first and the last place for a variable between those before a place and the others: required arcs keep their
// direction.
std::pair<std::int32_t, std::int32_t> OrderClimb::bounds(std::int32_t variable) const {
    std::int32_t first = 0, last = rules_.n;
    for (const auto p : rules_.required[variable]) first = std::max(first, place_[p] + 1);
    for (const auto c : required_children_[variable]) last = std::min(last, place_[c]);
    return {first, last};
}

// Only next to those who may be its parents or children does it matter where a variable is.
void OrderClimb::open_slots(std::int32_t variable) {
    const auto [first, last] = bounds(variable);
    slots_.assign(1, {first, -1, -1});
    for (auto place = first; place < last; ++place) {
        const auto other = order_[place];
        if (may_be_[variable][other] || may_be_[other][variable]) slots_.push_back({place + 1, other, -1});
    }
    for (const auto child : children_[variable]) other_end_[child] = -1;
}

// Where the variable's walk would end in every slot, and its children's were the variable on their other side.
bool OrderClimb::walk_all(std::int32_t variable) {
    bool all = true;
    const Slot* before = nullptr;
    for (Slot& slot : slots_) {
        const bool same = before != nullptr && before->own >= 0 && !trees_.matters(slot.passed, variable);
        if (slot.own < 0) slot.own = same ? before->own : trees_.walk(variable, place_, slot.place);
        all &= slot.own >= 0;
        before = &slot;
    }
    const auto here = place_[variable];
    for (const auto child : children_[variable]) {
        if (other_end_[child] >= 0) continue;
        place_[variable] = here < place_[child] ? beyond : -1;
        other_end_[child] = trees_.matters(variable, child) ? trees_.walk(child, place_, place_[child]) : end_[child];
        place_[variable] = here;
        all &= other_end_[child] >= 0;
    }
    return all;
}

bool OrderClimb::move_to_best(std::int32_t variable) {
    const auto here = place_[variable];
    std::vector<std::int32_t> children;  // that would have other parents
    for (const auto child : children_[variable]) {
        if (other_end_[child] != end_[child]) children.push_back(child);
    }
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
    if (best == nullptr) return false;
    for (const auto child : children) {
        if ((place_[child] < here) != (place_[child] < best->place)) end_[child] = other_end_[child];
    }
    end_[variable] = best->own;
    move(variable, best->place, best_gain);
    add_up();
    return true;
}

// Puts a variable between those before a place and the others.
void OrderClimb::move(std::int32_t variable, std::int32_t place, double gain) {
    const auto here = place_[variable];
    auto before = place - 1;
    if (before == here) --before;
    steps_.push_back({Kind::move, before < 0 ? -1 : order_[before], variable, gain});
    const auto at = order_.begin() + here;
    if (place > here) std::rotate(at, at + 1, order_.begin() + place);
    else std::rotate(order_.begin() + place, at, at + 1);
    for (auto i = std::min(here, place); i < std::max(here + 1, place); ++i) place_[order_[i]] = i;
}

ParentLists OrderClimb::parents() const {
    ParentLists parents;
    for (const auto node : end_) parents.push_back(trees_.parents(node));
    return parents;
}

}  // namespace fishernet
