// The missing cells of a table's rows, cut into independent questions. Missing variables that share a factor, or are joined
// by others that do, are a *component*. Given the known cells of a row, its components are independent. A component with the
// known states around it is a *question*: it is answered once, however many rows ask it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/columns.hpp"
#include "base/interrupt.hpp"
#include "inference/elimination.hpp"

namespace fishernet {

struct MissingComponent {
    Scope members;  // the missing variables, ascending
    Scope border;   // the known variables of their factors, ascending
    std::vector<std::int32_t> factors;  // those that hold a member, ascending
};

class MissingComponents {
public:
    // `scopes` are the positions of each factor's variables; of a conditional the child's comes last. With `needed`, a
    // missing variable is left out where neither a known variable nor `target` (-1: none) depends on it: its conditional
    // sums to 1.
    MissingComponents(const Columns& table, std::vector<Scope> scopes, bool needed, std::int32_t target, StopCheck check);

    std::span<const MissingComponent> components() const { return components_; }
    std::span<const Scope> scopes() const { return scopes_; }
    std::size_t n_questions() const { return component_of_.size(); }
    std::int64_t n_rows() const { return n_rows_; }

    const MissingComponent& component_of(std::size_t question) const {
        return components_[static_cast<std::size_t>(component_of_[question])];
    }
    std::int32_t component_number(std::size_t question) const { return component_of_[question]; }
    // The states of the component's border, in its order.
    std::span<const std::int32_t> border_of(std::size_t question) const {
        return {borders_.data() + first_border_[question], component_of(question).border.size()};
    }
    // The questions of a row, the component with the first variable first.
    std::span<const std::uint32_t> questions_of(std::int64_t row) const {
        return {questions_.data() + first_question_[row],
                static_cast<std::size_t>(first_question_[row + 1] - first_question_[row])};
    }

private:
    std::vector<Scope> scopes_;
    std::vector<MissingComponent> components_;
    std::vector<std::int32_t> component_of_;  // of every question
    std::vector<std::size_t> first_border_;  // of every question, in borders_
    std::vector<std::int32_t> borders_;
    std::vector<std::int64_t> first_question_;  // of every row, in questions_; one more
    std::vector<std::uint32_t> questions_;
    std::int64_t n_rows_;
};

}  // namespace fishernet
