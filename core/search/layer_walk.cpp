#include "search/layer_walk.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/float_kernels.hpp"

namespace fishernet {
namespace {

constexpr std::uint64_t one = 1;
constexpr double longest = 300;   // nats between the scores of a stretch: no weight is 0
constexpr double negligible = 45;  // nats below a sum, for all of a list

// The logarithm of a sum that comes in parts.
struct LogSum {
    double top = -std::numeric_limits<double>::infinity(), sum = 0;

    void add(double best, double weights) {
        if (!(weights > 0)) return;
        if (best > top) sum = weights + sum * std::exp(top - best), top = best;
        else sum += weights * std::exp(best - top);
    }
    double value() const { return sum > 0 ? top + std::log(sum) : top; }
};

}  // namespace

LayerWalk::LayerWalk(const std::vector<ParentChoices>& choices, const ParentLists& start, std::uint64_t key,
                     std::uint32_t task)
    : n_(static_cast<std::int32_t>(choices.size())), given_(choices), random_(key, task), layer_(n_), sums_(n_),
      parents_(start), children_(n_), arcs_(static_cast<std::size_t>(n_) * n_), placed_(n_) {
    for (const auto& [others, sets] : given_) {
        Choices made{{}, {}, {}, SetNumbers(sets.size())};
        for (std::size_t i = 0; i < sets.size(); ++i) {
            if (i == 0 || sets[i].score < made.stretches.back().best - longest) {
                made.stretches.push_back({i, i, sets[i].score});
            }
            made.stretches.back().end = i + 1;
            made.sets.push_back(sets[i].set);
            made.weights.push_back(std::exp(sets[i].score - made.stretches.back().best));
            made.scores.insert(sets[i].set, sets[i].score);
        }
        choices_.push_back(std::move(made));
    }
    find_layers();
}

bool LayerWalk::is_possible() const {
    for (std::int32_t v = 0; v < n_; ++v) {
        const bool follows = std::all_of(parents_[v].begin(), parents_[v].end(), [&](auto p) { return layer_[p] < layer_[v]; });
        if (!follows || choices_[v].scores.find(as_mask(v, parents_[v])) == nullptr) return false;
    }
    return true;
}

// Negative where the other is no parent in any choice.
std::int32_t LayerWalk::bit_of(std::int32_t v, std::int32_t other) const {
    const auto& others = given_[v].others;
    const auto at = std::lower_bound(others.begin(), others.end(), other);
    return at == others.end() || *at != other ? -1 : static_cast<std::int32_t>(at - others.begin());
}

// All ones, which is no choice, where some are in none.
std::uint64_t LayerWalk::as_mask(std::int32_t v, const std::vector<std::int32_t>& parents) const {
    std::uint64_t mask = 0;
    for (const auto p : parents) {
        const auto bit = bit_of(v, p);
        if (bit < 0) return ~std::uint64_t{0};
        mask |= one << bit;
    }
    return mask;
}

void LayerWalk::step() {
    if (turn_ < n_) {
        move(static_cast<std::int32_t>(random_.below(n_)));
        ++turn_;
        return;
    }
    for (std::int32_t v = 0; v < n_; ++v) {
        find(v, room_by_layers(v));
        count_arcs(v);
        parents_[v] = drawn(v);
    }
    list_arcs();
    const auto n = static_cast<std::int64_t>(pairs_.size());
    for (std::int64_t turn = 0; turn < 2 * n; ++turn) reverse_as_equivalent(static_cast<std::size_t>(random_.below(n)));
    list_children();
    for (std::int64_t turn = 0; turn < 2 * n_ && !pairs_.empty(); ++turn) {
        reverse_anew(static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(pairs_.size()))));
    }
    find_layers();
    turn_ = 0;
    ++n_sweeps_;
}

// ------------------------------------------------------------------------------------------------- one variable's layer

LayerWalk::Room LayerWalk::room_by_layers(std::int32_t v) const {
    const auto& others = given_[v].others;
    Room room{0, 0, layer_[v] == 0};
    for (std::size_t i = 0; i < others.size(); ++i) {
        room.among |= std::uint64_t{layer_[others[i]] < layer_[v]} << i;
        room.one_of |= std::uint64_t{layer_[others[i]] == layer_[v] - 1} << i;
    }
    return room;
}

