// Scores of families in tables of labels and numbers: what a number's parents tell, less what its parameters cost, and of
// labels, whose parents have labels alone, what they score in a table of labels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interrupt.hpp"
#include "counts/families.hpp"
#include "counts/family_cache.hpp"
#include "counts/set_terms.hpp"
#include "gaussian/moment_store.hpp"

namespace fishernet {

// Which columns are numbers, how many states the others have, and the weight of all rows; `corrected`: a regression's
// parameters count for more where there are not many rows for each.
class MixedColumns {
public:
    MixedColumns(std::span<const std::int64_t> cardinalities, std::span<const std::int32_t> numbers, double total,
                 bool corrected);

    std::size_t size() const { return states_.size(); }
    bool is_number(std::int32_t v) const { return is_number_[static_cast<std::size_t>(v)]; }

    // How many parameters the regressions of a family have: in each configuration of its labels a coefficient for each
    // number, an intercept and a standard deviation. Where it is corrected, the k of a regression on numbers count as
    // k n / (n - k - 1) of n rows (McQuarrie, 1999), of which there are fewer than 40 k.
    double n_parameters(std::span<const std::int32_t> parents) const;

    // The parents of a family but for its labels where these have more configurations than rows tell of or memory holds.
    std::vector<std::int32_t> telling(std::span<const std::int32_t> parents) const;

private:
    double configurations(std::span<const std::int32_t> parents) const;

    std::vector<double> states_;  // 1 of numbers
    std::vector<bool> is_number_;
    double n_numbers_, total_;
    bool corrected_;
};

struct NumberPrices {
    double parameter, parent;  // what each costs, in nats
};

class MixedScores {
public:
    // Variances are at least those in `floors`. The labels are scored by a table of these alone, if there is one.
    MixedScores(MixedColumns columns, std::vector<double> floors, NumberPrices prices)
        : columns_(std::move(columns)), floors_(std::move(floors)), prices_(prices) {}

    const MixedColumns& columns() const { return columns_; }
    std::size_t n_families() const { return known_.size(); }

    // Writes the scores of families of numbers, remembered ones as they were; `once`: nothing is remembered.
    void numbers(MomentStore& store, const Families& families, std::span<double> scores, bool once, StopCheck check);

    // Writes the scores of families, of which those of labels have labels alone for parents; `labels` may be none where no
    // column has some.
    void families(MomentStore& store, SetTerms* labels, std::span<const std::int32_t> label_at, const Families& families,
                  std::span<double> scores, StopCheck check);

private:
    std::vector<double> computed(MomentStore& store, const Families& families, StopCheck check) const;

    MixedColumns columns_;
    std::vector<double> floors_;
    NumberPrices prices_;
    FamilyCache known_;
};

}  // namespace fishernet
