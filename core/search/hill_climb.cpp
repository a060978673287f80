#include "search/hill_climb.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace fishernet {
namespace {

constexpr std::size_t most_wanted = 1 << 16;  // families; a child's own are never divided
constexpr double none = -std::numeric_limits<double>::infinity();
constexpr double unknown_score = std::numeric_limits<double>::quiet_NaN();

}  // namespace

HillClimb::HillClimb(Rules rules, const ParentLists& start, Escape escape)
    : rules_(std::move(rules)),
      escape_(escape),
      parents_(start),
      children_(rules_.n),
      room_(rules_.n),
      reaches_(rules_.n),
      family_score_(rules_.n, unknown_score),
      change_(rules_.n),
      best_(rules_.n, {{Kind::add, -1, -1, none}, true, false}),
      draws_(escape.key, 0) {
    for (std::int32_t child = 0; child < rules_.n; ++child) {
        for (const auto parent : start[child]) children_[parent].push_back(child);
        change_[child].assign(rules_.allowed[child].size(), none);
        room_[child] = rules_.room(child, parents_[child]);
    }
    reaches_.rebuild(parents_, children_);
    forget_scores();
}

void HillClimb::run(Scorer& scorer, StopCheck check) {
    Patience patience(check);
    climb(scorer, patience);
    while (restarts_ < escape_.restarts && random_left_ == 0) {  // some are left when no step is legal
        ++restarts_;
        idle_ = 0;
        go_back();
        random_left_ = escape_.perturb;
        climb(scorer, patience);
    }
}

void HillClimb::climb(Scorer& scorer, Patience& patience) {
    refresh(scorer);
    patience.ask();
    while (random_left_ > 0 ? random_step() : step()) {
        refresh(scorer);
        patience.ask();
    }
}

void HillClimb::perturb(std::int64_t times, const Draws& draws) {
    random_left_ = times;
    draws_ = draws;
}

double HillClimb::change(std::int32_t parent, std::int32_t child) const {
    const auto& allowed = rules_.allowed[child];
    // everyone but the child, as a rule: then the place is known
    auto place = static_cast<std::size_t>(parent - (parent > child));
    if (place >= allowed.size() || allowed[place] != parent) {
        place = static_cast<std::size_t>(std::lower_bound(allowed.begin(), allowed.end(), parent) - allowed.begin());
    }
    return change_[child][place];
}

ParentLists HillClimb::parents() const {
    ParentLists best = parents_;
    for (std::size_t i = steps_.size(); i-- > best_length_;) {
        const auto [kind, parent, child, gain] = steps_[i];
        if (kind == Kind::add) erase_sorted(best[child], parent);
        else insert_sorted(best[child], parent);
        if (kind == Kind::reverse) erase_sorted(best[parent], child);
    }
    return best;
}

// ------------------------------------------------------------------------------------------------------------- state

void save_steps(SavedState& state, std::span<const Step> steps) {
    state.put(static_cast<std::int64_t>(steps.size()));
    for (const auto& [kind, parent, child, gain] : steps) {
        state.put(static_cast<std::int64_t>(kind));
        state.put(parent);
        state.put(child);
        state.real.push_back(gain);
    }
}

std::vector<Step> read_steps(StateReader& state, std::int32_t n) {
    std::vector<Step> steps(static_cast<std::size_t>(state.size(3)));
    for (auto& [kind, parent, child, gain] : steps) {
        kind = static_cast<Kind>(state.whole(0, static_cast<std::int64_t>(Kind::move)));
        parent = static_cast<std::int32_t>(state.whole(-1, n - 1));
        child = static_cast<std::int32_t>(state.whole(-1, n - 1));
        gain = state.real();
    }
    return steps;
}

// The steps lead to the graph; everything else about it is found again.
void HillClimb::save(SavedState& state) const {
    save_steps(state, steps_);
    state.put(static_cast<std::int64_t>(best_length_));
    for (const auto number : {n_steps_, idle_, restarts_, random_left_, draws_.drawn()}) state.put(number);
    state.real.push_back(best_score_);
}

void HillClimb::restore(StateReader& state) {
    for (const Step& step : read_steps(state, rules_.n)) {
        if (!is_possible(step)) StateReader::refuse();
        change_arcs(step);
        steps_.push_back(step);
    }
    best_length_ = static_cast<std::size_t>(state.whole(0, static_cast<std::int64_t>(steps_.size())));
    for (auto* number : {&n_steps_, &idle_, &restarts_, &random_left_}) *number = state.whole(0, StateReader::any);
    draws_.go_to(state.whole(0, Draws::most));
    best_score_ = state.real();
    forget_scores();
}

// ---------------------------------------------------------------------------------------------------------- legality

bool HillClimb::may_add(std::int32_t parent, std::int32_t child) const {
    return fits(parent, child) && !reaches_(child, parent);
}

bool HillClimb::may_reverse(std::int32_t parent, std::int32_t child) const {
    if (holds(rules_.required[child], parent) || !holds(rules_.allowed[parent], child) || !fits(child, parent)) return false;
    return std::none_of(children_[parent].begin(), children_[parent].end(),
                        [&](std::int32_t other) { return other != child && reaches_(other, child); });
}

