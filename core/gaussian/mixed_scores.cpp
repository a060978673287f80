#include "gaussian/mixed_scores.hpp"

#include <algorithm>

#include "gaussian/mixed_families.hpp"

namespace fishernet {
namespace {

constexpr double most_of_set = 1 << 26;  // numbers in the moments of one set of labels
constexpr double enough_rows = 40;       // for each parameter: with more nothing is corrected (Burnham and Anderson, 2002)

// Some of the families, by their places.
FamilyList some_of(const Families& families, std::span<const std::int64_t> places) {
    FamilyList found;
    for (const auto f : places) found.add(families.children[f], families.parents_of(f));
    return found;
}

}  // namespace

MixedColumns::MixedColumns(std::span<const std::int64_t> cardinalities, std::span<const std::int32_t> numbers, double total,
                           bool corrected)
    : states_(cardinalities.begin(), cardinalities.end()),
      is_number_(cardinalities.size()),
      n_numbers_(static_cast<double>(numbers.size())),
      total_(total),
      corrected_(corrected) {
    for (const auto v : numbers) {
        is_number_[static_cast<std::size_t>(v)] = true;
        states_[static_cast<std::size_t>(v)] = 1;
    }
}

double MixedColumns::configurations(std::span<const std::int32_t> parents) const {
    double found = 1;
    for (const auto p : parents) found *= states_[static_cast<std::size_t>(p)];
    return found;
}

double MixedColumns::n_parameters(std::span<const std::int32_t> parents) const {
    const auto n = std::ranges::count_if(parents, [&](auto p) { return is_number(p); });
    const double each = 2 + static_cast<double>(n);
    const bool few = corrected_ && n > 0 && total_ < enough_rows * each;
    const double times = few ? total_ / std::max(1.0, total_ - each - 1) : 1.0;
    return configurations(parents) * each * times;
}

std::vector<std::int32_t> MixedColumns::telling(std::span<const std::int32_t> parents) const {
    const double cells = configurations(parents);
    const bool tell = cells == 1 || (2 * cells <= total_ && cells * n_numbers_ * n_numbers_ <= most_of_set);
    std::vector<std::int32_t> found;
    for (const auto p : parents) {
        if (tell || is_number(p)) found.push_back(p);
    }
    return found;
}

std::vector<double> MixedScores::computed(MomentStore& store, const Families& families, StopCheck check) const {
    FamilyList telling;
    for (std::size_t f = 0; f < families.size(); ++f) telling.add(families.children[f], columns_.telling(families.parents_of(f)));
    auto scores = mixed_likelihoods(store, floors_, telling.view(), check);
    for (std::size_t f = 0; f < families.size(); ++f) {
        const auto parents = families.parents_of(f);
        scores[f] -= prices_.parameter * columns_.n_parameters(parents) + prices_.parent * static_cast<double>(parents.size());
    }
    return scores;
}

void MixedScores::numbers(MomentStore& store, const Families& families, std::span<double> scores, bool once, StopCheck check) {
    if (once) {
        std::ranges::copy(computed(store, families, check), scores.begin());
        return;
    }
    const auto unknown = known_.look_up(families, scores);
    if (unknown.empty()) return;
    const auto asked = some_of(families, unknown);
    auto found = computed(store, asked.view(), check);
    known_.store(asked.view(), found);
    for (std::size_t i = 0; i < unknown.size(); ++i) scores[unknown[i]] = found[i];
}

void MixedScores::families(MomentStore& store, SetTerms* labels, std::span<const std::int32_t> label_at,
                           const Families& families, std::span<double> scores, StopCheck check) {
    std::vector<std::int64_t> of_numbers, of_labels;
    FamilyList among_labels;
    std::vector<std::int32_t> parents;
    for (std::size_t f = 0; f < families.size(); ++f) {
        const auto child = families.children[f];
        (columns_.is_number(child) ? of_numbers : of_labels).push_back(static_cast<std::int64_t>(f));
        if (columns_.is_number(child)) continue;
        parents.clear();
        for (const auto p : families.parents_of(f)) parents.push_back(label_at[static_cast<std::size_t>(p)]);
        among_labels.add(label_at[static_cast<std::size_t>(child)], parents);
    }
    std::vector<double> found(of_labels.size());
    if (!found.empty()) labels->family_scores(among_labels.view(), found, check);
    for (std::size_t i = 0; i < found.size(); ++i) scores[of_labels[i]] = found[i];
    if (of_numbers.empty()) return;
    const auto asked = some_of(families, of_numbers);
    found.resize(of_numbers.size());
    numbers(store, asked.view(), found, false, check);
    for (std::size_t i = 0; i < found.size(); ++i) scores[of_numbers[i]] = found[i];
}

}  // namespace fishernet
