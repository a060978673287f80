#include "gaussian/mixed_families.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>

#include "base/pool.hpp"
#include "base/sequence_map.hpp"
#include "gaussian/fractional.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t families_at_once = 16;

// The moments of some of the numbers, or of all, of all rows as one configuration.
OwnedMoments whole(const CellMoments& cells, std::span<const std::int32_t> members) {
    const std::vector<std::int64_t> groups(cells.size());
    return pooled(cells, members, groups, 1);
}

OwnedMoments whole(const CellMoments& cells) {
    std::vector<std::int32_t> members(static_cast<std::size_t>(cells.d));
    std::iota(members.begin(), members.end(), 0);
    return whole(cells, members);
}

// The Cholesky factor of the products of a family's columns, the child last, a row after the other.
class Family {
public:
    void begin(std::span<const std::int32_t> parents, std::int32_t child) {
        columns_.assign(parents.begin(), parents.end());
        columns_.push_back(child);
        factor_.resize(columns_.size() * columns_.size());
    }

    std::size_t size() const { return columns_.size(); }

    // Factors the products of a configuration. A parent of which those before it leave no more than a share of `least` (d) is passed over:
    // its pivot is 0. False if one is.
    bool factorize(const double* products, std::span<const double> least, double share) {
        const auto n = columns_.size();
        bool free = true;
        for (std::size_t i = 0; i < n; ++i) {
            double* own = factor_.data() + i * n;
            double rest = product(products, i, i);
            for (std::size_t k = 0; k < i; ++k) {
                const double* before = factor_.data() + k * n;
                double along = product(products, i, k);
                for (std::size_t u = 0; u < k; ++u) along -= before[u] * own[u];
                own[k] = before[k] > 0 ? along / before[k] : 0;
                rest -= own[k] * own[k];
            }
            const bool last = i + 1 == n, held = rest > (last ? 0 : share * least[columns_[i]]);
            free = free && (held || last);
            own[i] = held ? std::sqrt(rest) : 0;
        }
        return free;
    }

    // The sum of squares that the others leave of the child.
    double rest() const {
        const double last = factor_.back();
        return last * last;
    }

    // The child less its regression on the others, as a combination of the columns: the child's coefficient is 1.
    void residual(std::vector<double>& combination) const {
        const auto n = columns_.size();
        combination.assign(n, 0);
        combination[n - 1] = 1;
        for (std::size_t i = n - 1; i-- > 0;) {
            const double pivot = factor_[i * n + i];
            if (!(pivot > 0)) continue;
            double along = factor_[(n - 1) * n + i];
            for (std::size_t k = i + 1; k + 1 < n; ++k) along += combination[k] * factor_[k * n + i];
            combination[i] = -along / pivot;
        }
    }

    // The sum of squares of a combination of the columns in a configuration, taken from `mean`.
    double squares(const std::vector<double>& combination, const double* products, const double* own, const double* mean,
                   double weight) const {
        double sum = 0, apart = 0;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const auto at = static_cast<std::size_t>(columns_[i]);
            double along = 0;
            for (std::size_t k = 0; k < columns_.size(); ++k) along += product(products, i, k) * combination[k];
            sum += combination[i] * along;
            apart += combination[i] * (own[at] - mean[at]);
        }
        return std::max(0.0, sum) + weight * apart * apart;
    }

private:
    // The product of two of the columns, by their places among these.
    double product(const double* products, std::size_t i, std::size_t k) const {
        return products[CellMoments::place(static_cast<std::size_t>(columns_[i]), static_cast<std::size_t>(columns_[k]))];
    }

    std::vector<std::int32_t> columns_;
    std::vector<double> factor_;
};

// Likelihoods of families of the same moments.
class Likelihoods {
public:
    Likelihoods(const CellMoments& cells, std::span<const double> floors) : Likelihoods(cells, floors, whole(cells)) {}

    Likelihoods(const CellMoments& cells, std::span<const double> floors, OwnedMoments all)
        : cells_(cells), floors_(floors), all_(std::move(all)), least_(static_cast<std::size_t>(cells.d)) {
        for (std::size_t i = 0; i < least_.size(); ++i) least_[i] = no_rest * all_.products[CellMoments::place(i, i)];
    }

