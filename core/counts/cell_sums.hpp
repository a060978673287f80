// Scores from the counts of sets' cells, wherever these were counted: to the last bit those of a table that is counted and
// scored in one pass (set_terms.hpp; of all sets subset_terms.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interrupt.hpp"
#include "counts/families.hpp"
#include "counts/score_term.hpp"

namespace fishernet {

// The joint counts of a set, its last variable fastest.
struct SetCells {
    std::span<const std::int64_t> counts;   // of all cells, or of cells that occur, in any order
    std::span<const std::uint32_t> states;  // the latter's states, row after row
    bool dense = true;
};

class CellSums {
public:
    // The rows weigh `total`; `all_sets` chooses between the bits of families and those of all sets.
    CellSums(std::vector<std::uint32_t> cardinalities, Measure measure, double parameter, std::int64_t total,
             bool all_sets);

    std::size_t n_variables() const { return cardinalities_.size(); }
    std::uint32_t cardinality(std::int32_t variable) const { return cardinalities_[static_cast<std::size_t>(variable)]; }
    std::int64_t total() const { return total_; }
    double price() const { return score_term_.price(); }
    bool knows_child() const { return score_term_.knows_child(); }

    // sets[which[f]] are the cells of family f, with the child.
    void family_scores(const Families& families, std::span<const std::int64_t> which, std::span<const SetCells> sets,
                       std::span<double> scores, StopCheck check);

    // What is f of a set, and g for a child of r states without the price of parameters.
    double joint(std::span<const std::int32_t> set, const SetCells& cells);
    double marginal(std::span<const std::int32_t> set, std::uint32_t r, const SetCells& cells);

    // joint[s] is f of set s; marginals[c * sets + s] is g of set s for a child of children[c] states.
    void set_terms(std::span<const std::vector<std::int32_t>> sets, std::span<const SetCells> cells,
                   std::span<const std::int64_t> children, std::span<double> joint_terms,
                   std::span<double> marginals, StopCheck check);

private:
    Size size_of_set(std::span<const std::int32_t> set);

    std::vector<std::uint32_t> cardinalities_;
    std::int64_t total_;
    ScoreTerm score_term_;
    std::vector<std::uint32_t> memory_;
};

}  // namespace fishernet
