#include "set_terms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "joint_counts.hpp"
#include "pool.hpp"

namespace fishernet {
namespace {

using Set = std::vector<std::int32_t>;
using View = std::span<const std::int32_t>;

constexpr std::int64_t pending = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t few_rows = 57344;  // such a table is one task a run; a longer one is cut by rows

// A set and one variable more. The result lies in the given memory.
View with(View set, std::int32_t variable, Set& memory) {
    memory.assign(set.begin(), set.end());
    memory.insert(std::lower_bound(memory.begin(), memory.end(), variable), variable);
    return memory;
}

// The one variable of `larger` that `smaller` lacks, or -1 when it is not `smaller` and one more.
std::int32_t one_more(View larger, View smaller) {
    if (larger.size() != smaller.size() + 1) return -1;
    std::size_t i = 0;
    while (i < smaller.size() && larger[i] == smaller[i]) ++i;
    return std::equal(larger.begin() + i + 1, larger.end(), smaller.begin() + i) ? larger[i] : -1;
}

// Families of one child whose parents are a common set and one more each.
class RunBuilder {
public:
    RunBuilder(std::vector<Run>& runs) : runs_(runs) {}

    void add(std::int32_t child, View parents) {
        if (open_ && child == child_ && extend(parents)) return;
        close();
        open_ = true;
        settled_ = false;
        child_ = child;
        first_.assign(parents.begin(), parents.end());
    }

    // Ends the open run and hands it over; its base and the base without the child come along with it.
    template <class Mark>
    void close(const Mark& mark) {
        if (!open_) return;
        if (!settled_) settle_alone();
        Set memory;
        mark(with(common_, child_, memory));
        mark(common_);
        close();
    }

    void close() {
        if (!open_) return;
        if (!settled_) settle_alone();
        Run run;
        run.base = common_;
        run.base.push_back(child_);
        run.candidates = candidates_;
        runs_.push_back(std::move(run));
        open_ = false;
    }

    bool takes(std::int32_t child, View parents) const {
        if (!open_ || child != child_) return false;
        if (settled_) return one_more(parents, common_) >= 0;
        return common_size(parents) + 1 == first_.size() && parents.size() == first_.size();
    }

private:
    std::size_t common_size(View parents) const {
        std::size_t n = 0;
        for (const auto v : parents) n += std::binary_search(first_.begin(), first_.end(), v);
        return n;
    }

    bool extend(View parents) {
        if (!takes(child_, parents)) return false;
        if (!settled_) {
            common_.clear();
            std::set_intersection(first_.begin(), first_.end(), parents.begin(), parents.end(),
                                  std::back_inserter(common_));
            candidates_.assign(1, one_more(first_, common_));
            settled_ = true;
        }
        candidates_.push_back(one_more(parents, common_));
        return true;
    }

    void settle_alone() {
        common_ = first_;
        candidates_.clear();
        if (!common_.empty()) {
            candidates_.push_back(common_.back());
            common_.pop_back();
        }
        settled_ = true;
    }

