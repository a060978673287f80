#include "comparison/splits.hpp"

#include <algorithm>

#include "base/kernels.hpp"
#include "base/pool.hpp"
#include "base/shared_patience.hpp"
#include "comparison/split_loops.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t rows_at_once = 64;    // of which the draws are in cache
constexpr std::int64_t block_rows = 4096;    // of which cells are numbered anew
constexpr std::int64_t most_counted = 65535;  // rows that a histogram of 16 bits can hold

// Which of the split_lanes splits of a block take which rows: bits, the lanes from 32 on in the second array.
struct Masks {
    std::vector<std::uint32_t> words;  // both arrays, one after the other
    std::int64_t n_rows;

    explicit Masks(std::int64_t n) : words(2 * static_cast<std::size_t>(n)), n_rows(n) {}
    std::uint32_t* low() { return words.data(); }
    std::uint32_t* high() { return words.data() + n_rows; }
};

void fill(Masks& masks, const Splits& splits, std::int64_t block) {
    std::vector<std::uint32_t> needed(split_lanes, static_cast<std::uint32_t>(splits.n_first));
    std::vector<std::uint32_t> draws(static_cast<std::size_t>(rows_at_once * split_lanes));
    for (std::int64_t row = 0; row < splits.n_rows; row += rows_at_once) {
        const std::int64_t n = std::min(rows_at_once, splits.n_rows - row);
        kernels().draw(splits.key, static_cast<std::uint32_t>(block), static_cast<std::uint64_t>(row / rows_at_once),
                       draws.data(), n * split_lanes);
        split_loops().take(masks.low() + row, masks.high() + row, needed.data(), draws.data(),
                           static_cast<std::uint32_t>(splits.n_rows - row), n);
    }
    if (block != 0) return;
    for (std::int64_t row = 0; row < splits.n_rows; ++row) {
        masks.low()[row] = (masks.low()[row] & ~1u) | (row < splits.n_first ? 1u : 0u);
    }
}

// Counts of one conditional's cells by split, and what the distances are made from.
class Counter {
public:
    Counter(const CellRows& rows, std::span<const double> theta, std::span<const double> weights, const Splits& splits)
        : rows_(rows), theta_(theta), weights_(weights), first_(1.0 / static_cast<double>(splits.n_first)),
          second_(1.0 / static_cast<double>(splits.n_rows - splits.n_first)), ids_(block_rows) {}

    // Adds the squares of a conditional's groups: into `sums`, and where it is not null to groups[g * split_lanes + lane].
    void add(std::size_t conditional, Masks& masks, double* sums, double* groups) {
        count(conditional, masks);
        const auto states = rows_.states[conditional];
        const auto start = rows_.firsts[conditional];
        const auto n_groups = (rows_.firsts[conditional + 1] - start) / states;
        for (std::int64_t g = 0; g < n_groups; ++g) {
            std::vector<double>& squares = squares_;
            squares.assign(split_lanes, 0.0);
            add_group(start, g, states, squares.data());
            for (int lane = 0; lane < split_lanes; ++lane) sums[lane] += squares[static_cast<std::size_t>(lane)];
            if (groups != nullptr) std::copy(squares.begin(), squares.end(), groups + g * split_lanes);
        }
    }

private:
    void count(std::size_t conditional, Masks& masks) {
        const auto start = static_cast<std::uint32_t>(rows_.firsts[conditional]);
        const auto n_cells = rows_.firsts[conditional + 1] - rows_.firsts[conditional];
        const auto size = static_cast<std::size_t>(n_cells * split_lanes);
        part_.assign(size, 0);
        counts_.assign(size, 0);
        totals_.assign(static_cast<std::size_t>(n_cells), 0.0);
        const auto* cells = rows_.of(conditional);
        std::int64_t counted = 0;
        for (std::int64_t begin = 0; begin < rows_.n_rows; begin += block_rows) {
            const std::int64_t n = std::min(block_rows, rows_.n_rows - begin);
            if (counted + n > most_counted) {
                kernels().drain(counts_.data(), part_.data(), n_cells * split_lanes);
                counted = 0;
            }
            for (std::int64_t i = 0; i < n; ++i) {
                ids_[static_cast<std::size_t>(i)] = cells[begin + i] - start;
                totals_[ids_[static_cast<std::size_t>(i)]] += 1;
            }
            kernels().add_masks(part_.data(), ids_.data(), masks.low() + begin, masks.n_rows, n,
                                split_lanes / group_lanes);
            counted += n;
        }
        kernels().drain(counts_.data(), part_.data(), n_cells * split_lanes);
    }

