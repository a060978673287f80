#include "selection/criteria.hpp"

#include <algorithm>
#include <limits>

#include "base/chi_square.hpp"

namespace fishernet {
namespace {

class SquaredDistance : public Criterion {
public:
    SquaredDistance(const Target& target, std::vector<double> inverse_theta, std::vector<double> inverse_group)
        : rows_(target.rows), k_(static_cast<double>(target.k)), inverse_theta_(std::move(inverse_theta)),
          inverse_group_(std::move(inverse_group)), share_(target.counts.begin(), target.counts.end()) {
        for (auto& share : share_) share /= target.total;
        pull_.resize(share_.size());
        for_groups([&](std::int64_t first, std::int64_t states) {
            double of_group = 0;
            for (auto cell = first; cell < first + states; ++cell) of_group += share_[cell];
            for (auto cell = first; cell < first + states; ++cell) {
                pull_[cell] = (share_[cell] * inverse_theta_[cell] - of_group) * inverse_group_[cell];
            }
        });
        addends.resize(share_.size());
    }

    // The squared length of the difference of the mean features, group by group.
    double value(std::span<const std::int32_t> counts) const override {
        double sum = 0;
        for_groups([&](std::int64_t first, std::int64_t states) {
            double squares = 0;
            double of_group = 0;
            for (auto cell = first; cell < first + states; ++cell) {
                const double off = counts[cell] / k_ - share_[cell];
                squares += off * off * inverse_theta_[cell];
                of_group += off;
            }
            sum += (squares - of_group * of_group) * inverse_group_[first];
        });
        return std::max(sum, 0.0);
    }

    void update(std::span<const std::int32_t> counts, std::int64_t kind) override {
        for (std::size_t c = 0; c < rows_.n_conditionals(); ++c) {
            update_group(counts, rows_.group_start(c, rows_.at(c, kind)), rows_.states[c]);
        }
    }

    void update_all(std::span<const std::int32_t> counts) override {
        for_groups([&](std::int64_t first, std::int64_t states) { update_group(counts, first, states); });
    }

private:
    // |(sum of features + phi) / k - mean|^2 = constant + 2 phi . (sum / k - mean) / k + |phi|^2 / k^2
    void update_group(std::span<const std::int32_t> counts, std::int64_t first, std::int64_t states) {
        double of_group = 0;
        for (auto cell = first; cell < first + states; ++cell) of_group += counts[cell];
        for (auto cell = first; cell < first + states; ++cell) {
            const double push = (counts[cell] * inverse_theta_[cell] - of_group) * inverse_group_[cell] / k_;
            const double self = (inverse_theta_[cell] - 1) * inverse_group_[cell] / k_;
            addends[cell] = (2 * (push - pull_[cell]) + self) / k_;
        }
    }

    template <class Visit>
    void for_groups(Visit visit) const {
        for (std::size_t c = 0; c < rows_.n_conditionals(); ++c) {
            for (auto first = rows_.firsts[c]; first < rows_.firsts[c + 1]; first += rows_.states[c]) {
                visit(first, rows_.states[c]);
            }
        }
    }

    const CellRows& rows_;
    double k_;
    std::vector<double> inverse_theta_;
    std::vector<double> inverse_group_;
    std::vector<double> share_;  // of the table's rows that are in each cell
    std::vector<double> pull_;   // the table's mean feature times the feature of a row in each cell
};

class ChiSquareTails : public Criterion {
public:
    explicit ChiSquareTails(const Target& target) : rows_(target.rows) {
        const double scale = static_cast<double>(target.k) / target.total;
        for (const auto count : target.counts) expected_.push_back(count * scale);
        for (std::size_t c = 0; c < rows_.n_conditionals(); ++c) {
            const auto observed = std::count_if(expected_.begin() + rows_.firsts[c],
                                                expected_.begin() + rows_.firsts[c + 1],
                                                [](double e) { return e > 0; });
            tails_.emplace_back(observed - 1);
        }
        addends.resize(expected_.size());
    }

    double value(std::span<const std::int32_t> counts) const override {
        double sum = 0;
        for (std::size_t c = 0; c < rows_.n_conditionals(); ++c) sum -= tails_[c].log_probability(statistic(counts, c));
        return sum;
    }

    void update(std::span<const std::int32_t> counts, std::int64_t) override { update_all(counts); }

    void update_all(std::span<const std::int32_t> counts) override {
        for (std::size_t c = 0; c < rows_.n_conditionals(); ++c) {
            const double before = statistic(counts, c);
            for (auto cell = rows_.firsts[c]; cell < rows_.firsts[c + 1]; ++cell) {
                const double e = expected_[cell];
                const double after = e > 0 ? before + (2 * (counts[cell] - e) + 1) / e : no_end;
                addends[cell] = -tails_[c].log_probability(after);
            }
        }
    }

private:
    static constexpr double no_end = std::numeric_limits<double>::infinity();

    double statistic(std::span<const std::int32_t> counts, std::size_t c) const {
        double sum = 0;
        for (auto cell = rows_.firsts[c]; cell < rows_.firsts[c + 1]; ++cell) {
            const double off = counts[cell] - expected_[cell];
            if (expected_[cell] > 0) {
                sum += off * off / expected_[cell];
            } else if (counts[cell] > 0) {  // rows of weight 0 alone have this state
                return no_end;
            }
        }
        return sum;
    }

    const CellRows& rows_;
    std::vector<double> expected_;
    std::vector<ChiSquareTail> tails_;
};

}  // namespace

std::unique_ptr<Criterion> squared_distance(const Target& target, std::vector<double> inverse_theta,
                                            std::vector<double> inverse_group) {
    return std::make_unique<SquaredDistance>(target, std::move(inverse_theta), std::move(inverse_group));
}

std::unique_ptr<Criterion> chi_square_tails(const Target& target) { return std::make_unique<ChiSquareTails>(target); }

}  // namespace fishernet
