// One task of subset_terms: a walk through all subsets of the lower places, for one choice of the higher ones.
#pragma once

#include <bit>

#include "counts/subset_terms.hpp"

namespace fishernet {

template <class AnyTerms, class Weight>
class SubsetWalk {
public:
    SubsetWalk(const SubsetTerms& plan, const AnyTerms& terms, const SubsetOutputs& out)
        : plan_(plan), terms_(terms), out_(out), lattice_(plan.lattice_places_), groups_(plan.n_ + 1) {
        const std::size_t most = plan.classes_.size();
        for (Groups& groups : groups_) groups.entries.resize(most + 1);  // one is written beyond the end
        scratch_.resize(most);
        bucket_.assign(most, 0);
        large_.assign(std::size_t{1} << plan.lattice_places_, 0);
        kinds_.resize(large_.size());
        counts_.resize(plan.lattice_places_ + 1);
        for (int level = 0; level <= plan.lattice_places_; ++level) counts_[level].resize(plan.lattice_levels_[level].n_cells);
    }

    void run(std::uint64_t task) {
        Groups& all = groups_[plan_.n_];
        all.ends.clear();
        Value alone{};
        const auto& weights = plan_.classes_.weights;
        for (std::size_t c = 0; c < weights.size(); ++c) {
            all.entries[c] = {static_cast<std::uint32_t>(c), static_cast<Weight>(weights[c])};
        }
        close(all, 0, weights.size(), [&](Weight w) { leave(w, alone); });
        const int places = plan_.task_places_;
        for (int level = plan_.n_; level > places; --level) {
            const auto leave_behind = [&](Weight w) { leave(w, alone); };
            if ((task >> (level - 1 - places)) & 1) part(level, leave_behind);
            else join(level, leave_behind);
        }
        visit(places, task << places, alone);
    }

private:
    using Value = typename AnyTerms::Value;
    static constexpr std::size_t few = 5;  // so many classes together are summed by inclusion and exclusion

    struct Entry {
        std::uint32_t row_class;
        Weight weight;
    };
    // Classes that are alike in all places in the set; ascending in each group, two at least.
    struct Groups {
        std::vector<Entry> entries;
        std::vector<std::size_t> ends;
    };

    bool in_lattice(int level) const { return level < plan_.lattice_places_; }
    std::size_t index(std::uint64_t set) const { return set & (large_.size() - 1); }

    // A class that is alone for all sets below, above the lattice.
    void leave(std::uint64_t weight, Value& alone) {
        if (terms_.takes(weight)) terms_.add_to(alone, weight);
        else heavy_.push_back(weight);
    }

    // A cell of all sets of the lattice that agree with `set` in the places from `level` on.
    void add(int level, std::uint64_t set, std::uint64_t weight) {
        if (terms_.takes(weight)) terms_.add_to(lattice_.at(level, index(set)), weight);
        else add_large(level, index(set), weight);
    }

    void add_large(int level, std::size_t first, std::uint64_t weight) {
        for (std::size_t s = first; s < first + (std::size_t{1} << level); ++s) {
            large_[s] += terms_.beyond(weight, kinds_[s]);
        }
    }

    // ------------------------------------------------------------------------------------------------------ walking

    void visit(int level, std::uint64_t set, Value alone) {
        const bool lattice_begins = level == plan_.lattice_places_;
        if (lattice_begins) begin_lattice(set, alone);
        if (level <= plan_.lattice_places_) sum_groups(level, set);
        if (level > 0 && (level > plan_.lattice_places_ || !groups_[level].ends.empty())) {
            const std::uint64_t with = set | std::uint64_t{1} << (level - 1);
            if (std::popcount(with) <= plan_.most_) descend<true>(level, with, alone);
            descend<false>(level, set, alone);
        }
        if (lattice_begins) end_lattice(set);
    }

    template <bool into_set>
    void descend(int level, std::uint64_t set, Value alone) {
        const std::size_t n_heavy = heavy_.size();
        const auto leave_behind = [&](Weight weight) {
            if (in_lattice(level - 1)) add(level - 1, set, weight);
            else leave(weight, alone);
        };
        if constexpr (into_set) part(level, leave_behind);
        else join(level, leave_behind);
        visit(level - 1, set, alone);
        heavy_.resize(n_heavy);
    }

    void begin_lattice(std::uint64_t set, const Value& alone) {
        lattice_.clear();
        std::fill(large_.begin(), large_.end(), 0);
        for (std::size_t s = 0; s < kinds_.size(); ++s) kinds_[s] = plan_.kinds_.of(set | s);
        lattice_.at(plan_.lattice_places_, 0) += alone;
        for (const auto weight : heavy_) add(plan_.lattice_places_, set, weight);
    }

    void end_lattice(std::uint64_t set) {
        lattice_.spread();
        for (std::size_t s = 0; s < large_.size(); ++s) {
            terms_.write(lattice_.at(0, s), large_[s], kinds_[s], set | s, out_);
        }
    }

    // ------------------------------------------------------------------------------------------- parting and joining

