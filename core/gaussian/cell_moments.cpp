#include "gaussian/cell_moments.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/float_kernels.hpp"
#include "base/pool.hpp"
#include "gaussian/rows_by_cell.hpp"

namespace fishernet {
namespace {

constexpr std::size_t sets_at_once = 4;  // as each has the order of all rows
constexpr std::size_t few_rows = 1 << 13;  // of which parts are not worth a task

// Whether members are columns that follow one another.
bool in_a_run(std::span<const std::int32_t> members) {
    for (std::size_t i = 1; i < members.size(); ++i) {
        if (members[i] != members[0] + static_cast<std::int32_t>(i)) return false;
    }
    return !members.empty();
}

// The numbers of rows that are looked up in the order of their cells, and so come from anywhere: memory is asked for early.
class ScatteredRows {
public:
    ScatteredRows(const double* values, std::size_t width, const std::uint32_t* end) : values_(values), width_(width), end_(end) {}

    // The numbers of a row that is one of those before the end.
    const double* of(const std::uint32_t& row) const {
#if defined(__GNUC__)
        if (end_ - &row > ahead) {
            const double* soon = values_ + (&row)[ahead] * width_;
            for (std::size_t i = 0; i < width_; i += line) __builtin_prefetch(soon + i);
        }
#endif
        return values_ + row * width_;
    }

private:
    static constexpr std::ptrdiff_t ahead = 16;
    static constexpr std::size_t line = 8;  // numbers

    const double* values_;
    std::size_t width_;
    const std::uint32_t* end_;
};

// Sums of products of d numbers over rows, which are brought together some at a time, so that they stay near while each
// tile of products is added up.
class ProductSums {
public:
    static constexpr std::size_t rows_at_once = 64;

    ProductSums(std::size_t d, bool weighted)
        : d_(d),
          width_(((d + columns - 1) / columns | 1) * columns),  // odd, so that rows do not share places in the cache
          apart_(rows_at_once * width_),
          scaled_(weighted ? rows_at_once * width_ : 0),
          sums_(width_ * width_) {}

    double* sums_of(std::size_t i) { return sums_.data() + i * width_; }  // with each number up to it

    // The numbers of one of the rows at once, and the same times its weight, where rows have weights.
    double* apart(std::size_t row) { return apart_.data() + row * width_; }
    double* scaled(std::size_t row) { return scaled_.data() + row * width_; }

    void clear() { std::fill(sums_.begin(), sums_.end(), 0.0); }

    void add(std::size_t n_rows) {
        const double* left = scaled_.empty() ? apart_.data() : scaled_.data();
        for (std::size_t i = 0; i < d_; i += tile_rows) {
            for (std::size_t j = 0; j < i + tile_rows && j < d_; j += columns) {
                kernels_.add_tile(sums_of(i) + j, static_cast<std::int64_t>(width_), left + i,
                                  static_cast<std::int64_t>(width_), apart_.data() + j, static_cast<std::int64_t>(width_),
                                  static_cast<std::int64_t>(n_rows));
            }
        }
    }

private:
    static constexpr auto tile_rows = static_cast<std::size_t>(FloatKernels::tile_rows);
    static constexpr auto columns = static_cast<std::size_t>(FloatKernels::tile_columns);

    std::size_t d_, width_;
    std::vector<double> apart_, scaled_, sums_;  // padded by zeros to whole tiles
    const FloatKernels& kernels_ = float_kernels();
};

// into = x - from, of some of the numbers
void take_from(double* into, const double* x, std::span<const std::int32_t> some, const double* from) {
    for (std::size_t i = 0; i < some.size(); ++i) into[i] = x[some[i]] - from[i];
}

// into = x - from
void take_from(double* into, const double* x, const double* __restrict from, std::size_t d) {
    for (std::size_t i = 0; i < d; ++i) into[i] = x[i] - from[i];
}

// into += from + by * apart
void add_with(double* __restrict into, const double* __restrict from, const double* __restrict apart, double by, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) into[k] += from[k] + by * apart[k];
}

// into = by * x
void multiply_by(double* into, const double* x, double by, std::size_t d) {
    for (std::size_t i = 0; i < d; ++i) into[i] = by * x[i];
}

// Adds the states of configurations that occur.
void add_states(LabelMoments& of, std::span<const std::size_t> configurations) {
    const auto n = of.cardinalities.size();
    of.states.resize(configurations.size() * n);
    for (std::size_t at = 0; at < configurations.size(); ++at) {
        auto rest = configurations[at];
        for (std::size_t l = n; l-- > 0;) {
            of.states[at * n + l] = static_cast<std::uint32_t>(rest % of.cardinalities[l]);
            rest /= of.cardinalities[l];
        }
    }
}

// The moments of some numbers in the configurations of some labels; rows come in the order of these.
class MomentsWithin {
public:
    static constexpr std::size_t parts = 4;  // that are added up apart

