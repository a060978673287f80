// A hash map from short sequences of integers (sets of variables, families) to one number each.
#pragma once

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
        std::size_t slot = hash & mask();
        for (; index_[slot] != 0; slot = (slot + 1) & mask()) {
            const Entry& entry = entries_[index_[slot] - 1];
            if (entry.hash == hash && same(entry, key)) return index_[slot] - 1;
        }
        entries_.push_back({hash, arena_.size(), static_cast<std::uint32_t>(key.size()), value});
        arena_.insert(arena_.end(), key.begin(), key.end());
        index_[slot] = entries_.size();
        return entries_.size() - 1;
    }

    // The value of a key, or nullptr. The pointer holds until the next insertion.
    const Value* find(Key key) const {
        if (entries_.empty()) return nullptr;
        const std::uint64_t hash = hash_of(key);
        for (std::size_t slot = hash & mask(); index_[slot] != 0; slot = (slot + 1) & mask()) {
            const Entry& entry = entries_[index_[slot] - 1];
            if (entry.hash == hash && same(entry, key)) return &entry.value;
        }
        return nullptr;
    }

private:
    struct Entry {
        std::uint64_t hash;
        std::size_t begin;
        std::uint32_t length;
        Value value;
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

    bool same(const Entry& entry, Key key) const {
        return entry.length == key.size() &&
               (key.empty() || std::memcmp(arena_.data() + entry.begin, key.data(), key.size_bytes()) == 0);
    }

    void grow() {
        index_.assign(index_.empty() ? 64 : 2 * index_.size(), 0);
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            std::size_t slot = entries_[i].hash & mask();
            while (index_[slot] != 0) slot = (slot + 1) & mask();
            index_[slot] = i + 1;
        }
    }

    std::vector<std::int32_t> arena_;
    std::vector<Entry> entries_;
    std::vector<std::size_t> index_;  // 1 + the entry's position; 0 is free
};

}  // namespace fishernet
