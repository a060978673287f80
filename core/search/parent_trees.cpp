#include "search/parent_trees.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace fishernet {
namespace {

constexpr std::size_t most_wanted = 1 << 16;  // families; a node's own are never divided
constexpr double unknown_score = std::numeric_limits<double>::quiet_NaN();

// The best first; of those that tie with the best that is left, the first in the order of the variables.
template <class Item, class Key>
void sort_by_score(std::vector<Item>& items, double tie, Key key) {
    std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.score > b.score; });
    for (auto first = items.begin(); first != items.end(); ++first) {
        auto chosen = first;
        for (auto item = first; item != items.end() && item->score >= first->score - tie; ++item) {
            if (key(*item) < key(*chosen)) chosen = item;
        }
        std::rotate(first, chosen, chosen + 1);
    }
}

}  // namespace

ParentTrees::ParentTrees(const Rules& rules, std::size_t pairs_among, bool wide)
    : rules_(rules), pairs_among_(pairs_among), wide_(wide), pairs_(rules.n), starts_(rules.n), matters_(rules.n, std::vector<bool>(rules.n)) {
    for (std::int32_t v = 0; v < rules.n; ++v) make_node(v, rules.required[v], -1, unknown_score);
}

std::int32_t ParentTrees::make_node(std::int32_t variable, std::vector<std::int32_t> parents, std::int32_t last,
                                    double score) {
    Node node{variable, last, std::move(parents), {}, score, score, {}, {}};
    node.kept = node.parents;
    nodes_.push_back(std::move(node));
    return static_cast<std::int32_t>(nodes_.size()) - 1;
}

std::int32_t ParentTrees::walk(std::int32_t variable, std::span<const std::int32_t> place, std::int32_t before) {
    auto end = walk_from(variable, place, before);
    if (end >= 0 && pairs_among_ > 0) end = walk_from_pair(variable, end, place, before);
    if (end >= 0 && wide_) end = walk_from_start(variable, end, place, before);
    return end < 0 || !wide_ ? end : walk_by_swaps(end, place, before);
}

void ParentTrees::borrow(const ParentLists& graph) {
    ParentLists children(graph.size());
    for (std::int32_t child = 0; child < rules_.n; ++child) {
        for (const auto p : graph[child]) children[p].push_back(child);
    }
    for (std::int32_t v = 0; v < rules_.n; ++v) {
        std::vector<std::int32_t> near = graph[v];
        near.insert(near.end(), children[v].begin(), children[v].end());
        for (const auto p : graph[v]) near.insert(near.end(), children[p].begin(), children[p].end());
        std::vector<std::vector<std::int32_t>> sets;
        for (const auto other : near) {
            std::vector<std::int32_t> set = graph[other];
            if (holds(set, v)) erase_sorted(set, v);
            for (const auto p : rules_.required[v]) {
                if (!holds(set, p)) insert_sorted(set, p);
            }
            if (set.size() > 1 && set != graph[v] && may_have(v, set)) sets.push_back(std::move(set));
        }
        std::sort(sets.begin(), sets.end());
        sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
        starts_[v] = {};
        for (auto& set : sets) {
            for (const auto p : set) matters_[v][p] = true;
            starts_[v].sets.push_back({std::move(set), -1, unknown_score});
        }
    }
}

// Whether the rules let a variable have these parents.
bool ParentTrees::may_have(std::int32_t variable, const std::vector<std::int32_t>& parents) const {
    if (static_cast<std::int64_t>(parents.size()) > rules_.max_parents) return false;
    const auto& allowed = rules_.allowed[variable];
    const bool all = std::all_of(parents.begin(), parents.end(), [&](std::int32_t p) {
        return std::find(allowed.begin(), allowed.end(), p) != allowed.end() || holds(rules_.required[variable], p);
    });
    return all && rules_.room(variable, parents) >= 1;
}

// The better of a walk's end and that of one that begins with the best borrowed set of which all precede.
std::int32_t ParentTrees::walk_from_start(std::int32_t variable, std::int32_t other, std::span<const std::int32_t> place,
                                          std::int32_t before) {
    if (!knows_starts(variable)) return -1;
    for (std::size_t i = 0; i < starts_[variable].sets.size(); ++i) {
        const auto& set = starts_[variable].sets[i];
        const auto precedes = [&](std::int32_t p) { return place[p] < before; };
        if (!std::all_of(set.parents.begin(), set.parents.end(), precedes)) continue;
        if (!(set.score > nodes_[other].kept_score + tie_of(nodes_[other].kept_score))) return other;
        if (set.node < 0) {
            const auto made = make_node(variable, set.parents, -1, set.score);  // moves the nodes
            starts_[variable].sets[i].node = made;
        }
        return walk_from(starts_[variable].sets[i].node, place, before);
    }
    return other;
}

