// A hash map from short sequences of integers (sets of variables, families) to one number each.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace fishernet {

template <class Value>
class SequenceMap {
public:
    using Key = std::span<const std::int32_t>;

    std::size_t size() const { return entries_.size(); }

    Value& operator[](std::size_t position) { return entries_[position].value; }
    const Value& operator[](std::size_t position) const { return entries_[position].value; }

    // The position of a key; a new one gets the value given.
    std::size_t find_or_insert(Key key, Value value) {
        if (2 * (entries_.size() + 1) > index_.size()) grow();
        const std::uint64_t hash = hash_of(key);
        const std::size_t slot = slot_of(key, hash);
        if (index_[slot] != 0) return place_of(index_[slot]);
        entries_.push_back(entry_of(key, value));
        index_[slot] = marked(entries_.size(), hash);
        return entries_.size() - 1;
    }

    // The value of a key, or nullptr. The pointer holds until the next insertion.
    const Value* find(Key key) const {
        if (entries_.empty()) return nullptr;
        const std::size_t slot = slot_of(key, hash_of(key));
        return index_[slot] == 0 ? nullptr : &entries_[place_of(index_[slot])].value;
    }

private:
    // Short keys lie in the entry itself, so that finding one looks at two places in memory; of a longer one the first two
    // numbers are where it begins in the arena.
    static constexpr std::size_t most_inside = 7;
    struct Entry {
        Value value;
        std::uint32_t length;
        std::array<std::int32_t, most_inside> numbers;
    };

    std::size_t mask() const { return index_.size() - 1; }

    static std::uint64_t hash_of(Key key) {
        std::uint64_t h = 0x9E3779B97F4A7C15u + key.size();
        for (const std::int32_t v : key) {
            h ^= static_cast<std::uint32_t>(v);
            h *= 0xD6E8FEB86659FD93u;
            h ^= h >> 32;
        }
        return h;
    }

    // What the index holds of an entry: one and its position, and above it a part of the key's hash.
    static constexpr int position_bits = 40;
    static constexpr std::uint64_t position_mask = (std::uint64_t{1} << position_bits) - 1;
    static std::uint64_t marked(std::size_t n, std::uint64_t hash) { return (hash & ~position_mask) | n; }
    static std::size_t place_of(std::uint64_t mark) { return (mark & position_mask) - 1; }

    Entry entry_of(Key key, Value value) {
        Entry entry{value, static_cast<std::uint32_t>(key.size()), {}};
        if (key.size() <= most_inside) {
            std::ranges::copy(key, entry.numbers.begin());
        } else {
            const std::uint64_t begin = arena_.size();
            std::memcpy(entry.numbers.data(), &begin, sizeof begin);
            arena_.insert(arena_.end(), key.begin(), key.end());
        }
        return entry;
    }

    Key key_of(const Entry& entry) const {
        if (entry.length <= most_inside) return {entry.numbers.data(), entry.length};
        std::uint64_t begin = 0;
        std::memcpy(&begin, entry.numbers.data(), sizeof begin);
        return {arena_.data() + begin, entry.length};
    }

    // Where a key is in the index, or the free slot for it.
    std::size_t slot_of(Key key, std::uint64_t hash) const {
        std::size_t slot = hash & mask();
        for (; index_[slot] != 0; slot = (slot + 1) & mask()) {
            const std::uint64_t mark = index_[slot];
            if (((mark ^ hash) & ~position_mask) == 0 && std::ranges::equal(key_of(entries_[place_of(mark)]), key)) break;
        }
        return slot;
    }

    void grow() {
        index_.assign(index_.empty() ? 64 : 2 * index_.size(), 0);
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            const std::uint64_t hash = hash_of(key_of(entries_[i]));
            std::size_t slot = hash & mask();
            while (index_[slot] != 0) slot = (slot + 1) & mask();
            index_[slot] = marked(i + 1, hash);
        }
    }

    std::vector<std::int32_t> arena_;  // of long keys
    std::vector<Entry> entries_;
    std::vector<std::uint64_t> index_;  // 0 is free
};

}  // namespace fishernet
