#include "gaussian/moment_store.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/pool.hpp"

namespace fishernet {
namespace {

constexpr double asked_again = 200;  // how often sets within a joint one are asked for, with other numbers, in the mean
constexpr double rows_of_cell = 32;  // in each configuration of a joint set, at least, in the mean: adding up is cheaper
constexpr std::size_t sets_at_once = 256;           // whose moments are counted together
constexpr std::size_t open_sets = 16;               // joint sets that take others in
constexpr std::size_t most_sets = 512;              // that are held, so that they are looked through fast
constexpr double most_of_joint = 1 << 20;           // numbers in the moments of a joint set: 8 MiB
constexpr double most_of_added = 1 << 14;           // up to so many, what was added up is for all numbers, and held
constexpr std::size_t most_held = std::size_t{1} << 26;  // numbers in moments that are held: 512 MiB
constexpr double most_at_once = 1 << 25;            // numbers in moments that are found together

double squared(std::size_t n) { return static_cast<double>(n) * static_cast<double>(n); }

// Whether a mask has all bits of another.
bool holds(const std::uint64_t* all, std::span<const std::uint64_t> some) {
    for (std::size_t w = 0; w < some.size(); ++w) {
        if (some[w] & ~all[w]) return false;
    }
    return true;
}

}  // namespace

MomentStore::MomentStore(std::vector<std::int64_t> cardinalities, std::vector<std::int32_t> numbers, double total, Count count)
    : cardinalities_(std::move(cardinalities)),
      numbers_(std::move(numbers)),
      is_number_(cardinalities_.size()),
      total_(total),
      count_(std::move(count)),
      words_((cardinalities_.size() + 63) / 64),
      asked_(words_) {
    for (const auto v : numbers_) {
        is_number_[static_cast<std::size_t>(v)] = true;
        cardinalities_[static_cast<std::size_t>(v)] = 1;
    }
}

SharedMoments MomentStore::whole() {
    if (!whole_) {
        const MomentsAsked all{{}, numbers_};
        whole_ = std::make_shared<const LabelMoments>(std::move(count_({&all, 1}).at(0)));
    }
    return whole_;
}

void MomentStore::find(std::span<const MomentsAsked> asked, const std::function<void(const MomentsFound&)>& give,
                       StopCheck check) {
    MomentsFound added;
    std::vector<Within> within;
    std::vector<std::size_t> waiting;
    for (std::size_t s = 0; s < asked.size(); ++s) {
        if (asked[s].labels.empty()) {
            added.add(s, whole());
        } else if (const auto kept = added_.find(asked[s].labels); kept != added_.end()) {
            added.add(s, kept->second);
        } else if (auto held = held_with(asked[s])) {
            within.push_back({std::move(held), s});
        } else {
            waiting.push_back(s);
        }
    }
    give(added);
    add_up(asked, within, give, check);
    const auto sets = joint(asked, std::move(waiting));
    for (std::size_t first = 0; first < sets.size();) {
        std::vector<MomentsAsked> part;
        double size = 0;
        for (auto at = first; at < sets.size() && part.size() < sets_at_once; ++at) {
            size += configurations(sets[at].counted.labels) * squared(sets[at].counted.numbers.size());
            if (size > most_at_once && !part.empty()) break;
            part.push_back(sets[at].counted);
        }
        auto counted = count_(part);
        within.clear();
        for (std::size_t at = 0; at < counted.size(); ++at) {
            const auto held = std::make_shared<const LabelMoments>(std::move(counted[at]));
            for (const auto s : sets[first + at].within) within.push_back({held, s});
            remember(held);
        }
        first += counted.size();
        add_up(asked, within, give, check);
    }
}

double MomentStore::configurations(std::span<const std::int32_t> columns) const {
    double found = 1;
    for (const auto v : columns) found *= static_cast<double>(cardinalities_[static_cast<std::size_t>(v)]);
    return found;
}

// Whether labels have so few configurations that all numbers are counted in them.
bool MomentStore::may_join(std::span<const std::int32_t> labels) const {
    const double cells = configurations(labels);
    return rows_of_cell * cells <= total_ && cells * squared(numbers_.size()) <= most_of_joint;
}

bool MomentStore::is_kept(std::span<const std::int32_t> labels, const LabelMoments& held) const {
    return held.numbers.size() == numbers_.size() && configurations(labels) * squared(numbers_.size()) <= most_of_added;
}

void MomentStore::mark(const MomentsAsked& asked, std::span<std::uint64_t> mask) const {
    std::ranges::fill(mask, 0);
    for (const auto* positions : {&asked.labels, &asked.numbers}) {
        for (const auto v : *positions) mask[static_cast<std::size_t>(v) / 64] |= std::uint64_t{1} << (v % 64);
    }
}

// The smallest moments that are held with all labels and numbers asked for; none if there are none.
SharedMoments MomentStore::held_with(const MomentsAsked& asked) {
    mark(asked, asked_);
    Held* best = nullptr;
    for (std::size_t at = 0; at < held_.size(); ++at) {
        auto& one = held_[at];
        if (holds(masks_.data() + at * words_, asked_) && (!best || one.moments->size() < best->moments->size())) best = &one;
    }
    if (!best) return nullptr;
    best->asked_at = ++now_;
    return best->moments;
}

// The sets that are counted. One that has too many configurations to be joined is counted for those of its numbers that are
// asked for.
std::vector<MomentStore::Joint> MomentStore::joint(std::span<const MomentsAsked> asked, std::vector<std::size_t> waiting) const {
    std::vector<Joint> joined, alone;
    std::ranges::stable_sort(waiting, [&](std::size_t a, std::size_t b) {
        const auto &of_a = asked[a].labels, &of_b = asked[b].labels;
        return of_a.size() != of_b.size() ? of_a.size() > of_b.size() : of_a < of_b;
    });
    for (const auto s : waiting) {
        const auto& labels = asked[s].labels;
        if (!may_join(labels)) {
            alone.push_back({asked[s], {s}});
            continue;
        }
        const auto open = std::span(joined).last(std::min(open_sets, joined.size()));
        const auto holds_them = [&](const Joint& one) { return std::ranges::includes(one.counted.labels, labels); };
        auto place = std::ranges::find_if(open, holds_them);
        std::vector<std::int32_t> both;
        const auto takes_in = [&](const Joint& one) {
            both.clear();
            std::ranges::set_union(one.counted.labels, labels, std::back_inserter(both));
            return may_join(both);
        };
        if (place == open.end()) {
            place = std::ranges::find_if(open, takes_in);
            if (place != open.end()) place->counted.labels = both;
        }
        if (place != open.end()) {
            place->within.push_back(s);
        } else {
            joined.push_back({{labels, numbers_}, {s}});
        }
    }
    // so few numbers of each may be asked for that all of them are not worth their time
    const auto of_all = static_cast<double>(CellMoments::n_products(numbers_.size()));
    const auto pays = [&](const Joint& one) {
        double each = 0;
        for (const auto s : one.within) each += static_cast<double>(CellMoments::n_products(asked[s].numbers.size()));
        return asked_again * each >= of_all;
    };
    const auto [dear, end] = std::ranges::stable_partition(joined, pays);
    for (auto one = dear; one != end; ++one) {
        for (const auto s : one->within) alone.push_back({asked[s], {s}});
    }
    joined.erase(dear, end);
    joined.insert(joined.end(), std::make_move_iterator(alone.begin()), std::make_move_iterator(alone.end()));
    return joined;
}

// Gives the moments of sets within those that are held, so many at a time as memory should hold.
void MomentStore::add_up(std::span<const MomentsAsked> asked, std::span<const Within> sets,
                         const std::function<void(const MomentsFound&)>& give, StopCheck check) {
    if (static_cast<double>(added_size_) > most_at_once) {
        added_.clear();
        added_size_ = 0;
    }
    MomentsFound same;
    std::vector<Within> others;
    for (const auto& one : sets) {
        if (asked[one.place].labels == one.held->labels) {
            same.add(one.place, one.held);
        } else {
            others.push_back(one);
        }
    }
    give(same);
    const auto kept = [&](const Within& one) { return is_kept(asked[one.place].labels, *one.held); };
    for (std::size_t first = 0, last = 0; first < others.size(); first = last) {
        for (double size = 0; last < others.size() && size <= most_at_once; ++last) {
            const auto& [labels, numbers] = asked[others[last].place];
            size += configurations(labels) * squared(kept(others[last]) ? numbers_.size() : numbers.size());
        }
        MomentsFound found;
        found.moments.resize(last - first);
        for (auto at = first; at < last; ++at) found.places.push_back(others[at].place);
        const auto add = [&](std::int64_t at) {
            const auto& one = others[first + static_cast<std::size_t>(at)];
            const auto& [labels, numbers] = asked[one.place];
            found.moments[static_cast<std::size_t>(at)] =
                std::make_shared<const LabelMoments>(within(*one.held, labels, kept(one) ? numbers_ : numbers));
        };
        run_tasks(static_cast<std::int64_t>(last - first), add, check);
        for (auto at = first; at < last; ++at) {
            const auto& moments = found.moments[at - first];
            if (kept(others[at]) && added_.emplace(moments->labels, moments).second) added_size_ += moments->size();
        }
        give(found);
    }
}

// Holds what was counted, instead of what was not asked for the longest.
void MomentStore::remember(SharedMoments counted) {
    const auto same = std::ranges::find_if(held_, [&](const Held& one) { return one.moments->labels == counted->labels; });
    if (same != held_.end()) forget(static_cast<std::size_t>(same - held_.begin()));
    size_ += counted->size();
    masks_.resize(masks_.size() + words_);
    mark({counted->labels, counted->numbers}, std::span(masks_).last(words_));
    held_.push_back({std::move(counted), ++now_});
    while (held_.size() > 1 && (size_ > most_held || held_.size() > most_sets)) {
        forget(static_cast<std::size_t>(std::ranges::min_element(held_, {}, &Held::asked_at) - held_.begin()));
    }
}

void MomentStore::forget(std::size_t at) {
    size_ -= held_[at].moments->size();
    held_[at] = std::move(held_.back());
    held_.pop_back();
    std::copy_n(masks_.data() + masks_.size() - words_, words_, masks_.data() + at * words_);
    masks_.resize(masks_.size() - words_);
}

}  // namespace fishernet