    // Ends a group, or leaves its only class behind; returns where the next one begins.
    template <class Leave>
    std::size_t close(Groups& groups, std::size_t begin, std::size_t end, Leave leave_behind) {
        if (end - begin > 1) {
            groups.ends.push_back(end);
            return end;
        }
        if (end > begin) leave_behind(groups.entries[begin].weight);
        return begin;
    }

    // The groups of the level below, with the highest place in the set.
    template <class Leave>
    void part(int level, Leave leave_behind) {
        const auto& [code, next, states] = plan_.classes_.levels[level];
        const Groups& from = groups_[level];
        Groups& to = groups_[level - 1];
        to.ends.clear();
        std::size_t i = 0, begin = 0, end = 0;
        for (const auto last : from.ends) {
            std::uint32_t before = code[from.entries[i].row_class];
            for (; i < last; ++i) {
                const Entry entry = from.entries[i];
                const std::uint32_t here = code[entry.row_class];
                if (here != before) begin = end = close(to, begin, end, leave_behind);
                before = here;
                to.entries[end++] = {next[entry.row_class], entry.weight};
            }
            begin = end = close(to, begin, end, leave_behind);
        }
    }

    // The groups of the level below, without the highest place.
    template <class Leave>
    void join(int level, Leave leave_behind) {
        const Groups& from = groups_[level];
        Groups& to = groups_[level - 1];
        to.ends.clear();
        std::size_t first = 0, begin = 0;
        for (const auto last : from.ends) {
            const std::size_t end = begin + join_group(level, &from.entries[first], last - first, &to.entries[begin]);
            begin = close(to, begin, end, leave_behind);
            first = last;
        }
    }

    // Writes the classes that a group becomes, ascending; returns how many.
    std::size_t join_group(int level, const Entry* from, std::size_t size, Entry* to) {
        const auto& [code, next, states] = plan_.classes_.levels[level];
        const std::size_t n_below = plan_.classes_.levels[level - 1].size();
        constexpr std::size_t worth_a_sweep = 2;
        if (worth_a_sweep * size >= n_below && states > 1) return join_by_sweep(next, from, size, to, n_below);
        std::size_t end = 0, done = 0;
        while (done < size) {
            std::size_t last = done + 1;  // of the run with the same code
            while (last < size && code[from[last].row_class] == code[from[done].row_class]) ++last;
            if (end > 0) std::copy_n(to, end, scratch_.data());
            end = merge(scratch_.data(), end, next, from + done, last - done, to);
            done = last;
        }
        return end;
    }

    std::size_t join_by_sweep(const std::vector<std::uint32_t>& next, const Entry* from, std::size_t size, Entry* to,
                              std::size_t n_below) {
        for (std::size_t i = 0; i < size; ++i) bucket_[next[from[i].row_class]] += from[i].weight;
        std::size_t end = 0;
        for (std::size_t c = 0; c < n_below; ++c) {
            to[end] = {static_cast<std::uint32_t>(c), bucket_[c]};
            end += bucket_[c] != 0;
            bucket_[c] = 0;
        }
        return end;
    }

    // Merges joined classes with a run of the level above.
    static std::size_t merge(const Entry* a, std::size_t n_a, const std::vector<std::uint32_t>& next, const Entry* b,
                             std::size_t n_b, Entry* to) {
        std::size_t i = 0, j = 0, end = 0;
        while (i < n_a && j < n_b) {
            const std::uint32_t x = a[i].row_class, y = next[b[j].row_class];
            const Weight from_a = x <= y ? a[i].weight : 0, from_b = y <= x ? b[j].weight : 0;
            to[end++] = {std::min(x, y), static_cast<Weight>(from_a + from_b)};
            i += x <= y;
            j += y <= x;
        }
        for (; i < n_a; ++i) to[end++] = a[i];
        for (; j < n_b; ++j) to[end++] = {next[b[j].row_class], b[j].weight};
        return end;
    }

    // ------------------------------------------------------------------------------------------ summing in a lattice

    // Sums the groups that are small, or have most of the cells there could be; the others are walked through further.
    void sum_groups(int level, std::uint64_t set) {
        Groups& groups = groups_[level];
        std::size_t first = 0, kept = 0, n_kept = 0;
        for (const auto last : groups.ends) {
            const Entry* group = &groups.entries[first];
            const std::size_t size = last - first;
            first = last;
            if (size <= few && sum_few(level, set, group, size)) continue;
            if (is_full(level, size)) {
                sum_cells(level, set, group, size);
                continue;
            }
            std::copy_n(group, size, &groups.entries[kept]);
            kept += size;
            groups.ends[n_kept++] = kept;
        }
        groups.ends.resize(n_kept);
    }

