// Whoever scores families for a search: the core's own counting, or anybody else.
#pragma once

#include <span>
#include <vector>

#include "counts/families.hpp"

namespace fishernet {

class Scorer {
public:
    virtual ~Scorer() = default;

    // Writes one score for each family. Blocks; throws when the work shall end.
    virtual void score(const Families& families, std::span<double> scores) = 0;

    std::vector<double> operator()(const FamilyList& families) {
        std::vector<double> scores(families.children.size());
        if (!scores.empty()) score(families.view(), scores);
        return scores;
    }
};

}  // namespace fishernet
