// What a score sums over the cells of a set of variables, and what it takes off for the number of its cells.
//
// A family's score is f(parents and child) - g(parents; states of the child). f and g are sums over the cells that
// occur of a function of their counts, and a number that depends on the number of cells alone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "counts/regret.hpp"

namespace fishernet {

// A function of a count, in fixed point. Adding integers does not depend on the order, so a set has the same bits
// however it was counted, in which form of the table, with how many threads, and as part of which family.
class CellTerms {
public:
    using Function = std::function<double(std::int64_t)>;

    // `total` rows at most are counted; `first` are the values of counts from 0 on, which are looked up afterwards.
    // phi(n) / n rises with n, and phi(0) = 0.
    CellTerms(Function phi, std::int64_t total, const std::vector<double>& first);

    std::int64_t operator()(std::int64_t n) const { return n < size() ? table_[n] : exact(n); }
    std::int64_t size() const { return static_cast<std::int64_t>(table_.size()); }
    const std::int64_t* data() const { return table_.data(); }
    double value(std::int64_t fixed) const;

private:
    std::int64_t exact(std::int64_t n) const { return fixed(phi_(n)); }
    std::int64_t fixed(double value) const;

    Function phi_;
    double scale_;
    std::vector<std::int64_t> table_;
};

enum class Measure {
    likelihood,  // maximized; less `parameter` for every free parameter
    bdeu,        // Dirichlet marginal likelihood, parameter / (number of cells) a cell
    k2,          // Dirichlet marginal likelihood, 1 a cell of the family
    fnml,        // normalized maximum likelihood of the child in each configuration of its parents (Leppä-aho, 2020, Eq. 4.6)
    qnml,        // quotient of normalized maximum likelihoods of the two sets (Leppä-aho, 2020, Eq. 4.8 to 4.10)
    bdq,         // quotient of Dirichlet marginal likelihoods of the two sets, `parameter` a cell
};

class ScoreTerm {
public:
    // A set's own table of terms (BDeu) holds at least the counts below `least`: where all sets are scored, these are many
    // and their counts small. A count within the table and one beyond may differ in the last bit.
    static constexpr std::int64_t usual_least = 4096, least_for_all_sets = 256;
    ScoreTerm(Measure measure, double parameter, std::int64_t total, std::int64_t least = usual_least);

    // Whether f's terms depend on the number of cells of the set.
    bool knows_cells() const { return measure_ == Measure::bdeu; }
    // Whether a set has something beside its terms.
    bool knows_sets() const { return measure_ == Measure::qnml || measure_ == Measure::bdq; }

    // Whether g depends on the child's states in more than the sizes.
    bool knows_child() const { return measure_ == Measure::k2 || measure_ == Measure::fnml; }

    // The terms of f for a set with so many cells. Kept; not to be called from several threads at once.
    const CellTerms& joint(const Size& set);
    // The terms of g for parents with so many configurations and a child of r states.
    const CellTerms& marginal(const Size& parents, std::uint32_t r);

    // What a family's score has beside its terms: of_set(joint) - of_set(parents) - price() (r - 1) (parents' cells).
    double of_sizes(const Size& joint, const Size& parents, std::uint32_t r);
    double of_set(const Size& set);
    double price() const { return measure_ == Measure::likelihood ? parameter_ : 0; }

private:
    const CellTerms& kept(double key, const CellTerms::Function& phi, std::int64_t size);
    const CellTerms& dirichlet(double key, double log_pseudo_count, std::int64_t size);
    double of_new_set(const Size& set) const;
    std::int64_t usual_size() const;
    std::int64_t size_for(const Size& set) const;

    Measure measure_;
    double parameter_;
    std::int64_t total_, least_;
    std::unordered_map<double, std::unique_ptr<const CellTerms>> terms_;
    std::map<std::pair<double, double>, double> sets_;  // of_set by the number of cells and its logarithm
};

}  // namespace fishernet
