// Tables of probabilities over several variables, and walks through them. A table's cells follow one another with the
// last axis fastest. A walk cuts them into equal blocks of whole trailing axes; an operand says where, for each cell of
// a block, the cell of a smaller table over some of the same variables lies.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fishernet {

struct Shape {
    explicit Shape(std::vector<std::int64_t> axes);

    std::vector<std::int64_t> sizes;
    std::size_t outer = 0;    // the first so many axes lie outside of the blocks
    std::int64_t block = 1;   // cells a block
    std::int64_t blocks = 1;

    std::int64_t cells() const { return block * blocks; }
};

struct Operand {
    // Within a block: one cell for all, one after the other, or wherever the offsets say.
    enum class Kind { constant, contiguous, scattered };

    Operand(const Shape& shape, std::span<const std::int64_t> axis_strides);

    Kind kind = Kind::constant;
    std::vector<std::int32_t> offsets;   // of scattered ones, for every cell of a block
    std::int32_t run = 1;                // of scattered ones: so many cells have one offset, or offsets that follow
    bool steady = false;                 // one another; one offset
    std::vector<std::int64_t> strides;   // along the outer axes

private:
    void find_run(const Shape& shape, std::span<const std::int64_t> axis_strides);
};

// Goes from block to block and keeps the positions of some operands.
class Odometer {
public:
    Odometer(const Shape& shape, std::span<const Operand* const> operands, std::int64_t first_block);

    std::int64_t position(std::size_t operand) const { return positions_[operand]; }

    void next() {
        for (std::size_t axis = shape_.outer; axis-- > 0;) {
            const bool turned = ++counters_[axis] == shape_.sizes[axis];
            const std::int64_t steps = turned ? 1 - shape_.sizes[axis] : 1;
            for (std::size_t o = 0; o < operands_.size(); ++o) positions_[o] += steps * operands_[o]->strides[axis];
            if (!turned) return;
            counters_[axis] = 0;
        }
    }

private:
    const Shape& shape_;
    std::span<const Operand* const> operands_;
    std::vector<std::int64_t> counters_;
    std::vector<std::int64_t> positions_;
};

}  // namespace fishernet
