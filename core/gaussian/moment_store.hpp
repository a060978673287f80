// Moments of numbers in the configurations of sets of labels, which a search asks for again and again.
//
// Rows are gone through seldom: sets of labels that are asked for together are joined while the joint set has far fewer
// configurations than there are rows, and moments in the configurations of a set add up to those of each set within it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/interrupt.hpp"
#include "gaussian/cell_moments.hpp"

namespace fishernet {

using SharedMoments = std::shared_ptr<const LabelMoments>;

// Moments of sets that are asked for, by the places of these.
struct MomentsFound {
    std::vector<std::size_t> places;
    std::vector<SharedMoments> moments;

    void add(std::size_t place, SharedMoments of) {
        places.push_back(place);
        moments.push_back(std::move(of));
    }
};

// The rows of a source, none of which lacks a cell.
class MomentStore {
public:
    // Counts what is asked for, in its order.
    using Count = std::function<std::vector<LabelMoments>(std::span<const MomentsAsked>)>;

    // The states of each column, of which those of numbers are not looked at; the numbers among them, ascending; and the
    // weight of all rows.
    MomentStore(std::vector<std::int64_t> cardinalities, std::vector<std::int32_t> numbers, double total, Count count);

    std::size_t n_columns() const { return cardinalities_.size(); }
    const std::vector<std::int32_t>& numbers() const { return numbers_; }
    bool is_number(std::int32_t v) const { return is_number_[static_cast<std::size_t>(v)]; }

    // How many configurations the labels among some columns have.
    double configurations(std::span<const std::int32_t> columns) const;

    // The moments of all numbers, of all rows.
    SharedMoments whole();

    // Gives the moments of each set, of those numbers at least that are asked for; some sets at a time.
    void find(std::span<const MomentsAsked> asked, const std::function<void(const MomentsFound&)>& give, StopCheck check);

private:
    struct Held {
        SharedMoments moments;
        std::uint64_t asked_at;
    };
    struct Within {
        SharedMoments held;
        std::size_t place;
    };
    struct Joint {
        MomentsAsked counted;
        std::vector<std::size_t> within;  // the places of the sets that are added up from it
    };

    bool may_join(std::span<const std::int32_t> labels) const;
    bool is_kept(std::span<const std::int32_t> labels, const LabelMoments& held) const;
    void mark(const MomentsAsked& asked, std::span<std::uint64_t> mask) const;
    SharedMoments held_with(const MomentsAsked& asked);
    void forget(std::size_t at);
    std::vector<Joint> joint(std::span<const MomentsAsked> asked, std::vector<std::size_t> waiting) const;
    void add_up(std::span<const MomentsAsked> asked, std::span<const Within> sets,
                const std::function<void(const MomentsFound&)>& give, StopCheck check);
    void remember(SharedMoments counted);

    std::vector<std::int64_t> cardinalities_;
    std::vector<std::int32_t> numbers_;
    std::vector<bool> is_number_;
    double total_;
    Count count_;
    SharedMoments whole_;
    std::size_t words_;  // of a mask
    std::vector<Held> held_;
    std::vector<std::uint64_t> masks_, asked_;  // of the labels and numbers of each that is held, and of what is asked for
    std::map<std::vector<std::int32_t>, SharedMoments> added_;  // small ones, of all numbers
    std::size_t size_ = 0, added_size_ = 0;
    std::uint64_t now_ = 0;
};

}  // namespace fishernet
