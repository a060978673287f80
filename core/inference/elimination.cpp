#include "inference/elimination.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "base/draws.hpp"

namespace fishernet {
namespace {

// A graph with the numbers by which the greedy rules choose, kept up to date: for every vertex, how many pairs of its
// neighbours are not joined, what those pairs weigh, and the size of the table over it and its neighbours.
class FillGraph {
public:
    FillGraph(std::span<const std::int64_t> cardinalities, std::span<const Scope> scopes)
        : sizes_(cardinalities.begin(), cardinalities.end()), neighbours_(sizes_.size()) {
        for (const auto& scope : scopes) {
            for (const auto a : scope) {
                for (const auto b : scope) {
                    if (a != b) neighbours_[a].push_back(b);
                }
            }
        }
        const std::size_t n = sizes_.size();
        fill.assign(n, 0);
        weighted.assign(n, 0);
        log_table.assign(n, 0);
        for (auto& list : neighbours_) {
            std::sort(list.begin(), list.end());
            list.erase(std::unique(list.begin(), list.end()), list.end());
        }
        for (std::size_t v = 0; v < n; ++v) measure(static_cast<std::int32_t>(v));
    }

    std::size_t size() const { return sizes_.size(); }
    const Scope& neighbours(std::int32_t v) const { return neighbours_[v]; }

    // Joins the neighbours of v and removes it; `changed` gets every vertex whose numbers are others now.
    void remove(std::int32_t v, Scope& changed) {
        const Scope around = neighbours_[v];
        changed = around;
        if (fill[v] > 0) {
            for (std::size_t i = 0; i < around.size(); ++i) {
                for (std::size_t j = i + 1; j < around.size(); ++j) join(around[i], around[j], changed);
            }
        }
        for (const auto u : around) {  // v's neighbours are a clique now, so u's other neighbours are not v's
            auto& list = neighbours_[u];
            fill[u] -= static_cast<std::int64_t>(list.size() - around.size());
            weighted[u] -= sizes_[v] * (sum_of_sizes(list) - sum_of_sizes(around) - sizes_[v] + sizes_[u]);
            log_table[u] -= std::log2(sizes_[v]);
            list.erase(std::lower_bound(list.begin(), list.end(), v));
        }
        neighbours_[v].clear();
        std::sort(changed.begin(), changed.end());
        changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
        const auto self = std::lower_bound(changed.begin(), changed.end(), v);
        if (self != changed.end() && *self == v) changed.erase(self);
    }

    std::vector<std::int64_t> fill;
    std::vector<double> weighted;
    std::vector<double> log_table;  // base 2

private:
    double sum_of_sizes(const Scope& list) const {
        double sum = 0;
        for (const auto u : list) sum += sizes_[u];
        return sum;
    }

    void find_common(std::int32_t a, std::int32_t b) {
        const auto& few = neighbours_[a].size() < neighbours_[b].size() ? neighbours_[a] : neighbours_[b];
        const auto& many = &few == &neighbours_[a] ? neighbours_[b] : neighbours_[a];
        common_.clear();
        if (few.size() * 8 < many.size()) {
            for (const auto u : few) {
                if (std::binary_search(many.begin(), many.end(), u)) common_.push_back(u);
            }
        } else {
            std::set_intersection(few.begin(), few.end(), many.begin(), many.end(), std::back_inserter(common_));
        }
    }

    void measure(std::int32_t v) {
        const auto& list = neighbours_[v];
        const double all = sum_of_sizes(list);
        log_table[v] = std::log2(sizes_[v]);
        std::int64_t pairs = 0;
        double weight = 0;
        for (const auto u : list) {
            log_table[v] += std::log2(sizes_[u]);
            find_common(v, u);
            pairs += static_cast<std::int64_t>(list.size() - 1 - common_.size());
            weight += sizes_[u] * (all - sizes_[u] - sum_of_sizes(common_));
        }
        fill[v] = pairs / 2;
        weighted[v] = weight / 2;
    }

    void join(std::int32_t a, std::int32_t b, Scope& changed) {
        auto& of_a = neighbours_[a];
        const auto place = std::lower_bound(of_a.begin(), of_a.end(), b);
        if (place != of_a.end() && *place == b) return;
        find_common(a, b);
        for (const auto u : common_) {
            fill[u] -= 1;
            weighted[u] -= sizes_[a] * sizes_[b];
            changed.push_back(u);
        }
        const double shared = sum_of_sizes(common_);
        const auto lone = [&](std::int32_t v, std::int32_t other) {
            fill[v] += static_cast<std::int64_t>(neighbours_[v].size() - common_.size());
            weighted[v] += sizes_[other] * (sum_of_sizes(neighbours_[v]) - shared);
            log_table[v] += std::log2(sizes_[other]);
        };
        lone(a, b);
        lone(b, a);
        of_a.insert(place, b);
        auto& of_b = neighbours_[b];
        of_b.insert(std::lower_bound(of_b.begin(), of_b.end(), a), a);
    }

