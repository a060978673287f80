#include "counts/cell_sums.hpp"

#include <bit>

#include "counts/counting.hpp"
#include "counts/set_terms.hpp"
#include "counts/subset_terms.hpp"
#include "test/check.hpp"
#include "test/data.hpp"

using namespace fishernet;

namespace {

using Set = std::vector<std::int32_t>;

const std::pair<Measure, double> measures[] = {{Measure::likelihood, 0.7}, {Measure::bdeu, 2.0}, {Measure::k2, 0},
                                               {Measure::fnml, 0},         {Measure::qnml, 0},   {Measure::bdq, 0.5}};

Set members(std::uint64_t mask) {
    Set set;
    for (; mask != 0; mask &= mask - 1) set.push_back(std::countr_zero(mask));
    return set;
}

// All sets of variables by their bit masks, counted apart.
struct Counted {
    std::vector<JointCounts> counts;
    std::vector<SetCells> cells;

    Counted(const TestTable& table, std::int64_t most_dense) {
        std::vector<Set> sets;
        for (std::uint64_t mask = 0; mask < std::uint64_t{1} << table.codes.size(); ++mask) sets.push_back(members(mask));
        counts = count_sets(table.columns, sets, most_dense, nullptr);
        for (const auto& of : counts) cells.push_back({of.counts, of.states, of.dense});
    }
};

CellSums sums_of(const TestTable& table, Measure measure, double parameter, bool all_sets) {
    std::vector<std::uint32_t> cardinalities;
    for (const auto& column : table.columns.columns) cardinalities.push_back(column.cardinality);
    return {cardinalities, measure, parameter, table.columns.total, all_sets};
}

void check_families(const TestTable& table, const Counted& counted, Measure measure, double parameter) {
    FamilyList families;
    std::vector<std::int64_t> which;
    for (std::size_t mask = 0; mask < counted.cells.size(); ++mask) {
        for (const auto child : members(mask)) {
            families.add(child, members(mask ^ std::uint64_t{1} << child));
            which.push_back(static_cast<std::int64_t>(mask));
        }
    }
    std::vector<double> expected(which.size()), found(which.size());
    SetTerms(table.columns, measure, parameter).family_scores(families.view(), expected, nullptr);
    CellSums sums = sums_of(table, measure, parameter, false);
    sums.family_scores(families.view(), which, counted.cells, found, nullptr);
    CHECK(found == expected);
}

void check_subsets(const TestTable& table, const Counted& counted, Measure measure, double parameter) {
    Set order(table.codes.size());
    for (std::size_t v = 0; v < order.size(); ++v) order[v] = static_cast<std::int32_t>(v);
    CellSums sums = sums_of(table, measure, parameter, true);
    ScoreTerm score_term(measure, parameter, table.columns.total, ScoreTerm::least_for_all_sets);
    const std::vector<std::uint32_t> children{2, 3};
    std::vector<double> joint(counted.cells.size());
    std::vector<std::vector<double>> marginals(score_term.knows_child() ? children.size() : 0, joint);
    SubsetOutputs out{joint.data(), {}};
    for (auto& marginal : marginals) out.marginals.push_back(marginal.data());
    const auto wanted = score_term.knows_child() ? children : std::vector<std::uint32_t>{};
    const SubsetTerms counting(table.columns, order, static_cast<int>(order.size()), score_term, wanted);
    for (std::int64_t task = 0; task < counting.n_tasks(); ++task) counting.run(task, out);
    for (std::size_t mask = 0; mask < joint.size(); ++mask) {
        CHECK(sums.joint(members(mask), counted.cells[mask]) == joint[mask]);
        for (std::size_t c = 0; c < children.size(); ++c) {
            const double expected = score_term.knows_child() ? marginals[c][mask] : joint[mask];
            CHECK(sums.marginal(members(mask), children[c], counted.cells[mask]) == expected);
        }
    }
}

}  // namespace

TEST(whole_counts_have_the_bits_of_the_table) {
    for (const std::int64_t n : {0, 1, 70, 3000}) {
        for (const bool weighted : {false, true}) {
            const TestTable table(static_cast<unsigned>(n), n, {2, 3, 40, 1, 5}, weighted);
            for (const std::int64_t most_dense : {1, 20, 100000}) {
                const Counted counted(table, most_dense);
                for (const auto& [measure, parameter] : measures) {
                    check_families(table, counted, measure, parameter);
                    check_subsets(table, counted, measure, parameter);
                }
            }
        }
    }
}

TEST(a_size_does_not_depend_on_the_order) {
    const std::vector<std::uint32_t> one{37, 41, 1000003, 2, 99991, 33, 7919, 104729, 3, 65537};
    std::vector<std::uint32_t> other(one.rbegin(), one.rend());
    CHECK(size_of(one).log == size_of(other).log);
    CHECK(size_of(one).cells == size_of(other).cells);
    CHECK(size_of({}).cells == 1);
    CHECK(size_of({}).log == 0);
}
