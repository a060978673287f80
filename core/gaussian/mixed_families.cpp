#include "gaussian/mixed_families.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>
#include <unordered_map>

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
    const CellMoments& cells_;
    std::span<const double> floors_;
    OwnedMoments all_;
    std::vector<double> least_;  // of each sum of squares: what counts as nothing
};

// The moments of a family's numbers, the child last, in the configurations that occur among the rows that lack nothing.
class FamilyMoments {
public:
    FamilyMoments(const IncompleteRows& rows, std::span<const std::int32_t> parents, std::int32_t child) {
        for (const auto p : parents) (rows.number(p) ? numbers_ : labels_).push_back(p);
        numbers_.push_back(child);
        d_ = numbers_.size();
        find_cells(rows);
        means_.assign(weights_.size() * d_, 0);
        products_.assign(weights_.size() * CellMoments::n_products(d_), 0);
        for (std::size_t i = 0; i < d_; ++i) add_means(rows.column(numbers_[i]), rows.weights, i);
        for (std::size_t i = 0; i < d_; ++i) {
            for (std::size_t k = 0; k <= i; ++k) {
                add_products(rows.column(numbers_[i]), rows.column(numbers_[k]), rows.weights, i, k);
            }
        }
    }

    CellMoments cells() const { return {weights_, means_, products_, static_cast<std::int32_t>(d_)}; }

    // Those of the child, whatever the configuration.
    OwnedMoments of_child() const {
        const std::vector<std::int64_t> groups(weights_.size());
        return pooled(cells(), {{static_cast<std::int32_t>(d_) - 1}}, groups, 1);
    }

    const std::vector<std::int32_t>& numbers() const { return numbers_; }

private:
    void find_cells(const IncompleteRows& rows) {
        std::unordered_map<std::int64_t, std::int32_t> places;
        for (std::size_t r = 0; r < rows.n; ++r) {
            bool there = true;
            std::int64_t cell = 0;
            for (const auto v : labels_) {
                const double code = rows.column(v)[r];
                there = there && !std::isnan(code);
                cell = cell * rows.cardinalities[static_cast<std::size_t>(v)] + (there ? static_cast<std::int64_t>(code) : 0);
            }
            for (const auto v : numbers_) there = there && !std::isnan(rows.column(v)[r]);
            if (!there) continue;
            const auto [place, fresh] = places.try_emplace(cell, static_cast<std::int32_t>(weights_.size()));
            if (fresh) weights_.push_back(0);
            weights_[static_cast<std::size_t>(place->second)] += rows.weights.empty() ? 1 : rows.weights[r];
            known_.push_back(r);
            cells_.push_back(place->second);
        }
    }

    void add_means(const double* column, std::span<const double> weights, std::size_t i) {
        for (std::size_t at = 0; at < known_.size(); ++at) {
            const double weight = weights.empty() ? 1 : weights[known_[at]];
            means_[static_cast<std::size_t>(cells_[at]) * d_ + i] += weight * column[known_[at]];
        }
        for (std::size_t j = 0; j < weights_.size(); ++j) {
            if (weights_[j] > 0) means_[j * d_ + i] /= weights_[j];
        }
    }

    void add_products(const double* one, const double* other, std::span<const double> weights, std::size_t i, std::size_t k) {
        for (std::size_t at = 0; at < known_.size(); ++at) {
            const auto j = static_cast<std::size_t>(cells_[at]);
            const double weight = weights.empty() ? 1 : weights[known_[at]];
            products_[j * CellMoments::n_products(d_) + CellMoments::place(i, k)] +=
                weight * (one[known_[at]] - means_[j * d_ + i]) * (other[known_[at]] - means_[j * d_ + k]);
        }
    }

    std::size_t d_ = 0;
    std::vector<std::int32_t> labels_, numbers_;
    std::vector<std::size_t> known_;   // rows that lack nothing
    std::vector<std::int32_t> cells_;  // the configuration of each
    std::vector<double> weights_, means_, products_;
};

}  // namespace

std::vector<double> mixed_likelihoods(const CellMoments& cells, std::span<const double> floors, const Families& families,
                                      StopCheck check) {
    const auto n = static_cast<std::int64_t>(families.size());
    const Likelihoods likelihoods(cells, floors);
    std::vector<double> found(families.size());
    const auto score_block = [&](std::int64_t block) {
        Family family;
        std::vector<double> combination;
        for (auto f = block * families_at_once; f < std::min(n, (block + 1) * families_at_once); ++f) {
            const auto at = static_cast<std::size_t>(f);
            found[at] = likelihoods.of(families.parents_of(at), families.children[at], family, combination);
        }
    };
    run_tasks((n + families_at_once - 1) / families_at_once, score_block, check);
    return found;
}

Told told_by_parents(const IncompleteRows& rows, std::span<const double> floors, const Families& families, StopCheck check) {
    Told found{std::vector<double>(families.size()), std::vector<double>(families.size())};
    const auto score = [&](std::int64_t f) {
        const auto at = static_cast<std::size_t>(f);
        const FamilyMoments moments(rows, families.parents_of(at), families.children[at]);
        const auto cells = moments.cells();
        const auto& numbers = moments.numbers();
        const auto child = static_cast<std::int32_t>(numbers.size() - 1);
        std::vector<double> own_floors;
        for (const auto v : numbers) own_floors.push_back(floors[static_cast<std::size_t>(v)]);
        std::vector<std::int32_t> parents;
        for (std::int32_t p = 0; p < child; ++p) parents.push_back(p);
        const Likelihoods together(cells, own_floors);
        found.weights[at] = together.weight();
        if (!(together.weight() > 0)) return;
        const auto alone = moments.of_child();
        const auto own_cells = alone.cells();
        Family family, single;
        std::vector<double> combination;
        found.likelihoods[at] =
            together.of(parents, child, family, combination) -
            Likelihoods(own_cells, std::span(own_floors).last(1)).of({}, 0, single, combination);
    };
    run_tasks(static_cast<std::int64_t>(families.size()), score, check);
    return found;
}

}  // namespace fishernet
