#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sequences/hmm_runs.hpp"

namespace fishernet {
namespace {

constexpr double least_kept = 0x1p-300, low = 0x1p-32, high = 0x1p32;

enum class Range { kept, nothing, left };

// Takes a power of two out of positive numbers when it is time.
Range rescale(double* values, std::int64_t n, std::int64_t judged, std::int64_t& exponent) {
    double most = 0.0;
    for (std::int64_t i = 0; i < judged; ++i) most = std::max(most, values[i]);
    if (most == 0.0) return Range::nothing;
    if (most < low || most > high) {
        const int by = std::ilogb(most);
        const double factor = std::ldexp(1.0, -by);
        for (std::int64_t i = 0; i < n; ++i) values[i] *= factor;
        exponent += by;
    }
    double least = 1.0;
    most = 0.0;
    for (std::int64_t i = 0; i < n; ++i) {
        least = std::min(least, values[i] > 0.0 ? values[i] : 1.0);
        most = std::max(most, values[i]);
    }
    return least < least_kept || most > 1.0 / least_kept ? Range::left : Range::kept;
}

class Run {
public:
    Run(const HmmModel& model, Codes codes, const HmmWanted& wanted)
        : model_(model),
          view_(model.view()),
          codes_(codes),
          wanted_(wanted),
          width_(2 * model.padded),
          n_(static_cast<std::int64_t>(codes.size())),
          n_stretches_((n_ + model.stretch - 1) / model.stretch) {
        const bool backward = wanted.totals != nullptr || wanted.posterior != nullptr;
        const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n_stretches_)));
        block_ = backward ? std::max({wanted.most_rows / model.stretch, root, std::int64_t{1}}) : 1;
        block_ = std::min(block_, n_stretches_);
        rows_.resize(static_cast<std::size_t>((block_ * model.stretch + 1) * width_));
        exponents_.assign(static_cast<std::size_t>(n_stretches_ + 1), 0);
        if (backward) checkpoints_.resize(static_cast<std::size_t>((n_stretches_ + block_ - 1) / block_ * width_));
    }

    bool run(double& log_prob) {
        log_prob = -std::numeric_limits<double>::infinity();
        const Range range = forward();
        if (range != Range::kept) return range == Range::nothing;
        const double* last = row_at(n_ - first_of((n_stretches_ - 1) / block_));
        double probability = 0.0;
        for (std::int64_t a = 0; a < model_.n_states; ++a) probability += last[a] * model_.end[a];
        if (probability == 0.0) return true;
        if (probability < least_kept) return false;
        one_over_ = 1.0 / probability;
        log_prob = std::log(probability) + static_cast<double>(exponents_.back()) * std::numbers::ln2;
        return checkpoints_.empty() || backward(last);
    }

