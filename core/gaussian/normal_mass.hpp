// The mass that a normal distribution has on an interval, however narrow or far out.
#pragma once

namespace fishernet {

// The logarithm of a standard normal density.
double log_normal_density(double z);

// The logarithm of the probability that a standard normal number is at most half a width from a middle.
double log_normal_mass(double middle, double width);

}  // namespace fishernet
