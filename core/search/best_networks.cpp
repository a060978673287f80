#include "search/best_networks.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "search/search_rules.hpp"

namespace fishernet {
namespace {

constexpr double none = -std::numeric_limits<double>::infinity();
constexpr std::uint64_t one = 1;

}  // namespace

std::vector<std::uint64_t> BestNetworks::layer(int number) const {
    std::vector<std::uint64_t> blocks;
    for (std::uint64_t block = 0; block < one << (n_ - block_bits()); ++block) {
        if (std::popcount(block) == number) blocks.push_back(block);
    }
    return blocks;
}

void BestNetworks::score_block(std::uint64_t block) {
    const int chunks = block_bits() - chunk();
    for (std::uint64_t c = 0; c < one << chunks; ++c) score_chunk((block << chunks) | c);
}

// The sets of a chunk differ in their lowest places. For the other places, all of them are done at once.
void BestNetworks::score_chunk(std::uint64_t number) {
    const std::size_t size = std::size_t{1} << chunk();
    double* scores = scores_.get() + number * size;
    std::fill_n(scores, size, none);
    if (number == 0) scores[0] = 0;  // nothing in it
    for (std::uint64_t left = number; left != 0; left &= left - 1) {
        const int place = std::countr_zero(left);
        const std::uint64_t without = number ^ (one << place);
        const double* others = scores_.get() + without * size;
        const double* own = parents_.of(place + chunk()) + BestParents::squeeze(without, place) * size;
        for (std::size_t i = 0; i < size; ++i) {
            const double score = others[i] + own[i];
            scores[i] = score > scores[i] ? score : scores[i];
        }
    }
    const std::uint64_t base = number * size;
    for (std::uint64_t i = 1; i < size; ++i) {
        for (std::uint64_t left = i; left != 0; left &= left - 1) {
            const int place = std::countr_zero(left);
            const std::uint64_t without = i ^ (one << place);
            scores[i] = std::max(scores[i], scores[without] + parents_(place, base | without));
        }
    }
}

// ---------------------------------------------------------------------------------------------------------- the way back

std::vector<std::uint64_t> BestNetworks::find_parents(const std::vector<int>& order) const {
    const double tie = tie_of(score());
    std::vector<std::uint64_t> found(n_);
    for (std::uint64_t set = (one << n_) - 1; set != 0;) {
        const int sink = find_sink(set, order, tie);
        set ^= one << sink;
        found[sink] = find_parents_among(sink, set, order, tie);
    }
    return found;
}

int BestNetworks::find_sink(std::uint64_t set, const std::vector<int>& order, double tie) const {
    for (std::size_t k = order.size(); k-- > 0;) {
        const int place = order[k];
        const std::uint64_t others = set & ~(one << place);
        if (others != set && scores_[others] + parents_(place, others) >= scores_[set] - tie) return place;
    }
    return std::countr_zero(set);  // not reached: one of them made the score
}

// The smallest set that is as good as all candidates: none of its own subsets is, so it is good by itself.
std::uint64_t BestNetworks::find_parents_among(int child, std::uint64_t candidates, const std::vector<int>& order,
                                               double tie) const {
    std::vector<int> members;
    for (const int place : order) {
        if (candidates >> place & 1) members.push_back(place);
    }
    const double enough = parents_(child, candidates) - tie;
    const auto mask = [&](const std::vector<std::size_t>& chosen) {
        std::uint64_t set = 0;
        for (const auto m : chosen) set |= one << members[m];
        return set;
    };
    for (std::size_t size = 0; size <= members.size(); ++size) {
        std::vector<std::size_t> chosen(size);
        for (std::size_t i = 0; i < size; ++i) chosen[i] = i;
        for (;;) {
            const std::uint64_t set = mask(chosen);
            if (parents_(child, set) >= enough) return set;
            std::size_t i = size;
            while (i > 0 && chosen[i - 1] == members.size() - size + i - 1) --i;
            if (i == 0) break;
            ++chosen[i - 1];
            for (; i < size; ++i) chosen[i] = chosen[i - 1] + 1;
        }
    }
    return candidates;
}

}  // namespace fishernet
