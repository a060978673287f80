#include "search/list_orders.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fishernet {
namespace {

constexpr std::uint64_t one = 1;
constexpr double tolerance = 0.5;   // nats, in the mean, by which an order may be worse than the one before
constexpr double impossible = 1e12;  // nats; a number, so that sums and differences of some are numbers

std::vector<std::uint64_t> sets_before(const std::vector<int>& order) {
    std::vector<std::uint64_t> before(order.size());
    std::uint64_t set = 0;
    for (const int v : order) {
        before[v] = set;
        set |= one << v;
    }
    return before;
}

}  // namespace

double ListOrders::loss_of(int v, std::uint64_t before) {
    n_looks_ += 1;
    return std::min(impossible, lists_.loss(v, before));
}

// Puts a variable where the order loses least by it, and returns what is gained.
double ListOrders::move_one(std::vector<int>& order, std::size_t from) {
    const int v = order[from];
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < from; ++i) before |= one << order[i];
    const double own = losses_[v];
    double least = -least_gain, change = 0;
    std::size_t best = from;
    std::uint64_t at = before;
    for (std::size_t to = from + 1; to < order.size(); ++to) {  // those between no longer have it before them
        const int u = order[to];
        change += loss_of(u, at) - losses_[u];
        at |= one << u;
        const double total = change + loss_of(v, at) - own;
        if (total < least) least = total, best = to;
    }
    change = 0;
    at = before;
    for (std::size_t to = from; to-- > 0;) {
        const int u = order[to];
        at &= ~(one << u);
        change += loss_of(u, at | one << v) - losses_[u];
        const double total = change + loss_of(v, at) - own;
        if (total < least) least = total, best = to;
    }
    if (best == from) return 0;
    const auto begin = order.begin();
    if (best > from) std::rotate(begin + from, begin + from + 1, begin + best + 1);
    else std::rotate(begin + best, begin + from, begin + from + 1);
    const auto sets = sets_before(order);
    for (std::size_t i = std::min(from, best); i <= std::max(from, best); ++i) {
        losses_[order[i]] = loss_of(order[i], sets[order[i]]);
    }
    return -least;
}

void ListOrders::descend(std::vector<int> order) {
    const auto sets = sets_before(order);
    losses_.resize(order.size());
    for (const int v : order) losses_[v] = loss_of(v, sets[v]);
    const std::vector<int> turns = order;
    for (std::size_t still = 0, turn = 0; still < turns.size(); turn = (turn + 1) % turns.size()) {
        const auto from = static_cast<std::size_t>(std::find(order.begin(), order.end(), turns[turn]) - order.begin());
        still = move_one(order, from) > 0 ? 0 : still + 1;
    }
    const double loss = std::accumulate(losses_.begin(), losses_.end(), 0.0);
    if (loss >= loss_now_ - tolerance * std::log(random_.uniform())) return;
    loss_now_ = loss;
    now_ = std::move(order);
    if (loss >= loss_ - least_gain) return;
    loss_ = loss;
    best_ = now_;
}

void ListOrders::perturb(int times) {
    const auto n = static_cast<std::int64_t>(now_.size());
    for (int time = 0; time < times; ++time) {
        std::vector<int> order = now_;
        const std::int64_t moves = 2 + random_.below(std::max<std::int64_t>(2, n / 4));
        for (std::int64_t move = 0; move < moves; ++move) {
            const std::int64_t from = random_.below(n), to = random_.below(n);
            const int v = order[from];
            order.erase(order.begin() + from);
            order.insert(order.begin() + to, v);
        }
        descend(std::move(order));
    }
}

std::vector<std::uint64_t> ListOrders::before() const { return sets_before(best_); }

}  // namespace fishernet
