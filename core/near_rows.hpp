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

    // The positions within `inside` whose axis value is less than radius away from the center. `inside` must hold a
    // stretch of the axis around the center.
    Window near(double center, double radius, Window inside) const;

private:
    std::int64_t n_;
    int n_by_, dims_;
    std::vector<std::int32_t> order_;
    std::vector<double> values_;
};

// The others by their distance from one row, found as far as somebody asks.
class NearRows {
public:
    explicit NearRows(const SortedPoints& points);

    // Begins at a position. The radius to be looked at first is a guess, on which only speed depends; it is positive.
    void begin(std::int64_t position, double guess);

    // A radius that holds about so many positions of the axis around one.
    double guess_radius(std::int64_t position, std::int64_t positions) const;

    double radius() const { return radius_; }  // all that are closer have been found
    bool complete() const { return size() == points_.n() - 1; }
    void extend();  // finds more, or all

    // Those found: distances ascending, and where they stand.
    std::int64_t size() const { return static_cast<std::int64_t>(positions_.size()); }
    const double* distances() const { return distances_.data(); }
    const std::int32_t* positions() const { return positions_.data(); }

    // The positions that were looked at, among them all within the radius. Where the first points have several columns:
    // the distances by these alone, the window's first position first, the row's own (0) among them.
    Window window() const { return window_; }
    const double* by_distances() const { return by_.data(); }

private:
    struct Found {
        double distance;
        std::int32_t position;
    };

    const SortedPoints& points_;
    std::int64_t position_ = 0;
    double radius_ = 0, next_ = 0;
    Window window_;
    std::vector<double> distances_, by_, all_;
    std::vector<std::int32_t> positions_, picked_;
    std::vector<Found> found_;
};

}  // namespace fishernet
