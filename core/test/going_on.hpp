// Searches that go on from a state end as the search did that was not stopped, and refuse what is no state of theirs.
#pragma once

#include <random>
#include <stdexcept>
#include <vector>

#include "search/saved_state.hpp"
#include "test/any_score.hpp"
#include "test/check.hpp"

template <class Search>
fishernet::SavedState state_of(const Search& search) {
    fishernet::SavedState state;
    search.save(state);
    return state;
}

template <class Search>
bool same_end(const Search& a, const Search& b) {
    const auto one = state_of(a), other = state_of(b);
    return a.parents() == b.parents() && a.score() == b.score() && a.n_steps() == b.n_steps() && one.whole == other.whole &&
           one.real == other.real;
}

// From the state of every call of the scorer, by searches that `make` makes.
template <class Make>
void goes_on_from_everywhere(std::uint64_t seed, Make make) {
    auto whole = make();
    std::vector<fishernet::SavedState> states;
    AnyScorer scorer(seed, [&] { states.push_back(state_of(whole)); });
    whole.run(scorer, nullptr);
    states.push_back(state_of(whole));
    CHECK(states.size() > 1);
    AnyScorer other(seed, [] {});
    for (const auto& state : states) {
        auto later = make();
        fishernet::StateReader reader(state.whole, state.real);
        later.restore(reader);
        reader.end();
        later.run(other, nullptr);
        CHECK(same_end(whole, later));
    }
}

// A search that was stopped by its scorer has the state that it had when it called it.
template <class Make>
void keeps_its_state_when_stopped(std::uint64_t seed, int calls, Make make) {
    auto search = make();
    fishernet::SavedState last;
    AnyScorer scorer(seed, [&] {
        last = state_of(search);
        if (calls-- == 0) throw std::runtime_error("enough");
    });
    try {
        search.run(scorer, nullptr);
        return;
    } catch (const std::runtime_error&) {
    }
    CHECK(state_of(search).whole == last.whole);
}

// States in which some numbers are others: refused, or one from which the search can go on without harm.
template <class Make>
void refuses_or_goes_on(std::uint64_t seed, Make make) {
    std::mt19937_64 random(seed);
    auto whole = make();
    std::vector<fishernet::SavedState> states;
    AnyScorer scorer(seed, [&] { states.push_back(state_of(whole)); });
    whole.run(scorer, nullptr);
    int refused = 0;
    for (int trial = 0; trial < 300; ++trial) {
        auto state = states[random() % states.size()];
        for (auto changes = 1 + random() % 2; changes-- > 0 && !state.whole.empty();) {
            auto& number = state.whole[random() % state.whole.size()];
            const std::int64_t near = number / 2 * 2, others[] = {near + 1, near, 0, -1, 1, 2, std::int64_t{1} << 61, INT64_MIN};
            number = others[random() % 8];
            if (random() % 9 == 0) state.whole.pop_back();
        }
        if (random() % 9 == 0 && !state.real.empty()) state.real.pop_back();
        auto later = make();
        int calls = 50;
        AnyScorer other(seed, [&] {
            CHECK(acyclic(later.parents()));
            if (calls-- == 0) throw std::runtime_error("enough");
        });
        try {
            fishernet::StateReader reader(state.whole, state.real);
            later.restore(reader);
            reader.end();
            later.run(other, nullptr);
        } catch (const std::invalid_argument&) {
            ++refused;
        } catch (const CheckFailed&) {
            throw;
        } catch (const std::runtime_error&) {
        }
        CHECK(acyclic(later.parents()));
    }
    CHECK(refused > 50);
}
