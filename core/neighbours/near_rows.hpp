// Rows by their distance from one row in the maximum norm, nearest first. Points are kept in the order of one of their
// columns, so that whoever lies within a radius stands in a window around the row; inside the window all are looked at.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace fishernet {

// Points of some dimensions: column c of n numbers is values[c * n ... (c + 1) * n - 1].
struct Points {
    std::span<const double> values;
    std::int64_t n = 0;
    int dims = 0;
};

// Positions [first, last) in a sorted order.
struct Window {
    std::int64_t first = 0, last = 0;
    std::int64_t size() const { return last - first; }
};

// The columns of points, rows in the order of the first of them, the axis.
class SortedPoints {
public:
    // The axis is the column of `by` (of which there must be one) that spreads most; its other columns come next, then
    // those of `rest`.
    SortedPoints(const Points& by, const Points& rest);

    std::int64_t n() const { return n_; }
    int n_by() const { return n_by_; }                                    // columns of the first points
    int dims() const { return dims_; }                                    // of both together
    const std::int32_t* order() const { return order_.data(); }           // position -> row
    const double* column(int c) const { return values_.data() + c * n_; }  // 0 is the axis
    Window all() const { return {0, n_}; }

    // The positions within `inside`, which holds the position, whose axis value is less than a positive radius away.
    Window near(std::int64_t position, double radius, Window inside) const;

private:
    std::int64_t n_;
    int n_by_, dims_;
    std::vector<std::int32_t> order_;
    std::vector<double> values_;
};

// All other rows that are closer to a row than a radius.
struct Neighbourhood {
    double radius = 0;
    std::vector<std::int32_t> positions;  // ascending
    std::vector<double> distances;        // theirs
    // The positions that were looked at. Where the first points have several columns: the distances by these alone, the
    // window's first position first, the row's own (0) among them.
    Window window;
    std::vector<double> by;

    std::int64_t size() const { return static_cast<std::int64_t>(positions.size()); }
};

// Neighbourhoods of one row after the other: each has one and a half times the radius of the one before, and is found
// when it is asked for. From some level on they hold all other rows.
class NearRows {
public:
    explicit NearRows(const SortedPoints& points);

    // Goes to a position. The radius of level 0 is a guess, on which only speed depends; it is positive.
    void begin(std::int64_t position, double radius);

    // A radius that holds about so many positions of the axis around one.
    double guess_radius(std::int64_t position, std::int64_t positions) const;

    const Neighbourhood& level(std::size_t l) {
        while (n_found_ <= l) find_next();
        return levels_[l];
    }

private:
    void find_next();

    const SortedPoints& points_;
    std::int64_t position_ = 0;
    double next_radius_ = 0;
    std::size_t n_found_ = 0;
    std::vector<Neighbourhood> levels_;
    std::vector<double> all_;
    std::vector<std::int32_t> picked_;
};

}  // namespace fishernet