// From the end of a walk on, one parent in the place of another, the best exchange of those that precede first.
std::int32_t ParentTrees::walk_by_swaps(std::int32_t at, std::span<const std::int32_t> place, std::int32_t before) {
    while (is_known(at, Task::swap)) {
        const auto& swaps = nodes_[at].swaps;
        std::size_t s = 0;
        while (s < swaps.size() && place[swaps[s].in] >= before) ++s;
        if (s == swaps.size()) return at;
        if (swaps[s].node < 0) {
            const auto [out, in, none, score] = swaps[s];
            std::vector<std::int32_t> parents = nodes_[at].kept;
            erase_sorted(parents, out);
            insert_sorted(parents, in);
            const auto made = make_node(nodes_[at].variable, std::move(parents), -1, score);  // moves the nodes
            nodes_[at].swaps[s].node = made;
        }
        at = walk_from(nodes_[at].swaps[s].node, place, before);
        if (at < 0) return -1;
    }
    return -1;
}

// The better of this walk's end and another one.
std::int32_t ParentTrees::walk_from_pair(std::int32_t variable, std::int32_t other, std::span<const std::int32_t> place,
                                         std::int32_t before) {
    if (!knows_pairs(variable)) return -1;
    for (std::size_t i = 0; i < pairs_[variable].pairs.size(); ++i) {
        const auto [first, second, node, score] = pairs_[variable].pairs[i];
        if (place[first] >= before || place[second] >= before) continue;
        if (holds(nodes_[other].parents, first) && holds(nodes_[other].parents, second)) return other;
        if (node < 0) {
            std::vector<std::int32_t> parents = nodes_[variable].parents;
            insert_sorted(parents, first);
            insert_sorted(parents, second);
            pairs_[variable].pairs[i].node = make_node(variable, std::move(parents), -1, score);
        }
        const auto end = walk_from(pairs_[variable].pairs[i].node, place, before);
        if (end < 0) return end;
        return nodes_[end].kept_score > nodes_[other].kept_score + tie_of(nodes_[other].kept_score) ? end : other;
    }
    return other;
}

std::int32_t ParentTrees::walk_from(std::int32_t at, std::span<const std::int32_t> place, std::int32_t before) {
    while (is_known(at, Task::grow)) {
        auto& branches = nodes_[at].branches;
        std::size_t b = 0;
        while (b < branches.size() && place[branches[b].variable] >= before) ++b;
        if (b == branches.size()) return is_known(at, Task::shrink) ? at : -1;
        if (branches[b].node < 0) {
            const auto [added, none, score] = branches[b];
            std::vector<std::int32_t> parents = nodes_[at].parents;
            insert_sorted(parents, added);
            const auto made = make_node(nodes_[at].variable, std::move(parents), added, score);  // moves the nodes
            nodes_[at].branches[b].node = made;
        }
        at = nodes_[at].branches[b].node;
    }
    return -1;
}

// Whether a node is grown, or shrunk, or its exchanges are scored; if not, it is noted.
bool ParentTrees::is_known(std::int32_t at, Task task) {
    Node& node = nodes_[at];
    Stage& stage = task == Task::grow ? node.grown : task == Task::shrink ? node.shrunk : node.swapped;
    if (stage != Stage::unknown) return stage == Stage::known;
    bool nothing = true;
    if (task == Task::swap) visit_swaps(node, [&](std::int32_t, std::int32_t) { nothing = false; });
    else if (task == Task::shrink) visit_removals(node, [&](std::int32_t) { nothing = false; });
    else visit_growth(node, [&](std::int32_t) { nothing = false; });
    if (nothing && !std::isnan(node.score)) {
        stage = Stage::known;
        return true;
    }
    stage = Stage::noted;
    noted_.push_back({at, task});
    return false;
}

