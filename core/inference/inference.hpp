// Exact inference on a clique tree: factors are multiplied in the cliques, messages are passed towards the roots and,
// where every clique's marginal is wanted, back again. What is observed takes no axis; what nothing depends on is left
// out. The plan knows only which variables are observed, so that one plan serves many rows.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/interrupt.hpp"
#include "inference/clique_tree.hpp"
#include "inference/factors.hpp"
#include "inference/schedule.hpp"
#include "inference/table_walk.hpp"
#include "networks/sampling.hpp"

namespace fishernet {

struct Findings {
    std::span<const std::int32_t> states;         // of all variables; those of unobserved ones are not read
    std::span<const double* const> likelihoods;   // one array of r numbers for each softly observed variable
};

struct Answer {
    std::vector<std::vector<double>> marginals;  // one a target, in the target's own order, summing to 1
    double log_evidence = 0;                     // natural; -inf: the findings are impossible and nothing else is set
};

// A factor without its observed axes.
struct Piece {
    std::int32_t factor = -1;  // -1: a likelihood
    std::int32_t soft = -1;    // which one
    Scope scope;               // local numbers
    std::vector<std::int64_t> strides;
    std::vector<std::pair<std::int32_t, std::int64_t>> observed;  // variable and stride
};

// Small tables within a clique that are multiplied together before anything is multiplied into its own, which is far larger;
// or are summed from what they have together.
struct Bundle {
    Shape shape;
    std::vector<std::int32_t> members;  // pieces, or targets
    std::vector<Operand> operands;      // of the members, within the bundle; none of one that is alone
    Operand whole;                      // of the bundle, within the clique; of pieces it is among the room's inputs
};

// How the table of a clique is made and read.
struct Room {
    Shape shape = Shape({});
    std::vector<std::int32_t> pieces;
    std::vector<Bundle> bundles;   // of all pieces
    std::vector<Operand> inputs;   // of the bundles, then of the children's messages
    std::vector<Bundle> targets;
    std::vector<Operand> upward;   // one: of the message to the parent; of a root, the sum of all
    std::int64_t separator_cells = 1;
    bool wanted = false;           // a target lies here or below
};

// Rows to be drawn, one column a variable.
struct DrawnRows {
    std::int64_t n;
    std::uint64_t key;
    std::span<const Output> columns;
};

template <class Domain>
class Propagation;

class Inference {
public:
    // Targets hold no observed variable. With one target a single pass is enough; `whole` keeps variables on which
    // neither targets nor findings depend. The plan is given up at a table of more than `most` cells. A plan that is sure to be
    // run is worth a look at more orders (`chance`); many are only priced.
    Inference(const FactorModel& model, const Scope& observed, const Scope& soft, std::vector<Scope> targets,
              bool whole, double most, bool chance = false);

    bool complete() const { return complete_; }  // or given up: it can not be run, and cells_held() tells why

    const CliqueTree& tree() const { return tree_; }
    const Scope& variables() const { return variables_; }  // what the tree's local numbers mean

    std::size_t n_targets() const { return targets_.size(); }
    std::int64_t cells_of_target(std::size_t target) const;
    bool is_whole() const { return whole_; }

    // The most cells that a run holds at once.
    double cells_held() const { return !complete_ || !(calibrates() || whole_) ? tree_.largest : tree_.cells; }
    // What a run costs, in cells to be multiplied and summed.
    double cost() const { return (calibrates() ? 3 : 1) * tree_.cells + 64.0 * tree_.cliques.size(); }

    // What asks a plan may be done by several threads at once: the tables belong to the call.
    Answer run(const Findings& findings, StopCheck check, bool parallel = true) const;
    // The most probable states of all variables; empty when the findings are impossible. Needs `whole`.
    std::vector<std::int32_t> maximize(const Findings& findings, StopCheck check) const;

    // Rows of all variables, drawn given the findings; false when those are impossible. Needs `whole`.
    bool sample(const Findings& findings, const DrawnRows& rows, StopCheck check) const;

private:
    template <class Domain>
    friend class Propagation;

    // What every run reads and the first one makes: many plans are only priced.
    struct Lazy {
        std::once_flag made;
        std::vector<Room> rooms;  // one a clique
    };

    const std::vector<Room>& rooms() const;
    std::vector<Room> make_rooms() const;
    template <class Part>
    std::vector<Bundle> bundled(const Clique& clique, const Shape& shape, const Scope& members, Part part) const;
    template <class Domain>
    bool answer(Propagation<Domain> messages, Answer& answer, StopCheck check) const;
    template <class Domain>
    bool draw(Propagation<Domain> messages, const DrawnRows& rows, StopCheck check, bool& possible) const;
    void choose_states(std::size_t c, const double* table, std::vector<std::int32_t>& best) const;
    bool calibrates() const { return targets_.size() > 1; }
    bool safe_in_linear_numbers() const;

    const FactorModel& model_;
    Scope variables_;                       // the free variables
    std::vector<std::int64_t> cardinalities_;
    std::vector<Piece> pieces_;
    std::vector<Piece> constants_;          // with no free variable
    std::vector<Scope> targets_;            // local numbers
    std::vector<std::int64_t> soft_sizes_;  // cardinalities of the softly observed variables
    bool has_findings_;
    bool whole_;
    bool complete_ = true;
    CliqueTree tree_;
    Levels levels_;
    std::unique_ptr<Lazy> lazy_ = std::make_unique<Lazy>();
};

}  // namespace fishernet
