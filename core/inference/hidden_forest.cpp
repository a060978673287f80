#include "inference/hidden_forest.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/float_kernels.hpp"
#include "base/pool.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t lanes = 64;  // rows at a time; a multiple of the sides of a tile
constexpr std::int64_t tile_rows = FloatKernels::tile_rows, tile_columns = FloatKernels::tile_columns;
constexpr std::int64_t most_at_once = 16;  // tasks whose sums are held
constexpr double worth = 0x1p29;    // multiplications of a task
constexpr std::int64_t least_tasks = 8;
constexpr double least = 0x1p-300;  // a row of messages below it is scaled up before it is multiplied again,
constexpr double passable = 0x1p-60;  // and below this before it is passed on

std::int64_t whole_tiles(std::int64_t n) { return (n + tile_columns - 1) / tile_columns * tile_columns; }

std::vector<double> room(std::int64_t rows, std::int64_t width) {
    return std::vector<double>(static_cast<std::size_t>(rows * width));
}

// A matrix (k, n) in strips of some columns, which a tile reads from one end to the other: (n / strip, k, strip).
template <std::int64_t strip>
void to_strips(double* __restrict into, const double* __restrict from, std::int64_t k, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += strip) {
        for (std::int64_t r = 0; r < k; ++r, into += strip) std::copy_n(from + r * n + i, strip, into);
    }
}

// The same of the transpose of a matrix (n, k).
template <std::int64_t strip>
void turned_to_strips(double* __restrict into, const double* __restrict from, std::int64_t n, std::int64_t k) {
    for (std::int64_t i = 0; i < n; i += strip) {
        for (std::int64_t r = 0; r < k; ++r, into += strip) {
            for (std::int64_t s = 0; s < strip; ++s) into[s] = from[(i + s) * k + r];
        }
    }
}

// into (n, m) += the transpose of left (k, n) times right (k, m), both in strips; n and m are whole tiles.
void add_product(double* into, const double* left, std::int64_t n, const double* right, std::int64_t m, std::int64_t k) {
    const auto& loops = float_kernels();
    for (std::int64_t i = 0; i < n; i += tile_rows) {
        for (std::int64_t j = 0; j < m; j += tile_columns) {
            loops.add_tile(into + i * m + j, m, left + i * k, tile_rows, right + j * k, tile_columns, k);
        }
    }
}

// The tables as the loops take them, laid out as the forest says.
struct Model {
    Model(const HiddenForest& forest, std::span<const double> cells)
        : down(room(forest.padded_cells(), 1)), up(down), exponents(down.size()) {
        std::vector<double> own;
        for (const auto& node : forest.nodes()) {
            const double* table = cells.data() + forest.starts()[static_cast<std::size_t>(node.variable)];
            own.assign(static_cast<std::size_t>(node.above * node.width), 0.0);
            const auto rows = node.parent < 0 ? 1 : forest.nodes()[static_cast<std::size_t>(node.parent)].states;
            for (std::int64_t s = 0; s < rows; ++s) std::copy_n(table + s * node.states, node.states, own.data() + s * node.width);
            if (node.parent < 0) {
                std::copy(own.begin(), own.end(), down.begin() + node.at);
            } else {
                to_strips<tile_columns>(down.data() + node.at, own.data(), node.above, node.width);
                turned_to_strips<tile_columns>(up.data() + node.at, own.data(), node.above, node.width);
            }
            for (const auto v : node.leaves) {
                add_leaf(node, forest.leaf_at(v), forest.cardinality(v), cells.data() + forest.starts()[static_cast<std::size_t>(v)]);
            }
        }
    }

    // Each row of a leaf is divided by a power of two, so that its largest number is about 1.
    void add_leaf(const HiddenForest::Node& node, std::int64_t at, std::int64_t symbols, const double* table) {
        for (std::int64_t x = 0; x < symbols; ++x) {
            double* row = down.data() + at + x * node.width;
            for (std::int64_t s = 0; s < node.states; ++s) row[s] = table[s * symbols + x];
            const double most = *std::max_element(row, row + node.states);
            if (most > 0) {
                const auto exponent = std::ilogb(most);
                for (std::int64_t s = 0; s < node.states; ++s) row[s] = std::ldexp(row[s], -exponent);
                exponents[static_cast<std::size_t>(at + x * node.width)] = exponent;
            }
        }
        std::fill_n(down.data() + at + symbols * node.width, node.states, 1.0);
    }

    std::vector<double> down, up;         // the tables, of nodes in strips (of a root as it is), and their transposes
    std::vector<std::int32_t> exponents;  // of two, where a leaf's row begins
};