bool ParentTrees::knows_pairs(std::int32_t variable) {
    Pairs& of = pairs_[variable];
    if (of.known == Stage::unknown) {
        bool nothing = true;
        visit_pairs(variable, [&](std::int32_t, std::int32_t) { nothing = false; });
        of.known = nothing ? Stage::known : Stage::noted;
        if (!nothing) noted_.push_back({variable, Task::pair});
    }
    return of.known == Stage::known;
}

bool ParentTrees::knows_starts(std::int32_t variable) {
    Starts& of = starts_[variable];
    if (of.known == Stage::unknown) {
        of.known = of.sets.empty() ? Stage::known : Stage::noted;
        if (!of.sets.empty()) noted_.push_back({variable, Task::start});
    }
    return of.known == Stage::known;
}

// --------------------------------------------------------------------------------------------------------- scoring

template <class Visit>
void ParentTrees::visit_growth(const Node& node, Visit visit) const {
    const double room = rules_.room(node.variable, node.parents);
    if (room < 1) return;
    for (const auto v : rules_.allowed[node.variable]) {
        if (rules_.states_of(v) <= room && !holds(node.parents, v)) visit(v);
    }
}

// Without the parent that came last: taking it out again is known to lower the score.
template <class Visit>
void ParentTrees::visit_removals(const Node& node, Visit visit) const {
    const bool whole = node.kept.size() == node.parents.size();
    for (const auto v : node.kept) {
        if (!holds(rules_.required[node.variable], v) && !(whole && v == node.last)) visit(v);
    }
}

// The pairs within the limits.
template <class Visit>
void ParentTrees::visit_pairs(std::int32_t variable, Visit visit) const {
    const auto& parents = nodes_[variable].parents;
    const auto& singles = pairs_[variable].singles;
    if (static_cast<std::int64_t>(parents.size()) + 2 > rules_.max_parents) return;
    const double room = rules_.room(variable, parents);
    for (std::size_t i = 0; i < singles.size(); ++i) {
        for (std::size_t j = i + 1; j < singles.size(); ++j) {
            if (rules_.states_of(singles[i]) * rules_.states_of(singles[j]) <= room) visit(singles[i], singles[j]);
        }
    }
}

// Of a parent that was kept, and one to have in its place.
template <class Visit>
void ParentTrees::visit_swaps(const Node& node, Visit visit) const {
    std::vector<std::int32_t> rest;
    for (const auto out : node.kept) {
        if (holds(rules_.required[node.variable], out)) continue;
        rest = node.kept;
        erase_sorted(rest, out);
        const double room = rules_.room(node.variable, rest);
        for (const auto in : rules_.allowed[node.variable]) {
            if (rules_.states_of(in) <= room && !holds(node.kept, in)) visit(out, in);
        }
    }
}

void ParentTrees::score_noted(Scorer& scorer) {
    std::size_t first = 0, last = 0;
    while (first < noted_.size()) {
        wanted_.clear();
        while (last < noted_.size() && wanted_.children.size() < most_wanted) want(noted_[last++]);
        const std::vector<double> scores = scorer(wanted_);
        std::span<const double> left(scores);
        for (; first < last; ++first) {
            left = left.subspan(take(noted_[first], left));
        }
    }
    noted_.clear();
}

void ParentTrees::want(const Question& question) {
    const Node& node = nodes_[question.node];
    std::vector<std::int32_t> changed;
    if (question.task == Task::grow) {
        if (std::isnan(node.score)) wanted_.add(node.variable, node.parents);
        visit_growth(node, [&](std::int32_t v) {
            changed = node.parents;
            insert_sorted(changed, v);
            wanted_.add(node.variable, changed);
        });
    } else if (question.task == Task::pair) {
        visit_pairs(node.variable, [&](std::int32_t first, std::int32_t second) {
            changed = node.parents;
            insert_sorted(changed, first);
            insert_sorted(changed, second);
            wanted_.add(node.variable, changed);
        });
    } else if (question.task == Task::start) {
        for (const auto& set : starts_[node.variable].sets) wanted_.add(node.variable, set.parents);
    } else if (question.task == Task::swap) {
        visit_swaps(node, [&](std::int32_t out, std::int32_t in) {
            changed = node.kept;
            erase_sorted(changed, out);
            insert_sorted(changed, in);
            wanted_.add(node.variable, changed);
        });
    } else {
        visit_removals(node, [&](std::int32_t v) {
            changed = node.kept;
            erase_sorted(changed, v);
            wanted_.add(node.variable, changed);
        });
    }
}

