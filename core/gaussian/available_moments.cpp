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

constexpr std::size_t families_at_once = 16, families_of_whole = 64;
constexpr std::int64_t rows_at_once = 256;
constexpr std::int64_t few_rows = 8;  // up to which calls of loops take longer than the loops
constexpr std::int64_t few_lack = 8;  // one of so many rows: these are taken away sooner than the others are added
constexpr double far_off = 1e6;  // of a squared mean, in variances: beyond, sums of products have lost too many digits
constexpr std::size_t most_held = std::size_t{1} << 29;  // bytes of ordered rows
constexpr std::size_t most_kinds = 64;    // of numbers, by the rows that lack them: bits of a pattern
constexpr double rows_of_cell = 8;        // in the mean, of moments that are kept: those of fewer take as long to look up
constexpr double most_of_whole = 1 << 20;                  // products in moments that are kept: 8 MiB
constexpr std::size_t most_wholes = std::size_t{1} << 25;  // and in all of them: 256 MiB
constexpr std::size_t most_asked = 1 << 16;                // patterns whose work is remembered

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

    // Adds the bytes that they take to those that are held.
    OrderedRows(const IncompleteRows& rows, std::span<const std::int32_t> labels, std::atomic<std::size_t>& held)
        : rows_(rows), numbers_(rows.columns.size()), held_(held) {
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
        hold(order_.size() * sizeof(order_[0]) + weights_.size() * sizeof(double));
    }
    ~OrderedRows() { held_ -= own_; }
    OrderedRows(const OrderedRows&) = delete;
    OrderedRows& operator=(const OrderedRows&) = delete;

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
            hold(order_.size() * sizeof(double) + found->known.size());
        }
        return *found;
    }

private:
    void hold(std::size_t bytes) {
        own_ += bytes;
        held_ += bytes;
    }

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
    std::atomic<std::size_t>& held_;
    std::size_t own_ = 0;
    std::mutex ordering_;
    const FloatKernels& kernels_ = float_kernels();
};

namespace {

// Some rows, each of which counts as much as it weighs, and nothing where it lacks one of some numbers.
class CountedRows {
public:
    explicit CountedRows(const OrderedRows& rows) : rows_(rows), weights_(rows_at_once), scaled_(rows_at_once), ones_(rows_at_once, 1.0) {}

    std::int64_t size() const { return size_; }
    double weight(std::int64_t row) const { return weights_[static_cast<std::size_t>(row)]; }
    const double* ones() const { return ones_.data(); }

    // Finds how much each row counts.
    void begin(std::int64_t first, std::int64_t n, std::span<const OrderedRows::Number* const> lacking) {
        first_ = first;
        size_ = n;
        all_ = lacking.empty() && rows_.weights() == nullptr;
        std::copy_n(rows_.weights() == nullptr ? ones_.data() : rows_.weights() + first, n, weights_.data());
        for (const auto* number : lacking) kernels_.keep_marked(weights_.data(), number->known.data() + first, n);
    }

    // The same rows without those that lack another number.
    void without(const CountedRows& rows, const OrderedRows::Number& number) {
        first_ = rows.first_;
        size_ = rows.size_;
        all_ = false;
        std::copy_n(rows.weights_.data(), size_, weights_.data());
        kernels_.keep_marked(weights_.data(), number.known.data() + first_, size_);
    }

    // How many of the rows lack a number, whether they count or not.
    std::int64_t lacking(const OrderedRows::Number& number) const {
        if (number.known.empty()) return 0;
        const auto* known = number.known.data() + first_;
        return size_ - std::accumulate(known, known + size_, std::int64_t{0});
    }

    // Adds the products of the last column with all up to itself.
    void add_row(std::span<const double* const> columns, double* product) {
        const double* own = columns.back();
        if (!all_) {
            kernels_.multiply_into(scaled_.data(), own, weights_.data(), size_);
            own = scaled_.data();
        }
        kernels_.add_dots(product, own, columns.data(), static_cast<std::int64_t>(columns.size()), size_);
    }

