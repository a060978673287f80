#include "gaussian/mixed_families.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "base/pool.hpp"
#include "gaussian/fractional.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t families_at_once = 16;

// The moments of all rows as one configuration: the mean (d) and the products (d, d).
struct Whole {
    double weight = 0;
    std::vector<double> mean, products;
};

Whole pooled(const CellMoments& cells) {
    const auto d = static_cast<std::size_t>(cells.d);
    Whole all{0, std::vector<double>(d), std::vector<double>(d * d)};
    for (std::size_t j = 0; j < cells.size(); ++j) {
        all.weight += cells.weights[j];
        for (std::size_t i = 0; i < d; ++i) all.mean[i] += cells.weights[j] * cells.means[j * d + i];
    }
    if (all.weight > 0) {
        for (double& mean : all.mean) mean /= all.weight;
    }
    for (std::size_t j = 0; j < cells.size(); ++j) {
        const double* mean = cells.means.data() + j * d;
        const double* products = cells.products.data() + j * d * d;
        for (std::size_t i = 0; i < d; ++i) {
            const double apart = cells.weights[j] * (mean[i] - all.mean[i]);
            for (std::size_t k = 0; k < d; ++k) all.products[i * d + k] += products[i * d + k] + apart * (mean[k] - all.mean[k]);
        }
    }
    return all;
}

// The Cholesky factor of the products of a family's columns, the child last, a row after the other.
class Family {
public:
    explicit Family(std::int32_t d) : d_(static_cast<std::size_t>(d)) {}

    void begin(std::span<const std::int32_t> parents, std::int32_t child) {
        columns_.assign(parents.begin(), parents.end());
        columns_.push_back(child);
        factor_.resize(columns_.size() * columns_.size());
    }

    std::size_t size() const { return columns_.size(); }

    // Factors products (d, d). A parent of which those before it leave no more than a share of `least` (d) is passed over:
    // its pivot is 0. False if one is.
    bool factorize(const double* products, std::span<const double> least, double share) {
        const auto n = columns_.size();
        bool free = true;
        for (std::size_t i = 0; i < n; ++i) {
            const double* row = products + static_cast<std::size_t>(columns_[i]) * d_;
            double* own = factor_.data() + i * n;
            double rest = row[columns_[i]];
            for (std::size_t k = 0; k < i; ++k) {
                const double* before = factor_.data() + k * n;
                double along = row[columns_[k]];
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
            for (std::size_t k = 0; k < columns_.size(); ++k) along += products[at * d_ + columns_[k]] * combination[k];
            sum += combination[i] * along;
            apart += combination[i] * (own[at] - mean[at]);
        }
        return std::max(0.0, sum) + weight * apart * apart;
    }

private:
    std::size_t d_;
    std::vector<std::int32_t> columns_;
    std::vector<double> factor_;
};

}  // namespace

std::vector<double> mixed_likelihoods(const CellMoments& cells, std::span<const double> floors, const Families& families,
                                      StopCheck check) {
    const auto n = static_cast<std::int64_t>(families.size());
    const auto d = static_cast<std::size_t>(cells.d);
    const auto all = pooled(cells);
    std::vector<double> least(d);  // of each sum of squares: what counts as nothing
    for (std::size_t i = 0; i < d; ++i) least[i] = no_rest * all.products[i * d + i];
    std::vector<double> found(families.size());
    const auto score_block = [&](std::int64_t block) {
        Family family(cells.d);
        std::vector<double> combination;
        for (auto f = block * families_at_once; f < std::min(n, (block + 1) * families_at_once); ++f) {
            const auto at = static_cast<std::size_t>(f);
            const auto child = static_cast<std::size_t>(families.children[at]);
            // rows that are next to as few as parameters tell of the child alone
            const auto parents = families.parents_of(at);
            const bool few = all.weight < 2 * static_cast<double>(parents.size() + 2);
            family.begin(few ? parents.first(0) : parents, families.children[at]);
            family.factorize(all.products.data(), least, 1);
            family.residual(combination);
            const double floor = floors[child];
            const double variance = std::max({family.rest() / all.weight, least[child] / all.weight, floor});
            const auto needed = static_cast<double>(family.size() + 1);
            double sum = 0;
            for (std::size_t j = 0; j < cells.size(); ++j) {
                const double weight = cells.weights[j];
                if (!(weight > 0)) continue;
                const double* products = cells.products.data() + j * d * d;
                double own = variance, squares = 0;
                const bool free = weight >= needed && family.factorize(products, least, weight / all.weight);
                const double nothing = floor > 0 ? 0 : least[child] * (weight / all.weight);
                if (free && (family.rest() > nothing || floor > 0)) {
                    squares = family.rest();
                    own = std::max(squares / weight, floor);
                } else {
                    squares = family.squares(combination, products, cells.means.data() + j * d, all.mean.data(), weight);
                }
                if (own > 0) sum -= 0.5 * weight * std::log(2 * std::numbers::pi * own) + 0.5 * squares / own;
            }
            found[at] = sum;
        }
    };
    run_tasks((n + families_at_once - 1) / families_at_once, score_block, check);
    return found;
}

}  // namespace fishernet
