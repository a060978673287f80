#include "inference/gap_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/pool.hpp"
#include "inference/label_plan.hpp"

namespace fishernet {
namespace {

constexpr std::size_t most_parts = 16;                    // that are added up apart
constexpr std::size_t most_apart = std::size_t{1} << 24;  // numbers in the sums of all parts: 128 MiB
constexpr double work_of_piece = 1 << 18;                 // states of labels in tables, more or less
constexpr std::size_t pieces_at_once = 4;                 // of a part, before one may be stopped

// Of one conditional.
struct SumsSize {
    std::size_t cells, d;

    std::size_t numbers() const { return cells * (1 + d + d * d); }
};

SumsSize size_of(const MixedModel& model, const MixedConditional& own) {
    return {static_cast<std::size_t>(cells_of(own.labels, model.cardinalities)), own.numbers.size() + (own.number ? 1 : 0)};
}

// The sums of all conditionals, in one piece.
class OwnSums {
public:
    OwnSums(std::span<const SumsSize> sizes, std::size_t total) : values_(total) {
        double* next = values_.data();
        for (const auto& size : sizes) {
            sums_.push_back({next, next + size.cells, next + size.cells * (1 + size.d)});
            next += size.numbers();
        }
    }

    std::vector<MixedSums> of(std::span<const std::int32_t> families) const {
        std::vector<MixedSums> found;
        for (const auto v : families) found.push_back(sums_[at(v)]);
        return found;
    }

    void add_to(std::span<const MixedSums> sums, std::span<const SumsSize> sizes) const {
        for (std::size_t v = 0; v < sums.size(); ++v) {
            const auto [cells, d] = sizes[v];
            add(sums[v].weights, sums_[v].weights, cells);
            add(sums[v].first, sums_[v].first, cells * d);
            add(sums[v].second, sums_[v].second, cells * d * d);
        }
    }

private:
    static void add(double* into, const double* from, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) into[i] += from[i];
    }

    std::vector<double> values_;
    std::vector<MixedSums> sums_;
};

// The rows of gaps in pieces of about as much work.
std::vector<GapRows> pieces_of(std::span<const GapRows> gaps) {
    std::vector<GapRows> found;
    for (const auto& [gap, rows] : gaps) {
        const double most = work_of_piece / (gap->most_states() * static_cast<double>(gap->families().size() + 1));
        const auto step = static_cast<std::size_t>(std::max(1.0, most));
        for (std::size_t first = 0; first < rows.rows.size(); first += step) {
            found.push_back({gap, rows});
            found.back().rows.rows = rows.rows.subspan(first, std::min(step, rows.rows.size() - first));
        }
    }
    return found;
}

}  // namespace

void add_expected(const MixedModel& model, std::span<const GapRows> gaps, std::span<const double> weights,
                  std::span<const double> origin, std::span<const MixedSums> sums, std::span<double> log_prob,
                  StopCheck check) {
    std::vector<SumsSize> sizes;
    std::size_t total = 0;
    for (const auto& own : model.conditionals) {
        sizes.push_back(size_of(model, own));
        total += sizes.back().numbers();
    }
    const auto pieces = pieces_of(gaps);
    // as many parts for each number of threads, so that sums have the same bits
    const auto n_parts = std::clamp(most_apart / std::max<std::size_t>(total, 1), std::size_t{1}, most_parts);
    std::vector<OwnSums> parts;
    for (std::size_t part = 0; part < n_parts; ++part) parts.emplace_back(sizes, total);
    std::vector<std::vector<double>> logs(n_parts * pieces_at_once);
    for (std::size_t first = 0; first < pieces.size(); first += logs.size()) {
        const auto some = std::span(pieces).subspan(first, std::min(logs.size(), pieces.size() - first));
        const auto add_part = [&](std::int64_t part) {
            for (auto i = static_cast<std::size_t>(part); i < some.size(); i += n_parts) {
                const auto& [gap, rows] = some[i];
                const auto into = parts[static_cast<std::size_t>(part)].of(gap->families());
                logs[i] = gap->add_expected(model, rows, weights, origin, into, nullptr);
            }
        };
        run_tasks(static_cast<std::int64_t>(n_parts), add_part, check);
        for (std::size_t i = 0; i < some.size(); ++i) {
            for (std::size_t r = 0; r < logs[i].size(); ++r) log_prob[static_cast<std::size_t>(some[i].rows.rows[r])] += logs[i][r];
        }
    }
    for (const auto& part : parts) part.add_to(sums, sizes);
}

}  // namespace fishernet