std::size_t ParentTrees::take(const Question& question, std::span<const double> scores) {
    Node& node = nodes_[question.node];
    if (question.task == Task::grow) return take_growth(node, scores);
    if (question.task == Task::swap) return take_swaps(node, scores);
    if (question.task == Task::start) return take_starts(node.variable, scores);
    return question.task == Task::shrink ? take_removals(node, scores) : take_pairs(node.variable, scores);
}

std::size_t ParentTrees::take_growth(Node& node, std::span<const double> scores) {
    std::size_t next = 0;
    if (std::isnan(node.score)) node.score = node.kept_score = scores[next++];
    if (&node == &nodes_[node.variable]) choose_singles(node, scores.subspan(next));
    const double tie = tie_of(node.score);
    auto& branches = node.branches;
    visit_growth(node, [&](std::int32_t v) {
        const double score = scores[next++];
        if (!(score > node.score + tie)) return;
        branches.push_back({v, -1, score});
        matters_[node.variable][v] = true;
    });
    sort_by_score(branches, tie, [](const Branch& b) { return b.variable; });
    node.grown = Stage::known;
    return next;
}

// The variables that are best as the only parent more, the first of those that tie.
void ParentTrees::choose_singles(const Node& node, std::span<const double> scores) {
    std::vector<std::pair<double, std::int32_t>> found;
    visit_growth(node, [&](std::int32_t v) { found.push_back({scores[found.size()], v}); });
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    if (found.size() > pairs_among_) found.resize(pairs_among_);
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    for (const auto& [score, v] : found) {
        pairs_[node.variable].singles.push_back(v);
        pairs_[node.variable].single_scores.push_back(score);
    }
}

std::size_t ParentTrees::take_pairs(std::int32_t variable, std::span<const double> scores) {
    Pairs& of = pairs_[variable];
    const auto alone = [&](std::int32_t v) {
        return of.single_scores[std::lower_bound(of.singles.begin(), of.singles.end(), v) - of.singles.begin()];
    };
    std::size_t next = 0;
    visit_pairs(variable, [&](std::int32_t first, std::int32_t second) {
        const double score = scores[next++], rest = std::max({nodes_[variable].score, alone(first), alone(second)});
        if (!(score > rest + tie_of(rest))) return;
        of.pairs.push_back({first, second, -1, score});
        matters_[variable][first] = matters_[variable][second] = true;
    });
    sort_by_score(of.pairs, tie_of(nodes_[variable].score), [](const Pair& p) { return std::pair(p.first, p.second); });
    of.known = Stage::known;
    return next;
}

std::size_t ParentTrees::take_starts(std::int32_t variable, std::span<const double> scores) {
    Starts& of = starts_[variable];
    std::size_t next = 0;
    for (auto& set : of.sets) set.score = scores[next++];
    sort_by_score(of.sets, tie_of(scores[0]), [](const Start& start) { return start.parents; });
    of.known = Stage::known;
    return next;
}

std::size_t ParentTrees::take_swaps(Node& node, std::span<const double> scores) {
    std::size_t next = 0;
    const double tie = tie_of(node.kept_score);
    visit_swaps(node, [&](std::int32_t out, std::int32_t in) {
        const double score = scores[next++];
        if (!(score > node.kept_score + tie)) return;
        node.swaps.push_back({out, in, -1, score});
        matters_[node.variable][in] = true;
    });
    sort_by_score(node.swaps, tie, [](const Swap& swap) { return std::pair(swap.in, swap.out); });
    node.swapped = Stage::known;
    return next;
}

std::size_t ParentTrees::take_removals(Node& node, std::span<const double> scores) {
    std::size_t next = 0;
    const double tie = tie_of(node.kept_score);
    double top = node.kept_score + tie;
    visit_removals(node, [&](std::int32_t) { top = std::max(top, scores[next++]); });
    next = 0;
    std::int32_t worst = -1;
    double left = 0;
    visit_removals(node, [&](std::int32_t v) {
        const double score = scores[next++];
        if (worst < 0 && score >= top - tie && score > node.kept_score + tie) worst = v, left = score;
    });
    node.shrunk = Stage::known;
    if (worst >= 0) {
        erase_sorted(node.kept, worst);
        node.kept_score = left;
        node.shrunk = Stage::unknown;  // the next walk asks on
    }
    return next;
}

}  // namespace fishernet
