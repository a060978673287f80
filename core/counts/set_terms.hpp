// Scores of the form f(S + child) - g(S, r): sums over the cells of sets of variables, each set counted once and
// remembered.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/columns.hpp"
#include "base/interrupt.hpp"
#include "base/packed.hpp"
#include "base/sequence_map.hpp"
#include "counts/families.hpp"
#include "counts/score_term.hpp"

namespace fishernet {

// Whose terms the cells of a set are: f with the child, g without.
struct TermPair {
    const CellTerms *joint = nullptr, *marginal = nullptr;
};

// What is counted at one go: the base (parents and child, the child last) and the base with each candidate.
struct Run {
    std::vector<std::int32_t> base;
    std::vector<std::int32_t> candidates;
    TermPair base_pair;
    std::vector<std::pair<std::uint32_t, TermPair>> pairs;  // of the base and a candidate, by its number of states
    double base_term = 0, parents_term = 0;
    std::vector<double> joint_terms, marginal_terms;  // base + candidate; the same without the child
};

class SetTerms {
public:
    // The table must outlive the object and have no missing cell.
    SetTerms(const Columns& table, Measure measure, double parameter)
        : table_(table), score_term_(measure, parameter, table.total) {}

    std::size_t n_variables() const { return table_.columns.size(); }

    // The number of distinct families scored so far; one whose sets were forgotten in between (there are too many to keep
    // with thousands of variables) counts again.
    std::size_t n_families() const { return n_families_; }

    void family_scores(const Families& families, std::span<double> scores, StopCheck check);

private:
    // What is known of a set, and for which of its members (by rank) the family was scored.
    struct Known {
        double term;
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

    void choose_terms(Run& run);
    void count(std::vector<Run>& runs, StopCheck check);
    void remember(const Run& run, const Places& places);
    void note_family(const Families& families, std::size_t f, std::size_t joint);

    const Columns& table_;
    ScoreTerm score_term_;
    SequenceMap<Known> known_;
    std::size_t n_families_ = 0;
    std::mutex mutex_;
};

}  // namespace fishernet
