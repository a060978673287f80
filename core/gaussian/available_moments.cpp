#include "gaussian/available_moments.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/float_kernels.hpp"
#include "base/pool.hpp"
#include "gaussian/rows_by_cell.hpp"

namespace fishernet {
namespace {

constexpr std::size_t families_at_once = 16;
constexpr std::int64_t rows_at_once = 256;
constexpr std::int64_t few_rows = 8;                            // up to which calls of loops take longer than the loops
constexpr std::size_t most_held = std::size_t{1} << 25;  // numbers of ordered rows: 256 MiB

template <class F>
void with_codes(const Column& column, F&& each) {
    switch (column.width) {
        case 1: each(static_cast<const std::uint8_t*>(column.codes)); break;
        case 2: each(static_cast<const std::uint16_t*>(column.codes)); break;
        default: each(static_cast<const std::uint32_t*>(column.codes));
    }
}

// The configuration of each row; of those that lack one of the labels the one after the last.
std::vector<std::uint32_t> configurations(const IncompleteRows& rows, std::span<const std::int32_t> labels, std::size_t n_cells) {
    std::vector<std::uint32_t> found(rows.n);
    for (const auto v : labels) {
        const auto states = rows.column(v).cardinality;
        with_codes(rows.column(v), [&](const auto* codes) {
            for (std::size_t r = 0; r < rows.n; ++r) found[r] = found[r] * states + codes[r];
        });
    }
    for (const auto v : labels) {
        if (!rows.column(v).has_missing) continue;
        const auto none = static_cast<std::uint32_t>(n_cells), states = rows.column(v).cardinality;
        with_codes(rows.column(v), [&](const auto* codes) {
            for (std::size_t r = 0; r < rows.n; ++r) found[r] = codes[r] == states ? none : found[r];
        });
    }
    return found;
}

}  // namespace

// The rows of one configuration after the other, those that lack one of the labels left out.
class OrderedRows {
public:
    // What a number is apart from its origin in the row's configuration, the mean of those rows there that know it, and 0
    // where it is missing; and 1 where it is known, 0 elsewhere. Without missing cells the latter is empty.
    struct Number {
        std::vector<double> apart, known, origins;
    };

    OrderedRows(const IncompleteRows& rows, std::span<const std::int32_t> labels) : rows_(rows), numbers_(rows.columns.size()) {
        std::size_t n_cells = 1;
        for (const auto v : labels) n_cells *= rows.column(v).cardinality;
        const auto cells = configurations(rows, labels, n_cells);
        const RowsByCell by_cell(std::span<const std::uint32_t>(cells), n_cells + 1);
        for (std::size_t cell = 0; cell < n_cells; ++cell) {
            const auto of = by_cell.of(cell);
            if (of.empty()) continue;
            order_.insert(order_.end(), of.begin(), of.end());
            ends_.push_back(static_cast<std::int64_t>(order_.size()));
        }
        if (!rows.weights.empty()) {
            for (const auto row : order_) weights_.push_back(rows.weights[row]);
        }
    }

    std::size_t size() const { return ends_.size(); }  // configurations that some rows have
    std::int64_t begin(std::size_t cell) const { return cell == 0 ? 0 : ends_[cell - 1]; }
    std::int64_t end(std::size_t cell) const { return ends_[cell]; }
    const double* weights() const { return weights_.empty() ? nullptr : weights_.data(); }

