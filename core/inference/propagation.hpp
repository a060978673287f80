// One run of the messages through a clique tree, in one kind of numbers. Only inference.cpp includes this.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "inference/block_products.hpp"
#include "base/buffer.hpp"
#include "inference/clique_draws.hpp"
#include "inference/inference.hpp"
#include "inference/schedule.hpp"

namespace fishernet {

template <class Domain>
class Propagation {
public:
    // Watched: linear numbers give up before a product could leave their range.
    Propagation(const Inference& plan, const Findings& findings, StopCheck check, bool parallel, bool watched)
        : plan_(plan), rooms_(plan.rooms()), check_(check), parallel_(parallel), watched_(watched),
          states_(findings.states) {
        for (std::size_t s = 0; s < findings.likelihoods.size(); ++s) take_likelihood(findings.likelihoods[s], s);
        for (const auto& piece : plan.pieces_) values_.push_back(values_of(piece));
        tables_.resize(rooms_.size());
        messages_.resize(rooms_.size());
        exponents_.assign(rooms_.size(), 0);
        lowest_.assign(rooms_.size(), 0);
        possible_.assign(rooms_.size(), 1);
    }

    // False: the numbers would leave their range.
    bool answer(Answer& answer) {
        if (!constants_in_range()) return false;
        answer.log_evidence = 0;
        for (const auto& piece : plan_.constants_) {
            const double value = *values_of(piece);
            answer.log_evidence += Domain::logarithmic ? value : std::log(value);
        }
        if (!collect()) return false;
        for (std::size_t c = 0; c < messages_.size(); ++c) {
            if (!possible_[c]) answer.log_evidence = no_chance;
            if (plan_.tree_.cliques[c].parent >= 0 || !possible_[c]) continue;
            answer.log_evidence += Domain::logarithmic ? messages_[c][0] : std::log(messages_[c][0]);
        }
        if (answer.log_evidence == no_chance) return true;
        std::int64_t exponents = likelihood_exponents_;
        for (const auto e : exponents_) exponents += e;
        answer.log_evidence += static_cast<double>(exponents) * std::log(2.0);
        answer.marginals.resize(plan_.targets_.size());
        if (plan_.calibrates()) distribute();
        for (std::size_t t = 0; t < plan_.targets_.size(); ++t) {
            if (plan_.targets_[t].empty()) answer.marginals[t] = {1.0};
        }
        visit(false, [&](std::size_t c, bool parallel) {
            for (const auto& [target, operand] : rooms_[c].targets) {
                answer.marginals[target] = normalized(marginal(c, operand, plan_.cells_of_target(target), parallel));
            }
        });
        return true;
    }

    // The states of all variables, the observed ones included; none when the findings are impossible.
    std::vector<std::int32_t> states() {
        for (const auto& piece : plan_.constants_) {
            if (*values_of(piece) == no_chance) return {};
        }
        collect();
        std::vector<std::int32_t> best(states_.begin(), states_.end());
        for (std::size_t c = 0; c < tables_.size(); ++c) {  // parents first, so the separator's states are known
            if (!possible_[c]) return {};
            const auto& variables = plan_.tree_.cliques[c].variables;
            const auto n_separator = static_cast<std::size_t>(plan_.tree_.cliques[c].n_separator);
            std::int64_t row = 0;
            for (std::size_t axis = 0; axis < n_separator; ++axis) {
                row = row * plan_.cardinalities_[variables[axis]] + best[plan_.variables_[variables[axis]]];
            }
            const std::int64_t rest = rooms_[c].shape.cells() / rooms_[c].separator_cells;
            const double* slice = tables_[c].get() + row * rest;
            std::int64_t at = std::max_element(slice, slice + rest) - slice;
            for (std::size_t axis = variables.size(); axis-- > n_separator;) {
                const auto r = plan_.cardinalities_[variables[axis]];
                best[plan_.variables_[variables[axis]]] = static_cast<std::int32_t>(at % r);
                at /= r;
            }
        }
        return best;
    }

