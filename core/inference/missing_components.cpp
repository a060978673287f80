#include "inference/missing_components.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/sequence_map.hpp"

namespace fishernet {
namespace {

// What is asked of the graph, a row at a time.
class Finder {
public:
    Finder(const Columns& table, std::span<const Scope> scopes, bool needed, std::int32_t target)
        : table_(table), scopes_(scopes), target_(target), with_(table.columns.size()),
          missing_(table.columns.size()), wanted_(table.columns.size()), met_(table.columns.size()) {
        for (std::size_t f = 0; f < scopes.size(); ++f) {
            for (const auto v : scopes[f]) with_[static_cast<std::size_t>(v)].push_back(static_cast<std::int32_t>(f));
        }
        if (needed) find_order();
        for (std::size_t v = 0; v < table.columns.size(); ++v) {
            if (table.columns[v].has_missing) incomplete_.push_back(static_cast<std::int32_t>(v));
        }
    }

    // Looks up the missing variables of a row; false: there are none.
    bool read(std::int64_t row) {
        absent_.clear();
        for (const auto v : incomplete_) {
            const auto& column = table_.columns[static_cast<std::size_t>(v)];
            const bool missing = code_at(column, row) == column.cardinality;
            missing_[static_cast<std::size_t>(v)] = missing;
            if (missing) absent_.push_back(v);
        }
        row_ = row;
        return !absent_.empty();
    }

    // Calls found(members, factors) for each component of the row, that with the first variable first.
    template <class Found>
    void visit(Found found) {
        if (!order_.empty()) mark_wanted();
        for (const auto v : absent_) met_[static_cast<std::size_t>(v)] = !is_wanted(v);
        for (const auto v : absent_) {
            if (met_[static_cast<std::size_t>(v)]) continue;
            Scope members{v};
            std::vector<std::int32_t> factors;
            met_[static_cast<std::size_t>(v)] = true;
            for (std::size_t i = 0; i < members.size(); ++i) {
                for (const auto f : with_[static_cast<std::size_t>(members[i])]) {
                    const auto& scope = scopes_[static_cast<std::size_t>(f)];
                    if (!is_wanted(scope.back())) continue;
                    factors.push_back(f);
                    for (const auto other : scope) {
                        if (!missing_[static_cast<std::size_t>(other)] || met_[static_cast<std::size_t>(other)]) continue;
                        met_[static_cast<std::size_t>(other)] = true;
                        members.push_back(other);
                    }
                }
            }
            std::sort(members.begin(), members.end());
            std::sort(factors.begin(), factors.end());
            factors.erase(std::unique(factors.begin(), factors.end()), factors.end());
            found(members, factors);
        }
    }

    std::int32_t state(std::int32_t variable) const {
        return static_cast<std::int32_t>(code_at(table_.columns[static_cast<std::size_t>(variable)], row_));
    }

    Scope border_of(const Scope& members, const std::vector<std::int32_t>& factors) const {
        Scope border;
        for (const auto f : factors) {
            for (const auto v : scopes_[static_cast<std::size_t>(f)]) {
                if (!std::binary_search(members.begin(), members.end(), v)) border.push_back(v);
            }
        }
        std::sort(border.begin(), border.end());
        border.erase(std::unique(border.begin(), border.end()), border.end());
        return border;
    }

private:
    // Children before parents: a conditional's child is its last variable.
    void find_order() {
        std::vector<std::int32_t> conditional(table_.columns.size(), -1);
        for (std::size_t f = 0; f < scopes_.size(); ++f) {
            conditional[static_cast<std::size_t>(scopes_[f].back())] = static_cast<std::int32_t>(f);
        }
        std::vector<std::int32_t> waiting(table_.columns.size(), 0);
        for (const auto& scope : scopes_) {
            for (std::size_t p = 0; p + 1 < scope.size(); ++p) ++waiting[static_cast<std::size_t>(scope[p])];
        }
        for (std::size_t v = 0; v < waiting.size(); ++v) {
            if (waiting[v] == 0) order_.push_back(static_cast<std::int32_t>(v));
        }
        for (std::size_t i = 0; i < order_.size(); ++i) {
            const auto f = conditional[static_cast<std::size_t>(order_[i])];
            if (f < 0) throw std::invalid_argument("every variable needs a conditional");
            const auto& scope = scopes_[static_cast<std::size_t>(f)];
            for (std::size_t p = 0; p + 1 < scope.size(); ++p) {
                if (--waiting[static_cast<std::size_t>(scope[p])] == 0) order_.push_back(scope[p]);
            }
        }
        if (order_.size() != table_.columns.size()) throw std::invalid_argument("the conditionals have a cycle");
        conditional_ = std::move(conditional);
    }

    // What is known, the target, and their ancestors.
    void mark_wanted() {
        std::fill(wanted_.begin(), wanted_.end(), false);
        for (const auto v : order_) {
            const auto at = static_cast<std::size_t>(v);
            wanted_[at] = wanted_[at] || v == target_ || !missing_[at];
            if (!wanted_[at]) continue;
            for (const auto p : scopes_[static_cast<std::size_t>(conditional_[at])]) {
                wanted_[static_cast<std::size_t>(p)] = true;
            }
        }
    }

    bool is_wanted(std::int32_t v) const { return order_.empty() || wanted_[static_cast<std::size_t>(v)]; }

    const Columns& table_;
    std::span<const Scope> scopes_;
    std::int32_t target_;
    std::vector<std::vector<std::int32_t>> with_;  // of every variable: the factors that hold it
    Scope incomplete_;                                  // the variables that are missing in some row
    Scope order_;                                  // empty: all are wanted
    std::vector<std::int32_t> conditional_;
    std::vector<char> missing_, wanted_, met_;
    Scope absent_;
    std::int64_t row_ = 0;
};

}  // namespace

MissingComponents::MissingComponents(const Columns& table, std::vector<Scope> scopes, bool needed, std::int32_t target,
                                     StopCheck check)
    : scopes_(std::move(scopes)), n_rows_(table.n_rows) {
    Finder finder(table, scopes_, needed, target);
    SequenceMap<std::int32_t> components;   // members, and which of their factors count -> the component
    SequenceMap<std::uint32_t> questions;   // the component and the states of its border -> the question
    Patience patience(check);
    std::vector<std::int32_t> key;
    first_question_.reserve(static_cast<std::size_t>(n_rows_) + 1);
    first_question_.push_back(0);
    for (std::int64_t row = 0; row < n_rows_; ++row) {
        if (row % 1024 == 0) patience.ask();
        if (finder.read(row)) {
            finder.visit([&](const Scope& members, const std::vector<std::int32_t>& factors) {
                key.assign(members.begin(), members.end());
                key.push_back(-1);
                key.insert(key.end(), factors.begin(), factors.end());
                const auto g = components.find_or_insert(key, 0);
                if (g == components_.size()) components_.push_back({members, finder.border_of(members, factors), factors});
                key.assign(1, static_cast<std::int32_t>(g));
                for (const auto v : components_[g].border) key.push_back(finder.state(v));
                const auto q = questions.find_or_insert(key, 0);
                if (q == component_of_.size()) {
                    component_of_.push_back(static_cast<std::int32_t>(g));
                    first_border_.push_back(borders_.size());
                    borders_.insert(borders_.end(), key.begin() + 1, key.end());
                }
                questions_.push_back(static_cast<std::uint32_t>(q));
            });
        }
        first_question_.push_back(static_cast<std::int64_t>(questions_.size()));
    }
}

}  // namespace fishernet
