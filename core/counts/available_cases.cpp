#include "counts/available_cases.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/kernels.hpp"
#include "base/pool.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t at_once = 2048;  // rows
constexpr std::uint64_t missing = ~std::uint64_t{0};

struct Workspace {
    std::vector<std::uint32_t> ids;
    std::vector<std::uint32_t> histogram;
    std::vector<std::uint64_t> cells;
    std::vector<std::int64_t> counts;
    std::vector<std::pair<std::uint64_t, std::int64_t>> pairs;
};

// ids[i] = ids[i] * r + code, or missing.
template <class Code>
void extend(std::uint64_t* ids, const void* codes, std::int64_t n, std::uint64_t r) {
    const auto* of = static_cast<const Code*>(codes);
    for (std::int64_t i = 0; i < n; ++i) ids[i] = ids[i] == missing || of[i] >= r ? missing : ids[i] * r + of[i];
}

void extend(std::uint64_t* ids, const Column& column, std::int64_t first, std::int64_t n) {
    const void* codes = codes_from(column, first);
    switch (column.width) {
        case 1: return extend<std::uint8_t>(ids, codes, n, column.cardinality);
        case 2: return extend<std::uint16_t>(ids, codes, n, column.cardinality);
        default: return extend<std::uint32_t>(ids, codes, n, column.cardinality);
    }
}

// A family's columns, the child's last.
using Family = std::vector<const Column*>;

// Calls found(cell, weight) for every row that is complete in a family; the child changes fastest.
template <class Found>
void visit(const Columns& table, const Family& family, Workspace& work, Found found) {
    work.cells.resize(at_once);
    for (std::int64_t first = 0; first < table.n_rows; first += at_once) {
        const auto n = std::min(at_once, table.n_rows - first);
        std::fill_n(work.cells.begin(), n, 0);
        for (const auto* column : family) extend(work.cells.data(), *column, first, n);
        for (std::int64_t i = 0; i < n; ++i) {
            if (work.cells[static_cast<std::size_t>(i)] != missing) {
                found(work.cells[static_cast<std::size_t>(i)], table.weights == nullptr ? 1 : table.weights[first + i]);
            }
        }
    }
}

// States of a column, that of missing cells counted.
std::uint32_t states_with_missing(const Column& column) { return column.cardinality + (column.has_missing ? 1 : 0); }

// Rows by the family's states, a missing cell being a state of its own: work.counts[cell].
void count_with_missing(const Columns& table, const Family& family, std::size_t cells, Workspace& work) {
    constexpr std::size_t copies = 4;  // rows that follow one another do not wait for each other
    work.ids.resize(at_once);
    work.counts.assign(cells, 0);
    work.histogram.assign(table.weights == nullptr ? copies * cells : 0, 0);
    for (std::int64_t first = 0; first < table.n_rows; first += at_once) {
        const auto n = std::min(at_once, table.n_rows - first);
        std::fill_n(work.ids.begin(), n, 0u);
        for (const auto* column : family) {
            kernels().extend_ids(work.ids.data(), codes_from(*column, first), column->width, n,
                                 states_with_missing(*column));
        }
        const std::uint32_t* ids = work.ids.data();
        if (table.weights != nullptr) {
            for (std::int64_t i = 0; i < n; ++i) work.counts[ids[i]] += table.weights[first + i];
            continue;
        }
        std::int64_t i = 0;
        for (; i + 3 < n; i += 4) {
            for (std::size_t c = 0; c < copies; ++c) ++work.histogram[c * cells + ids[i + static_cast<std::int64_t>(c)]];
        }
        for (; i < n; ++i) ++work.histogram[ids[i]];
    }
    for (std::size_t i = 0; i < work.histogram.size(); ++i) work.counts[i % cells] += work.histogram[i];
}

double n_log_n(std::int64_t count, double unit) {
    const double n = static_cast<double>(count) * unit;
    return count > 0 ? n * std::log(n) : 0;
}

