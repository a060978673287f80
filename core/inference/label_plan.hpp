// The order in which labels are summed out of tables, and where the cells of tables over some labels lie.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "inference/elimination.hpp"

namespace fishernet {

inline std::size_t at(std::int32_t v) { return static_cast<std::size_t>(v); }

// Whether an ascending scope has a label.
inline bool scope_has(const Scope& scope, std::int32_t v) { return std::binary_search(scope.begin(), scope.end(), v); }

Scope joined(const Scope& a, const Scope& b);  // of ascending ones
double cells_of(const Scope& scope, std::span<const std::int64_t> cardinalities);
// Where the cell of an array lies for each cell of a table over `scope`; `strides` are the array's, by variable.
std::vector<std::uint32_t> offsets(const Scope& scope, std::span<const std::int64_t> cardinalities,
                                   std::span<const std::int64_t> strides);
// The strides, by variable, of an array with an axis for each label in some order; 0 for other variables.
std::vector<std::int64_t> strides_of(const Scope& labels, std::span<const std::int64_t> cardinalities);

// The order in which labels are summed out, so that few cells are held at once, and where each table's cells lie.
class LabelPlan {
public:
    struct Step {
        std::int32_t variable;  // that is summed out; -1: none, at the end
        Scope scope;
        std::vector<std::size_t> inputs;                  // factors, then what earlier steps gave
        std::vector<std::vector<std::uint32_t>> offsets;  // of each
        std::size_t states = 1, inner = 1, cells = 1;
    };

    // With `held` false, only the number of cells of the largest table is found.
    LabelPlan(const std::vector<Scope>& scopes, std::span<const std::int64_t> cardinalities, const Scope& keep,
              bool held);

    double most() const { return most_; }
    std::span<const Step> steps() const { return steps_; }

private:
    void add(std::vector<std::pair<std::size_t, Scope>>& pool, std::int32_t variable, Scope scope,
             std::span<const std::int64_t> cardinalities, bool held);

    Scope keep_;
    double most_;
    std::vector<Step> steps_;
};

}  // namespace fishernet
