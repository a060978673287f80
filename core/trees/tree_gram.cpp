#include "trees/tree_gram.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/pool.hpp"

namespace fishernet {
namespace {

constexpr double share_of_x = 1.0;   // to follow a map is free on this side,
constexpr double share_of_y = 0.5;   // and costs a look-up a number on that one
constexpr std::int64_t most_wide = 256;
constexpr std::int64_t most_tall = 64;
constexpr double tile_cells = 1 << 15;  // of one node's messages: they stay in the cache
constexpr double tile_work = 1 << 26;   // operations of a tile: well under 50 ms

// How a matrix is cut into tiles; by the problem alone.
struct Tiling {
    Tiling(const TreeModel& model, std::int64_t n_x, std::int64_t n_y) {
        const double p = model.states;
        const double nodes = static_cast<double>(model.shape.n_edges()) + 1;
        const double cells = std::min(tile_cells / p, tile_work / (nodes * p * (p + 2)));
        wide = std::clamp<std::int64_t>(static_cast<std::int64_t>(cells), 16, most_wide);
        wide = std::max<std::int64_t>(1, std::min(wide, n_y));
        tall = std::clamp<std::int64_t>(static_cast<std::int64_t>(cells / static_cast<double>(wide)), 1, most_tall);
        tall = std::max<std::int64_t>(1, std::min(tall, n_x));
    }

    std::int64_t tall = 1, wide = 1;
};

std::vector<TreePatterns> blocks_of(const TreeModel& model, TreeStrings strings, std::int64_t size, double share,
                                    StopCheck check) {
    std::vector<TreePatterns> blocks(static_cast<std::size_t>((strings.n + size - 1) / size));
    const std::int64_t leaves = model.shape.n_leaves;
    run_tasks(static_cast<std::int64_t>(blocks.size()), [&](std::int64_t b) {
        const auto rows = std::min(size, strings.n - b * size);
        const auto codes = strings.codes.subspan(static_cast<std::size_t>(b * size * leaves),
                                                 static_cast<std::size_t>(rows * leaves));
        blocks[static_cast<std::size_t>(b)] = find_patterns(model, codes, static_cast<std::int32_t>(rows), share);
    }, check);
    return blocks;
}

// A string of which nothing is known: multiplied with it, another one's message is its own.
TreePatterns unknown_string(const TreeModel& model) {
    const std::vector<std::int32_t> codes(static_cast<std::size_t>(model.shape.n_leaves), model.symbols);
    return find_patterns(model, codes, 1, share_of_x);
}

// What the tiles of one call share.
struct Problem {
    Problem(const TreeModel& of, Pruning weights, bool squares)
        : model(of), pruning(weights), squared(squares), range(plain_range(of, weights)), unknown(unknown_string(of)) {}

    bool cuts() const { return pruning.cut > 0 || pruning.keep < 1; }

    // Plain where that is exact enough, else scaled: whatever the messages were, `take` gets the pass that worked.
    template <class Take>
    void solve(const TreePatterns& x, const TreePatterns& y, Take take) const {
        if (range.possible && attempt(false, x, y, take)) return;
        attempt(true, x, y, take);
    }

    template <class Take>
    bool attempt(bool scaled, const TreePatterns& x, const TreePatterns& y, Take take) const {
        SingleMessages of_x, of_y;
        if (cuts()) {
            UpwardPass alone(model, scaled, {}, false, range);
            if (!alone.run(unknown, y, nullptr, nullptr, &of_y)) return false;
            if (!squared && !alone.run(unknown, x, nullptr, nullptr, &of_x)) return false;
        }
        UpwardPass pass(model, scaled, pruning, squared, range);
        if (!pass.run(x, y, &of_x, &of_y, nullptr)) return false;
        take(pass, scaled);
        return true;
    }