    // Draws rows of all variables, the observed ones included, from the distribution given the findings. Row i is a
    // function of (key, i) alone. `possible` gets whether there are any; false: the numbers would leave their range.
    bool draw(std::int64_t n, std::uint64_t key, std::span<const Output> columns, bool& possible) {
        if (!constants_in_range() || !collect()) return false;
        possible = std::all_of(possible_.begin(), possible_.end(), [](char p) { return p != 0; });
        for (const auto& piece : plan_.constants_) {
            possible &= *values_of(piece) > (Domain::logarithmic ? no_chance : 0.0);
        }
        if (!possible) return true;
        std::vector<CliqueDraw> cliques;
        for (std::size_t c = 0; c < tables_.size(); ++c) {
            const auto slices = rooms_[c].separator_cells;
            cliques.push_back({&plan_.tree_.cliques[c], tables_[c].get(), slices, rooms_[c].shape.cells() / slices});
            accumulate_slices(cliques.back(), Domain::logarithmic);
        }
        draw_rows(cliques, plan_.variables_, plan_.cardinalities_, states_, n, key, columns, check_);
        return true;
    }

private:
    using Room = Inference::Room;
    using Piece = Inference::Piece;
    using Table = std::vector<double>;

    static constexpr double least_exponent = -960;  // of the products of linear numbers, base 2

    // ------------------------------------------------------------------------------------------- what goes in

    // Logarithms, or numbers of which the largest is from 1/2 to 1.
    void take_likelihood(const double* values, std::size_t which) {
        const std::span<const double> given(values, static_cast<std::size_t>(plan_.soft_sizes_[which]));
        Table taken(given.begin(), given.end());
        if constexpr (Domain::logarithmic) {
            for (auto& value : taken) value = std::log(value);
        } else {
            int exponent = 0;
            std::frexp(*std::max_element(given.begin(), given.end()), &exponent);
            for (auto& value : taken) value = std::ldexp(value, -exponent);
            likelihood_exponents_ += exponent;
            lowest_likelihoods_.push_back(lowest(given) - exponent);
        }
        likelihoods_.push_back(std::move(taken));
    }

    const double* values_of(const Piece& piece) const {
        const double* values = piece.factor < 0 ? likelihoods_[static_cast<std::size_t>(piece.soft)].data()
                               : Domain::logarithmic
                                   ? plan_.model_.logs(static_cast<std::size_t>(piece.factor))
                                   : plan_.model_.factors[static_cast<std::size_t>(piece.factor)].values;
        for (const auto& [variable, stride] : piece.observed) values += stride * states_[static_cast<std::size_t>(variable)];
        return values;
    }

    // Base 2 logarithm of the smallest positive value of a piece in units of its largest, or less.
    double lowest_of(const Piece& piece) const {
        if (piece.factor < 0) return lowest_likelihoods_[static_cast<std::size_t>(piece.soft)];
        const auto& factor = plan_.model_.factors[static_cast<std::size_t>(piece.factor)];
        return std::min(0.0, factor.lowest) - std::max(0.0, factor.highest);
    }

    // Whether what stands outside the cliques kept its digits: a likelihood of an observed variable, in units of its
    // largest number, may be below all doubles.
    bool constants_in_range() const {
        return !watched_ || std::all_of(plan_.constants_.begin(), plan_.constants_.end(), [this](const Piece& piece) {
            return piece.factor >= 0 || lowest_of(piece) >= least_exponent;
        });
    }

    static double lowest(std::span<const double> values) {
        double low = std::numeric_limits<double>::infinity();
        for (const auto v : values) {
            if (v > 0) low = std::min(low, v);
        }
        return std::isinf(low) ? 0 : std::log2(low);
    }

    template <class Work>
    void visit(bool to_roots, Work work) {
        const auto cells = [this](std::size_t c) { return rooms_[c].shape.cells(); };
        plan_.levels_.visit(to_roots, parallel_, check_, cells, work);
    }

    // -------------------------------------------------------------------------------------------- towards the roots

    bool collect() {
        std::atomic<bool> in_range{true};
        visit(true, [&](std::size_t c, bool parallel) {
            if (in_range && !collect_clique(c, parallel)) in_range = false;
        });
        return in_range;
    }

