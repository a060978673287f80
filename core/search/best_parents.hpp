// The best score of every child for every set of variables that its parents may be taken from.
//
// Sets are bit masks over places; a child's sets are numbered without the child's own bit. First a child's numbers are the
// scores of its families, then bit by bit a set takes over what one of its subsets has better.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/buffer.hpp"

namespace fishernet {

// Which sets may be the parents of a child.
struct ParentRule {
    std::uint64_t allowed = ~std::uint64_t{0}, required = 0;
    int most = 64;
    double most_cells = std::numeric_limits<double>::infinity();  // of the parents alone

    bool operator()(std::uint64_t parents) const;
};

// A child's score: f of the family, less g of the parents, less a penalty for each cell of the parents.
struct ChildTerms {
    const double* joint = nullptr;
    const double* marginal = nullptr;
    double penalty = 0;
};

// The product of cardinalities of any set, by two tables.
class CellProducts {
public:
    explicit CellProducts(std::span<const double> cardinalities);

    double operator()(std::uint64_t set) const { return low_[set & (low_.size() - 1)] * high_[set >> low_bits]; }

private:
    static constexpr int low_bits = 12;
    std::vector<double> low_, high_;
};

class BestParents {
public:
    BestParents(int n, std::vector<ParentRule> rules, CellProducts cells);

    void make_room() { values_ = make_buffer(static_cast<std::size_t>(n_) << (n_ - 1)); }

    int n() const { return n_; }
    const ParentRule& rule(int child) const { return rules_[child]; }
    double count(int child) const;  // how many sets may be the parents

    // The scores of a block of a child's sets, and what its subsets within the block have better.
    std::int64_t n_blocks() const { return std::int64_t{1} << (n_ - 1 - block_bits()); }
    void score_block(int child, std::int64_t block, const ChildTerms& terms);

    // The same across blocks, in several rounds, each of them in tasks.
    int n_rounds() const { return (n_ - 1 - block_bits() + bits_a_round - 1) / bits_a_round; }
    std::int64_t n_tasks(int round) const;
    void take_over(int child, int round, std::int64_t task);

    double operator()(int child, std::uint64_t candidates) const { return of(child)[squeeze(candidates, child)]; }
    const double* of(int child) const { return values_.get() + (static_cast<std::size_t>(child) << (n_ - 1)); }

    // A set without the bit of a child that is not in it, and back.
    static std::uint64_t squeeze(std::uint64_t set, int child) {
        const std::uint64_t below = (std::uint64_t{1} << child) - 1;
        return ((set >> 1) & ~below) | (set & below);
    }
    static std::uint64_t widen(std::uint64_t index, int child) {
        const std::uint64_t below = (std::uint64_t{1} << child) - 1;
        return ((index & ~below) << 1) | (index & below);
    }

private:
    static constexpr int most_block_bits = 14;  // 128 kB
    static constexpr int bits_a_round = 5;

    int block_bits() const { return n_ - 1 < most_block_bits ? n_ - 1 : most_block_bits; }
    int round_bits(int round) const;
    double* of(int child) { return values_.get() + (static_cast<std::size_t>(child) << (n_ - 1)); }

    int n_;
    std::vector<ParentRule> rules_;
    CellProducts cells_;
    Buffer values_;
};

}  // namespace fishernet
