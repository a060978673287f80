#include "counts/set_terms.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/pool.hpp"
#include "counts/joint_counts.hpp"
#include "counts/lane_counts.hpp"

namespace fishernet {
namespace {

using Set = std::vector<std::int32_t>;
using View = std::span<const std::int32_t>;

constexpr std::size_t most_known = std::size_t{1} << 22;  // sets; more than these are forgotten, all at once

// A set and one variable more, in the given memory.
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

// The numbers of states of a set, in the given memory.
std::span<const std::uint32_t> states_of(const Columns& table, View set, std::vector<std::uint32_t>& memory) {
    memory.clear();
    for (const auto v : set) memory.push_back(table.columns[v].cardinality);
    return memory;
}

}  // namespace

// --------------------------------------------------------------------------------------------------------- planning

// Groups families into runs: those of one child whose parents are a common set and one more each. A set is marked as
// known as soon as some run will count it. Where g knows the child, the parents of children with different numbers of
// states are different sets.
class Planner {
public:
    using Places = SetTerms::Places;
    Planner(const Columns& table, bool knows_child, SequenceMap<SetTerms::Known>& known, SetTerms::Plan& plan)
        : table_(table), knows_child_(knows_child), known_(known), plan_(plan) {}

    void add(std::int32_t child, View parents) {
        const bool fits = takes(child, parents);
        if (!fits) close();
        const std::size_t before = known_.size();
        const std::size_t joint = place(with(parents, child, memory_));
        const bool new_joint = known_.size() > before;
        const std::size_t marginal = place_parents(child, parents);
        const bool new_parents = known_.size() > before + new_joint;
        plan_.sets.emplace_back(joint, marginal);
        if (new_joint) {
            put(child, parents, joint, marginal);
        } else if (new_parents && (parents.empty() || knows_child_)) {
            put(child, parents, joint, marginal);
        } else if (new_parents) {  // only the parents' own sum is wanted: count them as a family of their last
            close();
            const View others = parents.first(parents.size() - 1);
            put(parents.back(), others, marginal, place(others));
            close();
        }
    }

    // Ends the open run. The base and the base without the child come along with it.
    void close() {
        if (!open_) return;
        open_ = false;
        if (!settled_) settle_alone();
        places_.base = place(with(common_, child_, memory_));
        places_.parents = place_parents(child_, common_);
        // those with lanes are counted all at once: they do not wait for the others
        const auto is_narrow = [&](std::int32_t v) { return has_lanes(table_.columns[v]); };
        const auto n_narrow = std::ranges::count_if(candidates_, is_narrow);
        if (n_narrow > 0 && n_narrow < std::ssize(candidates_)) {
            for (const bool narrow : {true, false}) plan([&](std::int32_t v) { return is_narrow(v) == narrow; });
        } else {
            plan([](std::int32_t) { return true; });
        }
    }

private:
    // Plans the open run for some of its candidates.
    template <class Takes>
    void plan(Takes takes) {
        Run run;
        Places places{places_.base, places_.parents, {}, {}};
        run.base = common_;
        run.base.push_back(child_);
        // without candidates the base alone is wanted
        for (std::size_t c = 0; c < candidates_.size(); ++c) {
            if (!takes(candidates_[c])) continue;
            run.candidates.push_back(candidates_[c]);
            places.joint.push_back(places_.joint[c]);
            places.marginal.push_back(places_.marginal[c]);
        }
        plan_.runs.push_back(std::move(run));
        plan_.places.push_back(std::move(places));
    }

    std::size_t place(View set) { return known_.find_or_insert(set, {0, 0}); }

    // The set of a child's parents; no variable's position is negative.
    std::size_t place_parents(std::int32_t child, View parents) {
        if (!knows_child_) return place(parents);
        marked_.assign(1, -static_cast<std::int32_t>(table_.columns[child].cardinality));
        marked_.insert(marked_.end(), parents.begin(), parents.end());
        return place(marked_);
    }

    // Whether a family belongs to the open run; the second one of a run settles what they have in common.
    bool takes(std::int32_t child, View parents) const {
        if (!open_ || child != child_) return false;
        if (settled_) return one_more(parents, common_) >= 0;
        std::size_t shared = 0;
        for (const auto v : parents) shared += std::binary_search(first_.begin(), first_.end(), v);
        return parents.size() == first_.size() && shared + 1 == first_.size();
    }

    void put(std::int32_t child, View parents, std::size_t joint, std::size_t marginal) {
        if (!open_) {
            open_ = true;
            settled_ = false;
            child_ = child;
            first_.assign(parents.begin(), parents.end());
            places_ = {};
        } else {
            if (!settled_) settle(parents);
            candidates_.push_back(one_more(parents, common_));
        }
        places_.joint.push_back(joint);
        places_.marginal.push_back(marginal);
    }

    void settle(View second) {
        common_.clear();
        std::set_intersection(first_.begin(), first_.end(), second.begin(), second.end(), std::back_inserter(common_));
        candidates_.assign(1, one_more(first_, common_));
        settled_ = true;
    }

