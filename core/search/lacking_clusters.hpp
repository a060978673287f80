// Clusters of which choices in shares have less than one: that none of their members is the first.
#pragma once

#include <cstdint>
#include <vector>

#include "search/clusters.hpp"

namespace fishernet {

// Some of those that lack so much at least; one may come more than once. The shares of a variable's choices add up to one.
std::vector<std::uint64_t> lacking_clusters(const Choices& choices, const std::vector<double>& shares, double lack);

}  // namespace fishernet
