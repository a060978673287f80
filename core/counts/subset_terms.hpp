// The terms of all sets of variables, each set counted once.
//
// Variables have places; a set is a bit mask over them. The distinct rows are walked through with one place after the
// other, the highest first, put into the set (rows that differ there part) or left out of it (rows that differ only there
// become one). A row that is alone in its part adds the same to all sets below, and is left behind. In the lowest places
// whole lattices of sets are summed at a time.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "base/columns.hpp"
#include "counts/lattice.hpp"
#include "counts/row_classes.hpp"
#include "counts/score_term.hpp"

namespace fishernet {

// Where the terms go: f's of every set, and g's for several numbers of states of the child.
struct SubsetOutputs {
    double* joint = nullptr;
    std::vector<double*> marginals;
};

// The sets that have the same number of cells, numbered by how many variables they have of each cardinality.
class SetKinds {
public:
    SetKinds(const Columns& table, std::span<const std::int32_t> order);

    std::uint64_t size() const { return size_; }
    std::uint64_t of(std::uint64_t set) const;
    Size cells(std::uint64_t kind) const;

private:
    std::vector<std::uint64_t> step_;  // of each place
    std::vector<std::uint32_t> cardinalities_;
    std::vector<std::uint64_t> many_;  // 1 + how many variables have each of them
    std::uint64_t size_ = 1;
};

// Terms that are the same functions of a count for all sets: f in the first lane, g's in the others.
template <int lanes>
class SharedTerms {
public:
    using Value = Lanes<std::uint64_t, lanes>;

    SharedTerms(std::vector<const CellTerms*> functions, std::vector<double> of_kind);

    static constexpr bool takes(std::uint64_t) { return true; }
    Value of(std::uint64_t n) const { return n < size_ ? table_[n] : make(static_cast<std::int64_t>(n)); }
    void add_to(Value& sum, std::uint64_t n) const { sum += of(n); }
    std::uint64_t beyond(std::uint64_t, std::uint64_t) const { return 0; }
    void write(const Value& sum, std::uint64_t, std::uint64_t kind, std::uint64_t set, const SubsetOutputs& out) const;

private:
    Value make(std::int64_t n) const;

    std::vector<const CellTerms*> functions_;
    std::vector<double> of_kind_;  // what a set has beside its terms; empty: nothing
    std::vector<Value> table_;
    std::uint64_t size_;
};

// Terms that depend on the number of cells of the set: cells with few rows are counted by their number of rows, one lane
// each; a cell with more is looked up for every set it is in.
class TermsByKind {
public:
    static constexpr int lanes = 16;
    using Value = Lanes<std::uint32_t, lanes>;

    explicit TermsByKind(std::vector<const CellTerms*> of_kind) : of_kind_(std::move(of_kind)) {}

    static constexpr bool takes(std::uint64_t n) { return n < lanes; }
    Value of(std::uint64_t n) const;  // 0 has no term: its lane is not looked at
    static void add_to(Value& sum, std::uint64_t n) { ++sum.v[n]; }
    std::uint64_t beyond(std::uint64_t n, std::uint64_t kind) const;
    void write(const Value& sum, std::uint64_t large, std::uint64_t kind, std::uint64_t set,
               const SubsetOutputs& out) const;

private:
    std::vector<const CellTerms*> of_kind_;
};

// The work of counting, cut into tasks that any thread may do.
class SubsetTerms {
public:
    // Sets of more than `most` variables may be left out. `children` are the numbers of states for which g is wanted,
    // three at most; none where g is f. The score_term must outlive the object.
    SubsetTerms(const Columns& table, std::span<const std::int32_t> order, int most, ScoreTerm& score_term,
                const std::vector<std::uint32_t>& children);

    std::int64_t n_tasks() const { return std::int64_t{1} << (n_ - task_places_); }
    std::uint64_t sets_per_task() const { return std::uint64_t{1} << task_places_; }
    void run(std::int64_t task, const SubsetOutputs& out) const;

private:
    using Terms = std::variant<SharedTerms<1>, SharedTerms<2>, SharedTerms<4>, TermsByKind>;
    template <class AnyTerms, class Weight>
    friend class SubsetWalk;

    // The classes of a level of the lattice as cells.
    struct LatticeLevel {
        std::uint64_t n_cells;           // 0: too many for a table
        std::uint64_t n_marginal_cells;  // of all its subsets together
        std::vector<std::uint64_t> keys;   // codes as bytes, one class each
        std::vector<std::uint32_t> cells;  // positions in a table of all cells
    };

    Terms make_terms(ScoreTerm& score_term, const std::vector<std::uint32_t>& children) const;
    void describe_lattice();

    int n_, most_;
    std::int64_t total_;
    RowClasses classes_;
    SetKinds kinds_;
    Terms terms_;
    int task_places_ = 0;     // so many places are walked through in one task
    int lattice_places_ = 0;  // and so many of these are summed as one lattice
    std::vector<LatticeLevel> lattice_levels_;
};

}  // namespace fishernet
