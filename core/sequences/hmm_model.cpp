#include "sequences/hmm_model.hpp"

#include <algorithm>
#include <cmath>

namespace fishernet {
namespace {

constexpr double least_start = 0x1p-300, most_start = 0x1p100;  // of positive numbers that doubles begin with
constexpr double most_in_stretch = 100.0;    // powers of two that a stretch may take
constexpr std::int64_t longest_stretch = 16;
constexpr std::int64_t edge_price = 64;  // what an edge costs, in cells of a dense product

// Which states a trajectory can come to.
std::vector<char> reachable(const HmmParts& parts, std::int64_t n) {
    std::vector<char> seen(static_cast<std::size_t>(n), 0);
    std::vector<std::int64_t> open;
    for (std::int64_t a = 0; a < n; ++a) {
        if (parts.initial[a] > 0) seen[a] = 1, open.push_back(a);
    }
    while (!open.empty()) {
        const std::int64_t a = open.back();
        open.pop_back();
        for (std::int64_t b = 0; b < n; ++b) {
            if (!seen[b] && parts.transition[a * n + b] > 0) seen[b] = 1, open.push_back(b);
        }
    }
    return seen;
}

// C = (I - M)^-1 without a subtraction, so that every cell is right to the last digits: the diagonal of the elimination is
// the sum of what leaves the state, row by row (Grassmann, Taksar and Heyman). Without limits of range: what leaves may be
// a product of probabilities that no double holds. Returns a state whose loop has no way out; states that no trajectory
// comes to (not `seen`) are then taken to stop there.
std::int64_t close(std::vector<Wide>& m, std::vector<Wide>& leaves, const std::vector<char>& seen,
                   std::vector<Wide>& c, std::int64_t n) {
    c.assign(static_cast<std::size_t>(n * n), {});
    for (std::int64_t a = 0; a < n; ++a) c[a * n + a] = wide(1.0);
    for (std::int64_t k = 0; k < n; ++k) {
        Wide* row = m.data() + k * n;
        Wide pivot = leaves[k];
        for (std::int64_t j = k + 1; j < n; ++j) pivot += row[j];
        if (pivot.v == 0.0) {
            if (seen[k]) return k;
            std::fill_n(c.data() + k * n, n, Wide{});
            c[k * n + k] = leaves[k] = pivot = wide(1.0);
        }
        const Wide share = inverse(pivot);
        for (std::int64_t j = k + 1; j < n; ++j) row[j] = row[j] * share;
        for (std::int64_t j = 0; j < n; ++j) c[k * n + j] = c[k * n + j] * share;
        leaves[k] = leaves[k] * share;
        for (std::int64_t i = 0; i < n; ++i) {
            const Wide by = m[i * n + k];
            if (i == k || by.v == 0.0) continue;
            for (std::int64_t j = k + 1; j < n; ++j) m[i * n + j] += by * row[j];
            for (std::int64_t j = 0; j < n; ++j) c[i * n + j] += by * c[k * n + j];
            leaves[i] += by * leaves[k];
            m[i * n + k] = {};
        }
    }
    return -1;
}

// The states in an order in which every silent edge goes up; empty where there is none.
std::vector<std::int32_t> topological(const std::vector<WideEdge>& edges, std::int64_t n) {
    std::vector<std::vector<std::int32_t>> out(static_cast<std::size_t>(n));
    std::vector<std::int64_t> open(static_cast<std::size_t>(n), 0);
    for (const auto& edge : edges) out[edge.from].push_back(edge.to), ++open[edge.to];
    std::vector<std::int32_t> order;
    for (std::int64_t a = 0; a < n; ++a) {
        if (open[a] == 0) order.push_back(static_cast<std::int32_t>(a));
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        for (const auto b : out[order[i]]) {
            if (--open[b] == 0) order.push_back(b);
        }
    }
    if (static_cast<std::int64_t>(order.size()) < n) order.clear();
    return order;
}

// Makes C, which is returned too, as numbers without limits; none when the model is singular.
std::vector<Wide> make_closure(HmmModel& model, const HmmParts& parts, const std::vector<char>& seen) {
    const std::int64_t n = model.n_states;
    const std::int64_t n_single = parts.n_single < 0 ? model.n_symbols : parts.n_single;
    std::vector<Wide> m(static_cast<std::size_t>(n * n)), leaves(static_cast<std::size_t>(n)), closure;
    for (std::int64_t a = 0; a < n; ++a) {
        const Wide empty = wide(parts.empty[a]);
        for (std::int64_t b = 0; b < n; ++b) m[a * n + b] = empty * wide(parts.transition[a * n + b]);
        if (model.has_final) leaves[a] = empty * wide(parts.final[a]);
        for (std::int64_t s = 0; s < n_single; ++s) leaves[a] += wide(parts.emission[a * model.n_symbols + s]);
    }
    model.singular = close(m, leaves, seen, closure, n);
    if (model.singular >= 0) return {};
    model.closure.resize(closure.size());
    std::transform(closure.begin(), closure.end(), model.closure.begin(), narrow);
    return closure;
}

bool sparse(const HmmModel& model) {
    const auto n_edges = static_cast<std::int64_t>(model.edges.size() + model.silent.size());
    return n_edges * edge_price < model.n_states * model.n_states;
}

// The silent edges, and C where it is needed. False when the model is singular.
bool make_silent(HmmModel& model, const HmmParts& parts, const std::vector<char>& seen) {
    const std::int64_t n = model.n_states;
    for (const auto& edge : model.edges) {
        if (parts.empty[edge.from] > 0) {
            model.silent.push_back({edge.from, edge.to, wide(parts.empty[edge.from]) * edge.by});
        }
    }
    const auto order = topological(model.silent, n);
    model.acyclic = !order.empty();
    if (model.acyclic) {
        std::vector<std::int32_t> place(static_cast<std::size_t>(n));
        for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<std::int32_t>(i);
        std::stable_sort(model.silent.begin(), model.silent.end(),
                         [&](const WideEdge& a, const WideEdge& b) { return place[a.from] < place[b.from]; });
        return sparse(model) || !make_closure(model, parts, seen).empty();
    }
    const auto closure = make_closure(model, parts, seen);
    if (closure.empty()) return false;
    model.silent.clear();
    for (std::int64_t a = 0; a < n; ++a) {
        for (std::int64_t b = 0; b < n; ++b) {
            const Wide c = closure[a * n + b];
            if (c.v > 0) model.silent.push_back({static_cast<std::int32_t>(a), static_cast<std::int32_t>(b), c});
        }
    }
    return true;
}

void make_wide(HmmModel& model, const HmmParts& parts) {
    const std::int64_t n = model.n_states, n_symbols = model.n_symbols;
    for (std::int64_t a = 0; a < n; ++a) {
        for (std::int64_t s = 0; s < n_symbols; ++s) {
            model.wide_emission[s * n + a] = wide(parts.emission[a * n_symbols + s]);
        }
        model.wide_start[a] = wide(parts.initial[a]);
        model.wide_end[a] = wide(model.has_final ? parts.final[a] : 1.0);
        if (!model.has_empty) continue;
        model.wide_empty[a] = wide(parts.empty[a]);
        model.wide_rest[a] = model.wide_empty[a] * model.wide_end[a];
    }
    close_forward(model, model.wide_start);
    close_backward(model, model.wide_rest);
    for (const auto& edge : model.edges) model.wide_end[edge.from] += edge.by * model.wide_rest[edge.to];
    model.nothing = wide(model.has_final ? model.at_once : 1.0);
    for (std::int64_t a = 0; a < n; ++a) model.nothing += wide(parts.initial[a]) * model.wide_rest[a];
}

// The least positive number; 1 where there is none.
double least(const std::vector<double>& values) {
    double result = 1.0;
    for (const double value : values) result = value > 0 ? std::min(result, value) : result;
    return result;
}

bool within_range(const std::vector<Wide>& values) {
    return std::all_of(values.begin(), values.end(),
                       [](Wide x) { return x.v == 0.0 || (narrow(x) > least_start && narrow(x) < most_start); });
}

void make_dense(HmmModel& model, const HmmParts& parts) {
    const std::int64_t n = model.n_states, padded = model.padded;
    double least_factor = 1.0;
    for (std::int64_t a = 0; a < n; ++a) {
        model.start[a] = narrow(model.wide_start[a]);
        model.end[a] = narrow(model.wide_end[a]);
        model.rest[a] = narrow(model.wide_rest[a]);
        if (model.has_empty) model.empty[a] = parts.empty[a];
        for (std::int64_t s = 0; s < model.n_symbols; ++s) {
            model.emission[s * padded + a] = parts.emission[a * model.n_symbols + s];
        }
    }
    for (const auto& edge : model.edges) {
        const double by = narrow(edge.by);
        double* row = model.moves.data() + edge.from * padded;
        if (!model.has_empty) {
            row[edge.to] = by;
            continue;
        }
        const double* c = model.closure.data() + edge.to * n;
        for (std::int64_t b = 0; b < n; ++b) row[b] += by * c[b];
        least_factor = std::min(least_factor, by);
    }
    double most = 1.0;
    for (std::int64_t a = 0; a < n; ++a) {
        double sum = 0.0;
        for (std::int64_t b = 0; b < n; ++b) {
            model.back[b * padded + a] = model.moves[a * padded + b];
            sum += model.moves[a * padded + b];
        }
        most = std::max(most, sum);
    }
    const double down = -std::log2(least(model.moves)) - std::log2(least(model.emission));
    const double up = std::log2(most);
    const double lost = model.has_empty ? -std::log2(least_factor) - std::log2(least(model.closure)) : 0.0;
    model.stretch = std::clamp<std::int64_t>(static_cast<std::int64_t>(most_in_stretch / std::max({down, up, 1.0})), 1,
                                             longest_stretch);
    model.dense = down < 600 && up < most_in_stretch && lost < 900 && within_range(model.wide_start) &&
                  within_range(model.wide_end) && within_range(model.wide_rest);
}

}  // namespace

HmmModel make_hmm(const HmmParts& parts) {
    const auto n = static_cast<std::int64_t>(parts.initial.size());
    const auto n_symbols = static_cast<std::int64_t>(parts.emission.size()) / n;
    const std::int64_t padded = (n + 7) / 8 * 8;
    HmmModel model;
    model.n_states = n;
    model.padded = padded;
    model.n_symbols = n_symbols;
    model.has_empty = !parts.empty.empty();
    model.has_final = !parts.final.empty();
    model.at_once = parts.at_once;
    for (std::int64_t a = 0; a < n; ++a) {
        for (std::int64_t b = 0; b < n; ++b) {
            const double by = parts.transition[a * n + b];
            if (by > 0) model.edges.push_back({static_cast<std::int32_t>(a), static_cast<std::int32_t>(b), wide(by)});
        }
    }
    if (model.has_empty && !make_silent(model, parts, reachable(parts, n))) return model;
    for (auto* vector : {&model.start, &model.end, &model.rest, &model.empty}) vector->assign(padded, 0.0);
    for (auto* vector : {&model.wide_start, &model.wide_end, &model.wide_rest, &model.wide_empty}) vector->resize(n);
    model.wide_emission.resize(static_cast<std::size_t>(n_symbols * n));
    make_wide(model, parts);
    if (sparse(model)) {
        model.dense = false;
        return model;
    }
    model.moves.assign(static_cast<std::size_t>(n * padded), 0.0);
    model.back.assign(static_cast<std::size_t>(n * padded), 0.0);
    model.emission.assign(static_cast<std::size_t>(n_symbols * padded), 0.0);
    make_dense(model, parts);
    return model;
}

void close_forward(const HmmModel& model, std::vector<Wide>& x) {
    if (!model.has_empty) return;
    if (model.acyclic) {
        for (const auto& edge : model.silent) {
            if (x[edge.from].v != 0.0) x[edge.to] += x[edge.from] * edge.by;
        }
        return;
    }
    std::vector<Wide> out(x.size());
    for (const auto& edge : model.silent) {
        if (x[edge.from].v != 0.0) out[edge.to] += x[edge.from] * edge.by;
    }
    x.swap(out);
}

void close_backward(const HmmModel& model, std::vector<Wide>& y) {
    if (!model.has_empty) return;
    if (model.acyclic) {
        for (auto edge = model.silent.rbegin(); edge != model.silent.rend(); ++edge) {
            if (y[edge->to].v != 0.0) y[edge->from] += edge->by * y[edge->to];
        }
        return;
    }
    std::vector<Wide> out(y.size());
    for (const auto& edge : model.silent) {
        if (y[edge.to].v != 0.0) out[edge.from] += edge.by * y[edge.to];
    }
    y.swap(out);
}

}  // namespace fishernet