    // Brought into this order when it is first asked for.
    const Number& number(std::int32_t v) {
        const std::scoped_lock lock(ordering_);
        auto& found = numbers_[static_cast<std::size_t>(v)];
        if (!found) found = made(v);
        return *found;
    }

private:
    Number made(std::int32_t v) const {
        Number found{std::vector<double>(order_.size()), {}, std::vector<double>(size())};
        const auto& column = rows_.column(v);
        const double* values = rows_.numbers(v);
        for (std::size_t r = 0; r < order_.size(); ++r) found.apart[r] = values[order_[r]];
        if (column.has_missing) {
            found.known.resize(order_.size());
            with_codes(column, [&](const auto* codes) {
                for (std::size_t r = 0; r < order_.size(); ++r) {
                    const double known = codes[order_[r]] != column.cardinality ? 1.0 : 0.0, value = found.apart[r];
                    found.known[r] = known;
                    found.apart[r] = known > 0 ? value : 0.0;
                }
            });
        }
        for (std::size_t cell = 0; cell < size(); ++cell) {
            const auto first = begin(cell), n = end(cell) - first;
            const double known = column.has_missing ? kernels_.sum(found.known.data() + first, n) : static_cast<double>(n);
            if (!(known > 0)) continue;
            double* apart = found.apart.data() + first;
            const double origin = kernels_.sum(apart, n) / known;
            for (std::int64_t r = 0; r < n; ++r) apart[r] -= origin;
            if (column.has_missing) kernels_.multiply(apart, found.known.data() + first, n);
            found.origins[cell] = origin;
        }
        return found;
    }

    const IncompleteRows& rows_;
    std::vector<std::uint32_t> order_;
    std::vector<std::int64_t> ends_;
    std::vector<double> weights_;
    std::vector<std::optional<Number>> numbers_;
    std::mutex ordering_;
    const FloatKernels& kernels_ = float_kernels();
};

namespace {

// The sums of a family's numbers over ordered rows, each row of which counts as much as it weighs, and nothing where it
// lacks one of them.
class FamilySums {
public:
    FamilySums(OrderedRows& rows, std::span<const std::int32_t> numbers)
        : rows_(rows), weight_of_(rows_at_once), scaled_(rows_at_once), ones_(rows_at_once, 1.0), sums_(numbers.size() + 1) {
        for (const auto v : numbers) numbers_.push_back(&rows.number(v));
        for (const auto* number : numbers_) {
            if (!number->known.empty()) lacking_.push_back(number);
        }
        products_.resize(CellMoments::n_products(numbers_.size() + 1));
        from_.resize(numbers_.size() + 1);
    }

    OwnedMoments moments() {
        OwnedMoments found{{}, {}, {}, static_cast<std::int32_t>(numbers_.size())};
        for (std::size_t cell = 0; cell < rows_.size(); ++cell) {
            std::fill(products_.begin(), products_.end(), 0.0);
            for (auto first = rows_.begin(cell); first < rows_.end(cell); first += rows_at_once) {
                add(first, std::min(rows_at_once, rows_.end(cell) - first));
            }
            end(cell, found);
        }
        return found;
    }

private:
    // Adds the products of each with those before it, of which the first is 1.
    void add(std::int64_t first, std::int64_t n) {
        const bool all = weigh(first, n);
        from_[0] = ones_.data();
        for (std::size_t i = 0; i < numbers_.size(); ++i) from_[i + 1] = numbers_[i]->apart.data() + first;
        if (n <= few_rows) return add_few(n, all);
        products_[0] += all ? static_cast<double>(n) : kernels_.sum(weight_of_.data(), n);
        double* product = products_.data() + 1;
        for (std::size_t i = 1; i < from_.size(); ++i) {
            const double* own = from_[i];
            if (!all) {
                kernels_.multiply_into(scaled_.data(), own, weight_of_.data(), n);
                own = scaled_.data();
            }
            kernels_.add_dots(product, own, from_.data(), static_cast<std::int64_t>(i + 1), n);
            product += i + 1;
        }
    }

    // Finds how much each row counts; true if each counts once.
    bool weigh(std::int64_t first, std::int64_t n) {
        const double* weights = rows_.weights();
        if (lacking_.empty() && weights == nullptr) return true;
        std::copy_n(weights == nullptr ? ones_.data() : weights + first, n, weight_of_.data());
        for (const auto* number : lacking_) kernels_.multiply(weight_of_.data(), number->known.data() + first, n);
        return false;
    }

