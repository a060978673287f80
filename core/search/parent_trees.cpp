#include "search/parent_trees.hpp"

#include <cmath>

namespace fishernet {
namespace {

constexpr std::size_t most_wanted = 1 << 16;  // families; a node's own are never divided
constexpr double unknown_score = std::numeric_limits<double>::quiet_NaN();

}  // namespace

ParentTrees::ParentTrees(const Rules& rules) : rules_(rules) {
    for (std::int32_t v = 0; v < rules.n; ++v) make_node(v, rules.required[v], -1, unknown_score);
}

std::int32_t ParentTrees::make_node(std::int32_t variable, std::vector<std::int32_t> parents, std::int32_t last,
                                    double score) {
    Node node{variable, last, std::move(parents), {}, score, score, {}};
    node.kept = node.parents;
    nodes_.push_back(std::move(node));
    return static_cast<std::int32_t>(nodes_.size()) - 1;
}

std::int32_t ParentTrees::walk(std::int32_t variable, std::span<const std::int32_t> place, std::int32_t before) {
    std::int32_t at = variable;
    while (is_known(at, Task::grow)) {
        auto& branches = nodes_[at].branches;
        std::size_t b = 0;
        while (b < branches.size() && place[branches[b].variable] >= before) ++b;
        if (b == branches.size()) return is_known(at, Task::shrink) ? at : -1;
        if (branches[b].node < 0) {
            const auto [added, none, score] = branches[b];
            std::vector<std::int32_t> parents = nodes_[at].parents;
            insert_sorted(parents, added);
            const auto made = make_node(variable, std::move(parents), added, score);  // moves the nodes
            nodes_[at].branches[b].node = made;
        }
        at = nodes_[at].branches[b].node;
    }
    return -1;
}

// Whether a node is grown, or shrunk; if not, it is asked for.
bool ParentTrees::is_known(std::int32_t at, Task task) {
    Node& node = nodes_[at];
    Stage& stage = task == Task::grow ? node.grown : node.shrunk;
    if (stage != Stage::unknown) return stage == Stage::known;
    bool nothing = true;
    if (task == Task::shrink) visit_removals(node, [&](std::int32_t) { nothing = false; });
    else visit_growth(node, [&](std::int32_t) { nothing = false; });
    if (nothing && !std::isnan(node.score)) {
        stage = Stage::known;
        return true;
    }
    stage = Stage::asked;
    queue_.push_back({at, task});
    return false;
}

// ------------------------------------------------------------------------------------------------- asking and taking

template <class Visit>
void ParentTrees::visit_growth(const Node& node, Visit visit) const {
    if (static_cast<std::int32_t>(node.parents.size()) >= rules_.max_parents) return;
    for (const auto v : rules_.allowed[node.variable]) {
        if (!holds(node.parents, v)) visit(v);
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

void ParentTrees::ask() {
    std::size_t next = 0;
    while (next < queue_.size() && wanted_.children.size() < most_wanted) {
        want(queue_[next]);
        asked_.push_back(queue_[next++]);
    }
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(next));
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
    } else {
        visit_removals(node, [&](std::int32_t v) {
            changed = node.kept;
            erase_sorted(changed, v);
            wanted_.add(node.variable, changed);
        });
    }
}

void ParentTrees::tell(std::span<const double> scores) {
    for (const auto [at, task] : asked_) {
        Node& node = nodes_[at];
        scores = scores.subspan(task == Task::grow ? take_growth(node, scores) : take_removals(node, scores));
    }
    asked_.clear();
    wanted_.clear();
    ask();
}

std::size_t ParentTrees::take_growth(Node& node, std::span<const double> scores) {
    std::size_t next = 0;
    if (std::isnan(node.score)) node.score = node.kept_score = scores[next++];
    const double tie = tie_of(node.score);
    auto& branches = node.branches;
    visit_growth(node, [&](std::int32_t v) {
        const double score = scores[next++];
        if (score > node.score + tie) branches.push_back({v, -1, score});
    });
    std::stable_sort(branches.begin(), branches.end(),
                     [](const Branch& a, const Branch& b) { return a.score > b.score; });
    // of those that tie with the best that is left, the first in the order of the variables is next
    for (auto first = branches.begin(); first != branches.end(); ++first) {
        auto chosen = first;
        for (auto b = first; b != branches.end() && b->score >= first->score - tie; ++b) {
            if (b->variable < chosen->variable) chosen = b;
        }
        std::rotate(first, chosen, chosen + 1);
    }
    node.grown = Stage::known;
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
