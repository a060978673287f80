#include "counts/group_counts.hpp"

#include "base/pool.hpp"

namespace fishernet {
namespace {

template <class Code>
void add_rows(const void* codes, const std::int64_t* weights, std::span<const std::int64_t> rows, std::int64_t* counts) {
    const auto* of = static_cast<const Code*>(codes);
    if (weights == nullptr) {
        for (const auto row : rows) ++counts[of[row]];
    } else {
        for (const auto row : rows) counts[of[row]] += weights[row];
    }
}

void add_rows(const Columns& table, const Column& column, std::span<const std::int64_t> rows, std::int64_t* counts) {
    switch (column.width) {
        case 1: return add_rows<std::uint8_t>(column.codes, table.weights, rows, counts);
        case 2: return add_rows<std::uint16_t>(column.codes, table.weights, rows, counts);
        default: return add_rows<std::uint32_t>(column.codes, table.weights, rows, counts);
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
