// A random walk over networks that meets each as often as its probability says: a share of exp(score).
//
// The variables without parents are a network's first layer, those that have parents in the first alone its second, and so
// on. Given the layers everyone's parents are independent of the others': they are in the layers before, one at least in
// the last of these, so that a sum over each variable's parent sets is a sum over networks (Kuipers and Moffa 2017). A step
// takes one variable out of its layer and puts it into another one, or into a new one between two, by the probability of
// each. Networks whose layers are far from one another may be near otherwise; so after a sweep of such steps a network is
// drawn, and arcs are reversed: those between variables with the same other parents, which leads to an equivalent network,
// and any, with new parents for both ends (Grzegorczyk and Husmeier 2008).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/draws.hpp"
#include "search/parent_sets.hpp"
#include "search/search_rules.hpp"

namespace fishernet {

// The sets that the parents of one variable are taken from. A bit of a set stands for one of `others`.
struct ParentChoices {
    std::vector<std::int32_t> others;  // ascending, at most 63
    std::vector<ParentSet> sets;       // the best first; no other set has a probability
};

class LayerWalk {
public:
    // The choices must outlive it. The start must be acyclic, and everyone's parents in it a choice.
    LayerWalk(const std::vector<ParentChoices>& choices, const ParentLists& start, std::uint64_t key, std::uint32_t task);

    bool is_possible() const;  // whether the start was
    void step();
    std::int64_t n_sweeps() const { return n_sweeps_; }

    // The probability of the arc from p to v, at p n + v, given the layers; summed over the sweeps.
    const std::vector<double>& arcs() const { return arcs_; }
    const ParentLists& parents() const { return parents_; }  // of the network that was drawn last

private:
    static constexpr double impossible = -std::numeric_limits<double>::infinity();

    // Sets of similar scores, whose weights are relative to the best of them.
    struct Stretch {
        std::size_t begin, end;
        double best;
    };
    struct Choices {
        std::vector<std::uint64_t> sets;
        std::vector<double> weights;  // of each
        std::vector<Stretch> stretches;
        SetNumbers scores;
    };
    // The logarithm of a variable's sum where another one is left out: it comes no earlier, is in the last layer before, in
    // an earlier one, or is the last layer before by itself.
    struct Sums {
        double without, last, earlier, alone;
    };

    // Where a variable's parents are: all among these, and one of those, if that matters.
    struct Room {
        std::uint64_t among, one_of;
        bool any;

        bool holds(std::uint64_t set) const { return (set & ~among) == 0 && (any || (set & one_of) != 0); }
    };

    void move(std::int32_t v);
    Room room_by_layers(std::int32_t v) const;
    Sums sums_without(std::int32_t bit, std::int32_t u) const;
    using Weights = std::array<double, 4>;
    Weights weights_of(std::int32_t v, const Stretch& stretch, std::uint64_t own, Room room) const;
    double sum(std::int32_t v, Room room) const;
    void sum_by_layers(std::int32_t v, int n_layers);
    double find(std::int32_t v, Room room);
    void count_arcs(std::int32_t v);
    std::vector<std::int32_t> drawn(std::int32_t v);
    void list_arcs();
    void list_children();
    void set_parents(std::int32_t v, const std::vector<std::int32_t>& parents);
    void reverse_as_equivalent(std::size_t arc);
    void reverse_anew(std::size_t arc);
    Room room_in_graph(std::int32_t v, std::int32_t with);
    void find_layers();
    std::int32_t bit_of(std::int32_t v, std::int32_t other) const;
    std::uint64_t as_mask(std::int32_t v, const std::vector<std::int32_t>& parents) const;

    std::int32_t n_;
    const std::vector<ParentChoices>& given_;
    std::vector<Choices> choices_;
    Draws random_;
    std::vector<std::int32_t> layer_;  // of each variable
    std::vector<double> sums_;         // the logarithm of each variable's sum, given the layers
    ParentLists parents_, children_;
    std::vector<double> arcs_;
    std::int64_t n_sweeps_ = 0;
    std::int32_t turn_ = 0;  // steps of this sweep

    std::vector<Sums> placed_;
    std::vector<double> own_, before_, after_, last_, alone_, ways_;
    std::vector<std::pair<std::uint64_t, double>> found_;  // sets of parents with their weights
    double total_ = 0;                                     // of these weights
    std::vector<std::pair<std::int32_t, std::int32_t>> pairs_;
    std::vector<bool> below_;
    std::vector<std::int32_t> waiting_;
};

}  // namespace fishernet