    double weight() const { return all_.weights[0]; }

    double of(std::span<const std::int32_t> parents, std::int32_t number, Family& family,
              std::vector<double>& combination) const {
        const auto d = static_cast<std::size_t>(cells_.d), child = static_cast<std::size_t>(number);
        // rows that are next to as few as parameters tell of the child alone
        const double total = weight();
        const bool few = total < 2 * static_cast<double>(parents.size() + 2);
        family.begin(few ? parents.first(0) : parents, number);
        family.factorize(all_.products.data(), least_, 1);
        family.residual(combination);
        const double floor = floors_[child];
        const double variance = std::max({family.rest() / total, least_[child] / total, floor});
        const auto needed = static_cast<double>(family.size() + 1);
        double sum = 0;
        for (std::size_t j = 0; j < cells_.size(); ++j) {
            const double weight = cells_.weights[j];
            if (!(weight > 0)) continue;
            const double* products = cells_.products.data() + j * CellMoments::n_products(d);
            double own = variance, squares = 0;
            const bool free = weight >= needed && family.factorize(products, least_, weight / total);
            const double nothing = floor > 0 ? 0 : least_[child] * (weight / total);
            if (free && (family.rest() > nothing || floor > 0)) {
                squares = family.rest();
                own = std::max(squares / weight, floor);
            } else {
                squares =
                    family.squares(combination, products, cells_.means.data() + j * d, all_.means.data(), weight);
            }
            if (own > 0) sum -= 0.5 * weight * std::log(2 * std::numbers::pi * own) + 0.5 * squares / own;
        }
        return sum;
    }

private:
    CellMoments cells_;
    std::span<const double> floors_;
    OwnedMoments all_;  // the rows of all cells
    std::vector<double> least_;  // of each sum of squares: what counts as nothing
};

// Families by the moments of their labels: whose place each has.
std::vector<double> likelihoods_of(std::span<const LabelMoments* const> moments, std::span<const std::int32_t> of_family,
                                   std::span<const double> floors, const Families& families, const LabelMoments* all,
                                   StopCheck check) {
    const auto n = static_cast<std::int64_t>(families.size());
    std::vector<std::vector<double>> own_floors(moments.size());  // of the numbers of each
    std::vector<std::optional<Likelihoods>> likelihoods(moments.size());
    const auto prepare = [&](std::int64_t m) {
        const auto& [_, numbers, cardinalities, states, own] = *moments[m];
        for (const auto v : numbers) own_floors[m].push_back(floors[static_cast<std::size_t>(v)]);
        auto every = all ? whole(all->moments.cells(), places(numbers, all->numbers)) : whole(own.cells());
        likelihoods[m].emplace(own.cells(), own_floors[m], std::move(every));
    };
    run_tasks(static_cast<std::int64_t>(moments.size()), prepare, check);
    std::vector<double> found(families.size());
    const auto score_block = [&](std::int64_t block) {
        Family family;
        std::vector<double> combination;
        for (auto f = block * families_at_once; f < std::min(n, (block + 1) * families_at_once); ++f) {
            const auto at = static_cast<std::size_t>(f), m = static_cast<std::size_t>(of_family[at]);
            const auto parents = places(families.parents_of(at), moments[m]->numbers);
            const auto child = places({families.children.data() + at, 1}, moments[m]->numbers)[0];
            found[at] = likelihoods[m]->of(parents, child, family, combination);
        }
    };
    run_tasks((n + families_at_once - 1) / families_at_once, score_block, check);
    return found;
}

// Families whose parents have the same labels, which are asked for together.
class ByLabels {
public:
    ByLabels(const MomentStore& store, const Families& families) : words_((store.n_columns() + 63) / 64) {
        SequenceMap<std::size_t> group_of;
        std::vector<std::int32_t> labels;
        for (std::size_t f = 0; f < families.size(); ++f) {
            labels.clear();
            for (const auto p : families.parents_of(f)) {
                if (!store.is_number(p)) labels.push_back(p);
            }
            const auto known = group_of.size();
            const auto group = group_of[group_of.find_or_insert(labels, known)];
            if (group == known) {
                asked_.push_back({labels, {}});
                members_.emplace_back();
                marks_.resize(marks_.size() + words_);
            }
            members_[group].push_back(f);
            mark(group, families.children[f]);
            for (const auto p : families.parents_of(f)) {
                if (store.is_number(p)) mark(group, p);
            }
        }
        for (std::size_t group = 0; group < asked_.size(); ++group) {
            for (const auto v : store.numbers()) {
                if (word(group, v) >> (v % 64) & 1) asked_[group].numbers.push_back(v);
            }
        }
    }

