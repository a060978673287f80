#include "search/sparse_search.hpp"

#include <algorithm>
#include <bit>
#include <chrono>

#include "search/search_rules.hpp"

namespace fishernet {
namespace {

constexpr std::uint64_t one = 1;

// The bits of a set that are those of the members, side by side; and back.
std::uint64_t gather(std::uint64_t set, const std::vector<int>& members) {
    std::uint64_t found = 0;
    for (std::size_t m = 0; m < members.size(); ++m) found |= (set >> members[m] & 1) << m;
    return found;
}

std::uint64_t scatter(std::uint64_t set, const std::vector<int>& members) {
    std::uint64_t found = 0;
    for (std::size_t m = 0; m < members.size(); ++m) found |= (set >> m & 1) << members[m];
    return found;
}

// An order in which everyone comes after its parents, but for cycles.
std::vector<int> order_of(const std::vector<std::uint64_t>& parents) {
    std::vector<int> order;
    std::uint64_t placed = 0;
    const auto place = [&](int v) {
        order.push_back(v);
        placed |= one << v;
    };
    while (order.size() < parents.size()) {
        const std::size_t before = order.size();
        for (int v = 0; v < static_cast<int>(parents.size()); ++v) {
            if (!(placed >> v & 1) && (parents[v] & ~placed) == 0) place(v);
        }
        if (order.size() == before) place(std::countr_one(placed));
    }
    return order;
}

// Fewer variables come first; then those with an earlier one where they differ.
bool comes_before(std::uint64_t a, std::uint64_t b) {
    const int size_a = std::popcount(a), size_b = std::popcount(b);
    if (size_a != size_b) return size_a < size_b;
    const std::uint64_t differing = a ^ b;
    return (a & differing & ~(differing - 1)) != 0;
}

}  // namespace

SparseSearch::SparseSearch(std::vector<std::vector<ParentSet>> sets, std::vector<std::uint64_t> start,
                           double max_bytes, bool complete)
    : sets_(std::move(sets)), parents_(std::move(start)), max_bytes_(max_bytes), complete_(complete) {
    find_components();
}

std::size_t SparseSearch::n_nodes() const { return nodes_before_ + (search_ ? search_->n_nodes() : 0); }

double SparseSearch::work() const { return work_before_ + (search_ ? search_->work() : 0); }

// Finished components have their best score; of the others each variable has its best parents, less what must be lost.
double SparseSearch::bound() const {
    double bound = search_ ? -search_->least_loss() : 0;
    for (std::size_t c = 0; c < components_.size(); ++c) {
        for (const int v : components_[c]) {
            const auto own = [&](const ParentSet& candidate) { return candidate.set == parents_[v]; };
            const auto chosen = c < component_ ? std::find_if(sets_[v].begin(), sets_[v].end(), own) : sets_[v].begin();
            bound += chosen == sets_[v].end() ? sets_[v].front().score : chosen->score;
        }
    }
    return bound;
}

// Variables of which each may be an ancestor of the other.
void SparseSearch::find_components() {
    const int n = static_cast<int>(sets_.size());
    std::vector<std::uint64_t> ancestors(n, 0);
    for (int v = 0; v < n; ++v) {
        for (const auto& [set, score] : sets_[v]) ancestors[v] |= set;
    }
    for (int between = 0; between < n; ++between) {
        for (int v = 0; v < n; ++v) {
            if (ancestors[v] >> between & 1) ancestors[v] |= ancestors[between];
        }
    }
    std::uint64_t placed = 0;
    for (int v = 0; v < n; ++v) {
        if (placed >> v & 1) continue;
        std::vector<int> members{v};
        for (int w = v + 1; w < n; ++w) {
            if ((ancestors[v] >> w & 1) && (ancestors[w] >> v & 1)) members.push_back(w);
        }
        for (const int m : members) placed |= one << m;
        components_.push_back(std::move(members));
    }
}

// Parents from outside are always to be had; sets that are worse than a part of them inside are of no use.
LossLists SparseSearch::lists_of(const std::vector<int>& members) const {
    const bool some_outside = members.size() < sets_.size();
    LossLists lists;
    for (const int v : members) {
        std::vector<LossLists::Choice> choices;
        for (const auto& [set, score] : sets_[v]) {
            const std::uint64_t inside = gather(set, members);
            const auto better = [&](const auto& choice) { return (choice.set & ~inside) == 0; };
            if (some_outside && std::any_of(choices.begin(), choices.end(), better)) continue;
            choices.push_back({inside, sets_[v].front().score - score});
        }
        lists.choices.push_back(std::move(choices));
    }
    return lists;
}

void SparseSearch::begin() {
    const auto& members = components_[component_];
    LossLists lists = lists_of(members);
    std::vector<std::uint64_t> inside;
    double score = 0;
    for (const int v : members) {
        inside.push_back(gather(parents_[v], members));
        score += sets_[v].front().score;
    }
    loss_before_ = 0;
    for (std::size_t m = 0; m < members.size(); ++m) loss_before_ += lists.loss(static_cast<int>(m), inside[m]);
    search_ = std::make_unique<ListSearch>(std::move(lists), order_of(inside), tie_of(score), complete_);
}

// The best parents among those that are there; of equally good ones the fewest, and then the first.
std::uint64_t SparseSearch::choose(int child, std::uint64_t available) const {
    const ParentSet* chosen = nullptr;
    double enough = 0;
    for (const ParentSet& candidate : sets_[child]) {
        if ((candidate.set & ~available) != 0) continue;
        if (chosen == nullptr) {
            chosen = &candidate;
            enough = candidate.score - tie_of(candidate.score);
        }
        if (candidate.score < enough) break;
        if (comes_before(candidate.set, chosen->set)) chosen = &candidate;
    }
    return chosen == nullptr ? parents_[child] : chosen->set;
}

// Those of a component whose search found something better than the start.
void SparseSearch::choose_parents(std::vector<std::uint64_t>& parents) const {
    const auto& members = components_[component_];
    std::uint64_t inside = 0;
    for (const int v : members) inside |= one << v;
    const auto before = search_->before();
    const bool better = search_->is_better_than(loss_before_);
    for (std::size_t m = 0; m < members.size(); ++m) {
        const std::uint64_t among = better ? scatter(before[m], members) : parents_[members[m]] & inside;
        parents[members[m]] = choose(members[m], among | ~inside);
    }
}

std::vector<std::uint64_t> SparseSearch::parents() const {
    std::vector<std::uint64_t> parents = parents_;
    if (search_) choose_parents(parents);
    return parents;
}

void SparseSearch::advance(StopCheck check) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds long_enough(50);
    const auto began = Clock::now();
    Patience patience(check);
    while (!finished() && !gave_up() && Clock::now() - began < long_enough) {
        if (!search_) begin();
        search_->advance(check);
        patience.ask();
        if (!search_->finished()) continue;
        choose_parents(parents_);
        nodes_before_ += search_->n_nodes();
        work_before_ += search_->work();
        search_.reset();
        ++component_;
    }
}

}  // namespace fishernet