// Of the sets without and with the bit `own`, for each those with no variable of the room's `one_of` and those with one.
LayerWalk::Weights LayerWalk::weights_of(std::int32_t v, const Stretch& stretch, std::uint64_t own, Room room) const {
    Weights weights{};
    float_kernels().add_weights(weights.data(), choices_[v].sets.data() + stretch.begin,
                                choices_[v].weights.data() + stretch.begin, own, room.among, room.one_of,
                                static_cast<std::int64_t>(stretch.end - stretch.begin));
    return weights;
}

double LayerWalk::sum(std::int32_t v, Room room) const {
    LogSum sum;
    for (const auto& stretch : choices_[v].stretches) {
        if (stretch.best < sum.value() - negligible) break;
        const Weights weights = weights_of(v, stretch, 0, room);
        sum.add(stretch.best, room.any ? weights[0] + weights[1] : weights[1]);
    }
    return sum.value();
}

// Layers are those of the others than the variable that a bit of u's choices stands for.
LayerWalk::Sums LayerWalk::sums_without(std::int32_t bit, std::int32_t u) const {
    const std::uint64_t own = one << bit;
    Room room = room_by_layers(u);
    room.among &= ~own;
    room.one_of &= ~own;
    LogSum without, with, only;  // without v; with v and another one of the last layer; with v and none of these
    for (const auto& stretch : choices_[u].stretches) {
        const double best = stretch.best;
        if (best < std::min({without.value(), with.value(), only.value()}) - negligible) break;
        Weights weights = weights_of(u, stretch, own, room);
        if (room.any) weights = {0, weights[0] + weights[1], 0, weights[2] + weights[3]};
        without.add(best, weights[1]);
        with.add(best, weights[3]);
        only.add(best, weights[2]);
    }
    LogSum earlier, all, alone;
    earlier.add(without.top, without.sum);
    earlier.add(with.top, with.sum);
    all = earlier;
    all.add(only.top, only.sum);
    alone.add(with.top, with.sum);
    alone.add(only.top, only.sum);
    return {without.value(), all.value(), earlier.value(), alone.value()};
}

// Of v behind each number of layers of the others.
void LayerWalk::sum_by_layers(std::int32_t v, int n_layers) {
    const auto& [others, sets] = given_[v];
    std::vector<LogSum> sums(n_layers + 1);
    std::vector<double> weights(n_layers + 1);
    for (const auto& [begin, end, best] : choices_[v].stretches) {
        std::fill(weights.begin(), weights.end(), 0.0);
        for (std::size_t i = begin; i < end; ++i) {
            std::int32_t behind = 0;
            for (std::uint64_t left = sets[i].set; left != 0; left &= left - 1) {
                behind = std::max(behind, layer_[others[std::countr_zero(left)]] + 1);
            }
            weights[behind] += choices_[v].weights[i];
        }
        for (int j = 0; j <= n_layers; ++j) sums[j].add(best, weights[j]);
    }
    own_.resize(n_layers + 1);
    for (int j = 0; j <= n_layers; ++j) own_[j] = sums[j].value();
}

