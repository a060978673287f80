#include "counts/score_term.hpp"

#include <algorithm>
#include <cmath>

#include "base/log_gamma.hpp"

namespace fishernet {

// ------------------------------------------------------------------------------------------------------------ terms

CellTerms::CellTerms(Function phi, std::int64_t total, const std::vector<double>& first)
    : phi_(std::move(phi)), table_(first.size()) {
    // phi(n) lies between n phi(1) and n phi(total) / total, so all terms together are within these two for n = total
    const std::int64_t n = std::max<std::int64_t>(total, 1);
    const double most = std::abs(phi_(1)) * static_cast<double>(n) + std::abs(phi_(n)) + 2;
    scale_ = std::ldexp(1.0, std::clamp(60 - static_cast<int>(std::ceil(std::log2(most))), 0, 50));
    std::transform(first.begin(), first.end(), table_.begin(), [this](double value) { return fixed(value); });
}

std::int64_t CellTerms::fixed(double value) const { return std::llrint(value * scale_); }

double CellTerms::value(std::int64_t fixed) const { return static_cast<double>(fixed) / scale_; }

// ------------------------------------------------------------------------------------------------------ score terms

namespace {

double n_log_n(std::int64_t n) {
    const double x = static_cast<double>(n);
    return x * std::log(x);
}

}  // namespace

ScoreTerm::ScoreTerm(Measure measure, double parameter, std::int64_t total, std::int64_t least)
    : measure_(measure), parameter_(parameter), total_(total), least_(least) {}

// Counts up to 2^16 - 1 are looked up: no more can come from one stretch of rows.
std::int64_t ScoreTerm::usual_size() const { return std::min<std::int64_t>(total_, 65535) + 1; }

// Sets with many cells have small counts, and there are many such sets.
std::int64_t ScoreTerm::size_for(const Size& set) const {
    constexpr double above_average = 64;
    const double wanted = above_average * static_cast<double>(total_) / set.cells;
    return std::clamp(static_cast<std::int64_t>(std::min(wanted, 1e9)), std::min(least_, usual_size()), usual_size());
}

const CellTerms& ScoreTerm::kept(double key, const CellTerms::Function& phi, std::int64_t size) {
    auto& terms = terms_[key];
    if (terms) return *terms;
    std::vector<double> first(static_cast<std::size_t>(size), 0.0);
    for (std::size_t n = 1; n < first.size(); ++n) first[n] = phi(static_cast<std::int64_t>(n));
    terms = std::make_unique<const CellTerms>(phi, total_, first);
    return *terms;
}

// a (a + 1) ... (a + n - 1) in logarithms: what n draws of one cell weigh. A pseudo-count a too small for a double is
// felt in the first factor only.
const CellTerms& ScoreTerm::dirichlet(double key, double log_pseudo_count, std::int64_t size) {
    auto& terms = terms_[key];
    if (terms) return *terms;
    const double a = std::exp(log_pseudo_count);
    std::vector<double> first(static_cast<std::size_t>(size), 0.0);
    for (std::size_t n = 1; n < first.size(); ++n) {  // there may be many such tables: one logarithm a count
        first[n] = first[n - 1] + (n == 1 ? log_pseudo_count : std::log(a + static_cast<double>(n - 1)));
    }
    const auto phi = [=](std::int64_t n) { return log_rising_from(log_pseudo_count, static_cast<double>(n)); };
    terms = std::make_unique<const CellTerms>(phi, total_, first);
    return *terms;
}

const CellTerms& ScoreTerm::joint(const Size& set) {
    switch (measure_) {
        case Measure::bdeu: return dirichlet(set.log, std::log(parameter_) - set.log, size_for(set));
        case Measure::bdq: return dirichlet(0, std::log(parameter_), usual_size());
        case Measure::k2: return dirichlet(0, 0, usual_size());
        default: return kept(0, n_log_n, usual_size());
    }
}

const CellTerms& ScoreTerm::marginal(const Size& parents, std::uint32_t r) {
    if (measure_ == Measure::k2) return dirichlet(r, std::log(r), usual_size());
    if (measure_ != Measure::fnml) return joint(parents);
    constexpr std::int64_t affordable = std::int64_t{1} << 24;  // a term takes r steps
    const auto penalized = [r](std::int64_t n) { return n_log_n(n) + regret(n, r); };
    return kept(r, penalized, std::min(usual_size(), std::max<std::int64_t>(1024, affordable / r)));
}

double ScoreTerm::of_set(const Size& set) {
    if (!knows_sets()) return 0;
    const auto [known, is_new] = sets_.try_emplace({set.cells, set.log}, 0.0);
    return is_new ? known->second = of_new_set(set) : known->second;
}

double ScoreTerm::of_new_set(const Size& set) const {
    if (measure_ == Measure::qnml) return -regret(total_, set);
    return total_ == 0 ? 0.0 : -log_rising_from(std::log(parameter_) + set.log, static_cast<double>(total_));
}

double ScoreTerm::of_sizes(const Size& joint, const Size& parents, std::uint32_t r) {
    const double penalty = price() == 0 ? 0.0 : price() * (r - 1.0) * parents.cells;
    return of_set(joint) - of_set(parents) - penalty;
}

}  // namespace fishernet
