#include <algorithm>
#include <cmath>

#include "base/float_kernels.hpp"
#include "sequences/hmm_runs.hpp"

namespace fishernet {
namespace {

constexpr double most_scaled = 0x1p750;  // times a part from 2^-256 to 2^256: a double

class Run {
public:
    Run(const HmmModel& model, Codes codes, const HmmWanted& wanted)
        : model_(model),
          codes_(codes),
          wanted_(wanted),
          n_states_(model.n_states),
          n_(static_cast<std::int64_t>(codes.size())) {
        const bool backward = wanted.totals != nullptr || wanted.posterior != nullptr;
        const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n_)));
        block_ = backward ? std::max({wanted.most_rows, root, std::int64_t{1}}) : 1;
        block_ = std::max(std::min(block_, n_), std::int64_t{1});
        f_.resize(static_cast<std::size_t>(block_ + 1));
        u_.resize(static_cast<std::size_t>(block_ + 1));
        n_blocks_ = std::max((n_ + block_ - 1) / block_, std::int64_t{1});
        if (backward) checkpoints_.resize(static_cast<std::size_t>(2 * n_blocks_));
    }

    double run() {
        forward();
        const std::int64_t last = n_ - (n_blocks_ - 1) * block_;
        Wide probability = n_ == 0 ? model_.nothing : Wide{};
        if (n_ > 0) {
            for (std::int64_t a = 0; a < n_states_; ++a) probability += f_[last][a] * model_.wide_end[a];
        }
        if (probability.v == 0.0) return log(probability);
        one_over_ = inverse(probability);
        if (!checkpoints_.empty()) backward();
        return log(probability);
    }

