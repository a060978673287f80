// One run of the messages through a clique tree, in one of three kinds of numbers: products and sums as they are, their
// logarithms, or logarithms with the maximum in place of the sum. Only inference.cpp includes this.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>

#include "buffer.hpp"
#include "float_kernels.hpp"
#include "inference.hpp"
#include "pool.hpp"

namespace fishernet {

inline constexpr double no_chance = -std::numeric_limits<double>::infinity();  // the logarithm of 0

struct Linear {
    static constexpr bool logarithmic = false;
    static constexpr bool keeps_tables = false;  // a message can be summed while its table is being made
};

struct Logarithmic {
    static constexpr bool logarithmic = true;
    static constexpr bool keeps_tables = true;
    static constexpr bool sums = true;
};

struct Maximal {
    static constexpr bool logarithmic = true;
    static constexpr bool keeps_tables = true;
    static constexpr bool sums = false;
};

template <class Domain>
class Propagation {
public:
    // Watched: linear numbers give up before a product could leave their range.
    Propagation(const Inference& plan, const Findings& findings, StopCheck check, bool parallel, bool watched)
        : plan_(plan), check_(check), patience_(parallel ? check : nullptr), parallel_(parallel), watched_(watched),
          states_(findings.states) {
        for (std::size_t s = 0; s < findings.likelihoods.size(); ++s) take_likelihood(findings.likelihoods[s], s);
        for (const auto& piece : plan.pieces_) values_.push_back(values_of(piece));
        tables_.resize(plan.rooms_.size());
        messages_.resize(plan.rooms_.size());
        exponents_.assign(plan.rooms_.size(), 0);
        lowest_.assign(plan.rooms_.size(), 0);
        possible_.assign(plan.rooms_.size(), 1);
    }

