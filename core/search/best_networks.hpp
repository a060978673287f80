// The best network over every set of variables: one of them, a sink, has the best parents among the others, and these have
// their best network (Silander and Myllymaki 2006).
#pragma once

#include <cstdint>
#include <vector>

#include "base/buffer.hpp"
#include "search/best_parents.hpp"

namespace fishernet {

class BestNetworks {
public:
    explicit BestNetworks(const BestParents& parents) : parents_(parents), n_(parents.n()) {}

    // `room` holds 2^n numbers.
    void take_room(Buffer room) { scores_ = std::move(room); }

    // Sets are done in blocks, and blocks in layers: those of a layer do not depend on each other.
    int n_layers() const { return n_ - block_bits() + 1; }
    std::vector<std::uint64_t> layer(int number) const;
    void score_block(std::uint64_t block);

    double score() const { return scores_[(std::size_t{1} << n_) - 1]; }

    // The parents of every variable, as masks. Among networks that are equally good (within the tie) sinks are taken
    // from the end of `order`; parents are as few as possible, and then the first in `order`.
    std::vector<std::uint64_t> find_parents(const std::vector<int>& order) const;

private:
    static constexpr int most_block_bits = 16;
    static constexpr int chunk_bits = 6;

    int block_bits() const { return n_ < most_block_bits ? n_ : most_block_bits; }
    int chunk() const { return n_ < chunk_bits ? n_ : chunk_bits; }
    void score_chunk(std::uint64_t number);
    int find_sink(std::uint64_t set, const std::vector<int>& order, double tie) const;
    std::uint64_t find_parents_among(int child, std::uint64_t candidates, const std::vector<int>& order, double tie) const;

    const BestParents& parents_;
    int n_;
    Buffer scores_;
};

}  // namespace fishernet