    std::vector<double> sizes_;
    std::vector<Scope> neighbours_;  // ascending
    Scope common_;
};

struct Candidate {
    double first;
    double second;
    std::int32_t vertex;
    std::int32_t version;

    bool operator<(const Candidate& other) const {  // the queue gives the greatest: the best candidate
        if (first != other.first) return first > other.first;
        if (second != other.second) return second > other.second;
        return vertex > other.vertex;
    }
};

constexpr double unlimited = std::numeric_limits<double>::infinity();

// How one elimination goes, and when it is given up: at a table of more cells than `most`, or at more cells of all
// tables together than `most_together`.
struct Way {
    Greed greed = Greed::fill;
    double most = unlimited;
    double most_together = unlimited;
    Draws* draws = nullptr;  // nullptr: the best vertex is next; otherwise one that is nearly as good may be
    double spread = 0;       // of the noise on the logarithm of what a vertex adds
};

Elimination eliminate(std::span<const std::int64_t> cardinalities, FillGraph graph, const Way& way) {
    std::vector<std::int32_t> version(graph.size(), 0);
    std::priority_queue<Candidate> queue;
    const auto enter = [&](std::int32_t v) {
        const auto edges = static_cast<double>(graph.fill[v]);
        const double table = graph.log_table[v];
        double first = way.greed == Greed::fill ? edges : way.greed == Greed::table ? table : graph.weighted[v];
        double second = way.greed == Greed::table ? edges : table;
        if (way.draws != nullptr) {
            first = std::log2(1 + first) - way.spread * std::log(way.draws->uniform());
            second = way.draws->uniform();
        }
        queue.push({first, second, v, version[v]});
    };
    for (std::size_t v = 0; v < graph.size(); ++v) enter(static_cast<std::int32_t>(v));
    Elimination found;
    Scope changed;
    while (!queue.empty()) {
        const Candidate best = queue.top();
        queue.pop();
        const auto v = best.vertex;
        if (best.version != version[v]) continue;
        Scope clique{v};
        const auto& around = graph.neighbours(v);
        clique.insert(clique.end(), around.begin(), around.end());
        double cells = 1;
        for (const auto u : clique) cells *= static_cast<double>(cardinalities[u]);
        found.cells += cells;
        found.largest = std::max(found.largest, cells);
        found.cliques.push_back(std::move(clique));
        if (cells > way.most || found.cells > way.most_together) {
            found.complete = false;
            break;
        }
        version[v] = -1;
        graph.remove(v, changed);
        for (const auto u : changed) {
            if (version[u] < 0) continue;
            ++version[u];
            enter(u);
        }
    }
    return found;
}

// What an elimination took, in units of about a tenth of a microsecond.
double work_of(const Elimination& elimination) {
    double work = 0;
    for (const auto& clique : elimination.cliques) work += static_cast<double>(clique.size() * clique.size());
    return work;
}

// Takes another elimination where it is cheaper.
void improve(Elimination& best, Elimination other) {
    if (other.complete && (!best.complete || other.cells < best.cells)) best = std::move(other);
}

}  // namespace

Elimination eliminate(std::span<const std::int64_t> cardinalities, std::span<const Scope> scopes, Greed greed,
                      double most) {
    return eliminate(cardinalities, FillGraph(cardinalities, scopes), Way{greed, most});
}

Elimination eliminate_cheaply(std::span<const std::int64_t> cardinalities, std::span<const Scope> scopes, double most,
                              bool chance) {
    constexpr double worth_a_try = 20000;    // cells that take longer than another elimination
    constexpr double cells_of_work = 64;     // that are multiplied and summed in about the time of ten units of work
    constexpr double many_cells = 0x1p27;    // with fewer less is tried: one plan may serve for little
    constexpr double most_work = 0x1p25;     // some seconds
    constexpr double most_in_vain = 0x1p22;  // while every one had to be given up
    constexpr double spreads[] = {0.2, 0.5};
    const FillGraph graph(cardinalities, scopes);
    Elimination best = eliminate(cardinalities, graph, Way{Greed::fill, most});
    if (best.complete && best.cells < worth_a_try) return best;
    for (const auto greed : {Greed::table, Greed::weighted_fill}) {
        improve(best, eliminate(cardinalities, graph, Way{greed, most}));
    }
    // Of many in which chance decides between vertices that are nearly as good, some are far cheaper (Kask, Gelfand, Otten and
    // Dechter, 2011). They go on while they take a small part of the time that the tables would.
    Draws draws(0, 0);
    double work = 0;
    const auto enough = [&] {
        const double share = std::min(1.0, best.cells / many_cells) / cells_of_work;
        return work >= (best.complete ? std::min(most_work, best.cells * share) : most_in_vain);
    };
    for (std::size_t at = 0; chance && !enough(); ++at) {
        const double together = best.complete ? best.cells : unlimited;
        auto other = eliminate(cardinalities, graph, Way{Greed::weighted_fill, most, together, &draws, spreads[at % 2]});
        work += work_of(other) + static_cast<double>(graph.size());
        improve(best, std::move(other));
    }
    return best;
}

}  // namespace fishernet