// Messages of some rows at a time.
class Messages {
public:
    Messages(const HiddenForest& forest, const Model& model)
        : forest_(forest), model_(model), codes_(forest.size()), passed_(forest.nodes().size()) {
        std::int64_t widest = 0;
        for (const auto& node : forest.nodes()) {
            up_.push_back(room(lanes, node.width));
            over_.push_back(room(lanes, node.parent < 0 ? 0 : node.above));
            widest = std::max(widest, node.width);
        }
        left_ = room(widest, lanes);
        right_ = room(lanes, widest);
        share_ = room(lanes, widest);
        given_ = room(lanes, widest);
    }

    // The logarithms of the probabilities of up to `lanes` rows.
    void rise(std::int64_t first, std::int64_t n, double* log_prob) {
        take(first, n);
        std::fill_n(log_prob, n, 0.0);
        const auto& nodes = forest_.nodes();
        for (auto c = nodes.size(); c-- > 0;) {
            collect(c);
            if (nodes[c].parent >= 0) send_up(c);
            else add_root(c, n, log_prob);
        }
    }

    // Adds what is expected of the rows that rose last.
    void fall(std::int64_t n, const double* weights, std::vector<double>& sums) {
        const auto& nodes = forest_.nodes();
        for (std::size_t c = 0; c < nodes.size(); ++c) {
            if (nodes[c].parent < 0) judge_root(c, n, weights, sums);
            else judge(c, sums);
            for (const auto v : nodes[c].leaves) {
                const auto& codes = codes_[static_cast<std::size_t>(v)];
                float_kernels().add_rows(sums.data() + forest_.leaf_at(v), up_[c].data(), codes.data(), nodes[c].width, n);
            }
        }
    }

private:
    void take(std::int64_t first, std::int64_t n) {
        const auto& columns = forest_.columns().columns;
        for (const auto& node : forest_.nodes()) {
            for (const auto v : node.leaves) {
                const auto& column = columns[static_cast<std::size_t>(v)];
                auto& codes = codes_[static_cast<std::size_t>(v)];
                codes.fill(static_cast<std::int32_t>(column.cardinality));
                for (std::int64_t b = 0; b < n; ++b) {
                    codes[static_cast<std::size_t>(b)] = static_cast<std::int32_t>(code_at(column, first + b));
                }
            }
        }
    }

    // up = the product of what the leaves and the children say of a node's states.
    void collect(std::size_t c) {
        const auto& node = forest_.nodes()[c];
        const auto& loops = float_kernels();
        double* up = up_[c].data();
        std::fill_n(up, lanes * node.width, 0.0);
        for (std::int64_t b = 0; b < lanes; ++b) std::fill_n(up + b * node.width, node.states, 1.0);
        exponents_.fill(0);
        int factors = 0;
        const auto make_room = [&] {  // two factors leave numbers that a third one may make too small
            if (factors++ >= 2) settle(node, up, least);
        };
        for (const auto v : node.leaves) {
            make_room();
            const auto at = forest_.leaf_at(v);
            const auto& codes = codes_[static_cast<std::size_t>(v)];
            loops.multiply_rows(up, model_.down.data() + at, codes.data(), node.width, lanes);
            for (std::size_t b = 0; b < lanes; ++b) {
                exponents_[b] += model_.exponents[static_cast<std::size_t>(at + codes[b] * node.width)];
            }
        }
        for (const auto child : node.children) {
            make_room();
            loops.multiply(up, over_[static_cast<std::size_t>(child)].data(), lanes * node.width);
            for (std::size_t b = 0; b < lanes; ++b) exponents_[b] += passed_[static_cast<std::size_t>(child)][b];
        }
        settle(node, up, passable);
        passed_[c] = exponents_;
    }

    // Rows whose largest number is below a bound are multiplied by a power of two, so that it is from 1 to 2.
    void settle(const HiddenForest::Node& node, double* up, double bound) {
        const auto& loops = float_kernels();
        loops.largest_of_rows(up, node.width, lanes, most_.data());
        for (std::size_t b = 0; b < lanes; ++b) {
            if (most_[b] >= bound || most_[b] == 0) continue;
            const auto exponent = std::max(std::ilogb(most_[b]), -1000);  // beyond it the factor is no number
            loops.scale(up + static_cast<std::int64_t>(b) * node.width, std::ldexp(1.0, -exponent), node.width);
            exponents_[b] += exponent;
        }
    }

    void send_up(std::size_t c) {
        const auto& node = forest_.nodes()[c];
        turned_to_strips<tile_rows>(left_.data(), up_[c].data(), lanes, node.width);
        std::fill_n(over_[c].data(), lanes * node.above, 0.0);
        add_product(over_[c].data(), left_.data(), lanes, model_.up.data() + node.at, node.above, node.width);
    }

