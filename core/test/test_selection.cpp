#include <algorithm>
#include <cmath>

#include "base/chi_square.hpp"
#include "base/draws.hpp"
#include "selection/gram.hpp"
#include "selection/halving.hpp"
#include "selection/swap_search.hpp"
#include "test/check.hpp"
#include "test/data.hpp"

using namespace fishernet;

namespace {

const std::vector<double> theta{0.3, 0.7, 0.2, 0.3, 0.5, 0.1, 0.6, 0.3};
const std::vector<double> group{1, 1, 0.3, 0.3, 0.3, 0.7, 0.7, 0.7};

// Theorem 1 of Leppä-aho et al. (2020) for the network of two variables with these numbers.
double kernel(const CellRows& rows, std::int64_t x, std::int64_t y) {
    double sum = 0;
    for (std::size_t c = 0; c < 2; ++c) {
        const auto a = rows.at(c, x), b = rows.at(c, y);
        if (rows.group_start(c, a) != rows.group_start(c, b)) continue;
        sum += ((a == b ? 1 / theta[a] : 0) - 1) / group[a];
    }
    return sum;
}

double distance(const CellRows& rows, const std::vector<std::int64_t>& chosen) {
    const auto n = static_cast<double>(rows.n_rows), k = static_cast<double>(chosen.size());
    double sum = 0;
    for (std::int64_t x = 0; x < rows.n_rows; ++x) {
        for (std::int64_t y = 0; y < rows.n_rows; ++y) sum += kernel(rows, x, y) / (n * n);
        for (const auto y : chosen) sum -= 2 * kernel(rows, x, y) / (n * k);
    }
    for (const auto x : chosen) {
        for (const auto y : chosen) sum += kernel(rows, x, y) / (k * k);
    }
    return sum;
}

void check_chi_square() {
    for (const double x : {1e-9, 0.5, 3.0, 40.0, 1e3, 1e5}) {  // closed forms for 2, 4 and 1 degrees of freedom
        CHECK(std::abs(ChiSquareTail(2).log_probability(x) + x / 2) <= 1e-13 * x);
        CHECK(std::abs(ChiSquareTail(4).log_probability(x) - (std::log1p(x / 2) - x / 2)) <= 1e-12 * (1 + x));
        if (x < 1000) {
            CHECK(std::abs(ChiSquareTail(1).log_probability(x) - std::log(std::erfc(std::sqrt(x / 2)))) <= 1e-12 * (1 + x));
        }
    }
    CHECK(ChiSquareTail(0).log_probability(5) == 0 && ChiSquareTail(3).log_probability(0) == 0);
}

void check_search(const CellRows& rows) {
    std::vector<double> inverse_theta, inverse_group, counts(rows.n_cells(), 0.0);
    for (std::size_t i = 0; i < theta.size(); ++i) {
        inverse_theta.push_back(1 / theta[i]);
        inverse_group.push_back(1 / group[i]);
    }
    for (const auto cell : rows.cells) counts[cell] += 1;
    std::vector<std::int64_t> kind_of;
    for (std::int64_t i = 0; i < rows.n_rows; ++i) kind_of.push_back(i);  // as if all rows were distinct
    const Target target{rows, counts, static_cast<double>(rows.n_rows), 5};
    SwapSearch search(rows, kind_of, squared_distance(target, inverse_theta, inverse_group), 5);
    search.draw_start(7, 20, nullptr);
    CHECK(std::abs(search.value() - distance(rows, search.rows())) < 1e-10);
    while (search.visit(0, 5, nullptr) > 0) CHECK(std::abs(search.value() - distance(rows, search.rows())) < 1e-10);
    for (std::size_t position = 0; position < 5; ++position) {  // no exchange betters it
        for (std::int64_t row = 0; row < rows.n_rows; ++row) {
            auto other = search.rows();
            if (std::find(other.begin(), other.end(), row) != other.end()) continue;
            other[position] = row;
            CHECK(distance(rows, other) > search.value() - 1e-10);
        }
    }
}

CellRows rows_of(const TestTable& table) {
    const std::vector<FlatConditional> list{{0, 2, 1, {}, {}, {}, {}}, {1, 3, 2, {0}, {1}, {}, {}}};
    return find_cell_rows(table.columns, list, nullptr);
}

}  // namespace

