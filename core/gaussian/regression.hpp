// The regression of one column of numbers on some others, and what any further column would add to it, from the sums of
// products of the columns. Members come and go.
//
// With the rows of the Cholesky factor of the members' products carried on to all other columns, a new member takes one
// more row: time (members x columns), after which every column's share of the rest is known at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fishernet {

// Sums of products of d columns scaled to 1 on the diagonal, (d, d), and how many columns so few rows keep apart.
struct Products {
    std::span<const double> values;
    std::int32_t d;
    std::int32_t rank;

    const double* row(std::int32_t column) const { return values.data() + std::int64_t{column} * d; }
};

class Regression {
public:
    // Columns that may become members, by their numbers; their places in this list name them from here on.
    Regression(Products products, std::span<const std::int32_t> columns);

    // Starts anew with another child, which never becomes a member.
    void begin(std::int32_t child);

    // Takes in the column of a place that is not in, and whose rest(place) is not zero.
    void add(std::int32_t place);

    // Drops the member of a position among members().
    void remove(std::int32_t position);

    // Places of the members in the order in which they came.
    std::span<const std::int32_t> members() const { return members_; }
    std::int32_t size() const { return static_cast<std::int32_t>(members_.size()); }

    std::int32_t n_columns() const { return static_cast<std::int32_t>(columns_.size()); }
    std::int32_t column(std::int32_t place) const { return columns_[place]; }

    std::int32_t child() const { return child_; }
    std::int32_t rank() const { return products_.rank; }

    // What the members leave unexplained of the child, of 1.
    double residual() const { return residual_; }

    // The same with one more member, and with one member less.
    double residual_with(std::int32_t place) const {
        return residual_ - together_[place] * together_[place] / rest_[place];
    }
    double residual_without(std::int32_t position) const {
        return residual_ + slopes_[position] * slopes_[position] / spreads_[position];
    }

    // What the members leave unexplained of a column; infinite for members and for the child.
    double rest(std::int32_t place) const { return rest_[place]; }

    // Numbers held.
    std::int64_t held() const { return static_cast<std::int64_t>(rows_.capacity() + inverse_.capacity()); }

private:
    void load(std::int32_t column, double* into) const;
    void start();
    void take_off(std::int32_t t);
    const double* inverse_row(std::int32_t t) const { return inverse_.data() + std::int64_t{t} * (t + 1) / 2; }

    Products products_;
    std::vector<std::int32_t> columns_;
    std::int32_t child_ = 0;
    std::vector<std::int32_t> members_;
    std::vector<double> rows_;     // (members, columns): the factor, carried on to all columns
    std::vector<double> inverse_;  // the rows of the inverse of the members' own triangle, one after the other
    std::vector<double> shares_;   // the child in terms of the rows
    std::vector<double> slopes_;   // coefficients of the members
    std::vector<double> spreads_;  // diagonal of the inverse of the members' products
    std::vector<double> together_;  // products of child and column that the members leave unexplained
    std::vector<double> rest_;
    double residual_ = 1;
};

}  // namespace fishernet
