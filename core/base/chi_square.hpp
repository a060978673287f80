// The chi-square distribution's upper tail, in logarithms, however far out.
#pragma once

#include <cmath>
#include <cstdint>

namespace fishernet {

class ChiSquareTail {
public:
    explicit ChiSquareTail(std::int64_t degrees_of_freedom);

    // log P(chi-square > statistic); 0 where there are no degrees of freedom.
    double log_probability(double statistic) const;

private:
    double half_;        // of the degrees of freedom: the shape of the gamma distribution
    double log_gamma_;
};

}  // namespace fishernet