// Sums of n log n over the counts of one configuration after the other.
struct Sums {
    double unit;
    double joint = 0;
    double parents = 0;
    std::int64_t n = 0;
    std::vector<std::int64_t> of_child;

    void add_cell(std::uint64_t state, std::int64_t count) {
        joint += n_log_n(count, unit);
        of_child[state] += count;
    }
    void add_configuration(std::int64_t of_parents) {
        parents += n_log_n(of_parents, unit);
        n += of_parents;
    }

    // How much likelier the child is given its parents than without them, on the rows that are complete.
    double gain() const {
        double child = 0;
        for (const auto count : of_child) child += n_log_n(count, unit);
        return joint - parents - child + n_log_n(n, unit);
    }
};

// Adds the cells of complete rows out of counts in which missing cells are states.
void add_complete(const Family& family, std::span<const std::int64_t> counts, Sums& sums) {
    const Column& child = *family.back();
    const std::size_t step = states_with_missing(child);
    std::vector<std::uint32_t> states(family.size(), 0);
    for (std::size_t first = 0; first < counts.size(); first += step) {
        bool complete = true;
        for (std::size_t p = 0; p + 1 < family.size(); ++p) complete = complete && states[p] < family[p]->cardinality;
        if (complete) {
            std::int64_t of_parents = 0;
            for (std::size_t k = 0; k < child.cardinality; ++k) {
                of_parents += counts[first + k];
                sums.add_cell(k, counts[first + k]);
            }
            sums.add_configuration(of_parents);
        }
        for (std::size_t p = family.size() - 1; p-- > 0;) {
            if (++states[p] < states_with_missing(*family[p])) break;
            states[p] = 0;
        }
    }
}

Sums sums_of(const Columns& table, const Family& family, double unit, Workspace& work) {
    const std::uint64_t r = family.back()->cardinality;
    Sums sums{.unit = unit, .of_child = std::vector<std::int64_t>(r, 0)};
    double cells = 1;
    for (const auto* column : family) cells *= states_with_missing(*column);
    if (cells <= std::max(4096.0, static_cast<double>(table.n_rows)) && table.n_rows <= 0xFFFFFFFF) {
        count_with_missing(table, family, static_cast<std::size_t>(cells), work);
        add_complete(family, work.counts, sums);
        return sums;
    }
    work.pairs.clear();
    visit(table, family, work, [&](std::uint64_t cell, std::int64_t weight) { work.pairs.emplace_back(cell, weight); });
    std::sort(work.pairs.begin(), work.pairs.end());
    for (std::size_t i = 0; i < work.pairs.size();) {
        const auto configuration = work.pairs[i].first / r;
        std::int64_t of_parents = 0;
        while (i < work.pairs.size() && work.pairs[i].first / r == configuration) {
            std::int64_t count = 0;
            const auto state = work.pairs[i].first % r;
            for (const auto cell = work.pairs[i].first; i < work.pairs.size() && work.pairs[i].first == cell; ++i) {
                count += work.pairs[i].second;
            }
            of_parents += count;
            sums.add_cell(state, count);
        }
        sums.add_configuration(of_parents);
    }
    return sums;
}

}  // namespace

void told_by_parents(const Columns& table, const Families& families, double unit, std::span<double> told,
                     std::span<double> weights, StopCheck check) {
    run_tasks(static_cast<std::int64_t>(families.size()), [&](std::int64_t task) {
        thread_local Workspace work;
        const auto f = static_cast<std::size_t>(task);
        Family family;
        for (const auto p : families.parents_of(f)) family.push_back(&table.columns[static_cast<std::size_t>(p)]);
        family.push_back(&table.columns[static_cast<std::size_t>(families.children[f])]);
        const Sums sums = sums_of(table, family, unit, work);
        told[f] = sums.gain();
        weights[f] = static_cast<double>(sums.n) * unit;
    }, check, static_cast<double>(families.size()) * static_cast<double>(table.n_rows) > 20000);
}

}  // namespace fishernet