TEST(gram_matrices_are_sums_over_conditionals) {
    const TestTable table(3, 60, {2, 3});
    const CellRows rows = rows_of(table);
    std::vector<double> same, other;
    for (std::size_t i = 0; i < theta.size(); ++i) {
        same.push_back((1 / theta[i] - 1) / group[i]);
        other.push_back(-1 / group[i]);
    }
    std::vector<double> matrix(3600), terms(7200);
    gram(rows, rows, {other, same}, matrix.data(), nullptr);
    gram_terms(rows, rows, {other, same}, terms.data(), nullptr);
    for (std::int64_t x = 0; x < 60; ++x) {
        for (std::int64_t y = 0; y < 60; ++y) {
            const auto at = static_cast<std::size_t>(60 * x + y);
            CHECK(std::abs(matrix[at] - kernel(rows, x, y)) < 1e-12);
            CHECK(matrix[at] == terms[at] + terms[3600 + at]);
        }
    }
}

TEST(chi_square_tails) { check_chi_square(); }

TEST(swaps_never_raise_the_criterion) {
    const TestTable table(3, 60, {2, 3});
    check_search(rows_of(table));
}

TEST(rows_are_halved_alike_by_their_points_and_by_the_matrix_of_these) {
    constexpr std::size_t n = 64, width = 3;
    std::vector<double> points(n * width), inner(n * n), gaussian(n * n), draws(2 * n / 2);
    Draws random(5, 1);
    for (auto& value : points) value = static_cast<double>(random.below(1000)) / 100;
    for (auto& value : draws) value = static_cast<double>(random.below(1000)) / 1000;
    for (std::size_t x = 0; x < n; ++x) {
        for (std::size_t y = 0; y < n; ++y) {
            double squared = 0;
            for (std::size_t i = 0; i < width; ++i) {
                const double a = points[x * width + i], b = points[y * width + i];
                inner[x * n + y] += a * b;
                squared += (a - b) * (a - b);
            }
            gaussian[x * n + y] = std::exp(-squared / 8);
        }
    }
    std::vector<std::int64_t> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::int64_t>((i * 5) % n);
    const Halving how{2, 2, 0.5, false};
    auto by_matrix = order, by_points = order;
    halve_rows(MatrixKernel{inner, n}, by_matrix, how, draws, nullptr);
    halve_rows(InnerProduct{{points, width}}, by_points, how, draws, nullptr);
    CHECK(by_matrix == by_points && by_matrix != order);
    by_matrix = by_points = order;
    halve_rows(MatrixKernel{gaussian, n}, by_matrix, how, draws, nullptr);
    halve_rows(GaussianKernel{{points, width}, 2}, by_points, how, draws, nullptr);
    CHECK(by_matrix == by_points && by_matrix != order);
    std::sort(by_points.begin(), by_points.begin() + n / 2);  // of two parts, each keeps its rows
    std::sort(order.begin(), order.begin() + n / 2);
    CHECK(std::equal(order.begin(), order.begin() + n / 2, by_points.begin()));
}

TEST(a_subset_of_all_is_all) {
    auto drawn = draw_subset(100, 100, 1, 2);
    std::sort(drawn.begin(), drawn.end());
    for (std::int64_t i = 0; i < 100; ++i) CHECK(drawn[static_cast<std::size_t>(i)] == i);
}

TEST(halves_balance_their_features) {
    const TestTable table(4, 4096, {2, 3});
    const CellRows rows = rows_of(table);
    std::vector<double> inverse_theta, inverse_group;
    for (std::size_t i = 0; i < theta.size(); ++i) {
        inverse_theta.push_back(1 / theta[i]);
        inverse_group.push_back(1 / group[i]);
    }
    std::vector<std::int64_t> order(4096);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
    auto halves = order;
    halve_rows(rows, {inverse_theta, inverse_group}, halves, {1, 3, 0.5, false}, 9, nullptr);
    auto sorted = halves;
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted == order);
    double most = 0;  // difference of the counts of a cell between two halves, of which one at random would have 30
    for (std::uint32_t cell = 0; cell < 8; ++cell) {
        double difference = 0;
        for (std::size_t i = 0; i < halves.size(); ++i) {
            for (std::size_t c = 0; c < 2; ++c) {
                if (rows.at(c, halves[i]) == cell) difference += i < halves.size() / 2 ? 1 : -1;
            }
        }
        most = std::max(most, std::abs(difference));
    }
    CHECK(most < 60);
    auto none = order;
    halve_rows(rows, {inverse_theta, inverse_group}, none, {1, 0, 0.5, false}, 9, nullptr);
    CHECK(none == order);
}
