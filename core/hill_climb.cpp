#include "hill_climb.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

namespace fishernet {
namespace {

constexpr std::size_t most_wanted = 1 << 16;  // families; a child's own are never divided
constexpr double none = -std::numeric_limits<double>::infinity();

void insert_sorted(std::vector<std::int32_t>& list, std::int32_t v) {
    list.insert(std::lower_bound(list.begin(), list.end(), v), v);
}

void erase_sorted(std::vector<std::int32_t>& list, std::int32_t v) {
    list.erase(std::lower_bound(list.begin(), list.end(), v));
}

}  // namespace

HillClimb::HillClimb(Rules rules, const std::vector<std::vector<std::int32_t>>& start)
    : rules_(std::move(rules)),
      words_((rules_.n + 63) / 64),
      parents_(rules_.n),
      children_(rules_.n),
      adjacent_(static_cast<std::size_t>(rules_.n) * rules_.n, 0),
      reach_(static_cast<std::size_t>(rules_.n) * words_, 0),
      family_score_(rules_.n, std::numeric_limits<double>::quiet_NaN()),
      change_(static_cast<std::size_t>(rules_.n) * rules_.n, none),
      best_(rules_.n, {none, true}) {
    for (std::int32_t child = 0; child < rules_.n; ++child) {
        for (const auto parent : start[child]) toggle(parent, child, true);
    }
    update_reach();
    for (std::int32_t child = rules_.n; child-- > 0;) stale_.push_back(child);
    ask();
}

double HillClimb::tolerance() const { return std::max(1e-9, 1e-12 * std::abs(score_)); }

void HillClimb::toggle(std::int32_t parent, std::int32_t child, bool present) {
    adjacent_[at(parent, child)] = present;
    if (present) {
        insert_sorted(parents_[child], parent);
        insert_sorted(children_[parent], child);
    } else {
        erase_sorted(parents_[child], parent);
        erase_sorted(children_[parent], child);
    }
}

// ---------------------------------------------------------------------------------------------------------- legality

bool HillClimb::may_add(std::int32_t parent, std::int32_t child) const {
    return !rules_.forbidden[at(parent, child)] && !full(child) && !reaches(child, parent);
}

bool HillClimb::may_reverse(std::int32_t parent, std::int32_t child) const {
    if (rules_.required[at(parent, child)] || rules_.forbidden[at(child, parent)] || full(parent)) return false;
    return std::none_of(children_[parent].begin(), children_[parent].end(),
                        [&](std::int32_t other) { return other != child && reaches(other, child); });
}

// Descendants of every variable, children first; a child whose steps may have changed their legality becomes dirty.
void HillClimb::update_reach() {
    const std::vector<std::uint64_t> before = reach_;
    std::vector<std::int32_t> open(rules_.n), order;
    for (std::int32_t v = 0; v < rules_.n; ++v) {
        open[v] = static_cast<std::int32_t>(children_[v].size());
        if (open[v] == 0) order.push_back(v);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto v = order[i];
        std::uint64_t* row = reach_.data() + v * words_;
        std::fill_n(row, words_, 0);
        for (const auto child : children_[v]) {
            const std::uint64_t* other = reach_.data() + child * words_;
            for (std::int64_t w = 0; w < words_; ++w) row[w] |= other[w];
            row[child / 64] |= std::uint64_t{1} << (child % 64);
        }
        for (const auto parent : parents_[v]) {
            if (--open[parent] == 0) order.push_back(parent);
        }
        if (!std::equal(row, row + words_, before.data() + v * words_)) {
            best_[v].dirty = true;
            for (const auto child : children_[v]) best_[child].dirty = true;
            for (const auto parent : parents_[v]) {  // a way around an arc from a parent may have come or gone
                for (const auto sibling : children_[parent]) best_[sibling].dirty = true;
            }
        }
    }
}

// ------------------------------------------------------------------------------------------------- asking and taking

void HillClimb::ask() {
    while (!stale_.empty() && wanted_.children.size() < most_wanted) {
        const auto child = stale_.back();
        stale_.pop_back();
        want(child);
    }
}

void HillClimb::want(std::int32_t child) {
    refreshed_.push_back(child);
    const auto& parents = parents_[child];
    if (std::isnan(family_score_[child])) wanted_.add(child, parents);
    std::vector<std::int32_t> changed;
    for (std::int32_t v = 0; v < rules_.n && !full(child); ++v) {
        if (v == child || has(v, child) || rules_.forbidden[at(v, child)]) continue;
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
        for (std::int32_t v = 0; v < rules_.n; ++v) {
            if (!has(v, child)) change_[at(v, child)] = none;
        }
        for (std::int32_t v = 0; v < rules_.n && !full(child); ++v) {
            if (v == child || has(v, child) || rules_.forbidden[at(v, child)]) continue;
            change_[at(v, child)] = scores[next++] - family_score_[child];
        }
        for (const auto v : parents_[child]) change_[at(v, child)] = scores[next++] - family_score_[child];
        best_[child].dirty = true;
        for (const auto grandchild : children_[child]) best_[grandchild].dirty = true;  // their arcs' reversals
    }
    refreshed_.clear();
    wanted_.clear();
}

void HillClimb::tell(std::span<const double> scores) {
    take(scores);
    ask();
    if (!refreshed_.empty()) return;
    score_ = std::accumulate(family_score_.begin(), family_score_.end(), 0.0);
    step();
}

// ------------------------------------------------------------------------------------------------------------ moving

template <class Visit>
void HillClimb::visit_steps(std::int32_t child, Visit visit) const {
    for (std::int32_t v = 0; v < rules_.n; ++v) {
        if (v == child) continue;
        if (!has(v, child)) {
            if (may_add(v, child)) visit(Step{Kind::add, v, child, change_[at(v, child)]});
            continue;
        }
        if (!rules_.required[at(v, child)]) visit(Step{Kind::remove, v, child, change_[at(v, child)]});
        if (may_reverse(v, child)) {
            visit(Step{Kind::reverse, v, child, change_[at(v, child)] + change_[at(child, v)]});
        }
    }
}

void HillClimb::step() {
    double top = none;
    for (std::int32_t child = 0; child < rules_.n; ++child) {
        Best& best = best_[child];
        if (best.dirty) {
            best = {none, false};
            visit_steps(child, [&](const Step& step) { best.gain = std::max(best.gain, step.gain); });
        }
        top = std::max(top, best.gain);
    }
    const double tie = tolerance();
    if (!(top > tie)) return;
    // among the equally good: additions before removals before reversals, then by parent, then by child
    const auto rank = [](const Step& s) { return std::make_tuple(static_cast<int>(s.kind), s.parent, s.child); };
    Step chosen{Kind::reverse, rules_.n, rules_.n, none};
    for (std::int32_t child = 0; child < rules_.n; ++child) {
        if (best_[child].gain < top - tie) continue;
        visit_steps(child, [&](const Step& step) {
            if (step.gain >= top - tie && rank(step) < rank(chosen)) chosen = step;
        });
    }
    apply(chosen);
}

void HillClimb::apply(const Step& step) {
    const auto [kind, parent, child, gain] = step;
    steps_.push_back(step);
    score_ += gain;
    toggle(parent, child, kind == Kind::add);
    if (kind == Kind::reverse) toggle(child, parent, true);
    update_reach();
    // the new family's score is known to whoever scores; asking again gives its exact bits instead of a sum of changes
    stale_.push_back(child);
    if (kind == Kind::reverse) stale_.push_back(parent);
    for (const auto changed : stale_) family_score_[changed] = std::numeric_limits<double>::quiet_NaN();
    ask();
}

}  // namespace fishernet
