#include "comparison/splits.hpp"

#include <algorithm>

#include "base/kernels.hpp"
#include "base/pool.hpp"
#include "base/shared_patience.hpp"

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

// The masks of the rows from `begin` on; `needed` are the rows that each lane's first part still takes.
void fill(Masks& masks, const Splits& splits, std::int64_t block, std::int64_t begin, std::uint32_t* needed) {
    std::vector<std::uint32_t> draws(static_cast<std::size_t>(rows_at_once * split_lanes));
    const std::int64_t end = begin + masks.n_rows;
    for (std::int64_t row = begin; row < end;) {
        const std::int64_t skipped = row % rows_at_once;
        const std::int64_t n = std::min(rows_at_once - skipped, end - row);
        kernels().draw(splits.key, static_cast<std::uint32_t>(block), static_cast<std::uint64_t>(row / rows_at_once),
                       draws.data(), (skipped + n) * split_lanes);
        split_loops().take(masks.low() + (row - begin), masks.high() + (row - begin), needed,
                           draws.data() + skipped * split_lanes, static_cast<std::uint32_t>(splits.n_rows - row), n);
        row += n;
    }
    if (block != 0) return;
    for (std::int64_t row = begin; row < end; ++row) {
        std::uint32_t& mask = masks.low()[row - begin];
        mask = (mask & ~1u) | (row < splits.n_first ? 1u : 0u);
    }
}

// Adds the rows of one conditional: counts[cell * split_lanes + lane] and, where it is not null, totals[cell].
class Counter {
public:
    void add(const CellRows& rows, std::size_t conditional, Masks& masks, std::uint32_t* counts, double* totals) {
        const auto start = static_cast<std::uint32_t>(rows.firsts[conditional]);
        const auto n_cells = rows.firsts[conditional + 1] - rows.firsts[conditional];
        part_.assign(static_cast<std::size_t>(n_cells * split_lanes), 0);
        const auto* cells = rows.of(conditional);
        std::int64_t counted = 0;
        for (std::int64_t begin = 0; begin < rows.n_rows; begin += block_rows) {
            const std::int64_t n = std::min(block_rows, rows.n_rows - begin);
            if (counted + n > most_counted) {
                kernels().drain(counts, part_.data(), n_cells * split_lanes);
                counted = 0;
            }
            for (std::int64_t i = 0; i < n; ++i) ids_[static_cast<std::size_t>(i)] = cells[begin + i] - start;
            if (totals != nullptr) {
                for (std::int64_t i = 0; i < n; ++i) totals[ids_[static_cast<std::size_t>(i)]] += 1;
            }
            kernels().add_masks(part_.data(), ids_.data(), masks.low() + begin, masks.n_rows, n,
                                split_lanes / group_lanes);
            counted += n;
        }
        kernels().drain(counts, part_.data(), n_cells * split_lanes);
    }

private:
    std::vector<std::uint32_t> ids_ = std::vector<std::uint32_t>(block_rows);
    std::vector<std::uint16_t> part_;
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
        std::vector<std::uint32_t> needed(split_lanes, static_cast<std::uint32_t>(splits.n_first));
        fill(masks, splits, first / split_lanes + block, 0, needed.data());
        const std::int64_t begin = block * split_lanes, n = std::min<std::int64_t>(split_lanes, count - begin);
        for (std::int64_t row = 0; row < splits.n_rows; ++row) {
            const std::uint64_t mask = masks.low()[row] | (static_cast<std::uint64_t>(masks.high()[row]) << 32);
            for (std::int64_t lane = 0; lane < n; ++lane) {
                taken[static_cast<std::size_t>(row * count + begin + lane)] = (mask >> lane) & 1;
            }
        }
    }, check);
}

SplitCounts::SplitCounts(const CellRows& like, const Splits& splits, std::int64_t first, std::int64_t count)
    : firsts_(like.firsts), states_(like.states), splits_(splits), first_(first), count_(count),
      needed_(static_cast<std::size_t>(n_blocks() * split_lanes), static_cast<std::uint32_t>(splits.n_first)),
      counts_(static_cast<std::size_t>(n_blocks() * n_cells() * split_lanes)),
      totals_(static_cast<std::size_t>(n_cells())) {}

bool SplitCounts::takes(const CellRows& rows) const {
    return done_ >= 0 && rows.n_rows <= splits_.n_rows - done_ && rows.firsts == firsts_ && rows.states == states_;
}

std::size_t SplitCounts::n_groups() const {
    std::int64_t sum = 0;
    for (std::size_t c = 0; c < states_.size(); ++c) sum += (firsts_[c + 1] - firsts_[c]) / states_[c];
    return static_cast<std::size_t>(sum);
}

void SplitCounts::add(const CellRows& rows, StopCheck check) {
    const std::int64_t begin = done_;
    done_ = -1;
    SharedPatience patience(check);
    run_tasks(n_blocks(), [&](std::int64_t block) {
        Masks masks(rows.n_rows);
        fill(masks, splits_, first_ / split_lanes + block, begin, needed_.data() + block * split_lanes);
        Counter counter;
        for (std::size_t c = 0; c < states_.size(); ++c) {
            patience.ask();
            counter.add(rows, c, masks, counts_.data() + (block * n_cells() + firsts_[c]) * split_lanes,
                        block == 0 ? totals_.data() + firsts_[c] : nullptr);
        }
    }, check);
    done_ = begin + rows.n_rows;
}

SplitDistances SplitCounts::distances(std::span<const double> theta, std::span<const double> weights,
                                      bool by_group) const {
    const double first = 1.0 / static_cast<double>(splits_.n_first);
    const double second = 1.0 / static_cast<double>(splits_.n_rows - splits_.n_first);
    SplitDistances found;
    found.by_conditional.resize(static_cast<std::size_t>(count_) * n_conditionals());
    if (by_group) found.by_group.resize(static_cast<std::size_t>(count_) * n_groups());
    run_tasks(n_blocks(), [&](std::int64_t block) {
        const std::uint32_t* counts = counts_.data() + block * n_cells() * split_lanes;
        std::vector<double> sums(n_conditionals() * split_lanes), groups, squares;
        std::vector<std::uint32_t> of_group;
        for (std::size_t c = 0; c < n_conditionals(); ++c) {
            for (std::int64_t start = firsts_[c]; start < firsts_[c + 1]; start += states_[c]) {
                of_group.assign(split_lanes, 0);
                squares.assign(split_lanes, 0.0);
                double group_total = 0;
                for (std::int64_t cell = start; cell < start + states_[c]; ++cell) {
                    kernels().add_counts(of_group.data(), counts + cell * split_lanes, split_lanes);
                    group_total += totals_[static_cast<std::size_t>(cell)];
                }
                for (std::int64_t cell = start; group_total > 0 && cell < start + states_[c]; ++cell) {
                    const auto at = static_cast<std::size_t>(cell);
                    split_loops().add_squares(squares.data(), counts + cell * split_lanes, of_group.data(),
                                              {totals_[at], group_total, theta[at], weights[at]}, first, second);
                }
                for (std::size_t lane = 0; lane < split_lanes; ++lane) sums[c * split_lanes + lane] += squares[lane];
                if (by_group) groups.insert(groups.end(), squares.begin(), squares.end());
            }
        }
        const std::int64_t begin = block * split_lanes, n = std::min<std::int64_t>(split_lanes, count_ - begin);
        scatter(sums, n_conditionals(), begin, n, found.by_conditional);
        if (by_group) scatter(groups, n_groups(), begin, n, found.by_group);
    }, nullptr);
    return found;
}

}  // namespace fishernet
