// Lower bounds on what an acyclic choice of parent sets loses, by clusters.
//
// In every set of variables, a cluster, one at least has no parent in the cluster: the first of them in the order. So a
// charge for the cluster may be taken off all its members' choices that have no parent in it, and counts once. What is
// left of the cheapest choices and the charges add up to a bound. While the choices that cost least admit no order, there is
// a cluster whose charge raises the bound: the variables that no order can place (Troesser, de Givry and Katsirelos 2021).
#pragma once

#include <cstdint>
#include <vector>

#include "base/interrupt.hpp"
#include "search/loss_lists.hpp"

namespace fishernet {

struct Cluster {
    std::uint64_t members;
    double charge;
    std::vector<std::uint32_t> choices;  // of its members, those without a parent in it
};

// The choices of all variables one after the other, and what they cost once clusters are charged.
class Choices {
public:
    explicit Choices(const LossLists& lists);

    int n() const { return static_cast<int>(first_.size()) - 1; }
    std::size_t size() const { return sets_.size(); }
    std::uint32_t first(int v) const { return first_[v]; }  // of n: the number of all
    std::uint64_t set(std::uint32_t choice) const { return sets_[choice]; }
    const std::vector<double>& losses() const { return losses_; }
    std::uint64_t all() const { return (std::uint64_t{1} << n()) - 1; }

    Cluster cluster(std::uint64_t members) const;  // with no charge

    // Charges clusters until none raises the bound, or it has risen by `enough`; returns by how much it rose. The costs
    // are those that are left, each variable's cheapest 0. A cluster may come more than once.
    double raise(std::vector<double>& costs, double enough, std::vector<Cluster>& clusters, StopCheck check) const;

private:
    std::vector<std::uint32_t> first_;
    std::vector<std::uint64_t> sets_;
    std::vector<double> losses_;
};

// Sets of parents that count as if they cost nothing, of each variable.
using CheapSets = std::vector<std::vector<std::uint64_t>>;

// The variables among the open ones that no order of cheap choices can place.
std::uint64_t blocked(const CheapSets& cheap, std::uint64_t open);

// A part of some blocked variables that is blocked, too, when all others are placed, and of which no part is.
std::uint64_t smallest_blocked(const CheapSets& cheap, std::uint64_t cluster);

}  // namespace fishernet