    void add_few(std::int64_t n, bool all) {
        for (std::int64_t r = 0; r < n; ++r) {
            const double weight = all ? 1.0 : weight_of_[static_cast<std::size_t>(r)];
            if (!(weight > 0)) continue;
            double* product = products_.data();
            for (std::size_t i = 0; i < from_.size(); ++i) {
                const double own = weight * from_[i][r];
                for (std::size_t k = 0; k <= i; ++k) *product++ += own * from_[k][r];
            }
        }
    }

    // Adds the moments of a configuration of which all rows have been added.
    void end(std::size_t cell, OwnedMoments& into) {
        const double weight = products_[0];
        if (!(weight > 0)) return;
        into.weights.push_back(weight);
        const double* product = products_.data() + 1;
        for (std::size_t i = 0; i < numbers_.size(); ++i) {
            const double sum = sums_[i] = *product++;
            into.means.push_back(numbers_[i]->origins[cell] + sum / weight);
            for (std::size_t k = 0; k <= i; ++k) into.products.push_back(*product++ - sum * (sums_[k] / weight));
        }
    }

    OrderedRows& rows_;
    std::vector<const OrderedRows::Number*> numbers_, lacking_;
    std::vector<const double*> from_;
    std::vector<double> weight_of_, scaled_, ones_, sums_, products_;
    const FloatKernels& kernels_ = float_kernels();
};

// The numbers of a family, its child the last.
std::vector<std::int32_t> numbers_of(const IncompleteRows& rows, const Families& families, std::size_t f) {
    std::vector<std::int32_t> found;
    for (const auto p : families.parents_of(f)) {
        if (rows.is_number(p)) found.push_back(p);
    }
    found.push_back(families.children[f]);
    return found;
}

}  // namespace

AvailableMoments::AvailableMoments(const IncompleteRows& rows)
    : rows_(rows), most_kept_(std::max(std::size_t{1}, most_held / std::max(std::size_t{1}, 2 * rows.values.size()))) {}

std::shared_ptr<OrderedRows> AvailableMoments::ordered(const Labels& labels) {
    {
        const std::scoped_lock lock(keeping_);
        const auto at = kept_.find(labels);
        if (at != kept_.end()) {
            by_use_.splice(by_use_.begin(), by_use_, at->second.use);
            return at->second.rows;
        }
    }
    auto made = std::make_shared<OrderedRows>(rows_, labels);
    const std::scoped_lock lock(keeping_);
    if (const auto at = kept_.find(labels); at != kept_.end()) return at->second.rows;
    by_use_.push_front(labels);
    kept_.emplace(labels, Kept{made, by_use_.begin()});
    while (by_use_.size() > most_kept_) {
        kept_.erase(by_use_.back());
        by_use_.pop_back();
    }
    return made;
}

void AvailableMoments::find(const Families& families, const Found& found, StopCheck check) {
    std::map<Labels, std::vector<std::size_t>> by_labels;
    for (std::size_t f = 0; f < families.size(); ++f) {
        Labels labels;
        for (const auto p : families.parents_of(f)) {
            if (!rows_.is_number(p)) labels.push_back(p);
        }
        by_labels[std::move(labels)].push_back(f);
    }
    struct Part {
        const Labels* labels;
        std::span<const std::size_t> families;
    };
    std::vector<Part> parts;
    for (const auto& [labels, of] : by_labels) {
        for (std::size_t first = 0; first < of.size(); first += families_at_once) {
            parts.push_back({&labels, std::span(of).subspan(first, std::min(families_at_once, of.size() - first))});
        }
    }
    const auto find_part = [&](std::int64_t at) {
        const auto& part = parts[static_cast<std::size_t>(at)];
        const auto rows = ordered(*part.labels);
        for (const auto f : part.families) found(f, FamilySums(*rows, numbers_of(rows_, families, f)).moments());
    };
    run_tasks(static_cast<std::int64_t>(parts.size()), find_part, check);
}

}  // namespace fishernet