    // Adds those of each column with all up to it; the first column is 1.
    void add_products(std::span<const double* const> columns, double* product) {
        if (size_ <= few_rows) {
            for (std::int64_t r = 0; r < size_; ++r) add_of_row(columns, r, weight(r), product);
            return;
        }
        *product++ += all_ ? static_cast<double>(size_) : kernels_.sum(weights_.data(), size_);
        for (std::size_t i = 1; i < columns.size(); ++i) {
            add_row(columns.first(i + 1), product);
            product += i + 1;
        }
    }

    // Takes away those of the rows that lack a number: few of them do.
    void take_lacking(const OrderedRows::Number& number, std::span<const double* const> columns, double* product) {
        const auto* known = number.known.data() + first_;
        for (std::int64_t first = 0; first < size_; first += few_rows) {
            const auto end = std::min(size_, first + few_rows);
            if (std::accumulate(known + first, known + end, std::int64_t{0}) == end - first) continue;
            for (auto r = first; r < end; ++r) {
                if (known[r] == 0 && weight(r) > 0) add_of_row(columns, r, -weight(r), product);
            }
        }
    }

private:
    void add_of_row(std::span<const double* const> columns, std::int64_t row, double weight, double* product) {
        row_.resize(columns.size());
        for (std::size_t i = 0; i < columns.size(); ++i) row_[i] = columns[i][row];
        const double* x = row_.data();
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const double own = weight * x[i];
            for (std::size_t k = 0; k <= i; ++k) product[k] += own * x[k];
            product += i + 1;
        }
    }

    const OrderedRows& rows_;
    std::int64_t first_ = 0, size_ = 0;
    bool all_ = true;  // rows count once
    std::vector<double> weights_, scaled_, ones_, row_;
    const FloatKernels& kernels_ = float_kernels();
};

// Numbers, and those of them that some rows lack.
struct Numbers {
    std::vector<const OrderedRows::Number*> all, lacking;

    Numbers(OrderedRows& rows, std::span<const std::int32_t> of) {
        for (const auto v : of) {
            all.push_back(&rows.number(v));
            if (!all.back()->known.empty()) lacking.push_back(all.back());
        }
    }

    // The columns of some rows, the first of them 1.
    void columns(std::int64_t first, const double* ones, std::vector<const double*>& found) const {
        found.assign(1, ones);
        for (const auto* number : all) found.push_back(number->apart.data() + first);
    }
};

// The sums of a family's numbers in a configuration, and its moments in those before.
class FamilySums {
public:
    // The numbers as sums have them, and the places of those of the family among them, in its order.
    FamilySums(Numbers numbers, std::vector<std::size_t> order)
        : numbers_(std::move(numbers)), order_(std::move(order)), products_(CellMoments::n_products(size() + 1)), means_(size()),
          taken_(size()) {
        moments_.d = static_cast<std::int32_t>(size());
    }

    void add(std::int64_t first, std::int64_t n, CountedRows& rows) {
        rows.begin(first, n, numbers_.lacking);
        numbers_.columns(first, rows.ones(), columns_);
        rows.add_products(columns_, products_.data());
    }

    // The same where the rows that know all its numbers but the last are counted, and the products of these are known.
    void add_last(std::int64_t first, CountedRows& others, std::span<const double> of_others, CountedRows& rows) {
        const auto& last = *numbers_.all.back();
        const auto lacking = others.lacking(last);
        numbers_.columns(first, others.ones(), columns_);
        if (lacking > 0) rows.without(others, last);
        if (lacking * few_lack > others.size()) return rows.add_products(columns_, products_.data());
        for (std::size_t i = 0; i < of_others.size(); ++i) products_[i] += of_others[i];
        if (lacking > 0) {
            others.take_lacking(last, std::span(columns_).first(size()), products_.data());
            for (std::size_t i = 1; i < size(); ++i) taken_[i - 1] += of_others[CellMoments::place(i, i)];
        }
        (lacking > 0 ? rows : others).add_row(columns_, products_.data() + of_others.size());
    }

