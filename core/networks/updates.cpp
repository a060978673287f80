#include "networks/updates.hpp"

#include <algorithm>
#include <cstring>

#include "base/float_kernels.hpp"
#include "base/pool.hpp"

namespace fishernet {
namespace {

constexpr std::int64_t tile_cells = 8192;    // 64 KiB: with the results a second-level cache holds it
constexpr std::int64_t piece_cells = 128;    // what is worth going elsewhere for

struct Scratch {
    std::vector<double> p, out, m;
    std::vector<std::int64_t> outside;
};

}  // namespace

Updates::Updates(std::vector<FreeConditional> conditionals) : conditionals_(std::move(conditionals)) {
    const std::size_t n = conditionals_.size();
    steps_.assign(n, 1);
    for (std::size_t v = n; v-- > 0;) {
        steps_[v] = n_states_;
        n_states_ *= conditionals_[v].states;
    }
    std::size_t low = n;  // the variables from here on follow one another in every tile
    while (low > 0 && (low == n || steps_[low - 1] * conditionals_[low - 1].states <= piece_cells)) --low;
    std::size_t last_group = n;  // and those from here on make a group of their own
    while (last_group > 0 &&
           (last_group == n || steps_[last_group - 1] * conditionals_[last_group - 1].states <= tile_cells)) {
        --last_group;
    }
    const std::int64_t piece = low < n ? steps_[low] * conditionals_[low].states : 1;
    for (std::size_t first = 0; first < last_group;) {
        std::size_t end = first + 1;
        std::int64_t cells = piece * conditionals_[first].states;
        while (end < last_group && cells * conditionals_[end].states <= tile_cells) cells *= conditionals_[end++].states;
        groups_.push_back(make_group(first, end, low));
        first = end;
    }
    if (last_group < n) groups_.push_back(make_group(last_group, n, last_group));
}

// Tiles of the variables from first to last - 1 and of those from `low` on.
Updates::Group Updates::make_group(std::size_t first, std::size_t last, std::size_t low) const {
    Group group;
    std::vector<std::size_t> inside, outside;
    for (std::size_t v = 0; v < conditionals_.size(); ++v) {
        ((v >= first && v < last) || v >= low ? inside : outside).push_back(v);
    }
    group.pieces.assign(1, 0);
    for (const auto v : inside) {
        if (v >= low) {
            group.piece *= conditionals_[v].states;
            continue;
        }
        std::vector<std::int64_t> longer;
        for (const auto begin : group.pieces) {
            for (std::int64_t k = 0; k < conditionals_[v].states; ++k) longer.push_back(begin + k * steps_[v]);
        }
        group.pieces = std::move(longer);
    }
    for (const auto v : outside) {
        group.outside_sizes.push_back(conditionals_[v].states);
        group.outside_steps.push_back(steps_[v]);
        group.tiles *= conditionals_[v].states;
    }
    for (auto v = first; v < last; ++v) {
        const auto& c = conditionals_[v];
        const auto stride_of = [&](std::size_t input) {
            const auto at = std::find(c.inputs.begin(), c.inputs.end(), static_cast<std::int32_t>(input));
            return at == c.inputs.end() ? std::int64_t{0} : c.strides[static_cast<std::size_t>(at - c.inputs.begin())];
        };
        Updated updated;
        updated.variable = v;
        updated.outer = updated.inner = 1;
        updated.offsets.assign(1, 0);
        for (const auto u : inside) {
            if (u != v) (u < v ? updated.outer : updated.inner) *= conditionals_[u].states;
            std::vector<std::int32_t> longer;
            longer.reserve(updated.offsets.size() * static_cast<std::size_t>(conditionals_[u].states));
            for (const auto offset : updated.offsets) {
                for (std::int64_t k = 0; k < conditionals_[u].states; ++k) {
                    longer.push_back(offset + static_cast<std::int32_t>(k * stride_of(u)));
                }
            }
            updated.offsets = std::move(longer);
        }
        for (const auto u : outside) updated.outside_strides.push_back(stride_of(u));
        group.updated.push_back(std::move(updated));
    }
    return group;
}

// work(where the tile begins, states of the variables outside of it, scratch) for every tile
template <class Work>
void Updates::for_tiles(const Group& group, StopCheck check, Work work) const {
    const std::int64_t at_once = std::max<std::int64_t>(1, 4 * tile_cells / group.cells());
    const std::int64_t tasks = (group.tiles + at_once - 1) / at_once;
    run_tasks(tasks, [&](std::int64_t task) {
        thread_local Scratch scratch;
        scratch.p.resize(static_cast<std::size_t>(group.cells()));
        scratch.out.resize(scratch.p.size());
        scratch.m.resize(scratch.p.size());
        scratch.outside.resize(group.outside_sizes.size());
        for (auto tile = task * at_once; tile < std::min(group.tiles, (task + 1) * at_once); ++tile) {
            std::int64_t rest = tile;
            std::int64_t begin = 0;
            for (std::size_t u = group.outside_sizes.size(); u-- > 0;) {
                scratch.outside[u] = rest % group.outside_sizes[u];
                rest /= group.outside_sizes[u];
                begin += scratch.outside[u] * group.outside_steps[u];
            }
            work(begin, scratch);
        }
    }, check, n_states_ > 100000);
}

namespace {

void gather_pieces(const double* from, std::span<const std::int64_t> pieces, std::int64_t piece, double* to) {
    for (const auto at : pieces) {
        std::memcpy(to, from + at, static_cast<std::size_t>(piece) * sizeof(double));
        to += piece;
    }
}

void scatter_pieces(const double* from, std::span<const std::int64_t> pieces, std::int64_t piece, double* to, bool add) {
    for (const auto at : pieces) {
        if (add) {
            float_kernels().add(to + at, from, piece);
        } else {
            std::memcpy(to + at, from, static_cast<std::size_t>(piece) * sizeof(double));
        }
        from += piece;
    }
}

std::int64_t dot(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

}  // namespace

void Updates::average(const double* p, std::span<const double> weights, double* out, StopCheck check) const {
    bool first = true;
    for (const auto& group : groups_) {
        for_tiles(group, check, [&](std::int64_t begin, Scratch& scratch) {
            gather_pieces(p + begin, group.pieces, group.piece, scratch.p.data());
            std::fill(scratch.out.begin(), scratch.out.end(), 0.0);
            for (const auto& f : group.updated) {
                const auto& c = conditionals_[f.variable];
                const double* theta = c.theta.data() + dot(scratch.outside, f.outside_strides);
                float_kernels().add_updated(scratch.out.data(), scratch.p.data(), theta, f.offsets.data(),
                                          weights[f.variable], f.outer, c.states, f.inner, scratch.m.data());
            }
            scatter_pieces(scratch.out.data(), group.pieces, group.piece, out + begin, !first);
        });
        first = false;
    }
}

void Updates::sweep(double* p, double* visited, StopCheck check) const {
    bool first = true;
    for (const auto& group : groups_) {
        for_tiles(group, check, [&](std::int64_t begin, Scratch& scratch) {
            gather_pieces(p + begin, group.pieces, group.piece, scratch.p.data());
            std::fill(scratch.out.begin(), scratch.out.end(), 0.0);
            for (const auto& f : group.updated) {
                const auto& c = conditionals_[f.variable];
                if (visited != nullptr) float_kernels().add(scratch.out.data(), scratch.p.data(), group.cells());
                const double* theta = c.theta.data() + dot(scratch.outside, f.outside_strides);
                float_kernels().update(scratch.p.data(), theta, f.offsets.data(), f.outer, c.states, f.inner,
                                     scratch.m.data());
            }
            scatter_pieces(scratch.p.data(), group.pieces, group.piece, p + begin, false);
            if (visited != nullptr) {
                scatter_pieces(scratch.out.data(), group.pieces, group.piece, visited + begin, !first);
            }
        });
        first = false;
    }
}

}  // namespace fishernet
