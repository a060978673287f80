#include "search/exact_search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "base/pool.hpp"

namespace fishernet {
namespace {

constexpr std::size_t marginals_at_once = 3;

// Variables with few states come last in the walk through the subsets, where many sets are summed at once.
std::vector<std::int32_t> by_cardinality(const Columns& table) {
    std::vector<std::int32_t> order(table.columns.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
        return table.columns[a].cardinality < table.columns[b].cardinality;
    });
    return order;
}

std::vector<std::int32_t> as_given(std::int32_t n) {
    std::vector<std::int32_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    return order;
}

std::vector<double> cardinalities_of(const Columns& table, const std::vector<std::int32_t>& order) {
    std::vector<double> found;
    for (const auto v : order) found.push_back(table.columns[v].cardinality);
    return found;
}

std::uint64_t bits_of(const std::vector<std::int32_t>& variables, const std::vector<std::int32_t>& place) {
    std::uint64_t bits = 0;
    for (const auto v : variables) bits |= std::uint64_t{1} << place[v];
    return bits;
}

std::vector<double> states_of(const Rules& rules) {
    std::vector<double> states;
    for (std::int32_t v = 0; v < rules.n; ++v) states.push_back(rules.states_of(v));
    return states;
}

double n_sets(int n) { return std::ldexp(1.0, n); }

}  // namespace

std::vector<ParentRule> parent_rules(const Rules& rules, const std::vector<std::int32_t>& order) {
    std::vector<std::int32_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<std::int32_t>(i);
    std::vector<ParentRule> found;
    for (const auto child : order) {
        found.push_back({bits_of(rules.allowed[child], place), bits_of(rules.required[child], place),
                         rules.max_parents, rules.max_cells / rules.states_of(child)});
    }
    return found;
}

ExactSearch::ExactSearch(const Columns& table, Measure measure, double parameter, const Rules& rules)
    : n_(rules.n),
      order_(by_cardinality(table)),
      cardinalities_(cardinalities_of(table, order_)),
      best_(n_, parent_rules(rules, order_), CellProducts(cardinalities_)),
      networks_(best_),
      table_(&table),
      terms_(n_) {
    score_term_.emplace(measure, parameter, table.total, ScoreTerm::least_for_all_sets);
    plan_counting();
    plan_networks();
}

ExactSearch::ExactSearch(const Rules& rules, const double* joint, std::vector<const double*> marginals,
                         std::span<const std::int32_t> kind_of_child, std::span<const double> prices)
    : n_(rules.n),
      order_(as_given(n_)),
      cardinalities_(states_of(rules)),
      best_(n_, parent_rules(rules, order_), CellProducts(cardinalities_)),
      networks_(best_) {
    for (int child = 0; child < n_; ++child) terms_.push_back({joint, marginals[kind_of_child[child]], prices[child]});
    add({0, [this] { return best_.make_room(), 0; }, {}});
    std::vector<int> children(n_);
    std::iota(children.begin(), children.end(), 0);
    plan_scoring(children);
    plan_networks();
}

double ExactSearch::n_scores() const {
    double sum = 0;
    for (int child = 0; child < n_; ++child) sum += best_.count(child);
    return sum;
}

// --------------------------------------------------------------------------------------------------------- planning

void ExactSearch::add(Stage stage) {
    total_ += stage.units;
    stages_.push_back(std::move(stage));
}

