#include "sequences/hmm_kernel.hpp"

#include <algorithm>
#include <vector>

#include "base/pool.hpp"
#include "sequences/string_steps.hpp"
#include "sequences/wide.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t columns = 64;    // strings side by side, a multiple of 4 * lanes
constexpr std::int64_t most_rows = 16;  // strings that share the others' emissions
constexpr double most_work = 1e8;       // multiplications a task, about

// Rows of x against columns of y, from position to position.
class Tile {
public:
    Tile(const StringModel& model, std::int64_t n_rows)
        : model_(model), view_(model.view()), values_(n_rows * model.n_states() * columns), exponents_(n_rows * columns, 0.0),
          y_(model.n_states() * columns), x_(model.n_states()), scratch_(model.n_groups() * columns) {}

    // y_[state][column] = emission of the symbols of up to `columns` strings at a position; 0 beyond them.
    void look_up(const EqualStrings& y, std::int64_t first, std::int64_t n, std::int64_t position) {
        const auto n_symbols = model_.n_symbols();
        for (std::int64_t a = 0; a < model_.n_states(); ++a) {
            const double* emission = model_.emission.data() + a * n_symbols;
            double* to = y_.data() + a * columns;
            for (std::int64_t c = 0; c < n; ++c) to[c] = emission[y[first + c][position]];
        }
    }

    void square() {
        for (auto& value : y_) value *= value;
    }

    // One position of a row whose symbol is `code`; -1: its emission is taken for 1.
    void advance(std::int64_t row, std::int32_t code, bool begins) {
        for (std::int64_t a = 0; a < model_.n_states(); ++a) {
            x_[a] = code < 0 ? 1.0 : model_.emission[a * model_.n_symbols() + code];
        }
        ColumnStep step;
        step.model = &view_;
        step.x = x_.data();
        step.y = y_.data();
        step.values = values_.data() + row * model_.n_states() * columns;
        step.exponents = exponents_.data() + row * columns;
        step.scratch = scratch_.data();
        step.columns = columns;
        step.begins = begins;
        string_steps().column(step, lowest_);
    }

    Wide total(std::int64_t row, std::int64_t column) const {
        Wide sum;
        for (std::int64_t a = 0; a < model_.n_states(); ++a) {
            const double value = values_[(row * model_.n_states() + a) * columns + column];
            sum += wide(value, exponents_[row * columns + column]) * wide(model_.end[a]);
        }
        return sum;
    }

    bool in_range() const { return lowest_.in_range(); }

private:
    const StringModel& model_;
    const StringView view_;
    std::vector<double> values_, exponents_, y_, x_, scratch_;
    Lowest lowest_;
};

// One pair with an exponent for every number: slow, and never out of range.
Wide wide_total(const StringModel& model, const std::int32_t* s, const std::int32_t* t, std::int64_t length) {
    std::vector<Wide> values(model.n_states());
    std::vector<Wide> sums(model.n_groups());
    for (std::int64_t i = 0; i < length; ++i) {
        for (std::int64_t g = 0; g < model.n_groups(); ++g) {
            sums[g] = Wide();
            for (auto a = model.group_starts[g]; a < model.group_starts[g + 1]; ++a) sums[g] += values[a];
        }
        for (std::int64_t a = 0; a < model.n_states(); ++a) {
            Wide arrived = i == 0 ? wide(model.initial[a]) : Wide();
            for (auto k = model.starts[a]; i > 0 && k < model.starts[a + 1]; ++k) {
                arrived += sums[model.from[k]] * wide(model.weights[k]);
            }
            const double* emission = model.emission.data() + a * model.n_symbols();
            values[a] = arrived * wide(emission[t[i]]) * wide(emission[s[i]]);
        }
    }
    Wide sum;
    for (std::int64_t a = 0; a < model.n_states(); ++a) sum += values[a] * wide(model.end[a]);
    return sum;
}

double log_of(const StringModel& model, Wide total, const std::int32_t* s, const std::int32_t* t, std::int64_t length) {
    double shift = 0;
    for (std::int64_t i = 0; i < length; ++i) shift += model.shifts[s[i]] + model.shifts[t[i]];
    return log(total, shift);
}

// Rows from first_x and columns from first_y of the matrix.
void fill_tile(const StringModel& model, const EqualStrings& x, const EqualStrings& y, std::int64_t first_x,
               std::int64_t n_x, std::int64_t first_y, std::int64_t n_y, double* out) {
    bool narrow = model.narrow;
    Tile tile(model, n_x);
    for (std::int64_t i = 0; i < x.length && narrow; ++i) {
        tile.look_up(y, first_y, n_y, i);
        for (std::int64_t row = 0; row < n_x; ++row) tile.advance(row, x[first_x + row][i], i == 0);
        narrow = tile.in_range();
    }
    for (std::int64_t row = 0; row < n_x; ++row) {
        const auto* s = x[first_x + row];
        for (std::int64_t c = 0; c < n_y; ++c) {
            const auto* t = y[first_y + c];
            const Wide total = narrow ? tile.total(row, c) : wide_total(model, s, t, x.length);
            out[(first_x + row) * y.n + first_y + c] = log_of(model, total, s, t, x.length);
        }
    }
}

std::int64_t rows_of_task(const StringModel& model, std::int64_t length) {
    const double of_row = static_cast<double>(columns) * static_cast<double>(length + 1) *
                          static_cast<double>(model.weights.size() + 1);
    return std::clamp(static_cast<std::int64_t>(most_work / of_row), std::int64_t{1}, most_rows);
}

}  // namespace

void equal_length_logs(const StringModel& model, const EqualStrings& x, const EqualStrings& y, bool symmetric,
                       double* out, StopCheck check) {
    if (x.length == 0) return std::fill(out, out + x.n * y.n, log(wide(model.nothing), 0));
    const auto rows = rows_of_task(model, x.length);
    const auto across = (y.n + columns - 1) / columns;
    const auto down = (x.n + rows - 1) / rows;
    run_tasks(across * down, [&](std::int64_t task) {
        const auto first_x = task / across * rows;
        const auto first_y = task % across * columns;
        const auto n_y = std::min(columns, y.n - first_y);
        if (symmetric && first_y + n_y <= first_x) return;  // below the diagonal
        fill_tile(model, x, y, first_x, std::min(rows, x.n - first_x), first_y, n_y, out);
    }, check);
    if (!symmetric) return;
    for (std::int64_t i = 0; i < x.n; ++i) {
        for (std::int64_t j = 0; j < i; ++j) out[i * y.n + j] = out[j * y.n + i];
    }
}

void equal_length_diagonal(const StringModel& model, const EqualStrings& x, double* out, StopCheck check) {
    if (x.length == 0) return std::fill(out, out + x.n, log(wide(model.nothing), 0));
    run_tasks((x.n + columns - 1) / columns, [&](std::int64_t task) {
        const auto first = task * columns;
        const auto n = std::min(columns, x.n - first);
        bool narrow = model.narrow;
        Tile tile(model, 1);
        for (std::int64_t i = 0; i < x.length && narrow; ++i) {
            tile.look_up(x, first, n, i);
            tile.square();
            tile.advance(0, -1, i == 0);
            narrow = tile.in_range();
        }
        for (std::int64_t c = 0; c < n; ++c) {
            const auto* s = x[first + c];
            const Wide total = narrow ? tile.total(0, c) : wide_total(model, s, s, x.length);
            out[first + c] = log_of(model, total, s, s, x.length);
        }
    }, check);
}

}  // namespace fishernet
