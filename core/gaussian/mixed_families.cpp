#include "gaussian/mixed_families.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numbers>
#include <optional>

#include "base/pool.hpp"
#include "base/sequence_map.hpp"
#include "gaussian/fractional.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t families_at_once = 64;

// The Cholesky factor of the products of a family's columns, the child last, a row after the other. Families of one child that
// have all parents in common but one, which is then the last before it, share the rows of the others.
class Family {
public:
    void begin(std::span<const std::int32_t> parents, std::int32_t child) {
        columns_.assign(parents.begin(), parents.end());
        columns_.push_back(child);
        factor_.resize(columns_.size() * columns_.size());
    }

    std::size_t size() const { return columns_.size(); }

    // Factors the products of a configuration. A parent of which those before it leave no more than a share of `least` (d) is
    // passed over: its pivot is 0. False if one is.
    bool factorize(const double* products, std::span<const double> least, double share) {
        const bool free = factorize_before(columns_.size() - 1, products, least, share);
        end(fill(columns_.size() - 1, 0, columns_.size() - 1, products, squares_of_child(products)));
        return free;
    }

    // The same of all parents but the last, which may then be one after the other.
    bool factorize_shared(const double* products, std::span<const double> least, double share) {
        const auto n = columns_.size();
        const bool free = factorize_before(n - 2, products, least, share);
        shared_rest_ = fill(n - 1, 0, n - 2, products, squares_of_child(products));
        return free;
    }

    bool factorize_with(std::int32_t parent, const double* products, std::span<const double> least, double share) {
        const auto n = columns_.size();
        columns_[n - 2] = parent;
        const bool free = factorize_row(n - 2, products, least, share);
        end(fill(n - 1, n - 2, n - 1, products, shared_rest_));
        return free;
    }

    // Has another parent as the last one, for `squares`.
    void take(std::int32_t parent) { columns_[columns_.size() - 2] = parent; }

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
    bool factorize_before(std::size_t last, const double* products, std::span<const double> least, double share) {
        bool free = true;
        for (std::size_t i = 0; i < last; ++i) free = factorize_row(i, products, least, share) && free;
        return free;
    }

    bool factorize_row(std::size_t i, const double* products, std::span<const double> least, double share) {
        const double rest = fill(i, 0, i, products, product(products, i, i));
        const bool held = rest > share * least[static_cast<std::size_t>(columns_[i])];
        factor_[i * columns_.size() + i] = held ? std::sqrt(rest) : 0;
        return held;
    }

    // Fills some places of a row, and returns what they leave of its squares.
    double fill(std::size_t i, std::size_t first, std::size_t last, const double* products, double rest) {
        const auto n = columns_.size();
        double* own = factor_.data() + i * n;
        for (std::size_t k = first; k < last; ++k) {
            const double* before = factor_.data() + k * n;
            double along = product(products, i, k);
            for (std::size_t u = 0; u < k; ++u) along -= before[u] * own[u];
            own[k] = before[k] > 0 ? along / before[k] : 0;
            rest -= own[k] * own[k];
        }
        return rest;
    }

    void end(double rest) { factor_.back() = rest > 0 ? std::sqrt(rest) : 0; }

    double squares_of_child(const double* products) const { return product(products, columns_.size() - 1, columns_.size() - 1); }

    // The product of two of the columns, by their places among these.
    double product(const double* products, std::size_t i, std::size_t k) const {
        return products[CellMoments::place(static_cast<std::size_t>(columns_[i]), static_cast<std::size_t>(columns_[k]))];
    }

    std::vector<std::int32_t> columns_;
    std::vector<double> factor_;
    double shared_rest_ = 0;  // what all parents but the last leave of the child
};

// Likelihoods of families of the same moments.
class Likelihoods {
public:
    // Beside the moments of configurations it takes those of all rows.
    Likelihoods(const CellMoments& cells, std::span<const double> floors, const CellMoments& all)
        : cells_(cells), floors_(floors), all_(all), least_(static_cast<std::size_t>(cells.d)) {
        for (std::size_t i = 0; i < least_.size(); ++i) least_[i] = no_rest * all_.products[CellMoments::place(i, i)];
    }

