// The best network from few parent sets a child. Variables that cannot be on a cycle together are searched apart.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/interrupt.hpp"
#include "search/list_search.hpp"
#include "search/parent_sets.hpp"

namespace fishernet {

class SparseSearch {
public:
    // Of every variable its parent sets, the best first and one at least, and its parents in a network that is known.
    // Gives up when what it reached takes more than `max_bytes`. Of incomplete sets it finds a good network, and no bound.
    SparseSearch(std::vector<std::vector<ParentSet>> sets, std::vector<std::uint64_t> start, double max_bytes,
                 bool complete);

    bool finished() const { return component_ == components_.size(); }
    bool gave_up() const { return bytes() > max_bytes_; }
    void advance(StopCheck check);  // works for some hundredths of a second
    std::size_t n_nodes() const;    // sets of variables that were reached
    double bytes() const { return search_ ? search_->bytes() : 0; }
    double work() const;  // as ListSearch has it
    double bound() const;  // no network has a higher score

    // Of the best network so far; when it has finished, of all.
    std::vector<std::uint64_t> parents() const;

private:
    void find_components();
    void begin();
    void choose_parents(std::vector<std::uint64_t>& parents) const;
    LossLists lists_of(const std::vector<int>& members) const;
    std::uint64_t choose(int child, std::uint64_t available) const;

    std::vector<std::vector<ParentSet>> sets_;
    std::vector<std::uint64_t> parents_;  // the start's, or what finished components found
    std::vector<std::vector<int>> components_;
    std::size_t component_ = 0;
    std::unique_ptr<ListSearch> search_;
    double loss_before_ = 0;  // the start's
    std::size_t nodes_before_ = 0;
    double work_before_ = 0;
    double max_bytes_;
    bool complete_;
};

}  // namespace fishernet