    double root_sum(std::size_t c, std::int64_t b) const {
        const auto& node = forest_.nodes()[c];
        return float_kernels().dot(up_[c].data() + b * node.width, model_.down.data() + node.at, node.width);
    }

    void add_root(std::size_t c, std::int64_t n, double* log_prob) const {
        for (std::int64_t b = 0; b < n; ++b) {
            log_prob[b] += std::log(root_sum(c, b)) + std::log(2.0) * static_cast<double>(passed_[c][static_cast<std::size_t>(b)]);
        }
    }

    // up becomes the probability of each state given the row, times the row's weight, of a root and of other nodes.
    void judge_root(std::size_t c, std::int64_t n, const double* weights, std::vector<double>& sums) {
        const auto& node = forest_.nodes()[c];
        const auto& loops = float_kernels();
        for (std::int64_t b = 0; b < lanes; ++b) {
            double* row = up_[c].data() + b * node.width;
            const double sum = b < n ? root_sum(c, b) : 0;
            const double share = sum > 0 ? (weights == nullptr ? 1.0 : weights[b]) / sum : 0;
            loops.multiply(row, model_.down.data() + node.at, node.width);
            loops.scale(row, share, node.width);
            loops.add(sums.data() + node.at, row, node.width);
        }
    }

    void judge(std::size_t c, std::vector<double>& sums) {
        const auto& node = forest_.nodes()[c];
        const double* believed = up_[static_cast<std::size_t>(node.parent)].data();
        const double* over = over_[c].data();
        double* share = share_.data();
        float_kernels().divide(share, believed, over, lanes * node.above);
        to_strips<tile_rows>(left_.data(), share, lanes, node.above);
        to_strips<tile_columns>(right_.data(), up_[c].data(), lanes, node.width);
        add_product(sums.data() + node.at, left_.data(), node.above, right_.data(), node.width, lanes);  // times the table: to_counts
        turned_to_strips<tile_rows>(left_.data(), share, lanes, node.above);
        std::fill_n(given_.data(), lanes * node.width, 0.0);
        add_product(given_.data(), left_.data(), lanes, model_.down.data() + node.at, node.width, node.above);
        float_kernels().multiply(up_[c].data(), given_.data(), lanes * node.width);
    }

    using Exponents = std::array<std::int64_t, lanes>;

    const HiddenForest& forest_;
    const Model& model_;
    std::vector<std::array<std::int32_t, lanes>> codes_;  // one a variable
    std::vector<std::vector<double>> up_, over_;  // one a node: (lanes, states), and what it says of its parent's states
    std::vector<Exponents> passed_;               // one a node, of two
    Exponents exponents_{};
    std::array<double, lanes> most_{};
    std::vector<double> left_, right_, share_, given_;
};

// Expected counts of sums: those of a node lack its table, and what lacks a leaf is spread as its table says.
std::vector<double> to_counts(const HiddenForest& forest, std::span<const double> cells, std::span<const double> sums) {
    std::vector<double> counts(cells.size());
    for (std::size_t c = 0; c < forest.nodes().size(); ++c) {
        const auto& node = forest.nodes()[c];
        const auto v = static_cast<std::size_t>(node.variable);
        const auto begin = forest.starts()[v], n = forest.starts()[v + 1] - begin;
        for (std::int64_t i = 0; i < n; ++i) {
            const auto cell = static_cast<std::size_t>(begin + i);
            const auto at = static_cast<std::size_t>(node.at + i / node.states * node.width + i % node.states);
            counts[cell] = node.parent < 0 ? sums[at] : sums[at] * cells[cell];
        }
        for (const auto leaf : node.leaves) {
            const auto of = static_cast<std::size_t>(leaf);
            const auto symbols = forest.cardinality(leaf);
            const double* rows = sums.data() + forest.leaf_at(leaf);
            auto cell = static_cast<std::size_t>(forest.starts()[of]);
            for (std::int64_t s = 0; s < node.states; ++s) {
                const double missing = rows[symbols * node.width + s];
                for (std::int64_t x = 0; x < symbols; ++x, ++cell) {
                    counts[cell] = rows[x * node.width + s] + missing * cells[cell];
                }
            }
        }
    }
    return counts;
}

}  // namespace

