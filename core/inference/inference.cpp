#include "inference/inference.hpp"

#include <algorithm>

namespace fishernet {
namespace {

// Strides of a table over `scope` along the axes of a clique; 0 for the axes it does not have.
std::vector<std::int64_t> strides_within(const Scope& clique, const Scope& scope,
                                         std::span<const std::int64_t> strides) {
    std::vector<std::int64_t> within(clique.size(), 0);
    for (std::size_t axis = 0; axis < clique.size(); ++axis) {
        const auto at = std::find(scope.begin(), scope.end(), clique[axis]);
        if (at != scope.end()) within[axis] = strides[static_cast<std::size_t>(at - scope.begin())];
    }
    return within;
}

std::vector<std::int64_t> natural_strides(const Scope& scope, std::span<const std::int64_t> cardinalities) {
    std::vector<std::int64_t> strides(scope.size(), 1);
    for (std::size_t axis = scope.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * cardinalities[scope[axis]];
    return strides;
}

std::int64_t count_cells(const Scope& scope, std::span<const std::int64_t> cardinalities) {
    std::int64_t cells = 1;
    for (const auto v : scope) cells *= cardinalities[v];
    return cells;
}

}  // namespace

Inference::Inference(const FactorModel& model, const Scope& observed, const Scope& soft, std::vector<Scope> targets,
                     bool whole, double most, bool chance)
    : model_(model), targets_(std::move(targets)), has_findings_(!observed.empty() || !soft.empty()),
      whole_(whole), levels_(tree_) {
    const auto n = static_cast<std::int32_t>(model.size());
    Scope asked = observed;
    asked.insert(asked.end(), soft.begin(), soft.end());
    for (const auto& target : targets_) asked.insert(asked.end(), target.begin(), target.end());
    const std::vector<bool> kept = whole ? std::vector<bool>(model.size(), true) : model.relevant(asked);
    std::vector<std::int32_t> local(model.size(), 0);
    for (const auto v : observed) local[v] = -1;
    for (std::int32_t v = 0; v < n; ++v) {
        if (!kept[v] || local[v] < 0) continue;
        local[v] = static_cast<std::int32_t>(variables_.size());
        variables_.push_back(v);
        cardinalities_.push_back(model.cardinalities[v]);
    }
    const auto enter = [&](Piece piece) { (piece.scope.empty() ? constants_ : pieces_).push_back(std::move(piece)); };
    for (std::size_t f = 0; f < model.factors.size(); ++f) {
        const auto& factor = model.factors[f];
        if (factor.child >= 0 && !kept[factor.child]) continue;
        Piece piece;
        piece.factor = static_cast<std::int32_t>(f);
        for (std::size_t axis = 0; axis < factor.scope.size(); ++axis) {
            const auto v = factor.scope[axis];
            if (local[v] < 0) {
                piece.observed.emplace_back(v, factor.strides[axis]);
            } else {
                piece.scope.push_back(local[v]);
                piece.strides.push_back(factor.strides[axis]);
            }
        }
        enter(std::move(piece));
    }
    for (std::size_t s = 0; s < soft.size(); ++s) {
        soft_sizes_.push_back(model.cardinalities[soft[s]]);
        Piece piece;
        piece.soft = static_cast<std::int32_t>(s);
        if (local[soft[s]] < 0) {
            piece.observed.emplace_back(soft[s], 1);
        } else {
            piece.scope = {local[soft[s]]};
            piece.strides = {1};
        }
        enter(std::move(piece));
    }
    std::vector<Scope> scopes;
    for (const auto& piece : pieces_) scopes.push_back(piece.scope);
    for (auto& target : targets_) {
        for (auto& v : target) v = local[v];
        scopes.push_back(target);
    }
    const auto first_target = static_cast<std::int64_t>(pieces_.size());
    const Elimination elimination = eliminate_cheaply(cardinalities_, scopes, most, chance);
    complete_ = elimination.complete;
    if (complete_) {
        tree_ = make_tree(elimination, cardinalities_, scopes, targets_.size() == 1 ? first_target : -1);
        levels_ = Levels(tree_);
    } else {
        tree_.largest = elimination.largest;
    }
}

std::int64_t Inference::cells_of_target(std::size_t target) const {
    return count_cells(targets_[target], cardinalities_);
}

const std::vector<Room>& Inference::rooms() const {
    std::call_once(lazy_->made, [this] { lazy_->rooms = make_rooms(); });
    return lazy_->rooms;
}

// Every member goes into the bundle that grows least by it, while that has few cells. part(member) is its scope and strides; a
// member that stays alone is read where it lies.
template <class Part>
std::vector<Bundle> Inference::bundled(const Clique& clique, const Shape& shape, const Scope& members, Part part) const {
    constexpr std::int64_t most_cells = 1 << 12, share = 64;  // of a bundle; of the clique's cells that it has at most
    constexpr std::int64_t worth = 16;                        // cells: with fewer nothing is gained
    struct Open {
        Scope scope;  // in the clique's order
        Scope members;
    };
    const auto limit = std::min(most_cells, shape.cells() / share);
    const auto united = [&](const Scope& one, const Scope& other) {
        Scope found;
        for (const auto v : clique.variables) {
            if (std::ranges::find(one, v) != one.end() || std::ranges::find(other, v) != other.end()) found.push_back(v);
        }
        return found;
    };
    std::vector<Bundle> found;
    const auto leave_alone = [&](std::int32_t m) {
        const auto& [scope, strides] = part(m);
        found.push_back({Shape({}), {m}, {}, Operand(shape, strides_within(clique.variables, scope, strides))});
    };
    if (limit < worth || members.size() < 2) {
        for (const auto m : members) leave_alone(m);
        return found;
    }
    std::vector<Open> open;
    for (const auto m : members) {
        const auto& [scope, strides] = part(m);
        Open* best = nullptr;
        std::int64_t least = 0;
        for (auto& one : open) {
            const auto cells = count_cells(united(one.scope, scope), cardinalities_);
            const auto more = cells - count_cells(one.scope, cardinalities_);
            if (cells > limit || (best != nullptr && more >= least)) continue;
            best = &one;
            least = more;
        }
        if (best == nullptr) best = &open.emplace_back();
        best->scope = united(best->scope, scope);
        best->members.push_back(m);
    }
    for (const auto& one : open) {
        if (one.members.size() == 1) {
            leave_alone(one.members.front());
            continue;
        }
        std::vector<std::int64_t> sizes;
        for (const auto v : one.scope) sizes.push_back(cardinalities_[v]);
        const Shape own(std::move(sizes));
        std::vector<Operand> operands;
        for (const auto m : one.members) {
            const auto& [scope, strides] = part(m);
            operands.emplace_back(own, strides_within(one.scope, scope, strides));
        }
        const auto within = strides_within(clique.variables, one.scope, natural_strides(one.scope, cardinalities_));
        found.push_back({own, one.members, std::move(operands), Operand(shape, within)});
    }
    return found;
}

std::vector<Room> Inference::make_rooms() const {
    std::vector<Room> rooms(tree_.cliques.size());
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
        rooms[tree_.scope_cliques[p]].pieces.push_back(static_cast<std::int32_t>(p));
    }
    for (std::size_t c = rooms.size(); c-- > 0;) {
        const auto& clique = tree_.cliques[c];
        auto& room = rooms[c];
        std::vector<std::int64_t> sizes;
        for (const auto v : clique.variables) sizes.push_back(cardinalities_[v]);
        room.shape = Shape(std::move(sizes));
        const auto piece = [&](std::int32_t p) {
            const auto& own = pieces_[static_cast<std::size_t>(p)];
            return std::pair<const Scope&, const std::vector<std::int64_t>&>(own.scope, own.strides);
        };
        room.bundles = bundled(clique, room.shape, room.pieces, piece);
        for (auto& bundle : room.bundles) room.inputs.push_back(std::move(bundle.whole));
        const auto enter_message = [&](const Clique& below, std::vector<Operand>& into) {
            const Scope separator(below.variables.begin(), below.variables.begin() + below.n_separator);
            into.emplace_back(room.shape, strides_within(clique.variables, separator,
                                                         natural_strides(separator, cardinalities_)));
            return count_cells(separator, cardinalities_);
        };
        for (const auto child : clique.children) enter_message(tree_.cliques[child], room.inputs);
        room.separator_cells = enter_message(clique, room.upward);
    }
    std::vector<Scope> targets(rooms.size());
    for (std::size_t t = 0; t < targets_.size(); ++t) {
        const auto c = tree_.scope_cliques[pieces_.size() + t];
        if (c < 0) continue;
        targets[static_cast<std::size_t>(c)].push_back(static_cast<std::int32_t>(t));
        for (auto up = c; up >= 0 && !rooms[up].wanted; up = tree_.cliques[up].parent) rooms[up].wanted = true;
    }
    const auto target = [&](std::int32_t t) {
        const auto& scope = targets_[static_cast<std::size_t>(t)];
        return std::pair<const Scope&, std::vector<std::int64_t>>(scope, natural_strides(scope, cardinalities_));
    };
    for (std::size_t c = 0; c < rooms.size(); ++c) {
        rooms[c].targets = bundled(tree_.cliques[c], rooms[c].shape, targets[c], target);
    }
    return rooms;
}

}  // namespace fishernet