    double of(std::span<const std::int32_t> parents, std::int32_t child, Family& family) const {
        // rows that are next to as few as parameters tell of the child alone
        family.begin(tells_alone(parents.size()) ? parents.first(0) : parents, child);
        family.factorize(all_.products.data(), least_, 1);
        const auto all = overall(family, child);
        double sum = 0;
        for (std::size_t j = 0; j < cells_.size(); ++j) {
            const double weight = cells_.weights[j];
            if (!(weight > 0)) continue;
            const bool free = is_enough(weight, family) && family.factorize(products(j), least_, weight / total());
            sum -= of_cell(j, free, family, child, all);
        }
        return sum;
    }

    // The same of one family for each of some parents beside those that all have.
    void of_each(std::span<const std::int32_t> shared, std::span<const std::int32_t> others, std::int32_t child, Family& family,
                 std::span<double> found) const {
        std::vector<std::int32_t> parents(shared.begin(), shared.end());
        parents.push_back(others[0]);
        if (tells_alone(parents.size())) {
            std::ranges::fill(found, of({}, child, family));
            return;
        }
        family.begin(parents, child);
        std::vector<Overall> all;
        family.factorize_shared(all_.products.data(), least_, 1);
        for (const auto other : others) {
            family.factorize_with(other, all_.products.data(), least_, 1);
            all.push_back(overall(family, child));
        }
        std::ranges::fill(found, 0.0);
        for (std::size_t j = 0; j < cells_.size(); ++j) {
            const double weight = cells_.weights[j], share = weight / total();
            if (!(weight > 0)) continue;
            const bool may_be_free = is_enough(weight, family) && family.factorize_shared(products(j), least_, share);
            for (std::size_t i = 0; i < others.size(); ++i) {
                const bool free = may_be_free && family.factorize_with(others[i], products(j), least_, share);
                if (!free) family.take(others[i]);
                found[i] -= of_cell(j, free, family, child, all[i]);
            }
        }
    }

private:
    // A regression on the rows of all configurations.
    struct Overall {
        double variance;
        std::vector<double> combination;
    };

    double total() const { return all_.weights[0]; }
    bool tells_alone(std::size_t n_parents) const { return total() < 2 * static_cast<double>(n_parents + 2); }
    static bool is_enough(double weight, const Family& family) { return weight >= static_cast<double>(family.size() + 1); }
    const double* products(std::size_t cell) const {
        return cells_.products.data() + cell * CellMoments::n_products(static_cast<std::size_t>(cells_.d));
    }

    Overall overall(const Family& family, std::int32_t child) const {
        const auto v = static_cast<std::size_t>(child);
        Overall found{std::max({family.rest() / total(), least_[v] / total(), floors_[v]}), {}};
        family.residual(found.combination);
        return found;
    }

    // The logarithm of a configuration's density, negative, with a regression of its own if its rows leave one free.
    double of_cell(std::size_t cell, bool free, const Family& family, std::int32_t child, const Overall& all) const {
        const auto v = static_cast<std::size_t>(child), d = static_cast<std::size_t>(cells_.d);
        const double weight = cells_.weights[cell], floor = floors_[v];
        const double nothing = floor > 0 ? 0 : least_[v] * (weight / total());
        double own = all.variance, squares = 0;
        if (free && (family.rest() > nothing || floor > 0)) {
            squares = family.rest();
            own = std::max(squares / weight, floor);
        } else {
            squares = family.squares(all.combination, products(cell), cells_.means.data() + cell * d, all_.means.data(), weight);
        }
        return own > 0 ? 0.5 * weight * std::log(2 * std::numbers::pi * own) + 0.5 * squares / own : 0;
    }

    CellMoments cells_;
    std::span<const double> floors_;
    CellMoments all_;
    std::vector<double> least_;  // of each sum of squares: what counts as nothing
};

// Families in a row with the same child and parents, but for one more that each has; none if they are fewer than two.
struct Alike {
    std::vector<std::int32_t> shared, others;
};

