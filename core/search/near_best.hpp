// The best networks: all that are within some nats of the best one, equivalent ones once.
//
// A network is taken apart by its sinks, always the last of them in the order of the variables, so that each is met once
// (its sinks in another order are no way to it). What is left loses at least what the best network over it does
// (best_networks.hpp), which says early that a way ends too low.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/buffer.hpp"
#include "base/interrupt.hpp"
#include "search/parent_sets.hpp"

namespace fishernet {

class NearBest {
public:
    // Of every variable its parent sets, the best first and one at least; what is not listed is not looked at. Of more
    // than `most` classes the best are kept. Where equivalent networks are equally good, and all of them are allowed, few
    // of each class are met: those in which every arc whose reversal stays in the class runs from an earlier variable.
    NearBest(std::vector<std::vector<ParentSet>> sets, double within, std::size_t most, bool equivalent, StopCheck check);

    static constexpr int most_variables = 25;

    bool finished() const { return stack_.empty(); }
    void advance(StopCheck check);  // works for some hundredths of a second
    double best() const { return scores_[all()]; }
    double least() const { return least_; }  // every class with a higher score is found
    std::size_t n_met() const { return n_met_; }
    std::size_t n_found() const { return found_.size(); }

    struct Network {
        double score;
        std::vector<std::uint64_t> parents;
    };
    std::vector<Network> found() const;  // so far, the best first

private:
    using Key = std::array<std::uint64_t, 2>;  // of a class: a hash of its skeleton and v-structures
    struct HashOfKey {
        std::size_t operator()(const Key& key) const { return static_cast<std::size_t>(key[0]); }
    };
    struct Step {  // sinks that are taken from a set of variables
        std::uint64_t left;      // the set
        std::uint64_t no_sinks;  // of it: they need a child that is still there
        double score;            // of the families so far
        int sink;
        std::size_t next;  // among the sink's parent sets
    };

    std::uint64_t all() const { return (std::uint64_t{1} << n_) - 1; }
    void score_subsets(StopCheck check);
    void next_sink(Step& step) const;
    bool take(Step& step);
    bool reversible_backwards(int sink, std::uint64_t parents) const;
    void meet(double score);
    Key key() const;
    void keep_best(std::size_t most);

    int n_;
    std::vector<std::vector<ParentSet>> sets_;
    bool equivalent_;
    std::size_t most_, n_met_ = 0;
    Buffer scores_;  // of the best network over each set of variables
    double least_ = 0;
    std::vector<Step> stack_;
    std::vector<std::uint64_t> parents_;  // of the variables that were taken
    std::vector<Key> hashes_;             // of a pair that is joined (c, c, pair), and of a v-structure
    std::unordered_map<Key, Network, HashOfKey> found_;
};

}  // namespace fishernet
