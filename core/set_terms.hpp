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
    std::size_t n_families() const { return families_.size(); }

    // scores[f] = sum n_ijk log (n_ijk / n_ij) - penalty (r - 1) q
    void family_scores(const Families& families, double penalty, std::span<double> scores, StopCheck check);

private:
    std::vector<Run> plan(const Families& families);
    void count(std::vector<Run>& runs, StopCheck check);
    void remember(const Run& run);

    const Columns& table_;
    LogTerms terms_;
    SequenceMap<std::int64_t> known_;
    SequenceMap<char> families_;
    std::mutex mutex_;
};

}  // namespace fishernet
