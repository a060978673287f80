// The scores of families that were asked for before.
#pragma once

#include <span>
#include <vector>

#include "base/sequence_map.hpp"
#include "counts/families.hpp"

namespace fishernet {

class FamilyCache {
public:
    std::size_t size() const { return known_.size(); }

    // The positions of the families that are not known yet, ascending.
    std::vector<std::int64_t> missing(const Families& families) {
        std::vector<std::int64_t> positions;
        for (std::size_t f = 0; f < families.size(); ++f) {
            if (known_.find(key(families, f)) == nullptr) positions.push_back(static_cast<std::int64_t>(f));
        }
        return positions;
    }

    void store(const Families& families, std::span<const std::int64_t> positions, std::span<const double> scores) {
        for (std::size_t i = 0; i < positions.size(); ++i) {
            known_.find_or_insert(key(families, static_cast<std::size_t>(positions[i])), scores[i]);
        }
    }

    // The scores of families that are all known; false when one is not.
    bool fill(const Families& families, std::span<double> scores) {
        for (std::size_t f = 0; f < families.size(); ++f) {
            const double* known = known_.find(key(families, f));
            if (known == nullptr) return false;
            scores[f] = *known;
        }
        return true;
    }

private:
    std::span<const std::int32_t> key(const Families& families, std::size_t f) {
        const auto parents = families.parents_of(f);
        key_.assign(1, families.children[f]);
        key_.insert(key_.end(), parents.begin(), parents.end());
        return key_;
    }

    SequenceMap<double> known_;
    std::vector<std::int32_t> key_;
};

}  // namespace fishernet
