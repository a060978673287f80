// Sums over all subsets of a few variables at once.
//
// A walk through the subsets decides variable after variable whether it is in the set. A cell that it comes upon belongs
// to many of the sets still possible, and is added in one place for all of them. Such a place is (level, index): the bits
// of the index from `level` on are those of the set; the bits below say which variables must *not* be in it, being those
// that would take the cell apart. In the end the places of each level are spread to the level below, down to single sets.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace fishernet {

// Several numbers that are added together. Being unsigned they wrap around: differences may leave the range, their sums
// come back. Operands are taken by value, so that the compiler knows them to lie elsewhere.
template <class Number, int size>
struct Lanes {
    std::array<Number, size> v{};

    Lanes& operator+=(Lanes other) {
        for (int i = 0; i < size; ++i) v[i] += other.v[i];
        return *this;
    }
    Lanes& operator-=(Lanes other) {
        for (int i = 0; i < size; ++i) v[i] -= other.v[i];
        return *this;
    }
};

template <class Value>
class Lattice {
public:
    explicit Lattice(int n_variables) : n_(n_variables), values_(static_cast<std::size_t>(n_ + 1) << n_) {}

    Value& at(int level, std::size_t index) { return values_[(static_cast<std::size_t>(level) << n_) + index]; }

    void clear() { std::fill(values_.begin(), values_.end(), Value{}); }

    // Leaves the sums of the sets in level 0.
    void spread() {
        for (int level = n_; level > 0; --level) {
            const Value* from = &at(level, 0);
            Value* to = &at(level - 1, 0);
            const std::size_t bit = std::size_t{1} << (level - 1);
            for (std::size_t begin = 0; begin < std::size_t{1} << n_; begin += 2 * bit) {
                for (std::size_t i = begin; i < begin + bit; ++i) {
                    to[i] += from[i];
                    to[i] += from[i + bit];  // without the variable; with it, only what it does not take apart:
                    to[i + bit] += from[i];
                }
            }
        }
    }

private:
    int n_;
    std::vector<Value> values_;
};

}  // namespace fishernet