    MomentsWithin(const LabelledNumbers& rows, const MomentsAsked& asked)
        : table_(rows),
          labels_(asked.labels),
          members_(places(asked.numbers, rows.numbers)),
          by_cell_(std::span<const std::uint32_t>(cells()), configurations()) {
        const auto n_cells = configurations();
        for (std::size_t cell = 0; cell < n_cells; ++cell) {
            if (!by_cell_.of(cell).empty()) occurring_.push_back(cell);  // a row has some weight
        }
        found_.labels = asked.labels;
        found_.numbers = asked.numbers;
        for (const auto v : labels_) found_.cardinalities.push_back(column(v).cardinality);
        add_states(found_, occurring_);
        const auto q = occurring_.size(), d = members_.size();
        found_.moments = {std::vector<double>(q), std::vector<double>(q * d),
                          std::vector<double>(q * CellMoments::n_products(d)), static_cast<std::int32_t>(d)};
    }

    // Adds up one of the parts, of about as many rows each.
    void add(std::size_t part) {
        const ScatteredRows values(table_.values.data(), table_.d(), by_cell_.end());
        ProductSums sums(members_.size(), !table_.weights.empty());
        for (auto at = first_of(part); at < first_of(part + 1); ++at) add(at, values, sums);
    }

    LabelMoments take() { return std::move(found_); }

private:
    std::size_t configurations() const {
        std::size_t found = 1;
        for (const auto v : labels_) found *= column(v).cardinality;
        return found;
    }

    const Column& column(std::int32_t label) const { return table_.columns[static_cast<std::size_t>(label)]; }

    // The configuration of each row.
    std::vector<std::uint32_t> cells() const {
        std::vector<std::uint32_t> found(table_.n());
        for (const auto v : labels_) {
            with_codes(column(v), [&](const auto* codes) {
                for (std::size_t row = 0; row < found.size(); ++row) found[row] = found[row] * column(v).cardinality + codes[row];
            });
        }
        return found;
    }

    // The first of the configurations that occur whose rows begin in a part or later.
    std::size_t first_of(std::size_t part) const {
        const auto* const before = by_cell_.end() - table_.n() * (parts - part) / parts;
        const auto at = std::partition_point(occurring_.begin(), occurring_.end(),
                                             [&](std::size_t cell) { return by_cell_.of(cell).data() < before; });
        return static_cast<std::size_t>(at - occurring_.begin());
    }

    double weight_of(std::uint32_t row) const { return table_.weights.empty() ? 1.0 : table_.weights[row]; }

    // Adds up the rows of a configuration, each looked up once: what they are apart from the mean of the first of them.
    void add(std::size_t at, const ScatteredRows& values, ProductSums& sums) {
        const auto d = members_.size();
        const bool all = d == table_.d();
        const auto rows = by_cell_.of(occurring_[at]);
        auto& [weights, means, products, _] = found_.moments;
        double* mean = means.data() + at * d;
        std::vector<double> origin(d);
        double weight = 0;
        sums.clear();
        for (std::size_t first = 0; first < rows.size(); first += ProductSums::rows_at_once) {
            const auto some = rows.subspan(first, std::min(ProductSums::rows_at_once, rows.size() - first));
            for (std::size_t r = 0; r < some.size(); ++r) {
                const double own = weight_of(some[r]);
                weight += own;
                if (all) {
                    take_from(sums.apart(r), values.of(some[r]), origin.data(), d);
                } else {
                    take_from(sums.apart(r), values.of(some[r]), members_, origin.data());
                }
                kernels_.add_scaled(mean, sums.apart(r), own, static_cast<std::int64_t>(d));
            }
            if (first == 0) {
                multiply_by(origin.data(), mean, 1 / weight, d);
                std::fill_n(mean, d, 0.0);
                for (std::size_t r = 0; r < some.size(); ++r) take_from(sums.apart(r), sums.apart(r), origin.data(), d);
            }
            if (!table_.weights.empty()) {
                for (std::size_t r = 0; r < some.size(); ++r) multiply_by(sums.scaled(r), sums.apart(r), weight_of(some[r]), d);
            }
            sums.add(some.size());
        }
        weights[at] = weight;
        double* of_cell = products.data() + at * CellMoments::n_products(d);
        for (std::size_t i = 0; i < d; ++i) {
            const double* sum = sums.sums_of(i);
            for (std::size_t k = 0; k <= i; ++k) *of_cell++ = sum[k] - mean[i] * (mean[k] / weight);
        }
        for (std::size_t i = 0; i < d; ++i) mean[i] = origin[i] + mean[i] / weight;
    }

