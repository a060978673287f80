#include "search/best_parents.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace fishernet {
namespace {

constexpr double none = -std::numeric_limits<double>::infinity();

// to[i] = max(to[i], from[i])
void raise_to(double* __restrict to, const double* __restrict from, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) to[i] = from[i] > to[i] ? from[i] : to[i];
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------ rules

bool ParentRule::operator()(std::uint64_t parents) const {
    return (parents & ~allowed) == 0 && (required & ~parents) == 0 && std::popcount(parents) <= most;
}

CellProducts::CellProducts(std::span<const double> cardinalities) {
    const auto products = [](std::span<const double> factors) {
        std::vector<double> product(std::size_t{1} << factors.size(), 1);
        for (std::size_t set = 1; set < product.size(); ++set) {
            product[set] = product[set & (set - 1)] * factors[std::countr_zero(set)];
        }
        return product;
    };
    const std::size_t low = std::min<std::size_t>(low_bits, cardinalities.size());
    low_ = products(cardinalities.first(low));
    high_ = products(cardinalities.subspan(low));
}

// ------------------------------------------------------------------------------------------------------------- sets

BestParents::BestParents(int n, std::vector<ParentRule> rules, CellProducts cells)
    : n_(n), rules_(std::move(rules)), cells_(std::move(cells)) {}

namespace {

struct Kind {  // variables with equally many states
    double states;
    int many;
};

// How many sets of some of the variables of the kinds, at most so many, have no more cells.
double count_sets(std::span<const Kind> kinds, int room, double cells) {
    if (kinds.empty()) return 1;
    const auto [states, many] = kinds.front();
    double sum = 0, choices = 1;
    for (int k = 0; k <= std::min(many, room) && cells >= 1; ++k) {
        sum += choices * count_sets(kinds.subspan(1), room - k, cells);
        choices = choices * (many - k) / (k + 1);
        cells /= states;
    }
    return sum;
}

}  // namespace

double BestParents::count(int child) const {
    const ParentRule& rule = rules_[child];
    const std::uint64_t every = (std::uint64_t{1} << n_) - 1, one = 1;
    const int room = rule.most - std::popcount(rule.required);
    if ((rule.required & ~rule.allowed) != 0 || room < 0) return 0;
    std::vector<Kind> kinds;
    for (std::uint64_t left = rule.allowed & ~rule.required & every & ~(one << child); left != 0; left &= left - 1) {
        const double states = cells_(left & ~(left - 1));
        const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.states == states; });
        if (kind == kinds.end()) kinds.push_back({states, 1});
        else ++kind->many;
    }
    return count_sets(kinds, room, rule.most_cells / cells_(rule.required));
}

void BestParents::score_block(int child, std::int64_t block, const ChildTerms& terms) {
    const std::size_t size = std::size_t{1} << block_bits();
    const std::uint64_t first = static_cast<std::uint64_t>(block) * size, bit = std::uint64_t{1} << child;
    const ParentRule rule = rules_[child];
    const bool limited = std::isfinite(rule.most_cells);
    double* values = of(child) + first;
    for (std::size_t i = 0; i < size; ++i) {
        const std::uint64_t parents = widen(first + i, child);
        const double fit = terms.joint[parents | bit] - terms.marginal[parents];
        const double penalty = terms.penalty == 0 ? 0.0 : terms.penalty * cells_(parents);
        values[i] = rule(parents) && !(limited && cells_(parents) > rule.most_cells) ? fit - penalty : none;
    }
    for (std::size_t step = 1; step < size; step *= 2) {
        for (std::size_t begin = 0; begin < size; begin += 2 * step) {
            raise_to(values + begin + step, values + begin, step);
        }
    }
}

int BestParents::round_bits(int round) const {
    return std::min(bits_a_round, n_ - 1 - block_bits() - round * bits_a_round);
}

std::int64_t BestParents::n_tasks(int round) const { return n_blocks() >> round_bits(round); }

// A task has the blocks that differ only in the bits of the round; a few columns of them at a time stay in the cache.
void BestParents::take_over(int child, int round, std::int64_t task) {
    constexpr std::size_t columns = 512;
    const int bits = round_bits(round), lowest = block_bits() + round * bits_a_round;
    const std::size_t n_rows = std::size_t{1} << bits, row = std::size_t{1} << lowest, size = std::size_t{1} << block_bits();
    const std::size_t below = (static_cast<std::size_t>(task) << block_bits()) & (row - 1);
    const std::size_t above = (static_cast<std::size_t>(task) << block_bits()) & ~(row - 1);
    double* values = of(child) + (above << bits) + below;
    const std::size_t width = std::min(columns, size);
    for (std::size_t column = 0; column < size; column += width) {
        for (std::size_t step = 1; step < n_rows; step *= 2) {
            for (std::size_t r = 0; r < n_rows; ++r) {
                if (r & step) raise_to(values + r * row + column, values + (r ^ step) * row + column, width);
            }
        }
    }
}

}  // namespace fishernet
