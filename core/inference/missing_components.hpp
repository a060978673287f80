// What the rows of a table lack, cut into independent questions. Missing variables that share a factor, or are joined by
// others that do, make a *gap*; given what is known of its row, gaps are independent of one another. A gap and the states
// around it are a *question*: it is answered once, however many rows ask it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/columns.hpp"
#include "base/interrupt.hpp"
#include "inference/elimination.hpp"

namespace fishernet {

struct Gap {
    Scope members;  // the missing variables, ascending
    Scope border;   // the known variables of their factors, ascending
    std::vector<std::int32_t> factors;  // those that hold a member, ascending
};

class Gaps {
public:
    // `scopes` are the positions of each factor's variables; of a conditional the child's comes last. With `needed`, a
    // missing variable is left out where neither a known variable nor `target` (-1: none) depends on it: its conditional
    // sums to 1.
    Gaps(const Columns& table, std::vector<Scope> scopes, bool needed, std::int32_t target, StopCheck check);

    std::span<const Gap> gaps() const { return gaps_; }
    std::span<const Scope> scopes() const { return scopes_; }
    std::size_t n_questions() const { return gap_of_.size(); }
    std::int64_t n_rows() const { return n_rows_; }

    const Gap& gap_of(std::size_t question) const { return gaps_[static_cast<std::size_t>(gap_of_[question])]; }
    std::int32_t gap_number(std::size_t question) const { return gap_of_[question]; }
    // The states of the gap's border, in its order.
    std::span<const std::int32_t> border_of(std::size_t question) const {
        return {borders_.data() + first_border_[question], gap_of(question).border.size()};
    }
    // The questions of a row, the gap with the first variable first.
    std::span<const std::uint32_t> questions_of(std::int64_t row) const {
        return {questions_.data() + first_question_[row],
                static_cast<std::size_t>(first_question_[row + 1] - first_question_[row])};
    }

private:
    std::vector<Scope> scopes_;
    std::vector<Gap> gaps_;
    std::vector<std::int32_t> gap_of_;       // of every question
    std::vector<std::size_t> first_border_;  // of every question, in borders_
    std::vector<std::int32_t> borders_;
    std::vector<std::int64_t> first_question_;  // of every row, in questions_; one more
    std::vector<std::uint32_t> questions_;
    std::int64_t n_rows_;
};

}  // namespace fishernet
