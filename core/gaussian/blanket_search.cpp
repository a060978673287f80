#include "gaussian/blanket_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "base/pool.hpp"
#include "base/shared_patience.hpp"

namespace fishernet {
namespace {

constexpr std::int32_t columns_at_once = 8;

constexpr double nothing = -std::numeric_limits<double>::infinity();

// Members leave nothing of a column: that is an error unless there are many of them.
void refuse_collinear(const Regression& regression, std::int32_t column, std::int32_t rank) {
    if (2 * (regression.size() + 1) > rank) return;
    std::vector<std::int32_t> columns;
    for (const auto place : regression.members()) columns.push_back(regression.column(place));
    columns.push_back(column);
    throw Collinear(std::move(columns));
}

// What the child's score would become with one more member; -infinity where nothing is left of the one or the other.
double score_with(const Regression& regression, BlanketScore score, std::int32_t place) {
    if (!(regression.rest(place) > no_rest)) {
        refuse_collinear(regression, regression.column(place), regression.rank());
        return nothing;
    }
    const double residual = regression.residual_with(place);
    if (!(residual > no_rest)) {
        Regression with = regression;
        with.add(place);
        refuse_collinear(with, regression.child(), regression.rank());
        return nothing;
    }
    return score(regression.size() + 1, residual);
}

// One column's search, in a regression on all columns.
class BlanketSearch {
public:
    BlanketSearch(Regression& regression, BlanketScore score, std::int32_t child, SharedPatience& patience)
        : regression_(regression), score_(score), patience_(patience) {
        regression_.begin(child);
    }

    Blanket run() {
        Blanket found;
        while (grow(found)) {
            while (shrink()) patience_.ask();
            patience_.ask();
        }
        found.members.assign(regression_.members().begin(), regression_.members().end());
        std::sort(found.members.begin(), found.members.end());
        return found;
    }

private:
    double now() const { return score_(regression_.size(), regression_.residual()); }

    // Takes in the best column, if that is good.
    bool grow(Blanket& found) {
        if (regression_.size() == std::min(score_.most(), regression_.n_columns() - 1)) {
            found.saturated = regression_.size() < regression_.n_columns() - 1;
            return false;
        }
        const auto best = nearest();
        const double with = best < 0 ? nothing : score_with(regression_, score_, best);
        found.saturated = with == nothing;
        if (!(with > now() + score_tie)) return false;
        regression_.add(best);
        return true;
    }

    // The first column that explains most of the rest of the child; -1 when there is none.
    std::int32_t nearest() const {
        std::int32_t best = -1;
        double least = std::numeric_limits<double>::infinity();
        for (std::int32_t v = 0; v < regression_.n_columns(); ++v) {
            if (!(regression_.rest(v) > no_rest)) {
                refuse_collinear(regression_, v, regression_.rank());
            } else if (regression_.residual_with(v) < least && std::isfinite(regression_.rest(v))) {
                best = v;
                least = regression_.residual_with(v);
            }
        }
        return best;
    }

    bool shrink() {
        const auto p = regression_.size();
        if (p < 2) return false;
        std::int32_t best = 0;
        for (std::int32_t m = 1; m < p; ++m) {
            if (regression_.residual_without(m) < regression_.residual_without(best)) best = m;
        }
        if (!(score_(p - 1, regression_.residual_without(best)) > now() + score_tie)) return false;
        regression_.remove(best);
        return true;
    }

    Regression& regression_;
    BlanketScore score_;
    SharedPatience& patience_;
};

}  // namespace

std::vector<Blanket> find_blankets(Products products, BlanketScore score, std::int32_t first, std::int32_t last,
                                   StopCheck check) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(products.d));
    std::iota(all.begin(), all.end(), 0);
    std::vector<Blanket> blankets(static_cast<std::size_t>(last - first));
    SharedPatience patience(check);
    const auto search_block = [&](std::int64_t block) {
        Regression regression(products, all);
        const auto begin = first + static_cast<std::int32_t>(block) * columns_at_once;
        for (auto child = begin; child < std::min(last, begin + columns_at_once); ++child) {
            blankets[child - first] = BlanketSearch(regression, score, child, patience).run();
        }
    };
    run_tasks((last - first + columns_at_once - 1) / columns_at_once, search_block, check);
    return blankets;
}

namespace {

// A complete binary tree over numbers, which knows the first of the largest.
class Tournament {
public:
    explicit Tournament(std::size_t n) {
        while (leaves_ < n) leaves_ *= 2;
        values_.assign(2 * leaves_, nothing);
    }