HiddenForest::HiddenForest(const Columns& columns, std::span<const std::int32_t> parents,
                           std::span<const std::uint8_t> hidden)
    : columns_(columns), starts_{0}, leaf_at_(parents.size(), -1) {
    for (std::size_t v = 0; v < parents.size(); ++v) {
        const auto above = parents[v] < 0 ? 1 : cardinality(parents[v]);
        starts_.push_back(starts_.back() + above * cardinality(static_cast<std::int32_t>(v)));
    }
    std::vector<std::int32_t> node_of(parents.size(), -1);
    std::vector<std::vector<std::int32_t>> below(parents.size());
    for (std::size_t v = 0; v < parents.size(); ++v) {
        if (parents[v] >= 0) below[static_cast<std::size_t>(parents[v])].push_back(static_cast<std::int32_t>(v));
    }
    std::vector<std::int32_t> open;
    for (std::size_t v = parents.size(); v-- > 0;) {
        if (parents[v] < 0) open.push_back(static_cast<std::int32_t>(v));
    }
    while (!open.empty()) {
        const auto v = open.back();
        open.pop_back();
        const auto at = static_cast<std::int32_t>(nodes_.size());
        node_of[static_cast<std::size_t>(v)] = at;
        Node node{v, -1, cardinality(v), whole_tiles(cardinality(v)), 1, padded_cells_, {}, {}};
        if (const auto above = parents[static_cast<std::size_t>(v)]; above >= 0) {
            node.parent = node_of[static_cast<std::size_t>(above)];
            node.above = nodes_[static_cast<std::size_t>(node.parent)].width;
            nodes_[static_cast<std::size_t>(node.parent)].children.push_back(at);
        }
        const auto& own = below[static_cast<std::size_t>(v)];
        for (auto child = own.rbegin(); child != own.rend(); ++child) {
            if (hidden[static_cast<std::size_t>(*child)]) open.push_back(*child);
        }
        for (const auto child : own) {
            if (!hidden[static_cast<std::size_t>(child)]) node.leaves.push_back(child);
        }
        padded_cells_ += node.above * node.width;
        for (const auto leaf : node.leaves) {
            leaf_at_[static_cast<std::size_t>(leaf)] = padded_cells_;
            padded_cells_ += (cardinality(leaf) + 1) * node.width;
        }
        nodes_.push_back(std::move(node));
    }
}

// By the problem alone: so few that a task is short, and there are some of them.
std::int64_t HiddenForest::rows_at_once(std::int64_t n) const {
    double work = 0;
    for (const auto& node : nodes_) {
        work += static_cast<double>(node.width) * static_cast<double>(3 * node.above + 8 * static_cast<std::int64_t>(node.leaves.size()));
    }
    const auto blocks = static_cast<std::int64_t>(std::clamp(worth / (work * lanes), 1.0, 64.0));
    return std::clamp((n / least_tasks + lanes - 1) / lanes, std::int64_t{1}, blocks) * lanes;
}

ForestCounts HiddenForest::expected(std::span<const double> cells, std::span<const double> weights, std::int64_t begin,
                                    std::int64_t end, StopCheck check) const {
    const Model model(*this, cells);
    const auto size = rows_at_once(end - begin);
    const auto n_tasks = (end - begin + size - 1) / size;
    ForestCounts found;
    found.log_prob.resize(static_cast<std::size_t>(end - begin));
    std::vector<double> sums(static_cast<std::size_t>(padded_cells_));
    for (std::int64_t wave = 0; wave < n_tasks; wave += most_at_once) {
        std::vector<std::vector<double>> parts(static_cast<std::size_t>(std::min(most_at_once, n_tasks - wave)));
        run_tasks(static_cast<std::int64_t>(parts.size()), [&](std::int64_t task) {
            auto& part = parts[static_cast<std::size_t>(task)];
            part.assign(sums.size(), 0.0);
            Messages messages(*this, model);
            const auto last = std::min(end, begin + (wave + task + 1) * size);
            for (auto row = begin + (wave + task) * size; row < last; row += lanes) {
                const auto n = std::min(lanes, last - row);
                messages.rise(row, n, found.log_prob.data() + (row - begin));
                messages.fall(n, weights.empty() ? nullptr : weights.data() + (row - begin), part);
            }
        }, check);
        for (const auto& part : parts) float_kernels().add(sums.data(), part.data(), static_cast<std::int64_t>(sums.size()));
    }
    found.cells = to_counts(*this, cells, sums);
    return found;
}

std::vector<double> HiddenForest::log_prob(std::span<const double> cells, std::int64_t begin, std::int64_t end,
                                           StopCheck check) const {
    const Model model(*this, cells);
    const auto size = rows_at_once(end - begin);
    std::vector<double> found(static_cast<std::size_t>(end - begin));
    run_tasks((end - begin + size - 1) / size, [&](std::int64_t task) {
        Messages messages(*this, model);
        const auto last = std::min(end, begin + (task + 1) * size);
        for (auto row = begin + task * size; row < last; row += lanes) {
            messages.rise(row, std::min(lanes, last - row), found.data() + (row - begin));
        }
    }, check);
    return found;
}

}  // namespace fishernet