    // Every subset of the classes is one cell in the sets without the places where two of them differ: what that changes
    // beside its own subsets is added there. False where the counts are too large to be added.
    bool sum_few(int level, std::uint64_t set, const Entry* group, std::size_t size) {
        const std::uint64_t* keys = plan_.lattice_levels_[level].keys.data();
        const std::size_t base = index(set);
        if (size == 2) {
            const Weight sum = group[0].weight + group[1].weight;
            if (!terms_.takes(sum)) return false;
            const std::uint64_t differing = keys[group[0].row_class] ^ keys[group[1].row_class];
            Value apart{};
            terms_.add_to(apart, group[0].weight);
            terms_.add_to(apart, group[1].weight);
            lattice_.at(level, base) += apart;
            Value& together = lattice_.at(level, base | mask_of_bytes(differing));
            together -= apart;
            terms_.add_to(together, sum);
            return true;
        }
        constexpr std::size_t most = std::size_t{1} << few;
        std::array<Weight, most> weight;
        std::array<std::uint64_t, most> differing;  // bytes that are not 0 where two of the classes differ
        const std::size_t n_subsets = std::size_t{1} << size;
        weight[0] = differing[0] = 0;
        for (std::size_t subset = 1; subset < n_subsets; ++subset) {
            const std::size_t rest = subset & (subset - 1);
            const Entry& lowest = group[std::countr_zero(subset)];
            weight[subset] = weight[rest] + lowest.weight;
            const std::uint64_t other = rest ? keys[group[std::countr_zero(rest)].row_class] : keys[lowest.row_class];
            differing[subset] = differing[rest] | (keys[lowest.row_class] ^ other);
        }
        if (!terms_.takes(weight[n_subsets - 1])) return false;
        std::array<Value, most> value;
        for (std::size_t subset = 0; subset < n_subsets; ++subset) value[subset] = terms_.of(weight[subset]);
        for (std::size_t bit = 1; bit < n_subsets; bit *= 2) {
            for (std::size_t subset = bit; subset < n_subsets; subset = (subset + 1) | bit) {
                value[subset] -= value[subset ^ bit];
            }
        }
        for (std::size_t subset = 1; subset < n_subsets; ++subset) {
            lattice_.at(level, base | mask_of_bytes(differing[subset])) += value[subset];
        }
        return true;
    }

    // One bit for every byte that is not 0.
    static std::size_t mask_of_bytes(std::uint64_t x) {
        constexpr std::uint64_t low_bits = 0x7F7F7F7F7F7F7F7F, gather = 0x0102040810204080;
        const std::uint64_t high = (x | ((x & low_bits) + low_bits)) & ~low_bits;
        return ((high >> 7) * gather) >> 56;
    }

    // Whether a table of all cells takes no longer than the classes one by one.
    bool is_full(int level, std::size_t size) const {
        const auto& here = plan_.lattice_levels_[level];
        return here.n_cells > 0 && here.n_marginal_cells <= size << level;
    }

    // Lays a group out as a table of all cells and sums its margins.
    void sum_cells(int level, std::uint64_t set, const Entry* group, std::size_t size) {
        auto& counts = counts_[level];
        std::fill(counts.begin(), counts.end(), 0);
        const auto& cells = plan_.lattice_levels_[level].cells;
        for (std::size_t i = 0; i < size; ++i) counts[cells[group[i].row_class]] = group[i].weight;
        sum_margins(level, set, counts.data());
    }

    void sum_margins(int level, std::uint64_t set, const Weight* counts) {
        if (level == 0) return add(0, set, counts[0]);
        if (level == 1) return sum_last(set, counts);
        const std::uint32_t states = plan_.classes_.levels[level].states;
        const std::size_t step = plan_.lattice_levels_[level - 1].n_cells;
        Weight* margin = counts_[level - 1].data();
        std::fill_n(margin, step, 0);
        for (std::uint32_t c = 0; c < states; ++c) {
            const Weight* part = counts + c * step;
            for (std::size_t i = 0; i < step; ++i) margin[i] += part[i];
            sum_below(level - 1, set | std::uint64_t{1} << (level - 1), part);
        }
        sum_below(level - 1, set, margin);
    }

    void sum_below(int level, std::uint64_t set, const Weight* counts) {
        if (level == 1) sum_last(set, counts);
        else sum_margins(level, set, counts);
    }

    void sum_last(std::uint64_t set, const Weight* counts) {
        Weight sum = 0;
        for (std::uint32_t c = 0; c < plan_.classes_.levels[1].states; ++c) {
            add(0, set | 1, counts[c]);
            sum += counts[c];
        }
        add(0, set, sum);
    }

    const SubsetTerms& plan_;
    const AnyTerms& terms_;
    const SubsetOutputs& out_;
    Lattice<Value> lattice_;
    std::vector<std::uint64_t> large_;  // of each set of the lattice: what is not in its lanes
    std::vector<std::uint64_t> kinds_;  // of each set of the lattice
    std::vector<std::uint64_t> heavy_;  // classes left behind on the way whose counts are too large to be added
    std::vector<Groups> groups_;        // of each level
    std::vector<Entry> scratch_;
    std::vector<Weight> bucket_;
    std::vector<std::vector<Weight>> counts_;  // of each level of the lattice: tables of cells
};

}  // namespace fishernet
