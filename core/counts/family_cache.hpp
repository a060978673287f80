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

    // Fills in the scores that are known, and returns the positions of the families whose score is not, ascending.
    std::vector<std::int64_t> look_up(const Families& families, std::span<double> scores) {
        std::vector<std::int64_t> unknown;
        for (std::size_t f = 0; f < families.size(); ++f) {
            const double* known = known_.find(key(families, f));
            if (known == nullptr) unknown.push_back(static_cast<std::int64_t>(f));
            else scores[f] = *known;
        }
        return unknown;
    }

    // Takes in scores, and turns that of a family which is known, or comes twice, into the first one.
    void store(const Families& families, std::span<double> scores) {
        for (std::size_t f = 0; f < families.size(); ++f) scores[f] = known_[known_.find_or_insert(key(families, f), scores[f])];
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