void LayerWalk::move(std::int32_t v) {
    // the layers of the others
    const bool is_alone = std::count(layer_.begin(), layer_.end(), layer_[v]) == 1;
    if (is_alone) {
        for (auto& layer : layer_) layer -= layer > layer_[v];
    }
    layer_[v] = n_;
    int m = 0;
    for (std::int32_t u = 0; u < n_; ++u) {
        if (u != v) m = std::max(m, layer_[u] + 1);
    }
    before_.assign(m + 1, 0.0);  // the sums of the layers before one, where v comes no earlier
    after_.assign(m + 2, 0.0);   // of it and those after it, where v is far before
    last_.assign(m + 1, 0.0);
    alone_.assign(m + 1, 0.0);
    for (std::int32_t u = 0; u < n_; ++u) {
        if (u == v) continue;
        const auto bit = bit_of(u, v);
        placed_[u] = bit < 0 ? Sums{sums_[u], sums_[u], sums_[u], impossible} : sums_without(bit, u);
        const auto j = layer_[u];
        before_[j + 1] += placed_[u].without;
        after_[j] += placed_[u].earlier;
        last_[j] += placed_[u].last;
        alone_[j] += placed_[u].alone;
    }
    for (int j = 1; j <= m; ++j) before_[j] += before_[j - 1];
    for (int j = m; j-- > 0;) after_[j] += after_[j + 1];
    sum_by_layers(v, m);
    // into layer j of the others, at 2 j + 1; into a new layer before it, at 2 j
    ways_.assign(2 * m + 1, impossible);
    for (int j = 0; j <= m; ++j) {
        ways_[2 * j] = own_[j] + before_[j] + (j < m ? alone_[j] + after_[j + 1] : 0.0);
        if (j < m) ways_[2 * j + 1] = own_[j] + before_[j + 1] + (j + 1 < m ? last_[j + 1] + after_[j + 2] : 0.0);
    }
    const double top = *std::max_element(ways_.begin(), ways_.end());
    double total = 0;
    for (double& way : ways_) total += way = std::exp(way - top);
    double left = random_.uniform() * total;
    int way = 0, last_way = 0;
    for (int w = 0; w <= 2 * m; ++w) {
        if (ways_[w] > 0) last_way = w;
    }
    while (way < last_way && (left -= ways_[way]) >= 0) ++way;
    const int j = way / 2;
    const bool joins = way % 2 == 1;
    for (std::int32_t u = 0; u < n_; ++u) {
        if (u == v) continue;
        const int behind = layer_[u] - j + !joins;  // how many layers after v's
        sums_[u] = behind <= 0 ? placed_[u].without
                   : behind > 1 ? placed_[u].earlier
                   : joins      ? placed_[u].last
                                : placed_[u].alone;
        if (!joins) layer_[u] += layer_[u] >= j;
    }
    layer_[v] = j;
    sums_[v] = own_[j];
}

// ------------------------------------------------------------------------------------------------------------ networks

// Finds the sets that have a share of a variable's sum, and returns its logarithm.
double LayerWalk::find(std::int32_t v, Room room) {
    found_.clear();
    total_ = 0;
    double best = impossible;
    for (const auto& [set, score] : given_[v].sets) {
        if (score < best - negligible) break;
        if (!room.holds(set)) continue;
        if (found_.empty()) best = score;
        found_.push_back({set, std::exp(score - best)});
        total_ += found_.back().second;
    }
    return best + std::log(total_);
}

void LayerWalk::count_arcs(std::int32_t v) {
    const auto& others = given_[v].others;
    for (const auto& [set, weight] : found_) {
        for (std::uint64_t left = set; left != 0; left &= left - 1) {
            arcs_[static_cast<std::size_t>(others[std::countr_zero(left)]) * n_ + v] += weight / total_;
        }
    }
}

// One of the sets that were found.
std::vector<std::int32_t> LayerWalk::drawn(std::int32_t v) {
    double left = random_.uniform() * total_;
    std::size_t chosen = 0;
    while (chosen + 1 < found_.size() && (left -= found_[chosen].second) >= 0) ++chosen;
    std::vector<std::int32_t> parents;
    for (std::uint64_t rest = found_[chosen].first; rest != 0; rest &= rest - 1) {
        parents.push_back(given_[v].others[std::countr_zero(rest)]);
    }
    return parents;
}

// ------------------------------------------------------------------------------------------------------ arcs reversed

void LayerWalk::list_arcs() {
    pairs_.clear();
    for (std::int32_t v = 0; v < n_; ++v) {
        for (const auto p : parents_[v]) pairs_.push_back({p, v});
    }
}

void LayerWalk::list_children() {
    for (auto& of : children_) of.clear();
    for (std::int32_t v = 0; v < n_; ++v) {
        for (const auto p : parents_[v]) children_[p].push_back(v);
    }
}