    bool collect_clique(std::size_t c, bool parallel) {
        const auto& room = rooms_[c];
        const auto& clique = plan_.tree_.cliques[c];
        std::vector<const double*> inputs;
        double low = 0;
        for (const auto p : room.pieces) {
            inputs.push_back(values_[static_cast<std::size_t>(p)]);
            if (watched_) low += lowest_of(plan_.pieces_[static_cast<std::size_t>(p)]);
        }
        for (const auto child : clique.children) {
            if (!possible_[static_cast<std::size_t>(child)]) {
                possible_[c] = 0;
                return true;
            }
            inputs.push_back(messages_[static_cast<std::size_t>(child)].data());
            low += lowest_[static_cast<std::size_t>(child)];
        }
        if (watched_ && low < least_exponent) return false;
        const bool keep = Domain::keeps_tables || plan_.whole_ || plan_.calibrates() || !room.targets.empty();
        if (keep) tables_[c] = make_buffer(static_cast<std::size_t>(room.shape.cells()));
        auto& message = messages_[c];
        if constexpr (Domain::logarithmic) {
            fill_table(c, inputs, parallel);
            message = reduce(c, room.upward.front(), room.separator_cells);
            possible_[c] = *std::max_element(message.begin(), message.end()) > no_chance;
        } else {
            message = multiply_and_sum(c, inputs, keep, parallel);
            scale_message(c);
        }
        return true;
    }

    static std::vector<const Operand*> pointers(const Room& room) {
        std::vector<const Operand*> operands;
        for (const auto& input : room.inputs) operands.push_back(&input);
        operands.push_back(&room.upward.front());
        return operands;
    }

    void fill_table(std::size_t c, const std::vector<const double*>& inputs, bool parallel) {
        const auto& room = rooms_[c];
        const auto operands = pointers(room);
        const auto chunks = count_chunks(room.shape, 0);
        for_chunks(chunks, room.shape.blocks, parallel, check_, [&](std::int64_t, std::int64_t first, std::int64_t last) {
            Odometer at(room.shape, operands, first);
            for (auto b = first; b < last; ++b, at.next()) {
                fill_block<Domain>(tables_[c].get() + b * room.shape.block, room.shape.block, room.inputs, inputs, at);
            }
        });
    }

    Table multiply_and_sum(std::size_t c, const std::vector<const double*>& inputs, bool keep, bool parallel) {
        const auto& room = rooms_[c];
        const auto operands = pointers(room);
        const auto n = room.shape.block;
        const auto work = [&](double* sums, std::int64_t first, std::int64_t last) {
            thread_local Table scratch;
            if (!keep) scratch.resize(static_cast<std::size_t>(n));
            Odometer at(room.shape, operands, first);
            for (auto b = first; b < last; ++b, at.next()) {
                double* block = keep ? tables_[c].get() + b * n : scratch.data();
                fill_block<Domain>(block, n, room.inputs, inputs, at);
                sum_block(block, n, room.upward.front(), sums + at.position(inputs.size()));
            }
        };
        // The separator varies slowest: parts of whole separator cells write to different sums.
        const std::int64_t rest = room.shape.cells() / room.separator_cells;
        const std::int64_t whole = std::max<std::int64_t>(1, rest / n);  // blocks that share a separator cell
        const std::int64_t units = room.shape.blocks / whole;
        if (units < 8) return sum_chunks(room.shape, room.separator_cells, parallel, check_, work);
        Table sums(static_cast<std::size_t>(room.separator_cells), 0.0);
        for_chunks(std::min(count_chunks(room.shape, 0), units), units, parallel, check_,
                   [&](std::int64_t, std::int64_t first, std::int64_t last) {
                       work(sums.data(), first * whole, last * whole);
                   });
        return sums;
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
        if (watched_) lowest_[c] = lowest(message);
    }

    // ------------------------------------------------------------------------------------------- from the roots

    void distribute() {
        visit(false, [&](std::size_t c, bool parallel) {
            const auto& room = rooms_[c];
            const auto parent = plan_.tree_.cliques[c].parent;
            if (parent < 0 || !room.wanted) return;
            const auto& siblings = plan_.tree_.cliques[static_cast<std::size_t>(parent)].children;
            const auto& parent_room = rooms_[static_cast<std::size_t>(parent)];
            const auto mine = static_cast<std::size_t>(
                std::find(siblings.begin(), siblings.end(), static_cast<std::int32_t>(c)) - siblings.begin());
            Table fresh = marginal(static_cast<std::size_t>(parent), parent_room.inputs[parent_room.pieces.size() + mine],
                                   room.separator_cells, parallel);
            const auto& old = messages_[c];
            for (std::size_t i = 0; i < fresh.size(); ++i) {
                if constexpr (Domain::logarithmic) {
                    fresh[i] = old[i] == no_chance ? no_chance : fresh[i] - old[i];
                } else {
                    // the quotient is what the rest of the tree says, and the table still has the scale of the message
                    fresh[i] = old[i] > 0 ? std::ldexp(fresh[i] / old[i], -static_cast<int>(exponents_[c])) : 0;
                }
            }
            absorb(c, fresh, parallel);
        });
    }

