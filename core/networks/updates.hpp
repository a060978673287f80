// The operators of pseudo-Gibbs sampling on whole distributions (Takabatake and Akaho, 2021, section 3): updating variable i replaces its
// conditional, p -> p(x_-i) theta_i. A random scan averages the updates, an ordered sweep makes one after the other.
//
// A distribution has one cell a state of the free variables, the last one fastest. Updates are made in tiles that fit a
// cache: all states of some variables and of the last few, the rest fixed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interrupt.hpp"

namespace fishernet {

// A free variable's conditional: its numbers for state k begin at theta[base + sum over inputs of code * stride].
struct FreeConditional {
    std::int64_t states = 1;
    std::vector<std::int32_t> inputs;   // free ones, by their places among the free variables
    std::vector<std::int64_t> strides;
    std::vector<double> theta;          // with the clamped inputs' states already chosen
};

class Updates {
public:
    explicit Updates(std::vector<FreeConditional> conditionals);

    std::int64_t n_states() const { return n_states_; }

    // out = sum over i of weights[i] times p with variable i updated
    void average(const double* p, std::span<const double> weights, double* out, StopCheck check) const;

    // Updates every variable in order. Where `visited` is given, it gets the sum of the distributions before each update.
    void sweep(double* p, double* visited, StopCheck check) const;

private:
    // A variable as it is updated within the tiles of a group.
    struct Updated {
        std::size_t variable;
        std::int64_t outer, inner;                 // axes of the tile before and after its own
        std::vector<std::int32_t> offsets;         // in theta, for every cell of the tile with the variable at 0
        std::vector<std::int64_t> outside_strides; // in theta, along the variables outside of the tile
    };
    // Variables that are updated in one pass over the distribution.
    struct Group {
        std::vector<Updated> updated;
        std::vector<std::int64_t> pieces;          // where the tile's contiguous pieces begin
        std::int64_t piece = 1;                    // cells of each
        std::vector<std::int64_t> outside_sizes;
        std::vector<std::int64_t> outside_steps;   // in the distribution
        std::int64_t tiles = 1;

        std::int64_t cells() const { return piece * static_cast<std::int64_t>(pieces.size()); }
    };

    Group make_group(std::size_t first, std::size_t last, std::size_t low) const;
    template <class Work>
    void for_tiles(const Group& group, StopCheck check, Work work) const;

    std::vector<FreeConditional> conditionals_;
    std::vector<std::int64_t> steps_;              // of each variable in the distribution
    std::int64_t n_states_ = 1;
    std::vector<Group> groups_;                    // the first variables' group first
};

}  // namespace fishernet
