// Scores of labels and numbers, with what they are made of.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/turns.hpp"
#include "counts/set_terms.hpp"
#include "gaussian/mixed_scores.hpp"
#include "gaussian/moment_store.hpp"
#include "search/scorer.hpp"

namespace fishernet::bind {

struct BoundMixedScores {
    OneAtATime<MixedScores> scores;
    OneAtATime<MomentStore>& store;
    OneAtATime<SetTerms>* labels;        // of the labels alone; none where there are none, or numbers alone are asked for
    std::vector<std::int32_t> label_at;  // the place of each column among the labels
    bool has_labels;
};

// Scores families while it has the right to use all of it.
class MixedScorer : public Scorer {
public:
    MixedScorer(BoundMixedScores& of, StopCheck check)
        : scores_(of.scores), store_(of.store), label_at_(of.label_at), check_(check) {
        if (of.labels != nullptr) labels_.emplace(*of.labels);
        else if (of.has_labels) refuse("the labels' scores are lacking");
    }

    std::size_t n_variables() const { return scores_->columns().size(); }

    void score(const Families& families, std::span<double> scores) override {
        const auto& columns = scores_->columns();
        for (std::size_t f = 0; f < families.size(); ++f) {
            if (columns.is_number(families.children[f])) continue;
            for (const auto p : families.parents_of(f)) {
                if (columns.is_number(p)) refuse("a label has a number among its parents");
            }
        }
        scores_->families(*store_, labels_ ? &**labels_ : nullptr, label_at_, families, scores, check_);
    }

private:
    Turn<MixedScores> scores_;
    Turn<MomentStore> store_;
    std::optional<Turn<SetTerms>> labels_;
    const std::vector<std::int32_t>& label_at_;
    StopCheck check_;
};

}  // namespace fishernet::bind
