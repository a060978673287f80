#include "gaussian/available_moments.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
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
constexpr std::int64_t few_rows = 8;  // up to which calls of loops take longer than the loops
constexpr double far_off = 1e6;  // of a squared mean, in variances: beyond, sums of products have lost too many digits
constexpr std::size_t most_held = std::size_t{1} << 29;  // bytes of ordered rows

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
    // where it is missing; and whether it is known. Without missing cells the latter is empty.
    struct Number {
        std::vector<double> apart, origins;
        std::vector<std::uint8_t> known;
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
        held_ = order_.size() * sizeof(order_[0]) + weights_.size() * sizeof(double);
    }

    std::size_t size() const { return ends_.size(); }  // configurations that some rows have
    std::int64_t begin(std::size_t cell) const { return cell == 0 ? 0 : ends_[cell - 1]; }
    std::int64_t end(std::size_t cell) const { return ends_[cell]; }
    const double* weights() const { return weights_.empty() ? nullptr : weights_.data(); }

    // Brought into this order when it is first asked for.
    const Number& number(std::int32_t v) {
        const std::scoped_lock lock(ordering_);
        auto& found = numbers_[static_cast<std::size_t>(v)];
        if (!found) {
            found = made(v);
            held_ += order_.size() * sizeof(double) + found->known.size();
        }
        return *found;
    }

    std::size_t held() const { return held_; }  // bytes

private:
    Number made(std::int32_t v) const {
        Number found{std::vector<double>(order_.size()), std::vector<double>(size()), {}};
        const auto& column = rows_.column(v);
        const double* values = rows_.numbers(v);
        for (std::size_t r = 0; r < order_.size(); ++r) found.apart[r] = values[order_[r]];
        if (column.has_missing) {
            found.known.resize(order_.size());
            with_codes(column, [&](const auto* codes) {
                for (std::size_t r = 0; r < order_.size(); ++r) found.known[r] = codes[order_[r]] != column.cardinality;
            });
            kernels_.keep_marked(found.apart.data(), found.known.data(), static_cast<std::int64_t>(order_.size()));
        }
        for (std::size_t cell = 0; cell < size(); ++cell) {
            const auto first = begin(cell), n = end(cell) - first;
            const auto* marks = column.has_missing ? found.known.data() + first : nullptr;
            const auto known = marks == nullptr ? n : std::accumulate(marks, marks + n, std::int64_t{0});
            if (known == 0) continue;
            double* apart = found.apart.data() + first;
            const double origin = kernels_.sum(apart, n) / static_cast<double>(known);
            for (std::int64_t r = 0; r < n; ++r) apart[r] -= origin;
            if (marks != nullptr) kernels_.keep_marked(apart, marks, n);
            found.origins[cell] = origin;
        }
        return found;
    }

    const IncompleteRows& rows_;
    std::vector<std::uint32_t> order_;
    std::vector<std::int64_t> ends_;
    std::vector<double> weights_;
    std::vector<std::optional<Number>> numbers_;
    std::atomic<std::size_t> held_;
    std::mutex ordering_;
    const FloatKernels& kernels_ = float_kernels();
};

namespace {

// Some rows, each of which counts as much as it weighs, and nothing where it lacks one of a family's numbers.
class CountedRows {
public:
    explicit CountedRows(const OrderedRows& rows) : rows_(rows), weights_(rows_at_once), scaled_(rows_at_once), ones_(rows_at_once, 1.0) {}

    // Finds how much each row counts.
    void begin(std::int64_t first, std::int64_t n, std::span<const OrderedRows::Number* const> lacking) {
        size_ = n;
        all_ = lacking.empty() && rows_.weights() == nullptr;
        if (all_) return;
        std::copy_n(rows_.weights() == nullptr ? ones_.data() : rows_.weights() + first, n, weights_.data());
        for (const auto* number : lacking) kernels_.keep_marked(weights_.data(), number->known.data() + first, n);
    }

    // Adds the products of each column with those before it, and itself; the first column is 1.
    void add_products(std::span<const double* const> columns, double* product) {
        if (size_ <= few_rows) return add_few(columns, product);
        *product++ += all_ ? static_cast<double>(size_) : kernels_.sum(weights_.data(), size_);
        for (std::size_t i = 1; i < columns.size(); ++i) {
            const double* own = columns[i];
            if (!all_) {
                kernels_.multiply_into(scaled_.data(), own, weights_.data(), size_);
                own = scaled_.data();
            }
            kernels_.add_dots(product, own, columns.data(), static_cast<std::int64_t>(i + 1), size_);
            product += i + 1;
        }
    }