    const LabelledNumbers& table_;
    std::span<const std::int32_t> labels_;
    std::vector<std::int32_t> members_;  // of the numbers of each row
    RowsByCell by_cell_;
    std::vector<std::size_t> occurring_;  // the configurations that have rows
    LabelMoments found_;
    const FloatKernels& kernels_ = float_kernels();
};

}  // namespace

OwnedMoments pooled(const CellMoments& cells, std::span<const std::int32_t> members, std::span<const std::int64_t> groups,
                    std::size_t n_groups) {
    const auto d = members.size(), width = static_cast<std::size_t>(cells.d);
    const auto n_products = CellMoments::n_products(d), products_of_cell = CellMoments::n_products(width);
    OwnedMoments found{std::vector<double>(n_groups), std::vector<double>(n_groups * d),
                       std::vector<double>(n_groups * n_products), static_cast<std::int32_t>(d)};
    std::vector<std::size_t> first(n_groups, cells.size());  // means are taken from that of a group's first cell
    const auto mean_of = [&](std::size_t cell, std::size_t i) { return cells.means[cell * width + members[i]]; };
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
        const auto group = static_cast<std::size_t>(groups[cell]);
        const double weight = cells.weights[cell];
        if (!(weight > 0)) continue;
        if (first[group] == cells.size()) first[group] = cell;
        found.weights[group] += weight;
        double* mean = found.means.data() + group * d;
        for (std::size_t i = 0; i < d; ++i) mean[i] += weight * (mean_of(cell, i) - mean_of(first[group], i));
    }
    for (std::size_t group = 0; group < n_groups; ++group) {
        if (first[group] == cells.size()) continue;
        double* mean = found.means.data() + group * d;
        for (std::size_t i = 0; i < d; ++i) mean[i] = mean_of(first[group], i) + mean[i] / found.weights[group];
    }
    std::vector<double> apart(d);
    const bool run = in_a_run(members);
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
        const auto group = static_cast<std::size_t>(groups[cell]);
        const double weight = cells.weights[cell];
        if (!(weight > 0)) continue;
        const double* mean = found.means.data() + group * d;
        for (std::size_t i = 0; i < d; ++i) apart[i] = mean_of(cell, i) - mean[i];
        const double* of_cell = cells.products.data() + cell * products_of_cell;
        double* into = found.products.data() + group * n_products;
        for (std::size_t i = 0; i < d; ++i) {
            const double* from = of_cell + CellMoments::place(static_cast<std::size_t>(members[i]), 0);
            const double scaled = weight * apart[i];
            if (run) {
                add_with(into, from + members[0], apart.data(), scaled, i + 1);
            } else {
                for (std::size_t k = 0; k <= i; ++k) into[k] += from[members[k]] + scaled * apart[k];
            }
            into += i + 1;
        }
    }
    return found;
}

OwnedMoments pooled(const CellMoments& cells, std::span<const std::int32_t> members) {
    return pooled(cells, members, std::vector<std::int64_t>(cells.size()), 1);
}

OwnedMoments pooled(const CellMoments& cells) {
    std::vector<std::int32_t> members(static_cast<std::size_t>(cells.d));
    std::iota(members.begin(), members.end(), 0);
    return pooled(cells, members);
}

std::vector<std::int32_t> places(std::span<const std::int32_t> some, std::span<const std::int32_t> all) {
    std::vector<std::int32_t> found;
    for (const auto v : some) {
        found.push_back(static_cast<std::int32_t>(std::lower_bound(all.begin(), all.end(), v) - all.begin()));
    }
    return found;
}