void LayerWalk::set_parents(std::int32_t v, const std::vector<std::int32_t>& parents) {
    for (const auto p : parents_[v]) std::erase(children_[p], v);
    for (const auto p : parents) children_[p].push_back(v);
    parents_[v] = parents;
}

// Where the ends have all other parents in common. The number of arcs stays, so that back is as likely to be tried.
void LayerWalk::reverse_as_equivalent(std::size_t arc) {
    const auto [tail, head] = pairs_[arc];
    const auto& of_tail = parents_[tail];
    if (parents_[head].size() != of_tail.size() + 1) return;
    std::vector<std::int32_t> rest = parents_[head];
    erase_sorted(rest, tail);
    if (rest != of_tail) return;
    std::vector<std::int32_t> more = rest;
    insert_sorted(more, head);
    const double* of_more = choices_[tail].scores.find(as_mask(tail, more));
    const double* of_rest = choices_[head].scores.find(as_mask(head, rest));
    if (of_more == nullptr || of_rest == nullptr) return;
    const double now = *choices_[tail].scores.find(as_mask(tail, of_tail)) +
                       *choices_[head].scores.find(as_mask(head, parents_[head]));
    if (std::log(random_.uniform()) >= *of_more + *of_rest - now) return;
    parents_[tail] = std::move(more);
    parents_[head] = std::move(rest);
    pairs_[arc] = {head, tail};
}

// Whom a variable may have for parents so that no cycle closes, and of these one, if that is no -1.
LayerWalk::Room LayerWalk::room_in_graph(std::int32_t v, std::int32_t with) {
    below_.assign(n_, false);
    below_[v] = true;
    waiting_.assign(1, v);
    while (!waiting_.empty()) {
        const auto u = waiting_.back();
        waiting_.pop_back();
        for (const auto child : children_[u]) {
            if (!below_[child]) waiting_.push_back(child), below_[child] = true;
        }
    }
    Room room{0, with < 0 ? 0 : one << bit_of(v, with), with < 0};
    const auto& others = given_[v].others;
    for (std::size_t i = 0; i < others.size(); ++i) room.among |= std::uint64_t{!below_[others[i]]} << i;
    return room;
}

// Both ends are drawn anew, first who becomes the head. How likely that is, there and back, decides.
void LayerWalk::reverse_anew(std::size_t arc) {
    const auto [tail, head] = pairs_[arc];
    if (bit_of(tail, head) < 0) return;
    const auto of_tail = parents_[tail], of_head = parents_[head];
    set_parents(tail, {});
    const double back_second = sum(tail, room_in_graph(tail, -1));
    set_parents(head, {});
    const double back_first = sum(head, room_in_graph(head, tail));
    const double first = find(tail, room_in_graph(tail, head));
    double second = impossible;
    if (!found_.empty()) {
        set_parents(tail, drawn(tail));
        second = find(head, room_in_graph(head, -1));
        if (!found_.empty()) set_parents(head, drawn(head));
    }
    const auto n_arcs = static_cast<double>(pairs_.size());
    const double n_after = n_arcs - static_cast<double>(of_tail.size() + of_head.size()) +
                           static_cast<double>(parents_[tail].size() + parents_[head].size());
    const double ratio = first + second - back_first - back_second + std::log(n_arcs / n_after);
    if (std::log(random_.uniform()) < ratio) {
        list_arcs();
    } else {
        set_parents(tail, of_tail);
        set_parents(head, of_head);
    }
}

void LayerWalk::find_layers() {
    std::vector<std::int32_t> left(n_), order;
    list_children();
    for (std::int32_t v = 0; v < n_; ++v) {
        left[v] = static_cast<std::int32_t>(parents_[v].size());
        if (left[v] == 0) order.push_back(v), layer_[v] = 0;
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        for (const auto child : children_[order[i]]) {
            if (--left[child] > 0) continue;
            layer_[child] = layer_[order[i]] + 1;  // the last parent in this order is in the last layer
            order.push_back(child);
        }
    }
    for (std::int32_t v = 0; v < n_; ++v) sums_[v] = sum(v, room_by_layers(v));
}

}  // namespace fishernet
