#include "counts/set_runs.hpp"

#include <algorithm>
#include <queue>
#include <utility>

#include "base/sequence_map.hpp"

namespace fishernet {

std::vector<SetRun> find_runs(const std::vector<std::vector<std::int32_t>>& sets, const std::vector<std::size_t>& some,
                              const std::function<bool(const SetRun&)>& is_worth_it) {
    SequenceMap<std::size_t> places;
    std::vector<SetRun> possible;
    for (const std::size_t s : some) {
        for (std::size_t i = 0; i < sets[s].size(); ++i) {
            std::vector<std::int32_t> base = sets[s];
            base.erase(base.begin() + static_cast<std::ptrdiff_t>(i));
            const std::size_t place = places[places.find_or_insert(base, possible.size())];
            if (place == possible.size()) possible.push_back({std::move(base), {}, {}});
            possible[place].candidates.push_back(sets[s][i]);
            possible[place].sets.push_back(s);
        }
    }
    using Entry = std::pair<std::size_t, std::size_t>;  // how many sets, and which run; of equal ones the first
    const auto after = [](const Entry& a, const Entry& b) {
        return a.first != b.first ? a.first < b.first : a.second > b.second;
    };
    std::priority_queue<Entry, std::vector<Entry>, decltype(after)> longest(after);
    for (std::size_t r = 0; r < possible.size(); ++r) longest.emplace(possible[r].sets.size(), r);
    std::vector<bool> taken(sets.size(), false);
    std::vector<SetRun> found;
    while (!longest.empty()) {
        const auto [size, r] = longest.top();
        longest.pop();
        SetRun& run = possible[r];
        std::size_t kept = 0;
        for (std::size_t i = 0; i < run.sets.size(); ++i) {
            if (taken[run.sets[i]]) continue;
            run.candidates[kept] = run.candidates[i];
            run.sets[kept++] = run.sets[i];
        }
        run.candidates.resize(kept);
        run.sets.resize(kept);
        if (kept == 0) continue;
        if (kept < size) {
            longest.emplace(kept, r);
            continue;
        }
        if (!is_worth_it(run)) continue;
        for (const std::size_t s : run.sets) taken[s] = true;
        found.push_back(std::move(run));
    }
    return found;
}

}  // namespace fishernet