    // Multiplies the table of a clique by what its parent says of their separator.
    void absorb(std::size_t c, const Table& message, bool parallel) {
        const auto& room = rooms_[c];
        const auto& operand = room.upward.front();
        const Operand* operands[] = {&operand};
        const auto n = room.shape.block;
        for_chunks(count_chunks(room.shape, 0), room.shape.blocks, parallel, check_,
                   [&](std::int64_t, std::int64_t first, std::int64_t last) {
                       Odometer at(room.shape, operands, first);
                       for (auto b = first; b < last; ++b, at.next()) {
                           double* block = tables_[c].get() + b * n;
                           const double* by = message.data() + at.position(0);
                           if constexpr (Domain::logarithmic) {
                               for (std::int64_t i = 0; i < n; ++i) block[i] += by[place(operand, i)];
                           } else {
                               multiply_block(block, n, operand, by);
                           }
                       }
                   });
    }

    // The sums (or what stands for them) of a clique's table over all axes that the operand does not have.
    Table marginal(std::size_t c, const Operand& operand, std::int64_t out_cells, bool parallel) {
        if constexpr (Domain::logarithmic) {
            return reduce(c, operand, out_cells);
        } else {
            const auto& shape = rooms_[c].shape;
            const Operand* operands[] = {&operand};
            return sum_chunks(shape, out_cells, parallel, check_, [&](double* sums, std::int64_t first, std::int64_t last) {
                Odometer at(shape, operands, first);
                for (auto b = first; b < last; ++b, at.next()) {
                    sum_block(tables_[c].get() + b * shape.block, shape.block, operand, sums + at.position(0));
                }
            });
        }
    }

    // The same in logarithms.
    Table reduce(std::size_t c, const Operand& operand, std::int64_t out_cells) {
        Table tops(static_cast<std::size_t>(out_cells), no_chance);
        for_cells(c, operand, [&](double value, std::size_t out) { tops[out] = std::max(tops[out], value); });
        if constexpr (Domain::logarithmic && Domain::sums) {
            Table sums(tops.size(), 0.0);
            for_cells(c, operand, [&](double value, std::size_t out) {
                if (value > no_chance) sums[out] += std::exp(value - tops[out]);
            });
            for (std::size_t i = 0; i < tops.size(); ++i) tops[i] += std::log(sums[i]);
        }
        return tops;
    }

    template <class Visit>
    void for_cells(std::size_t c, const Operand& operand, Visit visit) {
        const auto& shape = rooms_[c].shape;
        const Operand* operands[] = {&operand};
        Odometer at(shape, operands, 0);
        for (std::int64_t b = 0; b < shape.blocks; ++b, at.next()) {
            const double* block = tables_[c].get() + b * shape.block;
            for (std::int64_t i = 0; i < shape.block; ++i) {
                visit(block[i], static_cast<std::size_t>(at.position(0) + place(operand, i)));
            }
        }
    }

    static Table normalized(Table values) {
        if constexpr (Domain::logarithmic) {
            const double top = *std::max_element(values.begin(), values.end());
            for (auto& value : values) value = std::exp(value - top);
        }
        constexpr std::size_t block = 1024;  // sums of sums: a table may have millions of cells
        Table sums;
        for (std::size_t first = 0; first < values.size(); first += block) {
            const auto n = std::min(block, values.size() - first);
            sums.push_back(float_kernels().sum(values.data() + first, static_cast<std::int64_t>(n)));
        }
        const double total = float_kernels().sum(sums.data(), static_cast<std::int64_t>(sums.size()));
        for (auto& value : values) value /= total;
        return values;
    }

    const Inference& plan_;
    const std::vector<Room>& rooms_;
    StopCheck check_;
    bool parallel_;
    bool watched_;
    std::span<const std::int32_t> states_;
    std::vector<Table> likelihoods_;
    std::vector<double> lowest_likelihoods_;  // log2 of the smallest positive number in units of the largest
    std::int64_t likelihood_exponents_ = 0;   // what was taken out of them, base 2
    std::vector<const double*> values_;       // of the pieces
    std::vector<Buffer> tables_;  // of the cliques; every cell is written before it is read
    std::vector<Table> messages_;             // to the parents
    std::vector<std::int64_t> exponents_;     // what was taken out of the messages, base 2
    std::vector<double> lowest_;              // of the messages: log2 of the smallest positive number
    std::vector<char> possible_;
};

}  // namespace fishernet
