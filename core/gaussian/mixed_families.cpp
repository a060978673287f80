#include "gaussian/mixed_families.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>
#include <optional>
#include <type_traits>

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

// The moments of a family's numbers, the child last, in the configurations of its labels, of the rows that lack nothing of it.
class FamilyMoments {
public:
    FamilyMoments(const IncompleteRows& rows, std::span<const std::int32_t> parents, std::int32_t child) : rows_(rows) {
        for (const auto p : parents) (rows.is_number(p) ? numbers_ : labels_).push_back(p);
        numbers_.push_back(child);
        d_ = numbers_.size();
        for (const auto v : labels_) n_cells_ *= column(v).cardinality;
        lanes_ = n_cells_ * n_products() <= few ? 8 : 1;
        add_means();
        add_products();
    }

    CellMoments cells() const { return {weights_, means_, products_, static_cast<std::int32_t>(d_)}; }

    // Those of the child, whatever the configuration.
    OwnedMoments of_child() const {
        const std::vector<std::int64_t> groups(weights_.size());
        return pooled(cells(), {{static_cast<std::int32_t>(d_) - 1}}, groups, 1);
    }

    const std::vector<std::int32_t>& numbers() const { return numbers_; }

private:
    std::size_t n_products() const { return CellMoments::n_products(d_); }

    static constexpr std::size_t rows_at_once = 2048;  // a multiple of the lanes
    static constexpr std::size_t few = 1024;

    const Column& column(std::int32_t v) const { return rows_.columns[static_cast<std::size_t>(v)]; }

    // Calls each(first, n, cells) for some rows at a time, with the configuration of each of these.
    template <class F>
    void by_blocks(F&& each) const {
        std::array<std::uint32_t, rows_at_once> cells;
        for (std::size_t first = 0; first < rows_.n; first += rows_at_once) {
            const auto n = std::min(rows_at_once, rows_.n - first);
            find_cells(first, n, cells.data());
            each(first, n, cells.data());
        }
    }

    void find_cells(std::size_t first, std::size_t n, std::uint32_t* __restrict cells) const {
        std::fill_n(cells, n, 0U);
        for (const auto v : labels_) {
            const auto states = column(v).cardinality;
            with_codes(v, [&](const auto* codes) {
                for (std::size_t r = 0; r < n; ++r) cells[r] = cells[r] * states + codes[first + r];
            });
        }
        for (const auto v : labels_) leave_out(v, first, n, cells);
        for (const auto v : numbers_) leave_out(v, first, n, cells);
    }

    // Gives the rows that lack a cell of a column the configuration after the last.
    void leave_out(std::int32_t v, std::size_t first, std::size_t n, std::uint32_t* __restrict cells) const {
        if (!column(v).has_missing) return;
        const auto none = static_cast<std::uint32_t>(n_cells_), states = column(v).cardinality;
        with_codes(v, [&](const auto* codes) {
            for (std::size_t r = 0; r < n; ++r) cells[r] = codes[first + r] == states ? none : cells[r];
        });
    }

    template <class F>
    void with_codes(std::int32_t v, F&& each) const {
        switch (column(v).width) {
            case 1: each(static_cast<const std::uint8_t*>(column(v).codes)); break;
            case 2: each(static_cast<const std::uint16_t*>(column(v).codes)); break;
            default: each(static_cast<const std::uint32_t*>(column(v).codes));
        }
    }

    // Adds up sums of each configuration, `width` of each, and leaves out those of the configuration after the last.
    // Where configurations are few, rows that follow one another add to sums of their own, so that none waits for the last.
    template <class F>
    std::vector<double> sums(std::size_t width, F&& add) const {
        std::vector<double> lanes((n_cells_ + 1) * lanes_ * width), found(n_cells_ * width);
        by_blocks([&](std::size_t first, std::size_t n, const std::uint32_t* cells) {
            for (std::size_t r = 0; r < n; ++r) {
                add(first + r, cells[r], lanes.data() + (cells[r] * lanes_ + r % lanes_) * width);
            }
        });
        for (std::size_t cell = 0; cell < n_cells_; ++cell) {
            for (std::size_t lane = 0; lane < lanes_; ++lane) {
                const double* from = lanes.data() + (cell * lanes_ + lane) * width;
                for (std::size_t i = 0; i < width; ++i) found[cell * width + i] += from[i];
            }
        }
        return found;
    }

    // Calls add with how many numbers there are, as a constant where they are few: its loops are unrolled.
    template <class F>
    void with_width(F&& add) {
        switch (d_) {
            case 1: return add(std::integral_constant<std::size_t, 1>());
            case 2: return add(std::integral_constant<std::size_t, 2>());
            case 3: return add(std::integral_constant<std::size_t, 3>());
            case 4: return add(std::integral_constant<std::size_t, 4>());
            default: return add(d_);
        }
    }

    void add_means() {
        std::vector<double> found;
        with_width([&](auto d) {
            found = sums(d + 1, [&, columns = columns()](std::size_t row, std::uint32_t, double* __restrict sum) {
                const double weight = rows_.weight(row);
                sum[0] += weight;
                for (std::size_t i = 0; i < d; ++i) sum[i + 1] += weight * columns[i][row];
            });
        });
        for (std::size_t cell = 0; cell < n_cells_; ++cell) {
            const double* sum = found.data() + cell * (d_ + 1);
            weights_.push_back(sum[0]);
            for (std::size_t i = 0; i < d_; ++i) means_.push_back(sum[0] > 0 ? sum[i + 1] / sum[0] : 0.0);
        }
    }

    void add_products() {
        auto means = means_;
        means.resize(means.size() + d_);
        std::vector<double> apart(d_);
        with_width([&](auto d) {
            products_ = sums(n_products(), [&, columns = columns(), apart = apart.data()](std::size_t row, std::uint32_t cell,
                                                                                          double* __restrict sum) {
                const double* mean = means.data() + cell * d;
                const double weight = rows_.weight(row);
                for (std::size_t i = 0; i < d; ++i) {
                    apart[i] = columns[i][row] - mean[i];
                    for (std::size_t k = 0; k <= i; ++k) sum[CellMoments::place(i, k)] += weight * apart[i] * apart[k];
                }
            });
        });
    }

    std::vector<const double*> columns() const {
        std::vector<const double*> found;
        for (const auto v : numbers_) found.push_back(rows_.numbers(v));
        return found;
    }

    const IncompleteRows& rows_;
    std::size_t d_ = 0, n_cells_ = 1, lanes_ = 1;
    std::vector<std::int32_t> labels_, numbers_;
    std::vector<double> weights_, means_, products_;
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
