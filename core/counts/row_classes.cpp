#include "counts/row_classes.hpp"

#include <numeric>

namespace fishernet {
namespace {

using Numbers = std::vector<std::uint32_t>;

Numbers rows_with_weight(const Columns& table) {
    Numbers rows;
    rows.reserve(static_cast<std::size_t>(table.n_rows));
    for (std::int64_t row = 0; row < table.n_rows; ++row) {
        if (table.weights == nullptr || table.weights[row] > 0) rows.push_back(static_cast<std::uint32_t>(row));
    }
    return rows;
}

// The codes of the rows, renumbered to those that occur; returns how many there are.
std::uint32_t observed_codes(const Column& column, const Numbers& rows, Numbers& codes) {
    Numbers rank(column.cardinality, 0);
    codes.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        codes[i] = code_at(column, rows[i]);
        rank[codes[i]] = 1;
    }
    std::uint32_t states = 0;
    for (auto& r : rank) r = r ? states++ : 0;
    for (auto& code : codes) code = rank[code];
    return states;
}

// Sorts positions by their codes, keeping the order among equal ones.
void sort_by_code(const Numbers& codes, std::uint32_t states, Numbers& positions, Numbers& scratch) {
    Numbers begin(states + 1, 0);
    for (const auto code : codes) ++begin[code + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    scratch.resize(positions.size());
    for (const auto p : positions) scratch[begin[codes[p]]++] = p;
    positions.swap(scratch);
}

}  // namespace

RowClasses row_classes(const Columns& table, std::span<const std::int32_t> order) {
    const Numbers rows = rows_with_weight(table);
    Numbers sorted(rows.size()), class_of(rows.size(), 0), codes, scratch;
    std::iota(sorted.begin(), sorted.end(), 0);
    RowClasses found;
    found.levels.resize(order.size() + 1);
    found.levels[0].code.assign(rows.empty() ? 0 : 1, 0);
    found.levels[0].next.assign(rows.empty() ? 0 : 1, 0);
    for (std::size_t j = 0; j < order.size(); ++j) {
        RowClasses::Level& level = found.levels[j + 1];
        level.states = observed_codes(table.columns[order[j]], rows, codes);
        sort_by_code(codes, level.states, sorted, scratch);
        for (const auto p : sorted) {
            if (level.next.empty() || level.code.back() != codes[p] || level.next.back() != class_of[p]) {
                level.code.push_back(codes[p]);
                level.next.push_back(class_of[p]);
            }
            class_of[p] = static_cast<std::uint32_t>(level.size() - 1);
        }
    }
    found.weights.assign(found.levels.back().size(), 0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        found.weights[class_of[i]] += table.weights == nullptr ? 1 : table.weights[rows[i]];
    }
    return found;
}

}  // namespace fishernet
