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

// Labels in the order in which they are summed out, so that few cells are held at once.
struct LabelOrder {
    Scope labels;
    double most;  // cells of a table
};

// Of all labels but those that are kept.
LabelOrder label_order(const std::vector<Scope>& scopes, std::span<const std::int64_t> cardinalities, const Scope& keep);

// The tables that are made when labels are summed out in an order, and where their cells lie.
class LabelPlan {
public:
    struct Step {
        std::int32_t variable;  // that is summed out; -1: none, at the end
        Scope scope;
        std::vector<std::size_t> inputs;                  // factors, then what earlier steps gave
        std::vector<std::vector<std::uint32_t>> offsets;  // of each
        std::size_t states = 1, inner = 1, cells = 1;

        // The cell of what the step gives to which one of its cells is added.
        std::size_t out(std::size_t cell) const { return cell / (inner * states) * inner + cell % inner; }
    };

    LabelPlan(const std::vector<Scope>& scopes, std::span<const std::int64_t> cardinalities, const Scope& keep,
              const Scope& order);

    std::span<const Step> steps() const { return steps_; }
    // The first step whose table has all labels of a scope, as that of a factor has its own.
    const Step& with(const Scope& scope) const;

private:
    std::vector<Step> steps_;
};

}  // namespace fishernet