    const std::vector<MomentsAsked>& asked() const { return asked_; }

    // The families of a set of labels.
    const std::vector<std::size_t>& members(std::size_t set) const { return members_[set]; }

private:
    std::uint64_t& word(std::size_t group, std::int32_t v) { return marks_[group * words_ + static_cast<std::size_t>(v) / 64]; }
    void mark(std::size_t group, std::int32_t v) { word(group, v) |= std::uint64_t{1} << (v % 64); }

    std::size_t words_;
    std::vector<MomentsAsked> asked_;
    std::vector<std::vector<std::size_t>> members_;
    std::vector<std::uint64_t> marks_;  // the numbers of each group
};

}  // namespace

std::vector<double> mixed_likelihoods(std::span<const LabelMoments* const> moments, std::span<const std::int32_t> of_family,
                                      std::span<const double> floors, const Families& families, StopCheck check) {
    return likelihoods_of(moments, of_family, floors, families, nullptr, check);
}

std::vector<double> mixed_likelihoods(MomentStore& store, std::span<const double> floors, const Families& families,
                                      StopCheck check) {
    std::vector<double> found(families.size());
    if (found.empty()) return found;
    const ByLabels by_labels(store, families);
    const auto all = store.whole();
    const auto score = [&](const MomentsFound& part) {
        std::vector<const LabelMoments*> moments;
        std::vector<std::int32_t> of_family, parents;
        std::vector<std::size_t> members;
        FamilyList of_numbers;
        for (std::size_t at = 0; at < part.places.size(); ++at) {
            moments.push_back(part.moments[at].get());
            for (const auto f : by_labels.members(part.places[at])) {
                parents.clear();
                for (const auto p : families.parents_of(f)) {
                    if (store.is_number(p)) parents.push_back(p);
                }
                of_numbers.add(families.children[f], parents);
                of_family.push_back(static_cast<std::int32_t>(at));
                members.push_back(f);
            }
        }
        const auto scores = likelihoods_of(moments, of_family, floors, of_numbers.view(), all.get(), check);
        for (std::size_t i = 0; i < members.size(); ++i) found[members[i]] = scores[i];
    };
    store.find(by_labels.asked(), score, check);
    return found;
}

Told told_by_parents(AvailableMoments& moments_of, std::span<const double> floors, const Families& families, StopCheck check) {
    Told found{std::vector<double>(families.size()), std::vector<double>(families.size())};
    const auto compare = [&](std::size_t f, const OwnedMoments& moments) {
        std::vector<double> own_floors;
        for (const auto p : families.parents_of(f)) {
            if (moments_of.rows().is_number(p)) own_floors.push_back(floors[static_cast<std::size_t>(p)]);
        }
        own_floors.push_back(floors[static_cast<std::size_t>(families.children[f])]);
        const auto child = static_cast<std::int32_t>(own_floors.size() - 1);
        std::vector<std::int32_t> parents(static_cast<std::size_t>(child));
        std::iota(parents.begin(), parents.end(), 0);
        const Likelihoods together(moments.cells(), own_floors);
        found.weights[f] = together.weight();
        if (!(together.weight() > 0)) return;
        const auto alone = pooled(moments.cells(), {{child}}, std::vector<std::int64_t>(moments.weights.size()), 1);
        Family family, single;
        std::vector<double> combination;
        found.likelihoods[f] = together.of(parents, child, family, combination) -
                               Likelihoods(alone.cells(), std::span(own_floors).last(1)).of({}, 0, single, combination);
    };
    moments_of.find(families, compare, check);
    return found;
}

}  // namespace fishernet
