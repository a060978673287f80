// The messages of one run through a clique tree, in one kind of numbers: towards the roots, and back again. All that a run
// writes to is here and belongs to one call. Only answers.cpp includes this.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "inference/clique_sums.hpp"
#include "inference/inference.hpp"
#include "inference/run_inputs.hpp"
#include "inference/schedule.hpp"

namespace fishernet {

template <class Domain>
class Propagation {
public:
    // Watched: linear numbers are kept at 1 and below, and give up where what products below their range lose could matter.
    Propagation(const Inference& plan, const Findings& findings, StopCheck check, bool parallel, bool watched)
        : plan_(plan), rooms_(plan.rooms()), inputs_(plan.model_, plan.soft_sizes_, findings), check_(check),
          parallel_(parallel), watched_(watched), tables_(rooms_.size()), messages_(rooms_.size()),
          exponents_(rooms_.size(), 0), lowest_(rooms_.size(), 0), lost_(rooms_.size(), 0), possible_(rooms_.size(), 1) {
        for (const auto& piece : plan.pieces_) {
            values_.push_back(scales() ? inputs_.scaled_values_of(piece) : inputs_.values_of(piece));
        }
    }

    // Towards the roots. False: the numbers left their range.
    bool collect() {
        if (!constants_in_range()) return false;
        std::atomic<bool> in_range{true};
        visit(true, [&](std::size_t c, bool parallel) {
            if (in_range && !collect_clique(c, parallel)) in_range = false;
        });
        return in_range;
    }

    // Back again: every table becomes what is known and what its clique says together, but for its scale.
    void distribute() {
        visit(false, [&](std::size_t c, bool parallel) {
            if (parent(c) < 0 || !rooms_[c].wanted) return;
            const auto message = from_parent(c, parallel);
            multiply_table<Domain>(rooms_[c].shape, table(c), rooms_[c].upward.front(), message.data(), parallel, check_);
        });
    }

    // work(clique, may it run in parallel), level by level.
    template <class Work>
    void visit(bool to_roots, Work work) const {
        const auto cells = [this](std::size_t c) { return rooms_[c].shape.cells(); };
        plan_.levels_.visit(to_roots, parallel_, check_, cells, work);
    }

    const RunInputs<Domain>& inputs() const { return inputs_; }
    double* table(std::size_t c) { return tables_[c].get(); }
    bool possible(std::size_t c) const { return possible_[c] != 0; }

    std::vector<double> sums(std::size_t c, const Operand& operand, std::int64_t out_cells, bool parallel) {
        return table_sums<Domain>(rooms_[c].shape, table(c), operand, out_cells, parallel, check_);
    }

    // The natural logarithm of what is known, after the first pass. -infinity: it is impossible.
    double log_evidence() const {
        double sum = 0;
        for (const auto& piece : plan_.constants_) sum += log_of(*inputs_.values_of(piece));
        for (std::size_t c = 0; c < messages_.size(); ++c) {
            if (!possible(c)) sum = no_chance;
            if (parent(c) < 0 && possible(c)) sum += log_of(messages_[c][0]);
        }
        if (sum == no_chance) return sum;
        std::int64_t exponents = inputs_.exponents();
        for (const auto e : exponents_) exponents += e;
        return sum + static_cast<double>(exponents) * std::log(2.0);
    }

    // Whether what is known has a positive probability.
    bool all_possible() const {
        const bool tree = std::all_of(possible_.begin(), possible_.end(), [](char p) { return p != 0; });
        return tree && std::all_of(plan_.constants_.begin(), plan_.constants_.end(), [&](const Piece& piece) {
                   return *inputs_.values_of(piece) > (Domain::logarithmic ? no_chance : 0.0);
               });
    }

private:
    using Table = std::vector<double>;

    static double log_of(double value) { return Domain::logarithmic ? value : std::log(value); }
    bool scales() const { return watched_ && !Domain::logarithmic; }
    std::int32_t parent(std::size_t c) const { return plan_.tree_.cliques[c].parent; }

    bool collect_clique(std::size_t c, bool parallel) {
        const auto& room = rooms_[c];
        std::vector<const double*> inputs;
        double low = 0, lost = 0;
        for (const auto p : room.pieces) {
            if (watched_) low += inputs_.lowest_of(plan_.pieces_[static_cast<std::size_t>(p)]);
        }
        std::vector<Buffer> products;
        for (const auto& bundle : room.bundles) inputs.push_back(product_of(bundle, products));
        for (const auto child : plan_.tree_.cliques[c].children) {
            if (!possible(static_cast<std::size_t>(child))) {
                possible_[c] = 0;
                return true;
            }
            inputs.push_back(messages_[static_cast<std::size_t>(child)].data());
            low += lowest_[static_cast<std::size_t>(child)];
            lost += lost_[static_cast<std::size_t>(child)];
        }
        if (scales() && low < least_power) {
            const auto factors = static_cast<double>(2 * (inputs.size() + room.pieces.size()));
            lost += factors * std::numeric_limits<double>::denorm_min();
        }
        send(c, inputs, parallel);
        return !scales() || lost == 0 || keeps_digits(c, lost);
    }