Alike families_with_one_more(const Families& families, std::size_t first, std::size_t end) {
    Alike found;
    const auto own = families.parents_of(first);
    if (first + 1 == end || own.empty()) return found;
    std::ranges::set_intersection(own, families.parents_of(first + 1), std::back_inserter(found.shared));
    if (found.shared.size() + 1 != own.size()) return found;
    for (auto f = first; f < end; ++f) {
        const auto parents = families.parents_of(f);
        const bool alike = families.children[f] == families.children[first] && parents.size() == own.size() &&
                           std::ranges::includes(parents, found.shared);
        if (!alike) break;
        found.others.push_back(*std::ranges::mismatch(parents, found.shared).in1);
    }
    if (found.others.size() < 2) found.others.clear();
    return found;
}

// Families of numbers in a row, by moments of these numbers, ascending.
void score(const Likelihoods& likelihoods, std::span<const std::int32_t> numbers, const Families& families, std::size_t first,
           std::size_t end, std::span<double> found) {
    Family family;
    while (first < end) {
        const auto child = places({families.children.data() + first, 1}, numbers)[0];
        const auto alike = families_with_one_more(families, first, end);
        if (alike.others.empty()) {
            found[first] = likelihoods.of(places(families.parents_of(first), numbers), child, family);
            ++first;
            continue;
        }
        const auto others = places(alike.others, numbers);
        likelihoods.of_each(places(alike.shared, numbers), others, child, family, found.subspan(first, others.size()));
        first += others.size();
    }
}

std::vector<double> some_floors(std::span<const double> floors, std::span<const std::int32_t> numbers) {
    std::vector<double> found;
    for (const auto v : numbers) found.push_back(floors[static_cast<std::size_t>(v)]);
    return found;
}

// Families by the moments of their labels: whose place each has.
std::vector<double> likelihoods_of(std::span<const LabelMoments* const> moments, std::span<const std::int32_t> of_family,
                                   std::span<const double> floors, const Families& families, const LabelMoments* all,
                                   StopCheck check) {
    const auto n = static_cast<std::int64_t>(families.size());
    std::vector<std::vector<double>> own_floors(moments.size());  // of the numbers of each
    std::vector<OwnedMoments> every(moments.size());              // of all rows
    std::vector<std::optional<Likelihoods>> likelihoods(moments.size());
    const auto prepare = [&](std::int64_t m) {
        const auto& [_, numbers, cardinalities, states, own] = *moments[m];
        own_floors[m] = some_floors(floors, numbers);
        every[m] = all ? pooled(all->moments.cells(), places(numbers, all->numbers)) : pooled(own.cells());
        likelihoods[m].emplace(own.cells(), own_floors[m], every[m].cells());
    };
    run_tasks(static_cast<std::int64_t>(moments.size()), prepare, check);
    std::vector<double> found(families.size());
    const auto score_block = [&](std::int64_t block) {
        const auto end = static_cast<std::size_t>(std::min(n, (block + 1) * families_at_once));
        for (std::size_t first = static_cast<std::size_t>(block * families_at_once), last = first; first < end; first = last) {
            const auto m = of_family[first];
            while (last < end && of_family[last] == m) ++last;
            const auto at = static_cast<std::size_t>(m);
            score(*likelihoods[at], moments[at]->numbers, families, first, last, found);
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
    const auto compare = [&](std::span<const std::size_t> some, const PatternMoments& moments) {
        const auto& [numbers, in_cells, all] = moments;
        if (!(all.weights[0] > 0)) return;
        const auto own_floors = some_floors(floors, numbers);
        FamilyList together, alone;
        std::vector<std::int32_t> parents;
        for (const auto f : some) {
            parents.clear();
            for (const auto p : families.parents_of(f)) {
                if (moments_of.rows().is_number(p)) parents.push_back(p);
            }
            together.add(families.children[f], parents);
            alone.add(families.children[f], {});
        }
        std::vector<double> with(some.size()), without(some.size());
        score({in_cells.cells(), own_floors, all.cells()}, numbers, together.view(), 0, some.size(), with);
        score({all.cells(), own_floors, all.cells()}, numbers, alone.view(), 0, some.size(), without);
        for (std::size_t i = 0; i < some.size(); ++i) {
            found.likelihoods[some[i]] = with[i] - without[i];
            found.weights[some[i]] = all.weights[0];
        }
    };
    moments_of.find(families, compare, check);
    return found;
}

}  // namespace fishernet