private:
    using Row = std::vector<Wide>;

    void step(std::int64_t within, std::int32_t symbol) {
        const Wide* emission = model_.wide_emission.data() + symbol * n_states_;
        Row& f = f_[within + 1];
        Row& u = u_[within + 1];
        f.resize(n_states_);
        u.assign(n_states_, {});
        for (std::int64_t a = 0; a < n_states_; ++a) f[a] = u_[within][a] * emission[a];
        for (const auto& edge : model_.edges) {
            if (f[edge.from].v != 0.0) u[edge.to] += f[edge.from] * edge.by;
        }
        close_forward(model_, u);
    }

    void forward_block(std::int64_t block) {
        const std::int64_t first = block * block_;
        for (std::int64_t i = 0; i < std::min(block_, n_ - first); ++i) step(i, codes_[first + i]);
    }

    void forward() {
        f_[0].assign(n_states_, {});
        u_[0] = model_.wide_start;
        for (std::int64_t block = 0; block < n_blocks_; ++block) {
            if (block > 0) f_[0] = f_[block_], u_[0] = u_[block_];
            if (!checkpoints_.empty()) checkpoints_[2 * block] = f_[0], checkpoints_[2 * block + 1] = u_[0];
            forward_block(block);
        }
    }

    void backward() {
        b_ = model_.wide_end;
        if (wanted_.totals != nullptr) {
            scaled_.assign(static_cast<std::size_t>(model_.padded), 0.0);
            const std::int64_t last = n_ - (n_blocks_ - 1) * block_;
            add_jump(f_[last], u_[last], model_.wide_rest, *wanted_.totals);
            for (std::int64_t a = 0; a < n_states_; ++a) {
                wanted_.totals->last_direct[a] += narrow(visits(f_[last], u_[last], a) * one_over_);
                if (n_ == 0) wanted_.totals->first_direct[a] += narrow(model_.wide_rest[a] * one_over_);
            }
        }
        for (std::int64_t block = n_blocks_ - 1; block >= 0; --block) {
            const std::int64_t first = block * block_;
            if (block < n_blocks_ - 1) {
                f_[0] = checkpoints_[2 * block], u_[0] = checkpoints_[2 * block + 1];
                forward_block(block);
            }
            for (std::int64_t i = std::min(block_, n_ - first) - 1; i >= 0; --i) back(first + i, i);
        }
    }

    // From after the symbol at `place` to before it.
    void back(std::int64_t place, std::int64_t within) {
        const std::int32_t symbol = codes_[place];
        const Wide* emission = model_.wide_emission.data() + symbol * n_states_;
        const Row& u = u_[within];
        if (wanted_.totals != nullptr) {
            double* sums = wanted_.totals->emission.data() + symbol * model_.padded;
            for (std::int64_t a = 0; a < n_states_; ++a) {
                if (u[a].v != 0.0 && b_[a].v != 0.0) sums[a] += narrow(u[a] * b_[a] * one_over_);
            }
        }
        y_.resize(n_states_);
        for (std::int64_t a = 0; a < n_states_; ++a) y_[a] = emission[a] * b_[a];
        if (wanted_.posterior != nullptr) {
            double* out = wanted_.posterior + place * n_states_;
            for (std::int64_t a = 0; a < n_states_; ++a) out[a] = narrow(u[a] * y_[a] * one_over_);
        }
        close_backward(model_, y_);
        b_.assign(n_states_, {});
        for (const auto& edge : model_.edges) {
            if (y_[edge.to].v != 0.0) b_[edge.from] += edge.by * y_[edge.to];
        }
        if (wanted_.totals == nullptr) return;
        add_jump(f_[within], u, y_, *wanted_.totals);
        if (place > 0) return;
        for (std::int64_t a = 0; a < n_states_; ++a) {
            wanted_.totals->first_direct[a] += narrow(y_[a] * one_over_);
        }
    }

    Wide visits(const Row& f, const Row& u, std::int64_t a) const {
        Wide sum = f[a];
        if (model_.has_empty) sum += u[a] * model_.wide_empty[a];
        return sum;
    }

    // Between two symbols: b_ is what follows a visit, w what follows entering a state.
    void add_jump(const Row& f, const Row& u, const Row& w, HmmTotals& totals) {
        if (model_.has_empty) {
            for (std::int64_t a = 0; a < n_states_; ++a) {
                if (u[a].v != 0.0 && b_[a].v != 0.0) totals.empty[a] += narrow(u[a] * b_[a] * one_over_);
            }
        }
        if (!totals.transitions) return;
        bool ready = false;
        bool safe = false;   // scaled_ times visits is a double without losses
        std::int64_t k = 0;  // of the visits that scaled_ is made for
        for (std::int64_t a = 0; a < n_states_; ++a) {
            const Wide from = visits(f, u, a);
            if (from.v == 0.0) continue;
            if (!ready || from.k != k) {
                k = from.k, ready = safe = true;
                for (std::int64_t b = 0; b < n_states_; ++b) {
                    const Wide share = w[b] * one_over_;
                    scaled_[b] = narrow({share.v, share.k + k});
                    safe = safe && scaled_[b] < most_scaled && (scaled_[b] > 1 / most_scaled || share.v == 0.0);
                }
            }
            if (!safe) {
                double* sums = totals.direct.data() + a * model_.padded;
                for (std::int64_t b = 0; b < n_states_; ++b) sums[b] += narrow(from * (w[b] * one_over_));
                continue;
            }
            float_kernels().add_scaled(totals.direct.data() + a * model_.padded, scaled_.data(), from.v,
                                       model_.padded);
        }
    }

    const HmmModel& model_;
    Codes codes_;
    const HmmWanted& wanted_;
    std::int64_t n_states_, n_, block_ = 1, n_blocks_ = 1;
    std::vector<Row> f_, u_, checkpoints_;
    Row b_, y_;
    std::vector<double> scaled_;
    Wide one_over_;
};

}  // namespace

double run_wide(const HmmModel& model, Codes codes, const HmmWanted& wanted) {
    return Run(model, codes, wanted).run();
}

}  // namespace fishernet
