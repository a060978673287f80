#include "search/parent_sets.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "search/search_rules.hpp"

namespace fishernet {
namespace {

constexpr double none = -std::numeric_limits<double>::infinity();
constexpr std::uint64_t one = 1;

}  // namespace

// ------------------------------------------------------------------------------------------------------------- a map

SetNumbers::SetNumbers(std::size_t size)
    : keys_(std::bit_ceil(2 * size + 2), free_slot), numbers_(keys_.size()) {}

std::size_t SetNumbers::slot_of(std::uint64_t set) const {
    const std::size_t mask = keys_.size() - 1;
    std::size_t slot = ((set * 0x9E3779B97F4A7C15u) >> 20) & mask;
    while (keys_[slot] != set && keys_[slot] != free_slot) slot = (slot + 1) & mask;
    return slot;
}

void SetNumbers::insert(std::uint64_t set, double number) {
    const std::size_t slot = slot_of(set);
    keys_[slot] = set;
    numbers_[slot] = number;
}

const double* SetNumbers::find(std::uint64_t set) const {
    const std::size_t slot = slot_of(set);
    return keys_[slot] == free_slot ? nullptr : &numbers_[slot];
}

// ---------------------------------------------------------------------------------------------------------- growing

ParentSets::ParentSets(std::vector<double> cardinalities, std::vector<ParentRule> rules, ScoreBounds bounds,
                       std::size_t most, double slack)
    : n_(static_cast<int>(cardinalities.size())),
      cardinalities_(std::move(cardinalities)),
      rules_(std::move(rules)),
      bounds_(std::move(bounds)),
      most_(most),
      slack_(slack),
      children_(n_),
      found_(n_) {
    next_wanted(nullptr);
}

// Goes on to the next child that has something to be scored, and after the last child to one parent more.
void ParentSets::next_wanted(StopCheck check) {
    bool some_grow = true;
    while (wanted_.children.empty() && some_grow) {
        if (++child_ == n_) {
            child_ = 0;
            ++level_;
            some_grow = false;
            for (const Child& child : children_) some_grow |= !child.growing.empty();
        }
        const ParentRule& rule = rules_[child_];
        if (level_ > 0) grow(check);
        else if (std::popcount(rule.required) <= rule.most) want(rule.required, none);
        if (wanted_.children.empty()) children_[child_].growing.clear();
    }
}

void ParentSets::want(std::uint64_t set, double best) {
    candidates_.push_back({set, best});
    wanted_.children.push_back(child_);
    for (std::uint64_t left = set; left != 0; left &= left - 1) wanted_.parents.push_back(std::countr_zero(left));
    wanted_.offsets.push_back(static_cast<std::int64_t>(wanted_.parents.size()));
    ++n_wanted_;
}

// The number is infinite where nothing is known.
double ParentSets::penalty(int child, std::uint64_t set) const {
    if (bounds_.price <= 0) return 0;
    return bounds_.price * (cardinalities_[child] - 1) * cells(set);
}

// Every child has the best of its sets so far, or one that is no better than a set that grows can become.
double ParentSets::bound() const {
    const double least_states = *std::min_element(cardinalities_.begin(), cardinalities_.end());
    double sum = 0;
    for (int child = 0; child < n_; ++child) {
        double most = none;
        for (const ParentSet& known : found_[child]) most = std::max(most, known.score);
        const auto may_become = [&](double price) { most = std::max(most, bounds_.best_fit[child] - price); };
        if (found_[child].empty()) may_become(0);
        for (const Growing& g : children_[child].growing) may_become(least_states * penalty(child, g.set));
        for (const Growing& g : candidates_) {
            if (child == child_) may_become(penalty(child, g.set));
        }
        sum += most;
    }
    return sum;
}

double ParentSets::cells(std::uint64_t set) const {
    double product = 1;
    for (std::uint64_t left = set; left != 0; left &= left - 1) product *= cardinalities_[std::countr_zero(left)];
    return product;
}

// Whether all subsets with one variable less may have better supersets; then `best` is the best of them.
bool ParentSets::known_subsets(std::uint64_t set, double& best) const {
    for (std::uint64_t left = set & ~rules_[child_].required; left != 0; left &= left - 1) {
        const double* number = children_[child_].best.find(set ^ (left & ~(left - 1)));
        if (number == nullptr) return false;
        best = std::max(best, *number);
    }
    return true;
}

// n_rows times the least of a variable's entropies given two (or all) of the others.
double ParentSets::most_entropy(int y, std::uint64_t given) const {
    const auto at = [&](int u, int v) { return bounds_.entropies[(y * n_ + u) * n_ + v]; };
    if (given == 0) return at(y, y);
    double least = std::numeric_limits<double>::infinity();
    for (std::uint64_t left = given; left != 0; left &= left - 1) {
        const int u = std::countr_zero(left);
        const std::uint64_t later = left & (left - 1);
        if (later == 0 && least == std::numeric_limits<double>::infinity()) return at(u, u);
        for (std::uint64_t rest = later; rest != 0; rest &= rest - 1) least = std::min(least, at(u, std::countr_zero(rest)));
    }
    return least;
}

// Whether neither the set nor a superset can be better than what is known. A variable y adds at most its own entropy,
// given what is there, and multiplies the penalty; the entropy only falls and the penalty only rises with more parents
// (de Campos et al. 2018).
bool ParentSets::hopeless(std::uint64_t set, double best) const {
    const double cost = penalty(child_, set);
    if (bounds_.best_fit[child_] - cost <= enough(best)) return true;
    if (bounds_.price <= 0) return false;
    for (std::uint64_t left = set & ~rules_[child_].required; left != 0; left &= left - 1) {
        const int y = std::countr_zero(left);
        if (most_entropy(y, set ^ one << y) + slack_ <= cost - cost / cardinalities_[y]) return true;
    }
    return false;
}

// What a score must be above to matter, where a subset's is `best`.
double ParentSets::enough(double best) const { return slack_ > 0 ? best - slack_ - tie_of(best) : best + tie_of(best); }

void ParentSets::grow(StopCheck check) {
    Patience patience(check);
    const std::uint64_t free = rules_[child_].allowed & ~rules_[child_].required;
    for (const Growing& from : children_[child_].growing) {
        patience.ask();
        const std::uint64_t own = from.set & ~rules_[child_].required;
        const std::uint64_t later = own == 0 ? free : free & (~std::uint64_t{0} << (std::bit_width(own) - 1)) & ~own;
        for (std::uint64_t left = gave_up() ? 0 : later; left != 0; left &= left - 1) {
            const std::uint64_t set = from.set | (left & ~(left - 1));
            double best = none;
            if (cells(set) > rules_[child_].most_cells || !known_subsets(set, best) || hopeless(set, best)) continue;
            want(set, best);
        }
    }
}

void ParentSets::tell(std::span<const double> scores, std::span<const double> fits, StopCheck check) {
    std::vector<Growing> grown;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
        const auto [set, before] = candidates_[i];
        if (scores[i] > enough(before) || before == none) found_[child_].push_back({set, scores[i]});
        const double best = std::max(before, scores[i]);
        const double cost = fits.empty() ? 0.0 : fits[i] - scores[i];
        const bool promising = bounds_.best_fit[child_] - cost > enough(best);
        if (promising && std::popcount(set) < rules_[child_].most) grown.push_back({set, best});
    }
    candidates_.clear();
    wanted_.clear();
    Child& child = children_[child_];
    child.best = SetNumbers(grown.size());
    for (const Growing& g : grown) child.best.insert(g.set, g.best);
    child.growing = std::move(grown);
    next_wanted(check);
    if (!wanted_.children.empty()) return;
    for (auto& sets : found_) {
        std::stable_sort(sets.begin(), sets.end(), [](auto& a, auto& b) { return a.score > b.score; });
    }
}

}  // namespace fishernet
