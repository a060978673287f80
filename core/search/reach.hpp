// Who has a directed path to whom in an acyclic graph whose arcs come and go, one bit a pair.
//
// A change costs what it changes: an arc that comes is carried upwards while it tells somebody something new; one that
// goes makes those be looked at again who had a path through it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "search/search_rules.hpp"

namespace fishernet {

class Reach {
public:
    explicit Reach(std::int32_t n)
        : n_(n), words_((n + 63) / 64), bits_(static_cast<std::size_t>(n) * words_, 0), left_(n, 0) {}

    bool operator()(std::int32_t from, std::int32_t to) const { return (row(from)[to / 64] >> (to % 64)) & 1; }

    // From nothing, for any acyclic graph.
    void rebuild(const ParentLists& parents, const ParentLists& children) {
        std::vector<std::int32_t> order;
        for (std::int32_t v = 0; v < n_; ++v) {
            left_[v] = static_cast<std::int32_t>(children[v].size());
            if (left_[v] == 0) order.push_back(v);
        }
        for (std::size_t i = 0; i < order.size(); ++i) {
            refresh(order[i], children);
            for (const auto parent : parents[order[i]]) {
                if (--left_[parent] == 0) order.push_back(parent);
            }
        }
        std::fill(left_.begin(), left_.end(), 0);
    }

    // An arc has come; `grown` is called for everyone who reaches more now.
    template <class Visit>
    void add(std::int32_t parent, std::int32_t child, const ParentLists& parents, Visit grown) {
        std::vector<std::int32_t> open{parent};
        while (!open.empty()) {
            const auto v = open.back();
            open.pop_back();
            if ((*this)(v, child)) continue;  // and so did all who reach it
            join(v, child);
            grown(v);
            open.insert(open.end(), parents[v].begin(), parents[v].end());
        }
    }

    // An arc from this parent has gone; `shrunk` is called for everyone who reaches less now.
    template <class Visit>
    void remove(std::int32_t parent, const ParentLists& parents, const ParentLists& children, Visit shrunk) {
        // left_: how many children that may change are still to be looked at; once for each arc among the ancestors
        std::vector<std::int32_t> above{parent};
        for (std::size_t i = 0; i < above.size(); ++i) {
            for (const auto p : parents[above[i]]) {
                if (left_[p]++ == 0) above.push_back(p);
            }
        }
        std::vector<std::int32_t> ready{parent};
        std::vector<bool> touched(static_cast<std::size_t>(n_), false);
        touched[static_cast<std::size_t>(parent)] = true;
        while (!ready.empty()) {
            const auto v = ready.back();
            ready.pop_back();
            const bool changed = touched[static_cast<std::size_t>(v)] && refresh(v, children);
            if (changed) shrunk(v);
            for (const auto p : parents[v]) {
                if (changed) touched[static_cast<std::size_t>(p)] = true;
                if (--left_[p] == 0) ready.push_back(p);
            }
        }
    }

private:
    const std::uint64_t* row(std::int32_t v) const { return bits_.data() + v * words_; }

    void join(std::int32_t v, std::int32_t child) {
        std::uint64_t* own = bits_.data() + v * words_;
        const std::uint64_t* other = row(child);
        for (std::int64_t w = 0; w < words_; ++w) own[w] |= other[w];
        own[child / 64] |= std::uint64_t{1} << (child % 64);
    }

    // Whether the row is another than before.
    bool refresh(std::int32_t v, const ParentLists& children) {
        std::uint64_t* own = bits_.data() + v * words_;
        before_.assign(own, own + words_);
        std::fill_n(own, words_, 0);
        for (const auto child : children[v]) join(v, child);
        return !std::equal(before_.begin(), before_.end(), own);
    }

    std::int32_t n_;
    std::int64_t words_;
    std::vector<std::uint64_t> bits_, before_;  // row v: what v has a directed path to
    std::vector<std::int32_t> left_;            // 0 between calls
};

}  // namespace fishernet
