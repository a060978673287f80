// What a search needs to go on later as if it had never stopped: whole numbers and others, in an order of its own.
//
// Whoever gives it back may give anything: what is read is checked, and refused by std::invalid_argument.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "search/search_rules.hpp"

namespace fishernet {

struct SavedState {
    std::vector<std::int64_t> whole;
    std::vector<double> real;

    void put(std::int64_t number) { whole.push_back(number); }
    void put(const std::vector<std::int32_t>& list) {
        put(static_cast<std::int64_t>(list.size()));
        whole.insert(whole.end(), list.begin(), list.end());
    }
};

// Reads a state in the order in which it was written.
class StateReader {
public:
    static constexpr std::int64_t any = std::int64_t{1} << 62;

    StateReader(std::span<const std::int64_t> whole, std::span<const double> real) : whole_(whole), real_(real) {}

    [[noreturn]] static void refuse() { throw std::invalid_argument("this is no state of this search"); }

    // A number within limits, both of which may be.
    std::int64_t whole(std::int64_t least, std::int64_t most) {
        if (whole_.empty() || whole_[0] < least || whole_[0] > most) refuse();
        const auto number = whole_[0];
        whole_ = whole_.subspan(1);
        return number;
    }

    double real() {
        if (real_.empty()) refuse();
        const auto number = real_[0];
        real_ = real_.subspan(1);
        return number;
    }

    // How many of something follow, each of which takes as many whole numbers.
    std::int64_t size(std::int64_t each) { return whole(0, static_cast<std::int64_t>(whole_.size()) / each); }

    // Some of n variables.
    std::vector<std::int32_t> variables(std::int32_t n) {
        std::vector<std::int32_t> list(static_cast<std::size_t>(size(1)));
        for (auto& v : list) v = static_cast<std::int32_t>(whole(0, n - 1));
        return list;
    }

    // All of the variables, required parents before their children.
    std::vector<std::int32_t> order(const Rules& rules) {
        std::vector<std::int32_t> list = variables(rules.n);
        std::vector<bool> met(static_cast<std::size_t>(rules.n), false);
        for (const auto v : list) {
            if (met[v]) refuse();
            for (const auto parent : rules.required[v]) {
                if (!met[parent]) refuse();
            }
            met[v] = true;
        }
        if (list.size() != met.size()) refuse();
        return list;
    }

    // The parents of all variables, within the rules; whether there is a cycle is not looked at.
    ParentLists graph(const Rules& rules) {
        ParentLists parents;
        for (std::int32_t child = 0; child < rules.n; ++child) {
            std::vector<std::int32_t> list = variables(rules.n), family;
            for (const auto v : list) {
                const bool fits = rules.states_of(v) <= rules.room(child, family);
                if (!fits || !holds(rules.allowed[child], v) || (!family.empty() && v <= family.back())) refuse();
                family.push_back(v);
            }
            for (const auto v : rules.required[child]) {
                if (!holds(list, v)) refuse();
            }
            parents.push_back(std::move(list));
        }
        return parents;
    }

    void end() const {
        if (!whole_.empty() || !real_.empty()) refuse();
    }

private:
    std::span<const std::int64_t> whole_;
    std::span<const double> real_;
};

}  // namespace fishernet
