#include "search/tree_growth.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/pool.hpp"
#include "base/shared_patience.hpp"
#include "search/search_rules.hpp"

namespace fishernet {
namespace {

using Rows = std::vector<std::uint32_t>;

constexpr int look_ahead = 1;  // splits in a row that need not raise the score at once

struct Split {
    double score = -INFINITY;
    std::int32_t variable = -1;
    std::vector<std::int32_t> branches;
};

class Grower {
public:
    Grower(const Columns& table, std::int32_t child, std::span<const std::uint8_t> may_ask, const GrowthRules& rules,
           SharedPatience& patience)
        : table_(table),
          child_(table.columns[static_cast<std::size_t>(child)]),
          rules_(rules),
          patience_(patience),
          r_(child_.cardinality),
          cells_(child_.cardinality),
          uses_(table.columns.size(), 0) {
        for (std::size_t v = 0; v < table.columns.size(); ++v) {
            if (may_ask[v] && v != static_cast<std::size_t>(child) && table.columns[v].cardinality > 1) {
                may_ask_.push_back(static_cast<std::int32_t>(v));
            }
        }
    }

    GrownTree grow() {
        Rows rows(static_cast<std::size_t>(table_.n_rows));
        std::iota(rows.begin(), rows.end(), 0u);
        rows = known(child_, rows);
        tree_.score = grow(rows, look_ahead);
        return std::move(tree_);
    }

private:
    // Appends the tree of some rows and returns its score.
    double grow(const Rows& rows, int patience) {
        const std::vector<double> leaf = counts(rows);
        const double alone = leaf_score(leaf);
        if (std::ranges::count_if(leaf, [](double n) { return n > 0; }) < 2) return end(leaf, alone);
        const Split best = best_split(rows, alone);
        if (best.variable < 0) return end(leaf, alone);
        const bool gains = best.score > alone + tie_of(best.score);
        if (!gains && patience == 0) return end(leaf, alone);
        const Size before{tree_.variables.size(), tree_.branches.size(), tree_.counts.size()};
        tree_.variables.push_back(best.variable);
        tree_.branches.insert(tree_.branches.end(), best.branches.begin(), best.branches.end());
        use(best.variable);
        double total = 0;
        std::vector<Rows> parts = divided(rows, best, alone, total);
        for (Rows& part : parts) {
            total += grow(part, gains ? look_ahead : patience - 1);
            part = {};
        }
        if (total > alone + tie_of(total)) return total;
        cut(before);
        return end(leaf, alone);
    }

    struct Size {
        std::size_t variables, branches, counts;
    };

    double end(const std::vector<double>& leaf, double alone) {
        tree_.variables.push_back(-1);
        tree_.counts.insert(tree_.counts.end(), leaf.begin(), leaf.end());
        return alone;
    }

    void cut(const Size& to) {
        for (std::size_t i = to.variables; i < tree_.variables.size(); ++i) {
            const std::int32_t v = tree_.variables[i];
            if (v >= 0 && --uses_[static_cast<std::size_t>(v)] == 0) --n_inputs_, cells_ /= states_of(v);
        }
        tree_.variables.resize(to.variables);
        tree_.branches.resize(to.branches);
        tree_.counts.resize(to.counts);
    }

    void use(std::int32_t v) {
        if (uses_[static_cast<std::size_t>(v)]++ == 0) ++n_inputs_, cells_ *= states_of(v);
    }

    double states_of(std::int32_t v) const { return table_.columns[static_cast<std::size_t>(v)].cardinality; }

    // The rows of each branch. Those that do not know the variable are left out: `left_out` is what a leaf of all scores
    // more than one of the others, less the price of the split.
    std::vector<Rows> divided(const Rows& rows, const Split& split, double alone, double& left_out) const {
        const Column& column = table_.columns[static_cast<std::size_t>(split.variable)];
        std::vector<Rows> parts(static_cast<std::size_t>(*std::ranges::max_element(split.branches)) + 1);
        for (const std::uint32_t row : rows) {
            const std::uint32_t code = code_at(column, row);
            if (code < column.cardinality) parts[static_cast<std::size_t>(split.branches[code])].push_back(row);
        }
        left_out = (column.has_missing ? alone - leaf_score(counts(known(column, rows))) : 0) - rules_.split_price;
        return parts;
    }

    Split best_split(const Rows& rows, double alone) {
        child_codes_.resize(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) child_codes_[i] = code_at(child_, rows[i]);
        Split best;
        for (const std::int32_t v : may_ask_) {
            const bool is_input = uses_[static_cast<std::size_t>(v)] > 0;
            if (!is_input && (n_inputs_ >= rules_.max_inputs || cells_ * states_of(v) > rules_.max_cells)) continue;
            try_variable(rows, v, alone, best);
        }
        return best;
    }