    // All rows of a configuration, from the first to the end, have been added.
    void end(std::size_t cell, std::int64_t first, std::int64_t end, CountedRows& rows) {
        const double weight = products_[0];
        const auto before = moments_.products.size();
        bool far = false;
        if (weight > 0) {
            moments_.weights.push_back(weight);
            for (std::size_t i = 0; i < size(); ++i) means_[i] = product(i + 1, 0) / weight;
            for (std::size_t i = 0; i < size(); ++i) {
                const auto own = order_[i];
                moments_.means.push_back(numbers_.all[own]->origins[cell] + means_[own]);
                for (std::size_t k = 0; k <= i; ++k) {
                    moments_.products.push_back(product(own + 1, order_[k] + 1) - weight * means_[own] * means_[order_[k]]);
                }
                far = far || std::max(weight * means_[own] * means_[own], taken_[own]) > far_off * moments_.products.back();
            }
        }
        if (far) add_again(first, end, rows, moments_.products.data() + before);
        std::fill(products_.begin(), products_.end(), 0.0);
        std::fill(taken_.begin(), taken_.end(), 0.0);
    }

    const OwnedMoments& moments() const { return moments_; }

private:
    std::size_t size() const { return numbers_.all.size(); }

    double product(std::size_t i, std::size_t k) const { return products_[CellMoments::place(i, k)]; }

    // Makes the products anew of rows whose numbers are far from those of others in the configuration: rows that know a
    // number and lack another may have quite other values.
    void add_again(std::int64_t first, std::int64_t end, CountedRows& rows, double* into) {
        std::fill_n(into, CellMoments::n_products(size()), 0.0);
        for (; first < end; first += rows_at_once) {
            rows.begin(first, std::min(rows_at_once, end - first), numbers_.lacking);
            const auto apart = [&](std::size_t i, std::int64_t r) { return numbers_.all[i]->apart[first + r] - means_[i]; };
            for (std::int64_t r = 0; r < rows.size(); ++r) {
                double* product = into;
                for (std::size_t i = 0; i < size(); ++i) {
                    const double own = rows.weight(r) * apart(order_[i], r);
                    for (std::size_t k = 0; k <= i; ++k) *product++ += own * apart(order_[k], r);
                }
            }
        }
    }

    Numbers numbers_;
    std::vector<std::size_t> order_;
    std::vector<const double*> columns_;  // of the rows that are added
    std::vector<double> products_, means_;
    std::vector<double> taken_;  // sums of squares from which those of rows that lack the last were taken away
    OwnedMoments moments_;
};

// The numbers of a family, ascending.
std::vector<std::int32_t> numbers_of(const IncompleteRows& rows, const Families& families, std::size_t f) {
    std::vector<std::int32_t> found{families.children[f]};
    for (const auto p : families.parents_of(f)) {
        if (rows.is_number(p)) found.push_back(p);
    }
    std::ranges::sort(found);
    return found;
}

// The numbers that all families have: those of most are these and one more, where a search looks for one more parent.
std::vector<std::int32_t> shared_numbers(std::span<const std::vector<std::int32_t>> families) {
    auto found = families.front();
    for (const auto& other : families) {
        std::erase_if(found, [&](std::int32_t v) { return std::find(other.begin(), other.end(), v) == other.end(); });
    }
    return found;
}

// The sums of several families over the same ordered rows.
class SumsOfFamilies {
public:
    SumsOfFamilies(OrderedRows& rows, std::span<const std::vector<std::int32_t>> families)
        : rows_(rows), shared_numbers_(shared_numbers(families)), shared_(rows, shared_numbers_), counted_(rows), fewer_(rows),
          products_(CellMoments::n_products(shared_numbers_.size() + 1)) {
        for (const auto& family : families) {
            auto numbers = family;
            const bool one_more = families.size() > 2 && numbers.size() == shared_numbers_.size() + 1;
            if (one_more) {  // which comes last
                const auto other = [&](std::int32_t v) { return std::ranges::find(shared_numbers_, v) == shared_numbers_.end(); };
                const auto last = *std::ranges::find_if(family, other);
                numbers = shared_numbers_;
                numbers.push_back(last);
            }
            std::vector<std::size_t> order;
            for (const auto v : family) order.push_back(static_cast<std::size_t>(std::ranges::find(numbers, v) - numbers.begin()));
            sums_.emplace_back(Numbers(rows, numbers), std::move(order));
            one_more_.push_back(one_more);
        }
    }