private:
    double* row_at(std::int64_t within) { return rows_.data() + within * width_; }
    std::int64_t first_of(std::int64_t block) const { return block * block_ * model_.stretch; }

    // The symbols of a stretch.
    Codes symbols(std::int64_t stretch) const {
        const std::int64_t from = stretch * model_.stretch;
        return codes_.subspan(static_cast<std::size_t>(from),
                              static_cast<std::size_t>(std::min(model_.stretch, n_ - from)));
    }

    Range forward_block(std::int64_t block) {
        double* row = rows_.data();
        for (std::int64_t j = block * block_; j < std::min((block + 1) * block_, n_stretches_); ++j) {
            const Codes part = symbols(j);
            const auto length = static_cast<std::int64_t>(part.size());
            hmm_steps().forward(view_, part.data(), length, row);
            row += length * width_;
            exponents_[j + 1] = exponents_[j];
            const Range range = rescale(row, width_, model_.padded, exponents_[j + 1]);
            if (range != Range::kept) return range;
        }
        end_ = row;
        return Range::kept;
    }

    Range forward() {
        std::fill_n(row_at(0), model_.padded, 0.0);
        std::copy(model_.start.begin(), model_.start.end(), row_at(0) + model_.padded);
        const std::int64_t n_blocks = (n_stretches_ + block_ - 1) / block_;
        for (std::int64_t block = 0; block < n_blocks; ++block) {
            if (block > 0) std::copy_n(end_, width_, row_at(0));
            if (!checkpoints_.empty()) std::copy_n(row_at(0), width_, checkpoints_.data() + block * width_);
            const Range range = forward_block(block);
            if (range != Range::kept) return range;
        }
        return Range::kept;
    }

    bool backward(const double* last) {
        b_.assign(static_cast<std::size_t>(width_), 0.0);
        std::copy(model_.end.begin(), model_.end.end(), b_.begin());
        if (wanted_.totals != nullptr) add_last(last, *wanted_.totals);
        posterior_.resize(wanted_.posterior != nullptr ? static_cast<std::size_t>(model_.stretch * model_.padded) : 0);
        const std::int64_t n_blocks = (n_stretches_ + block_ - 1) / block_;
        for (std::int64_t block = n_blocks - 1; block >= 0; --block) {
            if (block < n_blocks - 1) {
                std::copy_n(checkpoints_.data() + block * width_, width_, row_at(0));
                forward_block(block);
            }
            if (!backward_block(block)) return false;
        }
        if (wanted_.totals == nullptr) return true;
        const double factor = factor_at(0);
        for (std::int64_t a = 0; a < model_.padded; ++a) {
            wanted_.totals->first[a] += b_[static_cast<std::size_t>(model_.padded + a)] * factor;
        }
        return true;
    }

    // What brings a product of the forward and the backward numbers of a stretch to a share of the probability.
    double factor_at(std::int64_t stretch) const {
        const std::int64_t by = exponents_[stretch] + exponent_ - exponents_.back();
        return std::ldexp(one_over_, static_cast<int>(std::clamp<std::int64_t>(by, -4000, 4000)));
    }

    bool backward_block(std::int64_t block) {
        for (std::int64_t j = std::min((block + 1) * block_, n_stretches_) - 1; j >= block * block_; --j) {
            const Codes part = symbols(j);
            const auto length = static_cast<std::int64_t>(part.size());
            const double* rows = row_at(j * model_.stretch - first_of(block));
            hmm_steps().backward(view_, part.data(), length, rows, b_.data(), factor_at(j), sums());
            if (wanted_.posterior != nullptr) copy_posterior(j * model_.stretch, length);
            if (j > 0 && rescale(b_.data(), model_.padded, model_.padded, exponent_) != Range::kept) return false;
        }
        return true;
    }

    HmmSums sums() {
        HmmSums sums;
        if (wanted_.posterior != nullptr) sums.posterior = posterior_.data();
        if (wanted_.totals == nullptr) return sums;
        sums.emission = wanted_.totals->emission.data();
        if (wanted_.totals->transitions) sums.moves = wanted_.totals->moves.data();
        if (model_.has_empty) sums.empty = wanted_.totals->empty.data();
        return sums;
    }

    void copy_posterior(std::int64_t first, std::int64_t length) {
        for (std::int64_t i = 0; i < length; ++i) {
            std::copy_n(posterior_.data() + i * model_.padded, model_.n_states,
                        wanted_.posterior + (first + i) * model_.n_states);
        }
    }

    void add_last(const double* row, HmmTotals& totals) {
        const double *f = row, *u = row + model_.padded;
        for (std::int64_t a = 0; a < model_.padded; ++a) {
            totals.last[a] += (f[a] + u[a] * model_.empty[a]) * one_over_;
            if (model_.has_empty) totals.empty[a] += u[a] * model_.end[a] * one_over_;
        }
    }

    const HmmModel& model_;
    HmmView view_;
    Codes codes_;
    const HmmWanted& wanted_;
    std::int64_t width_, n_, n_stretches_, block_ = 1;
    std::vector<double> rows_, checkpoints_, b_, posterior_;
    std::vector<std::int64_t> exponents_;  // of the rows of each stretch, and of the last row
    std::int64_t exponent_ = 0;            // of b
    double one_over_ = 0.0;
    double* end_ = nullptr;
};

}  // namespace

bool run_dense(const HmmModel& model, Codes codes, const HmmWanted& wanted, double& log_prob) {
    return Run(model, codes, wanted).run(log_prob);
}

}  // namespace fishernet