LabelMoments within(const LabelMoments& held, std::span<const std::int32_t> labels, std::span<const std::int32_t> numbers) {
    LabelMoments found{{labels.begin(), labels.end()}, {numbers.begin(), numbers.end()}, {}, {}, {}};
    const auto cells = held.moments.cells();
    std::vector<std::int64_t> groups(cells.size());
    std::size_t n_groups = 1;
    for (const auto place : places(labels, held.labels)) {
        const auto l = static_cast<std::size_t>(place), states = static_cast<std::size_t>(held.cardinalities[l]);
        for (std::size_t cell = 0; cell < groups.size(); ++cell) {
            groups[cell] = groups[cell] * static_cast<std::int64_t>(states) + held.states[cell * held.labels.size() + l];
        }
        found.cardinalities.push_back(held.cardinalities[l]);
        n_groups *= states;
    }
    std::vector<std::int64_t> at(n_groups, -1);  // of each group among those that occur
    for (const auto group : groups) at[group] = 0;
    std::vector<std::size_t> occurring;
    for (std::size_t group = 0; group < n_groups; ++group) {
        if (at[group] < 0) continue;
        at[group] = static_cast<std::int64_t>(occurring.size());
        occurring.push_back(group);
    }
    for (auto& group : groups) group = at[group];
    add_states(found, occurring);
    found.moments = pooled(cells, places(numbers, held.numbers), groups, occurring.size());
    return found;
}

void add_sums(const NumberBlock& block, std::span<double> sums) {
    const auto d = block.d(), width = static_cast<std::size_t>(block.width);
    for (std::size_t row = 0; row < block.cells.size(); ++row) {
        const double* x = block.values.data() + row * width;
        double* sum = sums.data() + static_cast<std::size_t>(block.cells[row]) * d;
        const double weight = block.weights.empty() ? 1.0 : block.weights[row];
        for (std::size_t i = 0; i < d; ++i) sum[i] += weight * x[block.members[i]];
    }
}

void add_products(const NumberBlock& block, std::span<const double> centres, std::span<double> products) {
    const auto d = block.d();
    if (d == 0) return;
    const auto n_cells = centres.size() / d;
    const RowsByCell by_cell(block.cells, n_cells);
    const ScatteredRows values(block.values.data(), static_cast<std::size_t>(block.width), by_cell.end());
    ProductSums sums(d, !block.weights.empty());
    for (std::size_t cell = 0; cell < n_cells; ++cell) {
        const auto rows = by_cell.of(cell);
        const double* centre = centres.data() + cell * d;
        double* of_cell = products.data() + cell * d * d;
        for (std::size_t i = 0; i < d; ++i) std::copy_n(of_cell + i * d, i + 1, sums.sums_of(i));
        for (std::size_t first = 0; first < rows.size(); first += ProductSums::rows_at_once) {
            const auto some = rows.subspan(first, std::min(ProductSums::rows_at_once, rows.size() - first));
            for (std::size_t at = 0; at < some.size(); ++at) {
                const double* x = values.of(some[at]);
                double* apart = sums.apart(at);
                for (std::size_t i = 0; i < d; ++i) apart[i] = x[block.members[i]] - centre[i];
                if (!block.weights.empty()) multiply_by(sums.scaled(at), apart, block.weights[some[at]], d);
            }
            sums.add(some.size());
        }
        for (std::size_t i = 0; i < d; ++i) {
            for (std::size_t k = 0; k <= i; ++k) of_cell[i * d + k] = of_cell[k * d + i] = sums.sums_of(i)[k];
        }
    }
}

std::vector<LabelMoments> moments_within(const LabelledNumbers& rows, std::span<const MomentsAsked> asked, StopCheck check) {
    constexpr auto parts = static_cast<std::int64_t>(MomentsWithin::parts);
    std::vector<LabelMoments> found(asked.size());
    if (rows.n() <= few_rows) {
        const auto count = [&](std::int64_t s) {
            MomentsWithin within(rows, asked[s]);
            for (std::size_t part = 0; part < MomentsWithin::parts; ++part) within.add(part);
            found[s] = within.take();
        };
        run_tasks(static_cast<std::int64_t>(asked.size()), count, check);
        return found;
    }
    for (std::size_t first = 0; first < asked.size(); first += sets_at_once) {
        const auto some = asked.subspan(first, std::min(sets_at_once, asked.size() - first));
        const auto n = static_cast<std::int64_t>(some.size());
        std::vector<std::optional<MomentsWithin>> within(some.size());
        run_tasks(n, [&](std::int64_t s) { within[s].emplace(rows, some[s]); }, check);
        run_tasks(n * parts, [&](std::int64_t task) { within[task / parts]->add(static_cast<std::size_t>(task % parts)); }, check);
        for (std::size_t s = 0; s < some.size(); ++s) found[first + s] = within[s]->take();
    }
    return found;
}

}  // namespace fishernet
