#include "inference/table_walk.hpp"

#include <algorithm>

namespace fishernet {
namespace {

constexpr std::int64_t usual_block = 2048;  // 16 KiB of doubles: half a first-level cache
constexpr std::int64_t small_block = 64;    // a block below this may grow over the usual size
constexpr std::int64_t most_block = std::int64_t{1} << 18;

}  // namespace

Shape::Shape(std::vector<std::int64_t> axes) : sizes(std::move(axes)), outer(sizes.size()) {
    while (outer > 0) {
        const std::int64_t wider = block * sizes[outer - 1];
        const bool first = outer == sizes.size();
        if (!first && wider > (block < small_block ? most_block : usual_block)) break;
        block = wider;
        --outer;
    }
    for (std::size_t axis = 0; axis < outer; ++axis) blocks *= sizes[axis];
}

Operand::Operand(const Shape& shape, std::span<const std::int64_t> axis_strides)
    : strides(axis_strides.begin(), axis_strides.begin() + static_cast<std::ptrdiff_t>(shape.outer)) {
    std::int64_t natural = 1;
    bool constant = true;
    bool contiguous = true;
    for (std::size_t axis = shape.sizes.size(); axis-- > shape.outer;) {
        if (shape.sizes[axis] == 1) continue;
        constant &= axis_strides[axis] == 0;
        contiguous &= axis_strides[axis] == natural;
        natural *= shape.sizes[axis];
    }
    if (constant) return;
    kind = contiguous ? Kind::contiguous : Kind::scattered;
    if (contiguous) return;
    find_run(shape, axis_strides);
    offsets.reserve(static_cast<std::size_t>(shape.block));
    offsets.push_back(0);
    for (std::size_t axis = shape.sizes.size(); axis-- > shape.outer;) {  // the cells so far, once for every state
        const std::size_t so_far = offsets.size();
        for (std::int64_t state = 1; state < shape.sizes[axis]; ++state) {
            const auto shift = static_cast<std::int32_t>(state * axis_strides[axis]);
            for (std::size_t i = 0; i < so_far; ++i) offsets.push_back(offsets[i] + shift);
        }
    }
}

// The trailing axes that the table does not have, or else those along which its cells follow one another.
void Operand::find_run(const Shape& shape, std::span<const std::int64_t> axis_strides) {
    for (std::size_t axis = shape.sizes.size(); axis-- > shape.outer;) {
        if (shape.sizes[axis] == 1) continue;
        if (run == 1) steady = axis_strides[axis] == 0;
        if (axis_strides[axis] != (steady ? 0 : run)) return;
        run *= static_cast<std::int32_t>(shape.sizes[axis]);
    }
}

Odometer::Odometer(const Shape& shape, std::span<const Operand* const> operands, std::int64_t first_block)
    : shape_(shape), operands_(operands), counters_(shape.outer, 0), positions_(operands.size(), 0) {
    for (std::size_t axis = shape.outer; axis-- > 0;) {
        counters_[axis] = first_block % shape.sizes[axis];
        first_block /= shape.sizes[axis];
        for (std::size_t o = 0; o < operands.size(); ++o) positions_[o] += counters_[axis] * operands[o]->strides[axis];
    }
}

}  // namespace fishernet
