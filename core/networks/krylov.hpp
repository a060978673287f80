// A restarted Krylov method for the distribution that an operator leaves as it is. The vectors are here; what to combine
// is decided outside, from the small matrix that a cycle gives.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "base/interrupt.hpp"

namespace fishernet {

class Krylov {
public:
    using Apply = std::function<void(const double* from, double* to, StopCheck check)>;

    Krylov(std::int64_t n, std::size_t most_vectors, Apply apply);

    std::int64_t size() const { return n_; }
    std::size_t most_vectors() const { return vectors_.size(); }
    double* current() { return vectors_.front().get(); }  // the distribution; its numbers sum to 1 between the calls

    // |T p - p| summed over all states; p moves to T p.
    double step(StopCheck check);

    // Arnoldi's relation T V = V' H from the current distribution: `depth` columns of depth + 1 numbers each, column
    // by column; fewer where the space ends. The first vector is the distribution divided by its length.
    std::vector<double> cycle(std::size_t depth, StopCheck check);

    // The distribution becomes a combination of the vectors of the last cycle, divided by its sum.
    void combine(std::span<const double> weights, StopCheck check);

private:
    double sum_of(StopCheck check, const std::function<double(std::int64_t, std::int64_t)>& part) const;
    double dot(const double* a, const double* b, StopCheck check) const;
    void scale(double* a, double by, StopCheck check) const;

    std::int64_t n_;
    Apply apply_;
    std::vector<Buffer> vectors_;
};

}  // namespace fishernet
