#include "trees/tree_patterns.hpp"

#include <numeric>

namespace fishernet {
namespace {

// Numbers pairs of numbers in the order in which they come.
class Pairing {
public:
    // of[r] becomes the number of (of[r], with[r * step]); returns how many there are.
    std::int32_t join(std::vector<std::int32_t>& of, std::int32_t kinds, const std::int32_t* with, std::int64_t step,
                      std::int32_t with_kinds) {
        const auto cells = static_cast<std::size_t>(kinds) * static_cast<std::size_t>(with_kinds);
        if (number_.size() < cells) number_.resize(cells, -1);
        used_.clear();
        for (std::size_t r = 0; r < of.size(); ++r) {
            const auto cell = static_cast<std::size_t>(of[r]) * static_cast<std::size_t>(with_kinds) +
                              static_cast<std::size_t>(with[static_cast<std::int64_t>(r) * step]);
            if (number_[cell] < 0) {
                number_[cell] = static_cast<std::int32_t>(used_.size());
                used_.push_back(cell);
            }
            of[r] = number_[cell];
        }
        for (const auto cell : used_) number_[cell] = -1;
        return static_cast<std::int32_t>(used_.size());
    }

private:
    std::vector<std::int32_t> number_;
    std::vector<std::size_t> used_;
};

struct Finder {
    Finder(const TreeModel& of, std::span<const std::int32_t> symbols, std::int32_t n_rows, double most_shared)
        : model(of), codes(symbols), rows(n_rows), most(static_cast<std::int32_t>(most_shared * n_rows)),
          ids(static_cast<std::size_t>(of.shape.n_nodes())) {
        found.rows = rows;
        found.count.assign(ids.size(), rows);
        found.map_at.assign(static_cast<std::size_t>(model.shape.n_edges()), -1);
    }

    // What each row has at the lower end of an edge, `step` apart.
    const std::int32_t* below(std::int32_t child, std::int64_t& step) const {
        step = child < 0 ? model.shape.n_leaves : 1;
        return child < 0 ? codes.data() + ~child : ids[child].data();
    }

    void number(std::int32_t node) {
        auto& of = ids[node];
        of.assign(static_cast<std::size_t>(rows), 0);
        std::int32_t kinds = 1;
        for (auto e = model.shape.first[node]; e < model.shape.first[node + 1] && kinds < rows; ++e) {
            const auto child = model.shape.child[e];
            std::int64_t step = 0;
            const auto* with = below(child, step);
            kinds = pairing.join(of, kinds, with, step, child < 0 ? model.columns() : found.count[child]);
            if (kinds > most) kinds = rows;
        }
        if (kinds == rows) std::iota(of.begin(), of.end(), 0);
        found.count[node] = kinds;
    }

    void map_children(std::int32_t node) {
        std::vector<std::int32_t> first_row(static_cast<std::size_t>(found.count[node]), -1);
        for (std::int32_t r = rows; r-- > 0;) first_row[ids[node][r]] = r;
        for (auto e = model.shape.first[node]; e < model.shape.first[node + 1]; ++e) {
            const auto child = model.shape.child[e];
            std::int64_t step = 0;
            const auto* with = below(child, step);
            const bool alike = child >= 0 && found.count[child] == rows && found.count[node] == rows;
            if (!alike) {
                found.map_at[e] = static_cast<std::int64_t>(found.maps.size());
                for (const auto r : first_row) found.maps.push_back(with[r * step]);
            }
            if (child >= 0) std::vector<std::int32_t>().swap(ids[child]);
        }
    }

    const TreeModel& model;
    std::span<const std::int32_t> codes;
    std::int32_t rows, most;
    std::vector<std::vector<std::int32_t>> ids;
    Pairing pairing;
    TreePatterns found;
};

}  // namespace

TreePatterns find_patterns(const TreeModel& model, std::span<const std::int32_t> codes, std::int32_t rows,
                           double share) {
    Finder finder(model, codes, rows, share);
    for (const auto node : model.bottom_up) {
        finder.number(node);
        finder.map_children(node);
    }
    finder.found.of_row = std::move(finder.ids[0]);
    return std::move(finder.found);
}

}  // namespace fishernet