    void add_group(std::int64_t start, std::int64_t group, std::int32_t states, double* squares) {
        of_group_.assign(split_lanes, 0);
        double group_total = 0;
        for (std::int64_t cell = group * states; cell < (group + 1) * states; ++cell) {
            kernels().add_counts(of_group_.data(), counts_.data() + cell * split_lanes, split_lanes);
            group_total += totals_[static_cast<std::size_t>(cell)];
        }
        if (group_total == 0) return;
        for (std::int64_t cell = group * states; cell < (group + 1) * states; ++cell) {
            const auto of_all = static_cast<std::size_t>(start + cell);
            const SplitCell known{totals_[static_cast<std::size_t>(cell)], group_total, theta_[of_all], weights_[of_all]};
            split_loops().add_squares(squares, counts_.data() + cell * split_lanes, of_group_.data(), known, first_,
                                      second_);
        }
    }

    const CellRows& rows_;
    std::span<const double> theta_, weights_;
    double first_, second_;
    std::vector<std::uint32_t> ids_, counts_, of_group_;
    std::vector<std::uint16_t> part_;
    std::vector<double> totals_, squares_;
};

// Lane by lane values, [item][lane], to the splits of a block, [split][item].
void scatter(const std::vector<double>& lanes, std::size_t items, std::int64_t first, std::int64_t n,
             std::vector<double>& into) {
    for (std::int64_t split = 0; split < n; ++split) {
        double* to = into.data() + static_cast<std::size_t>(first + split) * items;
        for (std::size_t item = 0; item < items; ++item) {
            to[item] = lanes[item * split_lanes + static_cast<std::size_t>(split)];
        }
    }
}

}  // namespace

void draw_splits(const Splits& splits, std::int64_t first, std::int64_t count, std::span<std::uint8_t> taken,
                 StopCheck check) {
    const std::int64_t blocks = (count + split_lanes - 1) / split_lanes;
    run_tasks(blocks, [&](std::int64_t block) {
        Masks masks(splits.n_rows);
        fill(masks, splits, first / split_lanes + block);
        const std::int64_t begin = block * split_lanes, n = std::min<std::int64_t>(split_lanes, count - begin);
        for (std::int64_t row = 0; row < splits.n_rows; ++row) {
            const std::uint64_t mask = masks.low()[row] | (static_cast<std::uint64_t>(masks.high()[row]) << 32);
            for (std::int64_t lane = 0; lane < n; ++lane) {
                taken[static_cast<std::size_t>(row * count + begin + lane)] = (mask >> lane) & 1;
            }
        }
    }, check);
}

SplitDistances split_distances(const CellRows& rows, std::span<const double> theta, std::span<const double> weights,
                               const Splits& splits, std::int64_t n_splits, bool by_group, StopCheck check) {
    const std::size_t n_conditionals = rows.n_conditionals();
    std::vector<std::size_t> first_groups{0};
    for (std::size_t c = 0; c < n_conditionals; ++c) {
        const auto n_groups = (rows.firsts[c + 1] - rows.firsts[c]) / rows.states[c];
        first_groups.push_back(first_groups.back() + static_cast<std::size_t>(n_groups));
    }
    const std::size_t n_groups = first_groups.back();
    SplitDistances found;
    found.by_conditional.resize(static_cast<std::size_t>(n_splits) * n_conditionals);
    if (by_group) found.by_group.resize(static_cast<std::size_t>(n_splits) * n_groups);
    SharedPatience patience(check);
    run_tasks((n_splits + split_lanes - 1) / split_lanes, [&](std::int64_t block) {
        Masks masks(splits.n_rows);
        fill(masks, splits, block);
        Counter counter(rows, theta, weights, splits);
        std::vector<double> sums(n_conditionals * split_lanes), groups(by_group ? n_groups * split_lanes : 0);
        for (std::size_t c = 0; c < n_conditionals; ++c) {
            patience.ask();
            counter.add(c, masks, sums.data() + c * split_lanes,
                        by_group ? groups.data() + first_groups[c] * split_lanes : nullptr);
        }
        const std::int64_t first = block * split_lanes, n = std::min<std::int64_t>(split_lanes, n_splits - first);
        scatter(sums, n_conditionals, first, n, found.by_conditional);
        if (by_group) scatter(groups, n_groups, first, n, found.by_group);
    }, check);
    return found;
}

}  // namespace fishernet
