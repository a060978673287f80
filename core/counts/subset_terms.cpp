#include "counts/subset_terms.hpp"

#include <algorithm>
#include <limits>

#include "counts/subset_walk.hpp"

namespace fishernet {

// ------------------------------------------------------------------------------------------------------------ kinds

SetKinds::SetKinds(const Columns& table, std::span<const std::int32_t> order) : step_(order.size()) {
    for (const auto v : order) cardinalities_.push_back(table.columns[v].cardinality);
    std::sort(cardinalities_.begin(), cardinalities_.end());
    cardinalities_.erase(std::unique(cardinalities_.begin(), cardinalities_.end()), cardinalities_.end());
    for (const auto cardinality : cardinalities_) {
        std::uint64_t many = 1;
        for (std::size_t place = 0; place < order.size(); ++place) {
            if (table.columns[order[place]].cardinality != cardinality) continue;
            step_[place] = size_;
            ++many;
        }
        many_.push_back(many);
        size_ *= many;
    }
}

std::uint64_t SetKinds::of(std::uint64_t set) const {
    std::uint64_t kind = 0;
    for (; set != 0; set &= set - 1) kind += step_[std::countr_zero(set)];
    return kind;
}

Size SetKinds::cells(std::uint64_t kind) const {
    Size size;
    for (std::size_t c = 0; c < many_.size(); ++c) {
        for (std::uint64_t i = 0; i < kind % many_[c]; ++i) size = size.times(cardinalities_[c]);
        kind /= many_[c];
    }
    return size;
}

// ------------------------------------------------------------------------------------------------------------ terms

template <int lanes>
SharedTerms<lanes>::SharedTerms(std::vector<const CellTerms*> functions, std::vector<double> of_kind)
    : functions_(std::move(functions)), of_kind_(std::move(of_kind)) {
    std::int64_t size = functions_.front()->size();
    for (const auto* f : functions_) size = std::min(size, f->size());
    for (std::int64_t n = 0; n < size; ++n) table_.push_back(make(n));
    size_ = table_.size();
}

template <int lanes>
typename SharedTerms<lanes>::Value SharedTerms<lanes>::make(std::int64_t n) const {
    Value value;
    for (std::size_t f = 0; f < functions_.size(); ++f) value.v[f] = static_cast<std::uint64_t>((*functions_[f])(n));
    return value;
}

template <int lanes>
void SharedTerms<lanes>::write(const Value& sum, std::uint64_t, std::uint64_t kind, std::uint64_t set,
                               const SubsetOutputs& out) const {
    const auto value = [&](std::size_t f) { return functions_[f]->value(static_cast<std::int64_t>(sum.v[f])); };
    out.joint[set] = of_kind_.empty() ? value(0) : value(0) + of_kind_[kind];
    for (std::size_t m = 0; m < out.marginals.size(); ++m) out.marginals[m][set] = value(m + 1);
}

TermsByKind::Value TermsByKind::of(std::uint64_t n) const {
    Value value;
    value.v[n] = 1;
    return value;
}

std::uint64_t TermsByKind::beyond(std::uint64_t n, std::uint64_t kind) const {
    return static_cast<std::uint64_t>((*of_kind_[kind])(static_cast<std::int64_t>(n)));
}

void TermsByKind::write(const Value& sum, std::uint64_t large, std::uint64_t kind, std::uint64_t set,
                        const SubsetOutputs& out) const {
    const CellTerms& terms = *of_kind_[kind];
    for (int n = 1; n < lanes; ++n) {
        if (sum.v[n] != 0) large += sum.v[n] * static_cast<std::uint64_t>(terms(n));
    }
    out.joint[set] = terms.value(static_cast<std::int64_t>(large));
}

SubsetTerms::Terms SubsetTerms::make_terms(ScoreTerm& score_term, const std::vector<std::uint32_t>& children) const {
    if (score_term.knows_cells()) {
        std::vector<const CellTerms*> of_kind;
        for (std::uint64_t kind = 0; kind < kinds_.size(); ++kind) of_kind.push_back(&score_term.joint(kinds_.cells(kind)));
        return TermsByKind(std::move(of_kind));
    }
    std::vector<double> of_kind;
    if (score_term.knows_sets()) {
        for (std::uint64_t kind = 0; kind < kinds_.size(); ++kind) of_kind.push_back(score_term.of_set(kinds_.cells(kind)));
    }
    std::vector<const CellTerms*> functions{&score_term.joint({})};
    for (const auto r : children) functions.push_back(&score_term.marginal({}, r));
    if (functions.size() == 1) return SharedTerms<1>(std::move(functions), std::move(of_kind));
    if (functions.size() == 2) return SharedTerms<2>(std::move(functions), std::move(of_kind));
    return SharedTerms<4>(std::move(functions), std::move(of_kind));
}

// ------------------------------------------------------------------------------------------------------------- tasks

SubsetTerms::SubsetTerms(const Columns& table, std::span<const std::int32_t> order, int most, ScoreTerm& score_term,
                         const std::vector<std::uint32_t>& children)
    : n_(static_cast<int>(order.size())),
      most_(most),
      total_(table.total),
      classes_(row_classes(table, order)),
      kinds_(table, order),
      terms_(make_terms(score_term, children)) {
    describe_lattice();
    constexpr std::uint64_t bearable = std::uint64_t{1} << 24;  // classes times sets: some ten milliseconds
    task_places_ = lattice_places_;
    while (task_places_ < n_ && (classes_.size() << task_places_) < bearable) ++task_places_;
}

void SubsetTerms::describe_lattice() {
    constexpr int most_places = 6;
    constexpr std::uint32_t a_byte = 256;
    constexpr std::uint64_t most_cells = std::uint64_t{1} << 14;  // tables of more are never laid out
    while (lattice_places_ < std::min(n_, most_places) && classes_.levels[lattice_places_ + 1].states <= a_byte) {
        ++lattice_places_;
    }
    lattice_levels_.push_back({1, 1, {0}, {0}});
    for (int level = 1; level <= lattice_places_; ++level) {
        const auto& [code, next, states] = classes_.levels[level];
        const LatticeLevel& below = lattice_levels_.back();
        LatticeLevel here{below.n_cells * states, below.n_marginal_cells * (states + 1), {}, {}};
        const bool laid_out = below.n_cells > 0 && here.n_cells <= most_cells;
        if (!laid_out) here.n_cells = 0;
        for (std::size_t c = 0; c < code.size(); ++c) {
            const std::uint64_t highest = code[c];
            here.keys.push_back(below.keys[next[c]] | highest << (8 * (level - 1)));
            if (laid_out) here.cells.push_back(below.cells[next[c]] + code[c] * static_cast<std::uint32_t>(below.n_cells));
        }
        lattice_levels_.push_back(std::move(here));
    }
}

void SubsetTerms::run(std::int64_t task, const SubsetOutputs& out) const {
    if (std::popcount(static_cast<std::uint64_t>(task)) > most_) return;
    std::visit([&](const auto& terms) {
        using Any = std::decay_t<decltype(terms)>;
        if (total_ <= std::numeric_limits<std::uint32_t>::max()) {
            SubsetWalk<Any, std::uint32_t>(*this, terms, out).run(static_cast<std::uint64_t>(task));
        } else {
            SubsetWalk<Any, std::uint64_t>(*this, terms, out).run(static_cast<std::uint64_t>(task));
        }
    }, terms_);
}

}  // namespace fishernet