    void run() {
        for (std::size_t cell = 0; cell < rows_.size(); ++cell) {
            const auto begin = rows_.begin(cell), end = rows_.end(cell);
            for (auto first = begin; first < end; first += rows_at_once) add(first, std::min(rows_at_once, end - first));
            for (auto& one : sums_) one.end(cell, begin, end, counted_);
        }
    }

    const OwnedMoments& moments(std::size_t family) const { return sums_[family].moments(); }

private:
    // Rows that all families look at while they are in the cache.
    void add(std::int64_t first, std::int64_t n) {
        for (std::size_t f = 0; f < sums_.size(); ++f) {
            if (!one_more_[f]) sums_[f].add(first, n, fewer_);
        }
        if (std::ranges::none_of(one_more_, [](char one) { return one != 0; })) return;
        counted_.begin(first, n, shared_.lacking);
        shared_.columns(first, counted_.ones(), columns_);
        std::fill(products_.begin(), products_.end(), 0.0);
        counted_.add_products(columns_, products_.data());
        for (std::size_t f = 0; f < sums_.size(); ++f) {
            if (one_more_[f]) sums_[f].add_last(first, counted_, products_, fewer_);
        }
    }

    OrderedRows& rows_;
    std::vector<std::int32_t> shared_numbers_;
    Numbers shared_;
    CountedRows counted_, fewer_;
    std::vector<FamilySums> sums_;
    std::vector<char> one_more_;
    std::vector<const double*> columns_;
    std::vector<double> products_;
};

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
    auto made = std::make_shared<OrderedRows>(rows_, labels, held_);
    const std::scoped_lock lock(keeping_);
    if (const auto at = kept_.find(labels); at != kept_.end()) return at->second.rows;
    by_use_.push_front(labels);
    kept_.emplace(labels, Kept{made, by_use_.begin()});
    while (held_ > most_held && by_use_.size() > 1) {  // rows that somebody else looks at are held as long as that
        kept_.erase(by_use_.back());
        by_use_.pop_back();
    }
    return made;
}

AvailableMoments::AvailableMoments(const IncompleteRows& rows) : rows_(rows), lacking_(rows.columns.size()) {
    std::map<std::vector<bool>, std::size_t> kinds;
    for (std::size_t v = 0; v < lacking_.size(); ++v) {
        const auto& column = rows.columns[v];
        if (!rows.is_number(static_cast<std::int32_t>(v)) || !column.has_missing) continue;
        std::vector<bool> gone(rows.n);
        with_codes(column, [&](const auto* codes) {
            for (std::size_t r = 0; r < rows.n; ++r) gone[r] = codes[r] == column.cardinality;
        });
        const auto kind = kinds.emplace(std::move(gone), kinds.size()).first->second;
        if (kind >= most_kinds) {
            lacking_.clear();
            return;
        }
        lacking_[v] = std::uint64_t{1} << kind;
    }
}

// The moments of all numbers over the complete rows of a pattern: those that are kept, or new ones that are to be filled; none
// if families have not been asked for often enough.
std::shared_ptr<PatternMoments> AvailableMoments::worth_keeping(const Pattern& pattern, double work) {
    const std::scoped_lock lock(keeping_);
    if (const auto kept = wholes_.find(pattern); kept != wholes_.end()) {
        kept->second.last = ++now_;
        return kept->second.whole;
    }
    if (work_.size() > most_asked) work_.clear();
    auto& so_far = work_[pattern];
    so_far += work;
    std::vector<std::int32_t> numbers;
    for (std::size_t v = 0; v < lacking_.size(); ++v) {
        const bool known = (lacking_[v] & ~pattern.lacking) == 0;
        if (known && rows_.is_number(static_cast<std::int32_t>(v))) numbers.push_back(static_cast<std::int32_t>(v));
    }
    double cells = 1;
    for (const auto v : pattern.labels) cells *= rows_.column(v).cardinality;
    const auto n_products = static_cast<double>(CellMoments::n_products(numbers.size()));
    const bool small = rows_of_cell * cells <= static_cast<double>(rows_.n) && cells * n_products <= most_of_whole;
    if (!small || so_far < n_products) return nullptr;
    return std::make_shared<PatternMoments>(PatternMoments{std::move(numbers), {}, {}});
}

