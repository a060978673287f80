#include "gaussian/mixed_families.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>
#include <optional>

#include "base/pool.hpp"
#include "gaussian/fractional.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t families_at_once = 16;

// The moments of all rows as one configuration.
OwnedMoments whole(const CellMoments& cells) {
    std::vector<std::int32_t> members(static_cast<std::size_t>(cells.d));
    std::iota(members.begin(), members.end(), 0);
    const std::vector<std::int64_t> groups(cells.size());
    return pooled(cells, members, groups, 1);
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
    Likelihoods(const CellMoments& cells, std::span<const double> floors)
        : cells_(cells), floors_(floors), all_(whole(cells)), least_(static_cast<std::size_t>(cells.d)) {
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
    OwnedMoments all_;
    std::vector<double> least_;  // of each sum of squares: what counts as nothing
};

}  // namespace

std::vector<double> mixed_likelihoods(std::span<const LabelMoments* const> moments, std::span<const std::int32_t> of_family,
                                      std::span<const double> floors, const Families& families, StopCheck check) {
    const auto n = static_cast<std::int64_t>(families.size());
    std::vector<std::vector<double>> own_floors;  // of the numbers of each
    for (const auto* one : moments) {
        auto& of = own_floors.emplace_back();
        for (const auto v : one->numbers) of.push_back(floors[static_cast<std::size_t>(v)]);
    }
    std::vector<std::optional<Likelihoods>> likelihoods(moments.size());
    const auto prepare = [&](std::int64_t m) { likelihoods[m].emplace(moments[m]->moments.cells(), own_floors[m]); };
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
