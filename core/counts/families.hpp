// Families (a child with its parents) in flat arrays: the parents of family f are parents[offsets[f] .. offsets[f+1]],
// ascending and without the child.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fishernet {

struct Families {
    std::span<const std::int32_t> children;
    std::span<const std::int64_t> offsets;
    std::span<const std::int32_t> parents;

    std::size_t size() const { return children.size(); }
    std::span<const std::int32_t> parents_of(std::size_t f) const {
        return parents.subspan(offsets[f], offsets[f + 1] - offsets[f]);
    }
};

struct FamilyList {
    std::vector<std::int32_t> children;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> parents;

    void clear() {
        children.clear();
        offsets.assign(1, 0);
        parents.clear();
    }
    void add(std::int32_t child, std::span<const std::int32_t> of) {
        children.push_back(child);
        parents.insert(parents.end(), of.begin(), of.end());
        offsets.push_back(static_cast<std::int64_t>(parents.size()));
    }
    Families view() const { return {children, offsets, parents}; }
};

}  // namespace fishernet