void AvailableMoments::fill(const Pattern& pattern, const std::shared_ptr<PatternMoments>& whole) {
    const auto rows = ordered(pattern.labels);
    SumsOfFamilies sums(*rows, {&whole->numbers, 1});
    sums.run();
    whole->in_cells = sums.moments(0);
    whole->all = pooled(whole->in_cells.cells());
    const std::scoped_lock lock(keeping_);
    if (!wholes_.emplace(pattern, KeptWhole{whole, ++now_}).second) return;
    size_of_wholes_ += whole->in_cells.products.size();
    while (size_of_wholes_ > most_wholes && wholes_.size() > 1) {
        const auto oldest = std::ranges::min_element(wholes_, {}, [](const auto& one) { return one.second.last; });
        size_of_wholes_ -= oldest->second.whole->in_cells.products.size();
        wholes_.erase(oldest);
    }
}

void AvailableMoments::find(const Families& families, const Found& found, StopCheck check) {
    struct OfPattern {
        std::vector<std::size_t> families;
        double work = 0;
    };
    std::map<Pattern, OfPattern> by_pattern;
    for (std::size_t f = 0; f < families.size(); ++f) {
        Pattern pattern{{}, lacking_.empty() ? 0 : lacking_[static_cast<std::size_t>(families.children[f])]};
        double work = 2;  // of the child and of 1
        for (const auto p : families.parents_of(f)) {
            if (!rows_.is_number(p)) {
                pattern.labels.push_back(p);
                continue;
            }
            if (!lacking_.empty()) pattern.lacking |= lacking_[static_cast<std::size_t>(p)];
            ++work;
        }
        auto& of = by_pattern[std::move(pattern)];
        of.families.push_back(f);
        of.work += work;
    }
    struct Part {
        const Labels* labels;
        std::shared_ptr<PatternMoments> whole;  // none: rows are gone through
        std::vector<std::size_t> families;
    };
    std::vector<Part> parts;
    std::vector<std::pair<const Pattern*, std::shared_ptr<PatternMoments>>> empty;
    for (const auto& [pattern, of] : by_pattern) {
        auto whole = lacking_.empty() ? nullptr : worth_keeping(pattern, of.work);
        if (whole && whole->in_cells.d == 0) empty.emplace_back(&pattern, whole);
        for (const auto f : of.families) {
            const bool same = !parts.empty() && *parts.back().labels == pattern.labels && parts.back().whole == whole;
            if (!same || parts.back().families.size() == (whole ? families_of_whole : families_at_once)) parts.push_back({&pattern.labels, whole, {}});
            parts.back().families.push_back(f);
        }
    }
    const auto fill_whole = [&](std::int64_t at) {
        const auto& [pattern, whole] = empty[static_cast<std::size_t>(at)];
        fill(*pattern, whole);
    };
    run_tasks(static_cast<std::int64_t>(empty.size()), fill_whole, check);
    const auto find_part = [&](std::int64_t at) {
        const auto& [labels, whole, of] = parts[static_cast<std::size_t>(at)];
        if (whole) return found(of, *whole);
        std::vector<std::vector<std::int32_t>> numbers;
        for (const auto f : of) numbers.push_back(numbers_of(rows_, families, f));
        const auto rows = ordered(*labels);
        SumsOfFamilies sums(*rows, numbers);
        sums.run();
        for (std::size_t i = 0; i < of.size(); ++i) {
            const auto& moments = sums.moments(i);
            found(std::span(of).subspan(i, 1), {std::move(numbers[i]), moments, pooled(moments.cells())});
        }
    };
    run_tasks(static_cast<std::int64_t>(parts.size()), find_part, check);
}

}  // namespace fishernet
