#include "gaussian/fractional.hpp"

#include <algorithm>

#include "base/pool.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t families_at_once = 256;

// A Cholesky factor that columns are added to, and taken off from the end.
class Factor {
public:
    explicit Factor(Products products) : products_(products) {}

    // The logarithm of what the columns so far leave of this one.
    double push(std::int32_t column) {
        const auto t = columns_.size(), start = t * (t + 1) / 2;
        const double* products = products_.row(column);
        cells_.resize(start + t + 1);
        double* row = cells_.data() + start;
        double rest = products[column];
        for (std::size_t s = 0; s < t; ++s) {
            const double* before = cells_.data() + s * (s + 1) / 2;
            double along = products[columns_[s]];
            for (std::size_t u = 0; u < s; ++u) along -= before[u] * row[u];
            row[s] = along / before[s];
            rest -= row[s] * row[s];
        }
        columns_.push_back(column);
        if (!(rest > no_rest)) throw Collinear(columns_);
        row[t] = std::sqrt(rest);
        return std::log(rest);
    }

    void pop() { columns_.pop_back(); }

    // The logarithm of the determinant of some columns. Where they begin as those of the call before, that is kept.
    double log_determinant(std::span<const std::int32_t> set) {
        std::size_t same = 0;
        while (same < std::min(set.size(), columns_.size()) && columns_[same] == set[same]) ++same;
        columns_.resize(same);
        sums_.resize(same);
        for (const auto column : set.subspan(same)) {
            const double before = sums_.empty() ? 0.0 : sums_.back();
            sums_.push_back(before + push(column));
        }
        return sums_.empty() ? 0.0 : sums_.back();
    }

private:
    Products products_;
    std::vector<std::int32_t> columns_;
    std::vector<double> cells_;  // row t has t + 1
    std::vector<double> sums_;   // logarithms of the determinants of the first so many, from one on
};

}  // namespace

std::vector<double> family_scores(Products products, BlanketScore of_set, const Families& families, StopCheck check) {
    const auto n = static_cast<std::int64_t>(families.size());
    std::vector<double> scores(families.size());
    const auto score_block = [&](std::int64_t block) {
        Factor of_all(products), of_parents(products);
        std::vector<std::int32_t> all;
        for (auto f = block * families_at_once; f < std::min(n, (block + 1) * families_at_once); ++f) {
            const auto parents = families.parents_of(static_cast<std::size_t>(f));
            all.assign(parents.begin(), parents.end());
            const auto child = families.children[f];
            all.insert(std::lower_bound(all.begin(), all.end(), child), child);
            const auto p = static_cast<std::int32_t>(parents.size());
            const double joint = of_set.of_size[p + 1] - of_set.weight * of_all.log_determinant(all);
            scores[f] = joint - (of_set.of_size[p] - of_set.weight * of_parents.log_determinant(parents));
        }
    };
    run_tasks((n + families_at_once - 1) / families_at_once, score_block, check);
    return scores;
}

namespace {

// Fills the scores of all sets that hold the columns of the factor and some of those below `next`.
void walk(Factor& factor, BlanketScore of_set, std::size_t mask, std::int32_t size, std::int32_t next, double log_determinant,
          std::vector<double>& scores) {
    scores[mask] = of_set.of_size[size] - of_set.weight * log_determinant;
    if (size == of_set.most()) return;
    for (std::int32_t column = 0; column < next; ++column) {
        const double more = factor.push(column);
        walk(factor, of_set, mask | std::size_t{1} << column, size + 1, column, log_determinant + more, scores);
        factor.pop();
    }
}

}  // namespace

std::vector<double> subset_scores(Products products, BlanketScore of_set, StopCheck check) {
    const auto d = products.d;
    std::vector<double> scores(std::size_t{1} << d, 0.0);
    constexpr std::int32_t shared = 8;  // a task has one choice among so many of the last columns
    const auto high = std::min(d, shared), low = d - high;
    const auto of_choice = [&](std::int64_t choice) {
        Factor factor(products);
        double log_determinant = 0;
        std::int32_t size = 0;
        for (std::int32_t column = d - 1; column >= low; --column) {
            if (!(choice >> (column - low) & 1)) continue;
            if (++size > of_set.most()) return;
            log_determinant += factor.push(column);
        }
        walk(factor, of_set, static_cast<std::size_t>(choice) << low, size, low, log_determinant, scores);
    };
    run_tasks(std::int64_t{1} << high, of_choice, check);
    return scores;
}

}  // namespace fishernet
