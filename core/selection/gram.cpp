#include "selection/gram.hpp"

#include <algorithm>

#include "base/float_kernels.hpp"
#include "base/pool.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t block_columns = 1024;  // their cells for some twenty conditionals fit a second-level cache
constexpr std::int64_t block_rows = 32;

// Rows of x from `begin` to `end`, all of y; the terms of one conditional go where `to` says, added to what is there.
template <class To>
void fill_rows(const CellRows& x, const CellRows& y, PairTerms terms, std::int64_t begin, std::int64_t end, To to) {
    for (std::int64_t first = 0; first < y.n_rows; first += block_columns) {
        const std::int64_t n = std::min(block_columns, y.n_rows - first);
        for (std::int64_t row = begin; row < end; ++row) {
            for (std::size_t c = 0; c < x.n_conditionals(); ++c) {
                const auto cell = x.at(c, row);
                const auto start = x.group_start(c, cell);
                float_kernels().add_matches(to(c, row) + first, y.of(c) + first, start,
                                            static_cast<std::uint32_t>(x.states[c]), cell - start, terms.other[cell],
                                            terms.same[cell], n);
            }
        }
    }
}

template <class Work>
void for_row_blocks(std::int64_t n_rows, StopCheck check, Work work) {
    run_tasks((n_rows + block_rows - 1) / block_rows, [&](std::int64_t block) {
        work(block * block_rows, std::min(n_rows, (block + 1) * block_rows));
    }, check);
}

}  // namespace

void gram(const CellRows& x, const CellRows& y, PairTerms terms, double* out, StopCheck check) {
    for_row_blocks(x.n_rows, check, [&](std::int64_t begin, std::int64_t end) {
        std::fill(out + begin * y.n_rows, out + end * y.n_rows, 0.0);
        fill_rows(x, y, terms, begin, end, [&](std::size_t, std::int64_t row) { return out + row * y.n_rows; });
    });
}

void gram_terms(const CellRows& x, const CellRows& y, PairTerms terms, double* out, StopCheck check) {
    const auto plane = x.n_rows * y.n_rows;
    for_row_blocks(x.n_rows, check, [&](std::int64_t begin, std::int64_t end) {
        for (std::size_t c = 0; c < x.n_conditionals(); ++c) {
            double* of_conditional = out + static_cast<std::int64_t>(c) * plane;
            std::fill(of_conditional + begin * y.n_rows, of_conditional + end * y.n_rows, 0.0);
        }
        fill_rows(x, y, terms, begin, end, [&](std::size_t c, std::int64_t row) {
            return out + static_cast<std::int64_t>(c) * plane + row * y.n_rows;
        });
    });
}

}  // namespace fishernet