    std::vector<Run>& runs_;
    bool open_ = false, settled_ = false;
    std::int32_t child_ = -1;
    Set first_, common_, candidates_;
};

}  // namespace

// ------------------------------------------------------------------------------------------------------------ terms

LogTerms::LogTerms(std::int64_t total) {
    const double n = static_cast<double>(std::max<std::int64_t>(total, 1));
    shift_ = std::min(50, 60 - static_cast<int>(std::ceil(std::log2(n * std::log(n) + 2))));
    table_.resize(static_cast<std::size_t>(std::min<std::int64_t>(total, 65535) + 1));
    for (std::size_t i = 0; i < table_.size(); ++i) table_[i] = exact(static_cast<std::int64_t>(i));
}

std::int64_t LogTerms::exact(std::int64_t n) const {
    if (n < 2) return 0;
    const double x = static_cast<double>(n);
    return std::llrint(x * std::log(x) * static_cast<double>(std::int64_t{1} << shift_));
}

double LogTerms::value(std::int64_t fixed) const {
    return static_cast<double>(fixed) / static_cast<double>(std::int64_t{1} << shift_);
}

// --------------------------------------------------------------------------------------------------------- planning

std::vector<Run> SetTerms::plan(const Families& families) {
    std::vector<Run> runs;
    RunBuilder builder(runs);
    Set memory;
    const auto mark = [this](View set) {
        if (known_.find(set) == nullptr) known_.insert(set, pending);
    };
    for (std::size_t f = 0; f < families.size(); ++f) {
        const auto child = families.children[f];
        const auto parents = families.parents_of(f);
        if (!builder.takes(child, parents)) builder.close(mark);
        const View joint = with(parents, child, memory);
        const bool has_joint = known_.find(joint) != nullptr;
        const bool has_parents = known_.find(parents) != nullptr;
        if (has_joint && has_parents) continue;
        mark(joint);
        mark(parents);
        if (has_joint && !parents.empty()) {  // only the parents' own sum is wanted
            builder.close(mark);
            builder.add(parents.back(), parents.first(parents.size() - 1));
            builder.close(mark);
        } else {
            builder.add(child, parents);
        }
    }
    builder.close(mark);
    return runs;
}

void SetTerms::remember(const Run& run) {
    const auto note = [this](View set, std::int64_t term) {
        if (std::int64_t* known = known_.find(set)) *known = term;
    };
    const View parents = View(run.base).first(run.base.size() - 1);
    Set base_memory, memory;
    const View base = with(parents, run.base.back(), base_memory);
    note(base, run.base_term);
    note(parents, run.parents_term);
    for (std::size_t c = 0; c < run.candidates.size(); ++c) {
        note(with(base, run.candidates[c], memory), run.joint_terms[c]);
        note(with(parents, run.candidates[c], memory), run.marginal_terms[c]);
    }
}

// --------------------------------------------------------------------------------------------------------- counting

void SetTerms::count(std::vector<Run>& runs, StopCheck check) {
    const Packed& packed = table_.packed(check);
    std::vector<Run*> short_runs;
    for (Run& run : runs) {
        run.joint_terms.assign(run.candidates.size(), 0);
        run.marginal_terms.assign(run.candidates.size(), 0);
        if (!counts_in_lanes(table_, packed, run)) count_singly(table_, terms_, run, check);
        else if (table_.n_rows > few_rows) count_in_lanes(table_, packed, terms_, run, true, check);
        else short_runs.push_back(&run);
    }
    const bool worth_it = static_cast<std::int64_t>(short_runs.size()) * (table_.n_rows + 1000) > 20000;
    run_tasks(static_cast<std::int64_t>(short_runs.size()), [&](std::int64_t i) {
        count_in_lanes(table_, packed, terms_, *short_runs[i], false, nullptr);
    }, check, worth_it);
}

void SetTerms::family_scores(const Families& families, double penalty, std::span<double> scores, StopCheck check) {
    const std::lock_guard lock(mutex_);
    std::vector<Run> runs = plan(families);
    try {
        count(runs, check);
    } catch (...) {
        known_ = {};  // some sets are marked and will not come
        throw;
    }
    for (const Run& run : runs) remember(run);
    Set memory;
    for (std::size_t f = 0; f < families.size(); ++f) {
        const auto child = families.children[f];
        const auto parents = families.parents_of(f);
        double q = 1;
        for (const auto p : parents) q *= table_.columns[p].cardinality;
        const std::int64_t fit = *known_.find(with(parents, child, memory)) - *known_.find(parents);
        memory.assign(1, child);
        memory.insert(memory.end(), parents.begin(), parents.end());
        if (families_.find(memory) == nullptr) families_.insert(memory, 1);
        scores[f] = terms_.value(fit) - penalty * (table_.columns[child].cardinality - 1.0) * q;
    }
}

}  // namespace fishernet