    // What a bundle's pieces say together: where its one piece lies, or a product that is held with the others.
    const double* product_of(const Bundle& bundle, std::vector<Buffer>& products) const {
        std::vector<const double*> inputs;
        for (const auto p : bundle.members) inputs.push_back(values_[static_cast<std::size_t>(p)]);
        if (inputs.size() == 1) return inputs.front();
        products.push_back(make_buffer(static_cast<std::size_t>(bundle.shape.cells())));
        const TableProduct product{bundle.shape, bundle.operands, inputs, bundle.operands.front(), 1};
        fill_table<Domain>(product, products.back().get(), false, check_);
        return products.back().get();
    }

    // Whether a message has its digits where each product lost at most so much, in units of numbers up to 1.
    bool keeps_digits(std::size_t c, double lost) {
        const auto summed = static_cast<double>(rooms_[c].shape.cells() / rooms_[c].separator_cells);
        lost_[c] = std::ldexp(lost * summed, -static_cast<int>(exponents_[c]));
        return possible(c) && lost_[c] < most_lost;
    }

    // Makes the table of a clique, where it is needed later, and its message.
    void send(std::size_t c, std::span<const double* const> inputs, bool parallel) {
        const auto& room = rooms_[c];
        const auto& out = room.upward.front();
        const TableProduct product{room.shape, room.inputs, inputs, out, room.separator_cells};
        const bool keep = Domain::keeps_tables || plan_.whole_ || plan_.calibrates() || !room.targets.empty();
        if (keep) tables_[c] = make_buffer(static_cast<std::size_t>(room.shape.cells()));
        auto& message = messages_[c];
        if constexpr (Domain::logarithmic) {
            fill_table<Domain>(product, table(c), parallel, check_);
            message = sums(c, out, room.separator_cells, parallel);
            possible_[c] = *std::max_element(message.begin(), message.end()) > no_chance;
        } else {
            message = multiply_and_sum(product, table(c), parallel, check_);
            scale_message(c);
        }
    }

    // Brings the largest number of a message to between 1/2 and 1, by a power of two: that is exact.
    void scale_message(std::size_t c) {
        auto& message = messages_[c];
        const double top = *std::max_element(message.begin(), message.end());
        if (!(top > 0)) {
            possible_[c] = 0;
            return;
        }
        int exponent = 0;
        std::frexp(top, &exponent);
        if (exponent != 0) {
            for (auto& value : message) value = std::ldexp(value, -exponent);
        }
        exponents_[c] = exponent;
        if (watched_) lowest_[c] = lowest_power(message);
    }

    // What the rest of the tree says of a clique's separator to its parent.
    Table from_parent(std::size_t c, bool parallel) {
        const auto above = static_cast<std::size_t>(parent(c));
        const auto& siblings = plan_.tree_.cliques[above].children;
        const auto mine = static_cast<std::size_t>(
            std::find(siblings.begin(), siblings.end(), static_cast<std::int32_t>(c)) - siblings.begin());
        const auto& operand = rooms_[above].inputs[rooms_[above].bundles.size() + mine];
        Table fresh = sums(above, operand, rooms_[c].separator_cells, parallel);
        const auto& old = messages_[c];
        for (std::size_t i = 0; i < fresh.size(); ++i) {
            if constexpr (Domain::logarithmic) {
                fresh[i] = old[i] == no_chance ? no_chance : fresh[i] - old[i];
            } else {
                // the quotient is what the rest of the tree says, and the table still has the scale of the message
                fresh[i] = old[i] > 0 ? std::ldexp(fresh[i] / old[i], -static_cast<int>(exponents_[c])) : 0;
            }
        }
        return fresh;
    }

    static constexpr double least_power = -960;  // of products that lose nothing, base 2
    // Of a message whose largest number is about 1. What products lose adds up towards the roots: it is at most the
    // probability of the states that they are of, in units of that of what is known.
    static constexpr double most_lost = 0x1p-160;

    // Whether what stands outside the cliques kept its digits: a likelihood of an observed variable, in units of its
    // largest number, may be below all doubles.
    bool constants_in_range() const {
        return !watched_ || std::all_of(plan_.constants_.begin(), plan_.constants_.end(), [this](const Piece& piece) {
            return piece.factor >= 0 || inputs_.lowest_of(piece) >= least_power;
        });
    }

    const Inference& plan_;
    const std::vector<Room>& rooms_;
    RunInputs<Domain> inputs_;
    StopCheck check_;
    bool parallel_;
    bool watched_;
    std::vector<const double*> values_;    // of the pieces
    std::vector<Buffer> tables_;           // of the cliques; every cell is written before it is read
    std::vector<Table> messages_;          // to the parents
    std::vector<std::int64_t> exponents_;  // what was taken out of the messages, base 2
    std::vector<double> lowest_;           // of the messages: log2 of the smallest positive number
    std::vector<double> lost_;             // of the messages: by how much their numbers may be too small
    std::vector<char> possible_;
};

}  // namespace fishernet
