// Good orders of some variables, where lists say what each loses by each of its parent sets: local search by moves of one
// variable to another place (Lee and van Beek 2017), each time from the order before with some variables moved at random.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/draws.hpp"
#include "search/loss_bound.hpp"

namespace fishernet {

class ListOrders {
public:
    // The lists must outlive it.
    explicit ListOrders(const LossLists& lists) : lists_(lists), random_(1, 0) {}

    // Goes on from an order until no move of a variable helps.
    void descend(std::vector<int> order);
    // The same so often from where it stands, with some variables in other places. It stays at what is not much worse.
    void perturb(int times);

    double loss() const { return loss_; }  // of the best
    double n_looks() const { return n_looks_; }  // into lists
    std::vector<std::uint64_t> before() const;  // of every variable in the best order, those before it

private:
    static constexpr double least_gain = 1e-9;  // nats

    double loss_of(int v, std::uint64_t before);
    double move_one(std::vector<int>& order, std::size_t from);

    const LossLists& lists_;
    Draws random_;
    std::vector<int> best_, now_;
    double loss_now_ = std::numeric_limits<double>::infinity();
    double loss_ = std::numeric_limits<double>::infinity(), n_looks_ = 0;
    std::vector<double> losses_;  // of each variable in the order that is tried
};

}  // namespace fishernet