    void set(std::size_t leaf, double value) {
        auto node = leaf + leaves_;
        values_[node] = value;
        while (node /= 2) values_[node] = std::max(values_[2 * node], values_[2 * node + 1]);
    }

    double best() const { return values_[1]; }

    std::size_t first_best() const {
        std::size_t node = 1;
        while (node < leaves_) node = 2 * node + (values_[2 * node] < values_[node]);
        return node - leaves_;
    }

private:
    std::size_t leaves_ = 1;
    std::vector<double> values_;
};

// The state of a climb over edges.
class EdgeClimb {
public:
    EdgeClimb(Products products, BlanketScore score, Edges edges)
        : products_(products), score_(score), edges_(edges), chosen_(edges.size() / 2, false), changes_(edges.size()),
          gains_(edges.size() / 2), near_(static_cast<std::size_t>(products.d)), regressions_(near_.size()) {
        for (std::size_t side = 0; side < edges.size(); ++side) near_[edges[side]].push_back(static_cast<std::int64_t>(side));
    }

    std::vector<bool> run(StopCheck check) {
        SharedPatience patience(check);
        run_tasks(products_.d, [&](std::int64_t v) { look_again(static_cast<std::int32_t>(v)); patience.ask(); }, check);
        for (std::size_t e = 0; e < chosen_.size(); ++e) weigh(e);
        while (gains_.best() > score_tie) {
            const auto e = gains_.first_best();
            chosen_[e] = !chosen_[e];
            for (const auto side : {2 * e, 2 * e + 1}) toggle(side);
            for (const auto side : {2 * e, 2 * e + 1}) {
                look_again(edges_[side]);
                for (const auto other : near_[edges_[side]]) weigh(static_cast<std::size_t>(other) / 2);
            }
            patience.ask();
        }
        return chosen_;
    }

private:
    // The regression of a column on its chosen neighbours, with all of them as candidates in the order of near_.
    Regression& regression(std::int32_t v) {
        auto& kept = regressions_[v];
        if (!kept) {
            std::vector<std::int32_t> columns;
            for (const auto side : near_[v]) columns.push_back(edges_[side ^ 1]);
            kept.emplace(products_, columns);
            kept->begin(v);
            for (std::size_t place = 0; place < columns.size(); ++place) {
                if (chosen_[near_[v][place] / 2]) kept->add(static_cast<std::int32_t>(place));
            }
        }
        return *kept;
    }

    // Puts the edge of a side in or out of the regression of its column, which is there.
    void toggle(std::size_t side) {
        auto& kept = regressions_[edges_[side]];
        if (!kept) return;
        const auto& near = near_[edges_[side]];
        const auto place = static_cast<std::int32_t>(std::lower_bound(near.begin(), near.end(), static_cast<std::int64_t>(side)) - near.begin());
        const auto members = kept->members();
        const auto at = std::find(members.begin(), members.end(), place);
        if (at == members.end()) {
            kept->add(place);
        } else {
            kept->remove(static_cast<std::int32_t>(at - members.begin()));
        }
    }

    // What putting in or taking out each edge at a column would do to the column's own score.
    void look_again(std::int32_t v) {
        const auto& at = regression(v);
        const auto p = at.size();
        const double now = score_(p, at.residual());
        const auto members = at.members();
        for (std::int32_t m = 0; m < p; ++m) {
            changes_[near_[v][members[m]]] = score_(p - 1, at.residual_without(m)) - now;
        }
        for (std::size_t place = 0; place < near_[v].size(); ++place) {
            const auto side = near_[v][place];
            if (chosen_[side / 2]) continue;
            changes_[side] = p == score_.most() ? nothing : score_with(at, score_, static_cast<std::int32_t>(place)) - now;
        }
        forget_when_large(v);
    }

    void forget_when_large(std::int32_t v) {
        constexpr std::int64_t most = 1 << 15;  // numbers; a larger one is made anew where it is needed
        if (regressions_[v]->held() > most) regressions_[v].reset();
    }

    void weigh(std::size_t e) { gains_.set(e, changes_[2 * e] + changes_[2 * e + 1]); }

    Products products_;
    BlanketScore score_;
    Edges edges_;
    std::vector<bool> chosen_;
    std::vector<double> changes_;  // by side: 2 e for the first column of edge e, 2 e + 1 for the second
    Tournament gains_;
    std::vector<std::vector<std::int64_t>> near_;  // the sides of a column's edges, ascending
    std::vector<std::optional<Regression>> regressions_;
};

}  // namespace

std::vector<bool> climb_edges(Products products, BlanketScore score, Edges edges, StopCheck check) {
    return EdgeClimb(products, score, edges).run(check);
}

}  // namespace fishernet
