#include "counts/cell_sums.hpp"

#include <algorithm>
#include <numeric>

namespace fishernet {
namespace {

using View = std::span<const std::int32_t>;

double sum_of(const CellTerms& terms, std::span<const std::int64_t> counts) {
    std::int64_t sum = 0;
    for (const auto n : counts) sum += terms(n);
    return terms.value(sum);
}

// The terms of all cells without one axis, which has `r` states and `inner` cells behind it.
double sum_without(const CellTerms& terms, std::span<const std::int64_t> counts, std::size_t r, std::size_t inner) {
    std::int64_t sum = 0;
    for (std::size_t outer = 0; outer < counts.size(); outer += r * inner) {
        for (std::size_t i = outer; i < outer + inner; ++i) {
            std::int64_t n = 0;
            for (std::size_t cell = i; cell < outer + r * inner; cell += inner) n += counts[cell];
            sum += terms(n);
        }
    }
    return terms.value(sum);
}

// The same of cells that occur, each of them `width` states: those that agree but for the axis go together.
double sum_without(const CellTerms& terms, const SetCells& cells, std::size_t axis, std::size_t width) {
    const auto compare = [&](std::size_t a, std::size_t b) {
        const std::uint32_t *x = cells.states.data() + a * width, *y = cells.states.data() + b * width;
        for (std::size_t v = 0; v < width; ++v) {
            if (v != axis && x[v] != y[v]) return x[v] < y[v] ? -1 : 1;
        }
        return 0;
    };
    const auto before = [&](std::size_t a, std::size_t b) { return compare(a, b) < 0; };
    std::vector<std::size_t> order(cells.counts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (!std::is_sorted(order.begin(), order.end(), before)) std::sort(order.begin(), order.end(), before);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < order.size();) {
        std::int64_t n = 0;
        const std::size_t first = order[i];
        for (; i < order.size() && compare(first, order[i]) == 0; ++i) n += cells.counts[order[i]];
        sum += terms(n);
    }
    return terms.value(sum);
}

}  // namespace

CellSums::CellSums(std::vector<std::uint32_t> cardinalities, Measure measure, double parameter, std::int64_t total,
                   bool all_sets)
    : cardinalities_(std::move(cardinalities)),
      total_(total),
      score_term_(measure, parameter, total, all_sets ? ScoreTerm::least_for_all_sets : ScoreTerm::usual_least) {}

Size CellSums::size_of_set(View set) {
    memory_.clear();
    for (const auto v : set) memory_.push_back(cardinality(v));
    return size_of(memory_);
}

void CellSums::family_scores(const Families& families, std::span<const std::int64_t> which,
                             std::span<const SetCells> sets, std::span<double> scores, StopCheck check) {
    Patience patience(check);
    std::vector<double> joint_terms(sets.size());
    std::vector<bool> is_known(sets.size(), false);
    for (std::size_t f = 0; f < families.size(); ++f) {
        patience.ask();
        const auto s = static_cast<std::size_t>(which[f]);
        const SetCells& cells = sets[s];
        const View others = families.parents_of(f);
        const std::int32_t child = families.children[f];
        const std::uint32_t r = cardinality(child);
        const Size parents = size_of_set(others);
        memory_.push_back(r);
        const Size whole = size_of(memory_);
        if (!is_known[s]) joint_terms[s] = sum_of(score_term_.joint(whole), cells.counts);
        is_known[s] = true;
        const auto axis = static_cast<std::size_t>(std::lower_bound(others.begin(), others.end(), child) - others.begin());
        const CellTerms& terms = score_term_.marginal(parents, r);
        std::size_t inner = 1;
        for (std::size_t i = axis; cells.dense && i < others.size(); ++i) inner *= cardinality(others[i]);
        const double marginal = cells.dense ? sum_without(terms, cells.counts, r, inner)
                                            : sum_without(terms, cells, axis, others.size() + 1);
        const double fit = joint_terms[s] - marginal;
        scores[f] = fit + score_term_.of_sizes(whole, parents, r);
    }
}

double CellSums::joint(View set, const SetCells& cells) {
    const Size size = size_of_set(set);
    const double sum = sum_of(score_term_.joint(size), cells.counts);
    return score_term_.knows_sets() ? sum + score_term_.of_set(size) : sum;
}

double CellSums::marginal(View set, std::uint32_t r, const SetCells& cells) {
    if (!score_term_.knows_child()) return joint(set, cells);
    return sum_of(score_term_.marginal(size_of_set(set), r), cells.counts);
}

void CellSums::set_terms(std::span<const std::vector<std::int32_t>> sets, std::span<const SetCells> cells,
                         std::span<const std::int64_t> children, std::span<double> joint_terms,
                         std::span<double> marginals, StopCheck check) {
    Patience patience(check);
    for (std::size_t s = 0; s < sets.size(); ++s) {
        patience.ask();
        joint_terms[s] = joint(sets[s], cells[s]);
        for (std::size_t c = 0; c < children.size(); ++c) {
            marginals[c * sets.size() + s] = marginal(sets[s], static_cast<std::uint32_t>(children[c]), cells[s]);
        }
    }
}

}  // namespace fishernet