    const TreeModel& model;
    Pruning pruning;
    bool squared;
    PlainRange range;
    TreePatterns unknown;
};

// The numbers of one row of a result.
void read_row(MessageRow row, bool scaled, bool log, std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto e = scaled ? row.e[i] : 0;
        values[i] = log ? scaled_log(row.m[i], e) : scaled ? scaled_value(row.m[i], e) : row.m[i];
    }
}

// One number a string: with itself, or by itself.
void each_string(const Problem& problem, TreeStrings x, bool log, double* out, StopCheck check) {
    const auto wide = Tiling(problem.model, 1, x.n).wide;
    const auto leaves = static_cast<std::int64_t>(problem.model.shape.n_leaves);
    run_tasks((x.n + wide - 1) / wide, [&](std::int64_t b) {
        const auto rows = std::min(wide, x.n - b * wide);
        const auto codes = x.codes.subspan(static_cast<std::size_t>(b * wide * leaves),
                                           static_cast<std::size_t>(rows * leaves));
        const auto y = find_patterns(problem.model, codes, static_cast<std::int32_t>(rows), share_of_y);
        problem.solve(problem.unknown, y, [&](UpwardPass& pass, bool scaled) {
            std::vector<double> values(static_cast<std::size_t>(y.count[0]));
            read_row(pass.result(0), scaled, log, values);
            for (std::int64_t r = 0; r < rows; ++r) out[b * wide + r] = values[static_cast<std::size_t>(y.of_row[r])];
        });
    }, check);
}

}  // namespace

void tree_gram(const TreeModel& model, TreeStrings x, TreeStrings y, bool symmetric, Pruning pruning, bool log,
               double* out, StopCheck check) {
    const Tiling tiling(model, x.n, y.n);
    const Problem problem(model, pruning, false);
    const auto of_x = blocks_of(model, x, tiling.tall, share_of_x, check);
    const auto of_y = blocks_of(model, y, tiling.wide, share_of_y, check);
    std::vector<std::pair<std::int64_t, std::int64_t>> tiles;  // first row, first column
    for (std::int64_t row = 0; row < x.n; row += tiling.tall) {
        for (std::int64_t column = 0; column < y.n; column += tiling.wide) {
            if (!symmetric || column + tiling.wide > row) tiles.emplace_back(row, column);
        }
    }
    run_tasks(static_cast<std::int64_t>(tiles.size()), [&](std::int64_t task) {
        const auto [row, column] = tiles[static_cast<std::size_t>(task)];
        const auto& rows = of_x[static_cast<std::size_t>(row / tiling.tall)];
        const auto& columns = of_y[static_cast<std::size_t>(column / tiling.wide)];
        problem.solve(rows, columns, [&](UpwardPass& pass, bool scaled) {
            std::vector<std::vector<double>> values(static_cast<std::size_t>(rows.count[0]));
            for (std::size_t i = 0; i < values.size(); ++i) {
                values[i].resize(static_cast<std::size_t>(columns.count[0]));
                read_row(pass.result(static_cast<std::int64_t>(i)), scaled, log, values[i]);
            }
            for (std::int64_t r = 0; r < rows.rows; ++r) {
                const auto& of_pattern = values[static_cast<std::size_t>(rows.of_row[r])];
                double* to = out + (row + r) * y.n;
                for (std::int64_t c = symmetric ? std::max<std::int64_t>(0, row + r - column) : 0; c < columns.rows;
                     ++c) {
                    to[column + c] = of_pattern[static_cast<std::size_t>(columns.of_row[c])];
                    if (symmetric) out[(column + c) * y.n + row + r] = to[column + c];
                }
            }
        });
    }, check);
}

void tree_diagonal(const TreeModel& model, TreeStrings x, Pruning pruning, bool log, double* out, StopCheck check) {
    each_string(Problem(model, pruning, true), x, log, out, check);
}

void tree_log_prob(const TreeModel& model, TreeStrings x, double* out, StopCheck check) {
    each_string(Problem(model, {}, false), x, true, out, check);
}

}  // namespace fishernet