    double weight(std::int64_t row) const { return all_ ? 1.0 : weights_[static_cast<std::size_t>(row)]; }
    const double* ones() const { return ones_.data(); }

private:
    void add_few(std::span<const double* const> columns, double* products) {
        for (std::int64_t r = 0; r < size_; ++r) {
            double* product = products;
            for (std::size_t i = 0; i < columns.size(); ++i) {
                const double own = weight(r) * columns[i][r];
                for (std::size_t k = 0; k <= i; ++k) *product++ += own * columns[k][r];
            }
        }
    }

    const OrderedRows& rows_;
    std::int64_t size_ = 0;
    bool all_ = true;  // rows count once
    std::vector<double> weights_, scaled_, ones_;
    const FloatKernels& kernels_ = float_kernels();
};

// The sums of a family's numbers in a configuration, and its moments in those before.
class FamilySums {
public:
    FamilySums(OrderedRows& rows, std::span<const std::int32_t> numbers)
        : columns_(numbers.size() + 1), products_(CellMoments::n_products(numbers.size() + 1)), means_(numbers.size()) {
        for (const auto v : numbers) numbers_.push_back(&rows.number(v));
        for (const auto* number : numbers_) {
            if (!number->known.empty()) lacking_.push_back(number);
        }
        moments_.d = static_cast<std::int32_t>(numbers.size());
    }

    void add(std::int64_t first, std::int64_t n, CountedRows& rows) {
        columns_[0] = rows.ones();
        for (std::size_t i = 0; i < numbers_.size(); ++i) columns_[i + 1] = numbers_[i]->apart.data() + first;
        rows.begin(first, n, lacking_);
        rows.add_products(columns_, products_.data());
    }

    // All rows of a configuration, from the first to the end, have been added.
    void end(std::size_t cell, std::int64_t first, std::int64_t end, CountedRows& rows) {
        const double weight = products_[0];
        if (weight > 0) {
            moments_.weights.push_back(weight);
            const double* product = products_.data() + 1;
            const auto before = moments_.products.size();
            bool far = false;
            for (std::size_t i = 0; i < numbers_.size(); ++i) {
                const double mean = means_[i] = *product++ / weight;
                moments_.means.push_back(numbers_[i]->origins[cell] + mean);
                for (std::size_t k = 0; k <= i; ++k) moments_.products.push_back(*product++ - weight * mean * means_[k]);
                far = far || weight * mean * mean > far_off * moments_.products.back();
            }
            if (far) add_again(first, end, rows, moments_.products.data() + before);
        }
        std::fill(products_.begin(), products_.end(), 0.0);
    }

    const OwnedMoments& moments() const { return moments_; }

private:
    // Makes the products anew of rows whose mean is far from that of the configuration: those that know a number and
    // lack another may have quite other values.
    void add_again(std::int64_t first, std::int64_t end, CountedRows& rows, double* into) {
        std::fill_n(into, CellMoments::n_products(numbers_.size()), 0.0);
        for (; first < end; first += rows_at_once) {
            const auto n = std::min(rows_at_once, end - first);
            rows.begin(first, n, lacking_);
            for (std::int64_t r = 0; r < n; ++r) {
                double* product = into;
                for (std::size_t i = 0; i < numbers_.size(); ++i) {
                    const double own = rows.weight(r) * (numbers_[i]->apart[first + r] - means_[i]);
                    for (std::size_t k = 0; k <= i; ++k) *product++ += own * (numbers_[k]->apart[first + r] - means_[k]);
                }
            }
        }
    }

    std::vector<const OrderedRows::Number*> numbers_, lacking_;
    std::vector<const double*> columns_;
    std::vector<double> products_, means_;
    OwnedMoments moments_;
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
    std::size_t held = 0;
    for (const auto& [_, kept] : kept_) held += kept.rows->held();
    while (held > most_held && by_use_.size() > 1) {
        const auto last = kept_.find(by_use_.back());
        held -= last->second.rows->held();
        kept_.erase(last);
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
        CountedRows counted(*rows);
        std::vector<FamilySums> sums;
        for (const auto f : part.families) sums.emplace_back(*rows, numbers_of(rows_, families, f));
        for (std::size_t cell = 0; cell < rows->size(); ++cell) {
            for (auto first = rows->begin(cell); first < rows->end(cell); first += rows_at_once) {  // which stay in the cache
                const auto n = std::min(rows_at_once, rows->end(cell) - first);
                for (auto& one : sums) one.add(first, n, counted);
            }
            for (auto& one : sums) one.end(cell, rows->begin(cell), rows->end(cell), counted);
        }
        for (std::size_t i = 0; i < sums.size(); ++i) found(part.families[i], sums[i].moments());
    };
    run_tasks(static_cast<std::int64_t>(parts.size()), find_part, check);
}

}  // namespace fishernet