// Of a step that was legal once and whose arc has not changed since.
bool HillClimb::is_legal(const Step& step) const {
    switch (step.kind) {
        case Kind::add: return may_add(step.parent, step.child);
        case Kind::remove: return true;
        default: return may_reverse(step.parent, step.child);
    }
}

// Of any step whatever.
bool HillClimb::is_possible(const Step& step) const {
    const auto [kind, parent, child, gain] = step;
    if (std::min(parent, child) < 0 || parent == child || kind > Kind::reverse) return false;
    if (kind == Kind::add) return !has(parent, child) && holds(rules_.allowed[child], parent) && may_add(parent, child);
    return has(parent, child) && !holds(rules_.required[child], parent) && is_legal(step);
}

// The arcs of the last steps stay as they are, in both directions, unless a change makes the best graph so far.
bool HillClimb::is_tabu(const Step& step) const {
    const auto length = static_cast<std::int64_t>(steps_.size());
    for (auto i = length; i-- > std::max<std::int64_t>(0, length - escape_.tenure);) {
        const Step& past = steps_[static_cast<std::size_t>(i)];
        if (std::minmax(past.parent, past.child) == std::minmax(step.parent, step.child)) {
            return !(score_ + step.gain > best_score_ + tie_of(best_score_));
        }
    }
    return false;
}

// --------------------------------------------------------------------------------------------------------- scoring

void HillClimb::forget_scores() {
    stale_.clear();
    for (std::int32_t child = rules_.n; child-- > 0;) stale_.push_back(child);
    family_score_.assign(family_score_.size(), unknown_score);
    score_ = unknown_score;
}

// Scores the families of everyone whose family has changed.
void HillClimb::refresh(Scorer& scorer) {
    if (stale_.empty()) return;
    while (!stale_.empty()) {
        while (!stale_.empty() && wanted_.children.size() < most_wanted) {
            const auto child = stale_.back();
            stale_.pop_back();
            want(child);
        }
        take(scorer(wanted_));
    }
    score_ = std::accumulate(family_score_.begin(), family_score_.end(), 0.0);
    if (steps_.size() == best_length_) best_score_ = score_;
}

void HillClimb::want(std::int32_t child) {
    refreshed_.push_back(child);
    const auto& parents = parents_[child];
    if (std::isnan(family_score_[child])) wanted_.add(child, parents);
    std::vector<std::int32_t> changed;
    for (const auto v : rules_.allowed[child]) {
        if (has(v, child) || !fits(v, child)) continue;
        changed = parents;
        insert_sorted(changed, v);
        wanted_.add(child, changed);
    }
    for (const auto v : parents) {
        changed = parents;
        erase_sorted(changed, v);
        wanted_.add(child, changed);
    }
}

void HillClimb::take(std::span<const double> scores) {
    std::size_t next = 0;
    for (const auto child : refreshed_) {
        if (std::isnan(family_score_[child])) family_score_[child] = scores[next++];
        const auto& allowed = rules_.allowed[child];
        for (std::size_t i = 0; i < allowed.size(); ++i) {
            if (has(allowed[i], child)) continue;
            change_[child][i] = fits(allowed[i], child) ? scores[next++] - family_score_[child] : none;
        }
        for (std::size_t i = 0; i < allowed.size(); ++i) {
            if (has(allowed[i], child)) change_[child][i] = scores[next++] - family_score_[child];
        }
        best_[child].dirty = true;
        for (const auto grandchild : children_[child]) best_[grandchild].dirty = true;  // their arcs' reversals
    }
    refreshed_.clear();
    wanted_.clear();
}

// ------------------------------------------------------------------------------------------------------------ moving

template <class Visit>
void HillClimb::visit_steps(std::int32_t child, Visit visit) const {
    const auto& allowed = rules_.allowed[child];
    for (std::size_t i = 0; i < allowed.size(); ++i) {
        const auto v = allowed[i];
        if (!has(v, child)) {
            if (may_add(v, child)) visit(Step{Kind::add, v, child, change_[child][i]});
            continue;
        }
        if (!holds(rules_.required[child], v)) visit(Step{Kind::remove, v, child, change_[child][i]});
        if (may_reverse(v, child)) visit(Step{Kind::reverse, v, child, change_[child][i] + change(child, v)});
    }
}

void HillClimb::refresh_best(std::int32_t child) {
    Best& best = best_[child];
    if (best.doubtful && !best.dirty) best.dirty = best.step.gain > none && !is_legal(best.step);
    best.doubtful = false;
    if (!best.dirty) return;
    best.dirty = false;
    best.step.gain = none;
    visit_steps(child, [&](const Step& step) {
        if (step.gain > best.step.gain) best.step = step;
    });
}

double HillClimb::best_gain(std::int32_t child) {
    refresh_best(child);
    if (escape_.tenure == 0 || !(best_[child].step.gain > none) || !is_tabu(best_[child].step)) {
        return best_[child].step.gain;
    }
    double top = none;
    visit_steps(child, [&](const Step& step) {
        if (step.gain > top && !is_tabu(step)) top = step.gain;
    });
    return top;
}