// Where g knows the child, several numbers of states are counted together, and the others afterwards.
void ExactSearch::plan_counting() {
    std::vector<std::uint32_t> states;
    if (score_term_->knows_child()) {
        states.assign(cardinalities_.begin(), cardinalities_.end());
        std::sort(states.begin(), states.end());
        states.erase(std::unique(states.begin(), states.end()), states.end());
    }
    int most = 0;
    for (int child = 0; child < n_; ++child) most = std::max(most, std::min(best_.rule(child).most, n_) + 1);
    for (std::size_t first = 0; first < std::max<std::size_t>(states.size(), 1); first += marginals_at_once) {
        const auto last = std::min(states.size(), first + marginals_at_once);
        const std::vector<std::uint32_t> part(states.begin() + first, states.begin() + last);
        constexpr double units_a_set = 32;  // a set takes about as long to count as so many families to score
        add({units_a_set * n_sets(n_), [=, this] {
            if (first == 0) best_.make_room();
            if (first == 0) joint_ = make_buffer(std::size_t{1} << n_);
            marginals_.resize(part.size());
            for (Buffer& marginal : marginals_) {
                if (!marginal) marginal = make_buffer(std::size_t{1} << n_);
            }
            counting_.emplace(*table_, order_, most, *score_term_, part);
            return counting_->n_tasks();
        }, [this](std::int64_t task) {
            SubsetOutputs out{joint_.get(), {}};
            for (const Buffer& marginal : marginals_) out.marginals.push_back(marginal.get());
            counting_->run(task, out);
        }});
        std::vector<int> children;
        for (int child = 0; child < n_; ++child) {
            const auto found = std::find(part.begin(), part.end(), cardinalities_[child]);
            if (part.empty() || found != part.end()) children.push_back(child);
        }
        add({0, [=, this] {
            for (const int child : children) {
                const auto m = std::find(part.begin(), part.end(), cardinalities_[child]) - part.begin();
                const double* marginal = part.empty() ? joint_.get() : marginals_[m].get();
                terms_[child] = {joint_.get(), marginal, score_term_->price() * (cardinalities_[child] - 1)};
            }
            counting_.reset();
            return 0;
        }, {}});
        plan_scoring(children);
    }
}

void ExactSearch::plan_scoring(std::vector<int> children) {
    const auto many = static_cast<std::int64_t>(children.size());
    const double families = static_cast<double>(many) * n_sets(n_ - 1);
    const double share = 1.0 / (1 + best_.n_rounds());
    add({share * families, [=, this] { return many * best_.n_blocks(); },
         [=, this](std::int64_t task) {
             const int child = children[task / best_.n_blocks()];
             best_.score_block(child, task % best_.n_blocks(), terms_[child]);
         }});
    for (int round = 0; round < best_.n_rounds(); ++round) {
        add({share * families, [=, this] { return many * best_.n_tasks(round); },
             [=, this](std::int64_t task) {
                 best_.take_over(children[task / best_.n_tasks(round)], round, task % best_.n_tasks(round));
             }});
    }
}

void ExactSearch::plan_networks() {
    add({0, [this] {
        marginals_.clear();
        networks_.take_room(joint_ ? std::move(joint_) : make_buffer(std::size_t{1} << n_));
        return 0;
    }, {}});
    for (int number = 0; number < networks_.n_layers(); ++number) {
        const double blocks = static_cast<double>(networks_.layer(number).size());
        add({blocks * n_sets(n_ - networks_.n_layers() + 1), [=, this] {
            layer_ = networks_.layer(number);
            return static_cast<std::int64_t>(layer_.size());
        }, [this](std::int64_t task) { networks_.score_block(layer_[task]); }});
    }
}

// ---------------------------------------------------------------------------------------------------------- working

double ExactSearch::done() const {
    if (finished() || n_tasks_ <= 0) return units_before_;
    return units_before_ + stages_[stage_].units * static_cast<double>(task_) / static_cast<double>(n_tasks_);
}

void ExactSearch::advance(StopCheck check) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds long_enough(50);
    const auto began = Clock::now();
    std::int64_t at_once = get_threads();
    while (!finished() && Clock::now() - began < long_enough) {
        const Stage& stage = stages_[stage_];
        if (n_tasks_ < 0) n_tasks_ = stage.begin();
        const std::int64_t many = std::min(at_once, n_tasks_ - task_), first = task_;
        if (many > 0) run_tasks(many, [&](std::int64_t task) { stage.work(first + task); }, check);
        task_ += many;
        at_once = std::min<std::int64_t>(2 * at_once, 1 << 16);
        if (task_ < n_tasks_) continue;
        units_before_ += stage.units;
        ++stage_;
        task_ = 0;
        n_tasks_ = -1;
    }
}

std::vector<std::vector<std::int32_t>> ExactSearch::parents() const {
    std::vector<int> place_of(n_);
    for (int place = 0; place < n_; ++place) place_of[order_[place]] = place;
    const auto masks = networks_.find_parents(place_of);
    std::vector<std::vector<std::int32_t>> found(n_);
    for (int v = 0; v < n_; ++v) {
        for (int p = 0; p < n_; ++p) {
            if (masks[place_of[v]] >> place_of[p] & 1) found[v].push_back(p);
        }
    }
    return found;
}

}  // namespace fishernet