    void try_variable(const Rows& rows, std::int32_t v, double alone, Split& best) {
        patience_.ask();
        const Column& column = table_.columns[static_cast<std::size_t>(v)];
        const std::size_t size = column.cardinality;
        joint_.assign((size + 1) * r_, 0);  // the last row is of those that do not know it
        with_codes(column, [&](const auto* codes) {
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const std::int64_t weight = table_.weights ? table_.weights[rows[i]] : 1;
                joint_[std::size_t{codes[rows[i]]} * r_ + child_codes_[i]] += weight;
            }
        });
        seen_.clear();
        std::vector<double> sum(r_, 0);
        for (std::size_t k = 0; k < size; ++k) {
            bool occurs = false;
            for (std::size_t c = 0; c < r_; ++c) {
                occurs |= joint_[k * r_ + c] > 0;
                sum[c] += static_cast<double>(joint_[k * r_ + c]) * rules_.unit;
            }
            if (occurs) seen_.push_back(k);
        }
        if (seen_.size() < 2) return;
        const double left_out = column.has_missing ? alone - leaf_score(sum) : 0;
        if (rules_.multiway) {
            std::vector<std::int32_t> branches(size);
            std::iota(branches.begin(), branches.end(), 0);
            return judge(v, std::move(branches), left_out, best);
        }
        const auto top = static_cast<std::size_t>(std::ranges::max_element(sum) - sum.begin());
        const auto share = [&](std::size_t k) {
            double all = 0;
            for (std::size_t c = 0; c < r_; ++c) all += static_cast<double>(joint_[k * r_ + c]);
            return static_cast<double>(joint_[k * r_ + top]) / all;
        };
        std::vector<std::pair<double, std::size_t>> order;
        for (const std::size_t k : seen_) order.emplace_back(share(k), k);
        std::ranges::stable_sort(order, {}, &std::pair<double, std::size_t>::first);
        const auto against = [&](std::span<const std::pair<double, std::size_t>> chosen) {
            std::vector<std::int32_t> branches(size, 1);
            for (const auto& [of, k] : chosen) branches[k] = 0;
            judge(v, std::move(branches), left_out, best);
        };
        for (const std::size_t k : seen_) {
            const std::pair<double, std::size_t> one{0, k};
            against({&one, 1});
        }
        for (std::size_t n = 2; n + 1 < order.size(); ++n) against(std::span(order).first(n));
    }

    void judge(std::int32_t v, std::vector<std::int32_t>&& branches, double left_out, Split& best) {
        patience_.ask();
        const auto n = static_cast<std::size_t>(*std::ranges::max_element(branches)) + 1;
        sums_.assign(n * r_, 0);
        for (const std::size_t k : seen_) {
            double* to = sums_.data() + static_cast<std::size_t>(branches[k]) * r_;
            for (std::size_t c = 0; c < r_; ++c) to[c] += static_cast<double>(joint_[k * r_ + c]) * rules_.unit;
        }
        double score = left_out - rules_.split_price;
        for (std::size_t b = 0; b < n; ++b) score += leaf_score(std::span(sums_).subspan(b * r_, r_));
        if (best.variable < 0 || score > best.score + tie_of(best.score)) best = {score, v, std::move(branches)};
    }

    std::vector<double> counts(const Rows& rows) const {
        std::vector<std::int64_t> found(r_, 0);
        for (const std::uint32_t row : rows) found[code_at(child_, row)] += table_.weights ? table_.weights[row] : 1;
        std::vector<double> scaled;
        for (const std::int64_t n : found) scaled.push_back(static_cast<double>(n) * rules_.unit);
        return scaled;
    }

    double leaf_score(std::span<const double> counts) const {
        double total = 0, sum = 0;
        for (const double n : counts) {
            total += n;
            if (n > 0) sum += n * std::log(n);
        }
        return (total > 0 ? sum - total * std::log(total) : 0) - rules_.price * static_cast<double>(r_ - 1);
    }

    Rows known(const Column& column, const Rows& rows) const {
        if (!column.has_missing) return rows;
        Rows found;
        for (const std::uint32_t row : rows) {
            if (code_at(column, row) < column.cardinality) found.push_back(row);
        }
        return found;
    }

    const Columns& table_;
    const Column& child_;
    const GrowthRules& rules_;
    SharedPatience& patience_;
    std::size_t r_;
    double cells_, n_inputs_ = 0;
    std::vector<std::int64_t> uses_;  // in how many splits each variable is asked
    std::vector<std::int32_t> may_ask_;
    std::vector<std::uint32_t> child_codes_;
    std::vector<std::int64_t> joint_;  // of one variable: (states, states of the child)
    std::vector<std::size_t> seen_;    // its states that occur
    std::vector<double> sums_;
    GrownTree tree_;
};

}  // namespace

std::vector<GrownTree> grow_trees(const Columns& table, std::span<const std::int32_t> children,
                                  std::span<const std::uint8_t> may_ask, const GrowthRules& rules, StopCheck check) {
    std::vector<GrownTree> found(children.size());
    const std::size_t n = table.columns.size();
    SharedPatience patience(check);
    run_tasks(std::ssize(children), [&](std::int64_t task) {
        const auto i = static_cast<std::size_t>(task);
        found[i] = Grower(table, children[i], may_ask.subspan(i * n, n), rules, patience).grow();
    }, check);
    return found;
}

}  // namespace fishernet