// False where the search ends.
bool HillClimb::step() {
    double top = none;
    std::vector<double> gains(static_cast<std::size_t>(rules_.n));
    for (std::int32_t child = 0; child < rules_.n; ++child) {
        gains[child] = best_gain(child);
        top = std::max(top, gains[child]);
    }
    const double tie = tie_of(score_);
    if (!(top > tie) && (idle_ >= escape_.patience || !(top > none))) return false;
    // among the equally good: additions before removals before reversals, then by parent, then by child
    const auto rank = [](const Step& s) { return std::make_tuple(static_cast<int>(s.kind), s.parent, s.child); };
    Step chosen{Kind::reverse, rules_.n, rules_.n, none};
    for (std::int32_t child = 0; child < rules_.n; ++child) {
        if (gains[child] < top - tie) continue;
        visit_steps(child, [&](const Step& step) {
            if (step.gain >= top - tie && rank(step) < rank(chosen) && !is_tabu(step)) chosen = step;
        });
    }
    apply(chosen);
    return true;
}

// One of all legal steps, all equally likely; false when there is none.
bool HillClimb::random_step() {
    std::int64_t count = 0;
    for (std::int32_t child = 0; child < rules_.n; ++child) visit_steps(child, [&](const Step&) { ++count; });
    if (count == 0) return false;
    std::int64_t left = draws_.below(count);
    --random_left_;
    Step chosen{};
    for (std::int32_t child = 0; child < rules_.n; ++child) {
        visit_steps(child, [&](const Step& step) {
            if (left-- == 0) chosen = step;
        });
    }
    apply(chosen);
    return true;
}

void HillClimb::apply(const Step& step) {
    const auto [kind, parent, child, gain] = step;
    const bool rises = steps_.size() == best_length_ && gain > tie_of(score_);
    steps_.push_back(step);
    ++n_steps_;
    ++idle_;
    score_ += gain;
    if (rises || score_ > best_score_ + tie_of(best_score_)) {
        best_score_ = score_;
        best_length_ = steps_.size();
        idle_ = 0;
    }
    change_arcs(step);
    // the new family's score is known to whoever scores; asking again gives its exact bits instead of a sum of changes
    stale_.push_back(child);
    if (kind == Kind::reverse) stale_.push_back(parent);
    for (const auto changed : stale_) family_score_[changed] = unknown_score;
}

void HillClimb::change_arcs(const Step& step) {
    if (step.kind == Kind::add) {
        add_arc(step.parent, step.child);
    } else {
        remove_arc(step.parent, step.child);
        if (step.kind == Kind::reverse) add_arc(step.child, step.parent);
    }
}

void HillClimb::set_graph(const ParentLists& graph) {
    for (std::int32_t child = 0; child < rules_.n; ++child) {
        if (graph[child] == parents_[child]) continue;
        if (!std::isnan(family_score_[child])) stale_.push_back(child);  // otherwise it is stale already
        family_score_[child] = unknown_score;
        room_[child] = rules_.room(child, graph[child]);
    }
    parents_ = graph;
    for (auto& list : children_) list.clear();
    for (std::int32_t child = 0; child < rules_.n; ++child) {
        for (const auto parent : parents_[child]) children_[parent].push_back(child);
        best_[child].dirty = true;
    }
    reaches_.rebuild(parents_, children_);
}

// To the best graph.
void HillClimb::go_back() {
    set_graph(parents());
    steps_.resize(best_length_);
    score_ = best_score_;
}

void HillClimb::move_to(const ParentLists& graph) {
    steps_.clear();
    best_length_ = 0;
    n_steps_ = idle_ = 0;
    set_graph(graph);
    score_ = best_score_ = std::accumulate(family_score_.begin(), family_score_.end(), 0.0);  // NaN until it is scored
}

// Calls for everyone whose steps may have become legal or illegal because v reaches more or less than before.
template <class Mark>
void HillClimb::mark_around(std::int32_t v, Mark mark) {
    mark(best_[v]);
    for (const auto child : children_[v]) mark(best_[child]);
    for (const auto parent : parents_[v]) {  // a way around an arc from a parent may have come or gone
        for (const auto sibling : children_[parent]) mark(best_[sibling]);
    }
}

void HillClimb::add_arc(std::int32_t parent, std::int32_t child) {
    insert_sorted(parents_[child], parent);
    insert_sorted(children_[parent], child);
    room_[child] = rules_.room(child, parents_[child]);
    reaches_.add(parent, child, parents_, [&](std::int32_t v) {
        mark_around(v, [](Best& best) { best.doubtful = true; });
    });
}

void HillClimb::remove_arc(std::int32_t parent, std::int32_t child) {
    erase_sorted(parents_[child], parent);
    erase_sorted(children_[parent], child);
    room_[child] = rules_.room(child, parents_[child]);
    reaches_.remove(parent, parents_, children_, [&](std::int32_t v) {
        mark_around(v, [](Best& best) { best.dirty = true; });
    });
}

}  // namespace fishernet
