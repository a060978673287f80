// The mass that a normal distribution has on an interval, however narrow or far out.
#pragma once

namespace fishernet {

// The logarithm of a standard normal density.
inline double log_normal_density(double z) { return -0.5 * z * z - 0.91893853320467274178; }

// The logarithm of the probability that a standard normal number is at most half a width from a middle.
double log_normal_mass(double middle, double width);

}  // namespace fishernet
