// The best network from few parent sets a child. Variables that cannot be on a cycle together are searched apart.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/interrupt.hpp"
#include "search/parent_sets.hpp"
#include "search/shortest_way.hpp"

namespace fishernet {

class SparseSearch {
public:
    // Of every variable its parent sets, the best first and one at least, and its parents in a network that is known.
    // Gives up when what it reached takes more than `max_bytes`.
    SparseSearch(std::vector<std::vector<ParentSet>> sets, std::vector<std::uint64_t> start, double max_bytes);

    bool finished() const { return component_ == components_.size(); }
    bool gave_up() const { return bytes() > max_bytes_; }
    void advance(StopCheck check);  // works for some hundredths of a second
    std::size_t n_nodes() const;    // sets of variables that were reached
    double bytes() const { return way_ ? way_->bytes() : 0; }
    double bound() const;  // no network has a higher score

    // The best network's, when it has finished.
    const std::vector<std::uint64_t>& parents() const { return parents_; }

private:
    void find_components();
    void begin(StopCheck check);
    void finish();
    LossLists lists_of(const std::vector<int>& members) const;
    std::uint64_t choose(int child, std::uint64_t available) const;

    std::vector<std::vector<ParentSet>> sets_;
    std::vector<std::uint64_t> parents_;  // the start's, until a component has finished
    std::vector<std::vector<int>> components_;
    std::size_t component_ = 0;
    LossLists lists_;
    std::optional<ShortestWay> way_;
    std::size_t nodes_before_ = 0;
    double max_bytes_;
};

}  // namespace fishernet
