// The order in which the cliques of a tree are worked through, and how work on them is divided among threads. Large tables
// are cut into parts, small ones of one level are taken side by side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/float_kernels.hpp"
#include "base/interrupt.hpp"
#include "base/pool.hpp"
#include "inference/clique_tree.hpp"
#include "inference/table_walk.hpp"

namespace fishernet {

inline constexpr std::int64_t large_table = std::int64_t{1} << 17;  // cells: worth the work of several threads

// How many parts a table is cut into, each with its own sums of `out_cells` (0: they need none); a matter of sizes alone,
// so that the sums do not depend on the threads.
inline std::int64_t count_chunks(const Shape& shape, std::int64_t out_cells) {
    if (shape.cells() < large_table) return 1;
    std::int64_t chunks = std::min<std::int64_t>(16, shape.cells() / (large_table / 2));
    while (chunks > 1 && chunks * out_cells > shape.cells() / 8) chunks /= 2;
    return std::min(chunks, shape.blocks);
}

// work(chunk, its first block, the block after its last)
template <class Work>
void for_chunks(std::int64_t chunks, std::int64_t blocks, bool parallel, StopCheck check, Work work) {
    const auto one = [&](std::int64_t c) { work(c, blocks * c / chunks, blocks * (c + 1) / chunks); };
    if (parallel && chunks > 1) {
        run_tasks(chunks, one, check);
    } else {
        for (std::int64_t c = 0; c < chunks; ++c) one(c);
    }
}

// work(sums, first block, the block after the last): the partial sums of the chunks are added in their order.
template <class Work>
std::vector<double> sum_chunks(const Shape& shape, std::int64_t out_cells, bool parallel, StopCheck check, Work work) {
    const auto chunks = count_chunks(shape, out_cells);
    std::vector<double> sums(static_cast<std::size_t>(out_cells * chunks), 0.0);
    for_chunks(chunks, shape.blocks, parallel, check, [&](std::int64_t chunk, std::int64_t first, std::int64_t last) {
        work(sums.data() + chunk * out_cells, first, last);
    });
    for (std::int64_t chunk = 1; chunk < chunks; ++chunk) {
        float_kernels().add(sums.data(), sums.data() + chunk * out_cells, out_cells);
    }
    sums.resize(static_cast<std::size_t>(out_cells));
    return sums;
}

// The cliques of a tree by their depth.
class Levels {
public:
    explicit Levels(const CliqueTree& tree) {
        for (std::size_t c = 0; c < tree.cliques.size(); ++c) {
            const auto depth = static_cast<std::size_t>(tree.cliques[c].depth);
            if (levels_.size() <= depth) levels_.resize(depth + 1);
            levels_[depth].push_back(c);
        }
    }

    // Calls work(clique, may it run in parallel) for all cliques, level by level: from the roots, or towards them.
    // cells(clique) is the size of a table.
    template <class Cells, class Work>
    void visit(bool to_roots, bool parallel, StopCheck check, Cells cells, Work work) const {
        Patience patience(parallel ? check : nullptr);
        for (std::size_t l = 0; l < levels_.size(); ++l) {
            std::vector<std::size_t> small;
            std::int64_t sum = 0;
            for (const auto c : levels_[to_roots ? levels_.size() - 1 - l : l]) {
                if (cells(c) < large_table) {
                    small.push_back(c);
                    sum += cells(c);
                    continue;
                }
                work(c, parallel);
                patience.ask();
            }
            if (parallel && small.size() > 1 && sum > large_table / 4) {
                run_tasks(static_cast<std::int64_t>(small.size()),
                          [&](std::int64_t i) { work(small[static_cast<std::size_t>(i)], false); }, check);
            } else {
                for (const auto c : small) work(c, false);
                patience.ask();
            }
        }
    }

private:
    std::vector<std::vector<std::size_t>> levels_;
};

}  // namespace fishernet