    // A run of one family: its last parent is the candidate; without parents the family is the base itself.
    void settle_alone() {
        common_ = first_;
        candidates_.clear();
        if (common_.empty()) {
            places_.joint.clear();
            places_.marginal.clear();
        } else {
            candidates_.push_back(common_.back());
            common_.pop_back();
        }
        settled_ = true;
    }

    const Columns& table_;
    bool knows_child_;
    SequenceMap<SetTerms::Known>& known_;
    SetTerms::Plan& plan_;
    bool open_ = false, settled_ = false;
    std::int32_t child_ = -1;
    Set first_, common_, candidates_, memory_, marked_;
    Places places_;
};

void SetTerms::remember(const Run& run, const Places& places) {
    known_[places.base].term = run.base_term;
    known_[places.parents].term = run.parents_term;
    for (std::size_t c = 0; c < run.candidates.size(); ++c) {
        known_[places.joint[c]].term = run.joint_terms[c];
        known_[places.marginal[c]].term = run.marginal_terms[c];
    }
}

// --------------------------------------------------------------------------------------------------------- counting

// Which functions the cells of a run are summed by; made before several threads count.
void SetTerms::choose_terms(Run& run) {
    std::vector<std::uint32_t> memory;
    const std::uint32_t r = table_.columns[run.base.back()].cardinality;
    const auto pair = [&](std::uint32_t states) -> TermPair {
        states_of(table_, View(run.base).first(run.base.size() - 1), memory);
        memory.push_back(states);
        const Size without = size_of(memory);
        memory.push_back(r);
        return {&score_term_.joint(size_of(memory)), &score_term_.marginal(without, r)};
    };
    run.base_pair = pair(1);
    for (const auto c : run.candidates) {
        const std::uint32_t states = table_.columns[c].cardinality;
        const auto same = [states](const auto& known) { return known.first == states; };
        if (std::none_of(run.pairs.begin(), run.pairs.end(), same)) run.pairs.emplace_back(states, pair(states));
    }
}

void SetTerms::count(std::vector<Run>& runs, StopCheck check) {
    const Packed& packed = table_.packed(check);
    std::vector<Run*> in_lanes, singly;
    for (Run& run : runs) {
        choose_terms(run);
        run.joint_terms.assign(run.candidates.size(), 0);
        run.marginal_terms.assign(run.candidates.size(), 0);
        (counts_in_lanes(table_, packed, run) ? in_lanes : singly).push_back(&run);
    }
    if (table_.n_rows > few_rows) {
        for (Run* run : singly) count_singly(table_, *run, check);
        return count_in_lanes(table_, packed, in_lanes, check);
    }
    const auto n_in_lanes = std::ssize(in_lanes), n = n_in_lanes + std::ssize(singly);
    run_tasks(n, [&](std::int64_t i) {
        if (i < n_in_lanes) count_in_lanes(table_, packed, *in_lanes[static_cast<std::size_t>(i)]);
        else count_singly(table_, *singly[static_cast<std::size_t>(i - n_in_lanes)], nullptr);
    }, check, n * (table_.n_rows + 1000) > 20000);
}

// Counts the family as scored, once: the joint set remembers the rank of the child.
void SetTerms::note_family(const Families& families, std::size_t f, std::size_t joint) {
    const auto parents = families.parents_of(f);
    const auto rank = std::lower_bound(parents.begin(), parents.end(), families.children[f]) - parents.begin();
    std::uint64_t& scored = known_[joint].scored;
    const std::uint64_t bit = std::uint64_t{1} << std::min<std::ptrdiff_t>(rank, 63);
    n_families_ += (scored & bit) == 0;
    scored |= bit;
}

void SetTerms::family_scores(const Families& families, std::span<double> scores, StopCheck check) {
    const std::lock_guard lock(mutex_);
    if (known_.size() > most_known) known_ = {};
    Plan plan;
    Planner planner(table_, score_term_.knows_child(), known_, plan);
    try {
        for (std::size_t f = 0; f < families.size(); ++f) planner.add(families.children[f], families.parents_of(f));
        planner.close();
        count(plan.runs, check);
    } catch (...) {
        known_ = {};  // some sets are marked and will not come
        throw;
    }
    for (std::size_t r = 0; r < plan.runs.size(); ++r) remember(plan.runs[r], plan.places[r]);
    std::vector<std::uint32_t> memory;
    for (std::size_t f = 0; f < families.size(); ++f) {
        const std::uint32_t r = table_.columns[families.children[f]].cardinality;
        const auto [joint, marginal] = plan.sets[f];
        const double fit = known_[joint].term - known_[marginal].term;
        const Size parents = size_of(states_of(table_, families.parents_of(f), memory));
        memory.push_back(r);
        scores[f] = fit + score_term_.of_sizes(size_of(memory), parents, r);
        note_family(families, f, joint);
    }
}

}  // namespace fishernet
