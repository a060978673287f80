#include "gaussian/normal_mass.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fishernet {
namespace {

constexpr double narrow = 0.05;  // of a width times the density's slope, up to which a series has all digits
constexpr double far = 5;        // from where on a tail is a continued fraction
constexpr int levels = 50;       // of it

// The density at z, which is large, over the probability that a standard normal number is above it.
double hazard(double z) {
    double below = z;  // z + 1 / (z + 2 / (z + ...))
    for (int k = levels; k > 0; --k) below = z + k / below;
    return below;
}

// The logarithm of the probability that a standard normal number is above z, which is positive.
double log_upper_tail(double z) {
    if (z < far) return std::log(0.5 * std::erfc(z / std::numbers::sqrt2));
    return log_normal_density(z) - std::log(hazard(z));
}

}  // namespace

double log_normal_mass(double middle, double width) {
    const double z = std::fabs(middle);
    if (width * std::max(z, 1.0) < narrow) {
        const double square = z * z, half = width * width / 24;
        const double bend = half * (square - 1) + half * half * 0.3 * (square * square - 6 * square + 3);
        return log_normal_density(z) + std::log(width) + std::log1p(bend);
    }
    const double low = z - width / 2, high = z + width / 2;
    if (low <= 0) return std::log(0.5 * (std::erf(high / std::numbers::sqrt2) + std::erf(-low / std::numbers::sqrt2)));
    const double above = log_upper_tail(low);
    if (std::isinf(above)) return above;
    // far out the difference of the tails' logarithms is made without their squares, which cancel
    const double drop = low < far ? above - log_upper_tail(high) : z * width + std::log(hazard(high) / hazard(low));
    return above + std::log(-std::expm1(-drop));
}

}  // namespace fishernet
