#include "counts/group_counts.hpp"

#include <array>

#include "base/pool.hpp"

namespace fishernet {
namespace {

constexpr std::size_t copies = 4;  // rows that follow one another do not wait for each other
constexpr std::size_t most_copied = 256;  // codes

// The codes of rows that count once, of few states.
template <class Code>
void add_few(const Code* codes, std::span<const std::int64_t> rows, std::int64_t* counts, std::size_t n_codes) {
    std::array<std::int64_t, copies * most_copied> held{};
    std::size_t i = 0;
    for (; i + copies <= rows.size(); i += copies) {
        for (std::size_t c = 0; c < copies; ++c) ++held[c * most_copied + codes[rows[i + c]]];
    }
    for (; i < rows.size(); ++i) ++held[codes[rows[i]]];
    for (std::size_t c = 0; c < copies; ++c) {
        for (std::size_t code = 0; code < n_codes; ++code) counts[code] += held[c * most_copied + code];
    }
}

template <class Code>
void add_rows(const void* codes, const std::int64_t* weights, std::span<const std::int64_t> rows, std::int64_t* counts,
              std::size_t n_codes) {
    const auto* of = static_cast<const Code*>(codes);
    if (weights != nullptr) {
        for (const auto row : rows) counts[of[row]] += weights[row];
    } else if (n_codes <= most_copied) {
        add_few(of, rows, counts, n_codes);
    } else {
        for (const auto row : rows) ++counts[of[row]];
    }
}

void add_rows(const Columns& table, const Column& column, std::span<const std::int64_t> rows, std::int64_t* counts) {
    const std::size_t n_codes = std::size_t{column.cardinality} + 1;
    switch (column.width) {
        case 1: return add_rows<std::uint8_t>(column.codes, table.weights, rows, counts, n_codes);
        case 2: return add_rows<std::uint16_t>(column.codes, table.weights, rows, counts, n_codes);
        default: return add_rows<std::uint32_t>(column.codes, table.weights, rows, counts, n_codes);
    }
}

}  // namespace

std::vector<std::vector<std::int64_t>> count_in_groups(const Columns& table, std::span<const std::int32_t> columns,
                                                       const RowGroups& groups, StopCheck check) {
    std::vector<std::vector<std::int64_t>> found;
    for (const auto c : columns) {
        found.emplace_back(groups.size() * (std::size_t{table.columns[static_cast<std::size_t>(c)].cardinality} + 1));
    }
    const auto count = [&](std::int64_t task) {
        const auto place = static_cast<std::size_t>(task) / groups.size();
        const auto group = static_cast<std::size_t>(task) % groups.size();
        const Column& column = table.columns[static_cast<std::size_t>(columns[place])];
        const auto begin = static_cast<std::size_t>(groups.offsets[group]);
        const auto size = static_cast<std::size_t>(groups.offsets[group + 1]) - begin;
        add_rows(table, column, groups.rows.subspan(begin, size),
                 found[place].data() + group * (std::size_t{column.cardinality} + 1));
    };
    run_tasks(static_cast<std::int64_t>(columns.size() * groups.size()), count, check);
    return found;
}

}  // namespace fishernet