    // False: the numbers would leave their range.
    bool answer(Answer& answer) {
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
        each_level(false, [&](std::size_t c, bool parallel) {
            for (const auto& [target, operand] : plan_.rooms_[c].targets) {
                answer.marginals[target] = normalized(marginal(c, operand, plan_.target_cells_[target], parallel));
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
            const std::int64_t rest = plan_.rooms_[c].shape.cells() / plan_.rooms_[c].separator_cells;
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

private:
    using Room = Inference::Room;
    using Piece = Inference::Piece;
    using Table = std::vector<double>;

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

    static double lowest(std::span<const double> values) {
        double low = std::numeric_limits<double>::infinity();
        for (const auto v : values) {
            if (v > 0) low = std::min(low, v);
        }
        return std::isinf(low) ? 0 : std::log2(low);
    }

    // ------------------------------------------------------------------------------------------------ schedule

    static constexpr std::int64_t large_table = std::int64_t{1} << 17;  // worth the work of several threads

    // Calls work(clique, may it run in parallel) for all cliques, level by level: from the roots, or towards them.
    void each_level(bool to_roots, const std::function<void(std::size_t, bool)>& work) {
        const auto& cliques = plan_.tree_.cliques;
        levels_.resize(cliques.empty() ? 0 : static_cast<std::size_t>(deepest()) + 1);
        if (levels_.empty()) return;
        if (levels_.front().empty()) {
            for (std::size_t c = 0; c < cliques.size(); ++c) levels_[static_cast<std::size_t>(cliques[c].depth)].push_back(c);
        }
        for (std::size_t l = 0; l < levels_.size(); ++l) {
            const auto& level = levels_[to_roots ? levels_.size() - 1 - l : l];
            std::vector<std::size_t> small;
            std::int64_t cells = 0;
            for (const auto c : level) {
                const auto size = plan_.rooms_[c].shape.cells();
                if (size >= large_table) {
                    work(c, parallel_);
                    patience_.ask();
                } else {
                    small.push_back(c);
                    cells += size;
                }
            }
            if (parallel_ && small.size() > 1 && cells > large_table / 4) {
                run_tasks(static_cast<std::int64_t>(small.size()),
                          [&](std::int64_t i) { work(small[static_cast<std::size_t>(i)], false); }, check_);
            } else {
                for (const auto c : small) work(c, false);
                patience_.ask();
            }
        }
    }

    std::int32_t deepest() const {
        std::int32_t depth = 0;
        for (const auto& clique : plan_.tree_.cliques) depth = std::max(depth, clique.depth);
        return depth;
    }

    // How many parts a table is cut into, each with its own sums of `out_cells` (0: they need none); a matter of sizes
    // alone, so that the sums do not depend on the threads.
    static std::int64_t count_chunks(const Shape& shape, std::int64_t out_cells) {
        if (shape.cells() < large_table) return 1;
        std::int64_t chunks = std::min<std::int64_t>(16, shape.cells() / (large_table / 2));
        while (chunks > 1 && chunks * out_cells > shape.cells() / 8) chunks /= 2;
        return std::min(chunks, shape.blocks);
    }

    // work(chunk, its first block, the block after its last)
    template <class Work>
    void for_chunks(std::int64_t chunks, std::int64_t blocks, bool parallel, Work work) {
        const auto one = [&](std::int64_t c) { work(c, blocks * c / chunks, blocks * (c + 1) / chunks); };
        if (parallel && chunks > 1) {
            run_tasks(chunks, one, check_);
        } else {
            for (std::int64_t c = 0; c < chunks; ++c) one(c);
        }
    }

    // -------------------------------------------------------------------------------------------- towards the roots

    bool collect() {
        std::atomic<bool> in_range{true};
        each_level(true, [&](std::size_t c, bool parallel) {
            if (in_range && !collect_clique(c, parallel)) in_range = false;
        });
        return in_range;
    }

    bool collect_clique(std::size_t c, bool parallel) {
        const auto& room = plan_.rooms_[c];
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
        if (watched_ && low < -960) return false;
        const bool keep = Domain::keeps_tables || plan_.calibrates() || !room.targets.empty();
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

    // The product of the inputs over one block of the table.
    static void fill_block(double* block, std::int64_t n, const Room& room, const std::vector<const double*>& inputs,
                           const Odometer& at) {
        const auto& kernels = float_kernels();
        double factor = Domain::logarithmic ? 0 : 1;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (room.inputs[i].kind != Operand::Kind::constant) continue;
            const double value = inputs[i][at.position(i)];
            factor = Domain::logarithmic ? factor + value : factor * value;
        }
        if (!Domain::logarithmic && factor == 0) {  // nothing that follows changes that
            std::fill(block, block + n, 0.0);
            return;
        }
        bool begun = false;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const double* from = inputs[i] + at.position(i);
            const auto& operand = room.inputs[i];
            if (operand.kind == Operand::Kind::constant) continue;
            if (!begun) {
                begun = true;
                if (operand.kind == Operand::Kind::contiguous) {
                    std::copy(from, from + n, block);
                } else {
                    kernels.gather(block, from, operand.offsets.data(), n);
                }
            } else if constexpr (Domain::logarithmic) {
                for (std::int64_t k = 0; k < n; ++k) block[k] += from[place(operand, k)];
            } else {
                multiply_block(block, n, operand, from);
            }
        }
        if (!begun) {
            std::fill(block, block + n, factor);
        } else if constexpr (Domain::logarithmic) {
            for (std::int64_t k = 0; k < n; ++k) block[k] += factor;
        } else if (factor != 1) {
            kernels.scale(block, factor, n);
        }
    }

    static std::int64_t place(const Operand& operand, std::int64_t i) {
        return operand.kind == Operand::Kind::constant     ? 0
               : operand.kind == Operand::Kind::contiguous ? i
                                                           : operand.offsets[static_cast<std::size_t>(i)];
    }

    // into[...] += block[i], wherever the operand says.
    static void sum_block(const double* block, std::int64_t n, const Operand& operand, double* into) {
        const auto& kernels = float_kernels();
        switch (operand.kind) {
            case Operand::Kind::constant: *into += kernels.sum(block, n); return;
            case Operand::Kind::contiguous: kernels.add(into, block, n); return;
            case Operand::Kind::scattered:
                kernels.add_runs(into, block, operand.offsets.data(), operand.run, operand.steady, n);
        }
    }

    // block[i] *= the cell of `by` that the operand says.
    static void multiply_block(double* block, std::int64_t n, const Operand& operand, const double* by) {
        constexpr std::int32_t worth_a_loop = 8;  // shorter runs are multiplied faster by gathering
        const auto& kernels = float_kernels();
        if (operand.kind == Operand::Kind::constant) {
            kernels.scale(block, *by, n);
        } else if (operand.kind == Operand::Kind::contiguous) {
            kernels.multiply(block, by, n);
        } else if (operand.run >= worth_a_loop) {
            kernels.multiply_runs(block, by, operand.offsets.data(), operand.run, operand.steady, n);
        } else {
            kernels.multiply_gathered(block, by, operand.offsets.data(), n);
        }
    }

    void fill_table(std::size_t c, const std::vector<const double*>& inputs, bool parallel) {
        const auto& room = plan_.rooms_[c];
        const auto operands = pointers(room);
        const auto chunks = count_chunks(room.shape, 0);
        for_chunks(chunks, room.shape.blocks, parallel, [&](std::int64_t, std::int64_t first, std::int64_t last) {
            Odometer at(room.shape, operands, first);
            for (auto b = first; b < last; ++b, at.next()) {
                fill_block(tables_[c].get() + b * room.shape.block, room.shape.block, room, inputs, at);
            }
        });
    }

    // Partial sums of the chunks, added in their order.
    template <class Work>
    Table sum_chunks(const Shape& shape, std::int64_t out_cells, bool parallel, Work work) {
        const auto chunks = count_chunks(shape, out_cells);
        Table sums(static_cast<std::size_t>(out_cells * chunks), 0.0);
        for_chunks(chunks, shape.blocks, parallel, [&](std::int64_t chunk, std::int64_t first, std::int64_t last) {
            work(sums.data() + chunk * out_cells, first, last);
        });
        for (std::int64_t chunk = 1; chunk < chunks; ++chunk) {
            float_kernels().add(sums.data(), sums.data() + chunk * out_cells, out_cells);
        }
        sums.resize(static_cast<std::size_t>(out_cells));
        return sums;
    }

    Table multiply_and_sum(std::size_t c, const std::vector<const double*>& inputs, bool keep, bool parallel) {
        const auto& room = plan_.rooms_[c];
        const auto operands = pointers(room);
        const auto n = room.shape.block;
        const auto work = [&](double* sums, std::int64_t first, std::int64_t last) {
            thread_local Table scratch;
            if (!keep) scratch.resize(static_cast<std::size_t>(n));
            Odometer at(room.shape, operands, first);
            for (auto b = first; b < last; ++b, at.next()) {
                double* block = keep ? tables_[c].get() + b * n : scratch.data();
                fill_block(block, n, room, inputs, at);
                sum_block(block, n, room.upward.front(), sums + at.position(inputs.size()));
            }
        };
        // The separator varies slowest: parts of whole separator cells write to different sums.
        const std::int64_t rest = room.shape.cells() / room.separator_cells;
        const std::int64_t whole = std::max<std::int64_t>(1, rest / n);  // blocks that share a separator cell
        const std::int64_t units = room.shape.blocks / whole;
        if (units < 8) return sum_chunks(room.shape, room.separator_cells, parallel, work);
        Table sums(static_cast<std::size_t>(room.separator_cells), 0.0);
        for_chunks(std::min(count_chunks(room.shape, 0), units), units, parallel,
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
        each_level(false, [&](std::size_t c, bool parallel) {
            const auto& room = plan_.rooms_[c];
            const auto parent = plan_.tree_.cliques[c].parent;
            if (parent < 0 || !room.wanted) return;
            const auto& siblings = plan_.tree_.cliques[static_cast<std::size_t>(parent)].children;
            const auto& parent_room = plan_.rooms_[static_cast<std::size_t>(parent)];
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
        const auto& room = plan_.rooms_[c];
        const auto& operand = room.upward.front();
        const Operand* operands[] = {&operand};
        const auto n = room.shape.block;
        for_chunks(count_chunks(room.shape, 0), room.shape.blocks, parallel,
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
            const auto& shape = plan_.rooms_[c].shape;
            const Operand* operands[] = {&operand};
            return sum_chunks(shape, out_cells, parallel, [&](double* sums, std::int64_t first, std::int64_t last) {
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
        const auto& shape = plan_.rooms_[c].shape;
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
        double total = 0;
        for (const auto value : values) total += value;
        for (auto& value : values) value /= total;
        return values;
    }

    const Inference& plan_;
    StopCheck check_;
    Patience patience_;
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
    std::vector<std::vector<std::size_t>> levels_;
};

}  // namespace fishernet
