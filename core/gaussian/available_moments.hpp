// Moments of the numbers of families, of each on the rows that lack nothing of it.
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/columns.hpp"
#include "base/interrupt.hpp"
#include "counts/families.hpp"
#include "gaussian/cell_moments.hpp"

namespace fishernet {

// Rows that lack cells: codes of labels, and of numbers whether they are missing, beside a row of values for each number,
// (numbers, n), whose place among these is given by column; -1 for labels. Missing numbers have any value.
struct IncompleteRows {
    std::span<const Column> columns;
    std::span<const std::int32_t> places;
    std::span<const double> values;
    std::span<const double> weights;  // empty: each counts once
    std::size_t n;

    const Column& column(std::int32_t v) const { return columns[static_cast<std::size_t>(v)]; }
    bool is_number(std::int32_t v) const { return places[static_cast<std::size_t>(v)] >= 0; }
    const double* numbers(std::int32_t v) const {
        return values.data() + static_cast<std::size_t>(places[static_cast<std::size_t>(v)]) * n;
    }
};

// Moments over the rows that know some numbers, ascending: in the configurations of labels that some of these rows have, and
// of all these rows.
struct PatternMoments {
    std::vector<std::int32_t> numbers;
    OwnedMoments in_cells, all;
};

class OrderedRows;

// Finds moments over rows. Searches ask for families of few sets of labels again and again: the rows in the order of a
// set's configurations are kept, as many as memory should hold. Where cells are missing in blocks, many families of the
// same labels have the same complete rows as well: the moments of all numbers over these are kept, too, once families that
// were asked for took as long as they do. Several threads may ask.
class AvailableMoments {
public:
    explicit AvailableMoments(const IncompleteRows& rows);

    // Takes moments of some of the families, whose numbers are among theirs, over their complete rows.
    using Found = std::function<void(std::span<const std::size_t> families, const PatternMoments& moments)>;

    // Children are numbers, and parents' labels have fewer than 2**31 configurations. Families come in any order, several
    // at once; what is found of each depends on no other, but for its last digits.
    void find(const Families& families, const Found& found, StopCheck check);

    const IncompleteRows& rows() const { return rows_; }

private:
    using Labels = std::vector<std::int32_t>;

    // The labels of families, and which cells their complete rows must know: a bit for all numbers that the same rows lack.
    struct Pattern {
        Labels labels;
        std::uint64_t lacking;

        auto operator<=>(const Pattern&) const = default;
    };
    struct KeptWhole {
        std::shared_ptr<PatternMoments> whole;
        std::uint64_t last;  // when it was asked for
    };

    std::shared_ptr<OrderedRows> ordered(const Labels& labels);
    std::shared_ptr<PatternMoments> worth_keeping(const Pattern& pattern, double work);
    void fill(const Pattern& pattern, const std::shared_ptr<PatternMoments>& whole);

    IncompleteRows rows_;
    std::mutex keeping_;
    std::atomic<std::size_t> held_ = 0;  // bytes of ordered rows
    std::list<Labels> by_use_;  // the last asked for first
    struct Kept {
        std::shared_ptr<OrderedRows> rows;
        std::list<Labels>::iterator use;
    };
    std::map<Labels, Kept> kept_;
    std::vector<std::uint64_t> lacking_;  // the bit of each number; none where there are more kinds than bits
    std::map<Pattern, double> work_;  // of families that were asked for, in columns of rows
    std::map<Pattern, KeptWhole> wholes_;
    std::size_t size_of_wholes_ = 0;
    std::uint64_t now_ = 0;
};

}  // namespace fishernet
