// Scores of the form f(S + child) - g(S, r): sums of n log n over the cells of sets of variables, each set counted once
// and remembered.
//
// A sum is kept in fixed point. Adding integers does not depend on the order, so a set has the same bits however it was
// counted, in which form of the table, with how many threads, and as part of which family.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "columns.hpp"
#include "families.hpp"
#include "interrupt.hpp"
#include "packed.hpp"
#include "sequence_map.hpp"

namespace fishernet {

// n log n in fixed point.
class LogTerms {
public:
    explicit LogTerms(std::int64_t total);

    std::int64_t operator()(std::int64_t n) const { return n < size() ? table_[n] : exact(n); }
    std::int64_t size() const { return static_cast<std::int64_t>(table_.size()); }
    const std::int64_t* data() const { return table_.data(); }
    double value(std::int64_t fixed) const;

private:
    std::int64_t exact(std::int64_t n) const;

    int shift_;
    std::vector<std::int64_t> table_;
};

// What is counted at one go: the base (parents and child, the child last) and the base with each candidate.
struct Run {
    std::vector<std::int32_t> base;
    std::vector<std::int32_t> candidates;
    std::int64_t base_term = 0, parents_term = 0;
    std::vector<std::int64_t> joint_terms, marginal_terms;  // base + candidate; the same without the child
};

class SetTerms {
public:
    // The table must outlive the object and have no missing cell.
    explicit SetTerms(const Columns& table) : table_(table), terms_(table.total) {}

    std::size_t n_variables() const { return table_.columns.size(); }

    // The number of distinct families scored so far.
    std::size_t n_families() const { return n_families_; }

    // scores[f] = sum n_ijk log (n_ijk / n_ij) - penalty (r - 1) q
    void family_scores(const Families& families, double penalty, std::span<double> scores, StopCheck check);

private:
    // What is known of a set, and for which of its members (by rank) the family was scored.
    struct Known {
        std::int64_t term;
        std::uint64_t scored;
    };
    // Where the terms of a run belong among the known sets.
    struct Places {
        std::size_t base, parents;
        std::vector<std::size_t> joint, marginal;
    };
    struct Plan {
        std::vector<Run> runs;
        std::vector<Places> places;                              // of each run
        std::vector<std::pair<std::size_t, std::size_t>> sets;   // of each family: with the child, and without
    };
    friend class Planner;

    void count(std::vector<Run>& runs, StopCheck check);
    void remember(const Run& run, const Places& places);
    void note_family(const Families& families, std::size_t f, std::size_t joint);

    const Columns& table_;
    LogTerms terms_;
    SequenceMap<Known> known_;
    std::size_t n_families_ = 0;
    std::mutex mutex_;
};

}  // namespace fishernet
