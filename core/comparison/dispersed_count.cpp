#include "comparison/dispersed_count.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace fishernet {
namespace {

constexpr double least_variance = 1e-9;
constexpr double negligible = 1e-300;

double power(double base, std::int64_t exponent) {
    double found = 1;
    for (; exponent > 0 && found > negligible; exponent >>= 1) {
        if (exponent & 1) found *= base;
        base = base > negligible ? base * base : 0;
    }
    return found > negligible ? found : 0;
}

}  // namespace

// Without ends the variance of a step s is 2 s / (1 - s)^2.
DispersedCount::DispersedCount(std::int64_t least, std::int64_t mode, std::int64_t most, double variance)
    : least_(least), mode_(mode), most_(most) {
    variance = std::max(variance, least_variance);
    step_ = variance / (1 + variance + std::sqrt(1 + 2 * variance));
    from_mode_ = (1 - power(step_, most_ - mode_ + 1)) / (1 - step_);
    below_ = step_ * (1 - power(step_, mode_ - least_)) / (1 - step_);
}

std::int64_t DispersedCount::draw(Draws& draws) const {
    const double side = draws.uniform() * (from_mode_ + below_), along = draws.uniform();
    const bool up = side < from_mode_;
    const std::int64_t most = up ? most_ - mode_ : mode_ - least_ - 1;
    const double left = 1 - along * (up ? from_mode_ : below_ / step_) * (1 - step_);
    const auto steps = static_cast<std::int64_t>(std::log(left) / std::log(step_));
    const std::int64_t taken = std::clamp<std::int64_t>(steps, 0, most);
    return up ? mode_ + taken : mode_ - 1 - taken;
}

double DispersedCount::probability(std::int64_t value) const {
    return power(step_, std::abs(value - mode_)) / (from_mode_ + below_);
}

}  // namespace fishernet
