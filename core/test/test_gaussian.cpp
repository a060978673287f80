#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/draws.hpp"
#include "base/float_kernels.hpp"
#include "gaussian/blanket_search.hpp"
#include "gaussian/cell_moments.hpp"
#include "gaussian/fractional.hpp"
#include "gaussian/moment_store.hpp"
#include "gaussian/regression.hpp"
#include "test/check.hpp"
#include "test/data.hpp"

using namespace fishernet;

namespace {

// Products of n rows of d columns that lean on one another, scaled to 1 on the diagonal.
std::vector<double> products_of(int d, int n, std::uint32_t task) {
    Draws draws(3, task);
    std::vector<double> x(static_cast<std::size_t>(n * d));
    for (int i = 0; i < n; ++i) {
        for (int c = 0; c < d; ++c) {
            double sum = 0;
            for (int k = 0; k < 4; ++k) sum += static_cast<double>(draws.below(2001)) / 1000 - 1;
            x[i * d + c] = sum + (c > 0 ? 0.7 * x[i * d + c - 1] : 0) - (c > 2 ? 0.5 * x[i * d + c - 3] : 0);
        }
    }
    std::vector<double> products(static_cast<std::size_t>(d * d), 0.0);
    for (int i = 0; i < n; ++i) {
        for (int a = 0; a < d; ++a) {
            for (int b = 0; b < d; ++b) products[a * d + b] += x[i * d + a] * x[i * d + b];
        }
    }
    std::vector<double> scaled(products.size());
    for (int a = 0; a < d; ++a) {
        for (int b = 0; b < d; ++b) scaled[a * d + b] = products[a * d + b] / std::sqrt(products[a * d + a] * products[b * d + b]);
    }
    return scaled;
}

// The determinant of some columns' products, by elimination with pivots.
double determinant(Products products, std::vector<std::int32_t> set) {
    const auto q = set.size();
    std::vector<std::vector<double>> a(q, std::vector<double>(q));
    for (std::size_t i = 0; i < q; ++i) {
        for (std::size_t j = 0; j < q; ++j) a[i][j] = products.row(set[i])[set[j]];
    }
    double value = 1;
    for (std::size_t i = 0; i < q; ++i) {
        std::size_t pivot = i;
        for (std::size_t j = i; j < q; ++j) pivot = std::fabs(a[j][i]) > std::fabs(a[pivot][i]) ? j : pivot;
        std::swap(a[i], a[pivot]);
        value *= pivot == i ? a[i][i] : -a[i][i];
        for (std::size_t j = i + 1; j < q; ++j) {
            const double by = a[j][i] / a[i][i];
            for (std::size_t k = i; k < q; ++k) a[j][k] -= by * a[i][k];
        }
    }
    return value;
}

double residual(Products products, std::int32_t child, std::vector<std::int32_t> members) {
    const double below = determinant(products, members);
    members.push_back(child);
    return determinant(products, members) / below;
}

bool near(double a, double b) { return std::fabs(a - b) <= 1e-10 * (1 + std::fabs(b)); }

// After thousands of moves a regression knows what a direct evaluation says.
void moves_leave_no_trace() {
    const int d = 14;
    const auto values = products_of(d, 60, 1);
    const Products products{values, d, d};
    const std::vector<std::int32_t> columns{0, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13};
    Regression regression(products, columns);
    const std::int32_t child = 5;
    regression.begin(child);
    Draws draws(11, 0);
    for (int move = 0; move < 4000; ++move) {
        const auto place = static_cast<std::int32_t>(draws.below(static_cast<std::uint32_t>(columns.size())));
        const auto members = regression.members();
        const auto at = std::find(members.begin(), members.end(), place);
        if (at == members.end()) {
            regression.add(place);
        } else {
            regression.remove(static_cast<std::int32_t>(at - members.begin()));
        }
        std::vector<std::int32_t> now;
        for (const auto member : regression.members()) now.push_back(columns[member]);
        CHECK(near(regression.residual(), residual(products, child, now)));
        for (std::int32_t m = 0; m < regression.size(); ++m) {
            auto without = now;
            without.erase(without.begin() + m);
            CHECK(near(regression.residual_without(m), residual(products, child, without)));
        }
        for (std::int32_t v = 0; v < regression.n_columns(); ++v) {
            if (std::find(now.begin(), now.end(), columns[v]) != now.end()) {
                CHECK(std::isinf(regression.rest(v)));
                continue;
            }
            CHECK(near(regression.rest(v), residual(products, columns[v], now)));
            auto with = now;
            with.push_back(columns[v]);
            CHECK(near(regression.residual_with(v), residual(products, child, with)));
        }
    }
}

// All sets in one walk, and families one by one, against determinants.
void sets_and_families_are_their_determinants() {
    const int d = 9;
    const auto values = products_of(d, 40, 2);
    const Products products{values, d, d};
    const std::vector<double> of_set{0.0, -1.0, 2.0, 0.5, -3.0, 1.5, 2.5};
    const BlanketScore score{of_set, 7.5};
    const auto all = subset_scores(products, score, nullptr);
    for (std::size_t mask = 0; mask < all.size(); ++mask) {
        std::vector<std::int32_t> set;
        for (std::int32_t v = 0; v < d; ++v) {
            if (mask >> v & 1) set.push_back(v);
        }
        const bool small = set.size() < of_set.size();
        CHECK(near(all[mask], small ? of_set[set.size()] - 7.5 * std::log(determinant(products, set)) : 0.0));
    }
    const std::vector<std::int32_t> children{4, 0, 8}, parents{1, 7, 8, 0, 2, 3, 5, 7};
    const std::vector<std::int64_t> offsets{0, 3, 3, 8};
    const auto scores = family_scores(products, score, Families{children, offsets, parents}, nullptr);
    const auto term = [&](std::vector<std::int32_t> set) { return of_set[set.size()] - 7.5 * std::log(determinant(products, set)); };
    CHECK(near(scores[0], term({1, 4, 7, 8}) - term({1, 7, 8})));
    CHECK(near(scores[1], term({0})));
    CHECK(near(scores[2], term({0, 2, 3, 5, 7, 8}) - term({0, 2, 3, 5, 7})));
}

// A column that is the sum of two others is found, in blankets and in sets.
void collinear_columns_are_found() {
    const int d = 3;
    const double r = std::sqrt(0.5);
    const std::vector<double> values{1, 0, r, 0, 1, r, r, r, 1};
    const Products products{values, d, 1000};
    const std::vector<double> of_size{0, 0, 0};
    const BlanketScore score{of_size, 100};
    bool met = false;
    try {
        find_blankets(products, score, 0, d, nullptr);
    } catch (const Collinear& found) {
        met = found.columns.size() == 3;
    }
    CHECK(met);
    const std::vector<double> of_set{0, 0, 0, 0};
    met = false;
    try {
        subset_scores(products, {of_set, 1}, nullptr);
    } catch (const Collinear& found) {
        met = found.columns.size() == 3;
    }
    CHECK(met);
}

// A climb ends where no edge betters the sum of direct scores, and does not depend on what it forgot.
void climbs_end_at_the_top() {
    const int d = 12;
    const auto values = products_of(d, 80, 5);
    const Products products{values, d, d};
    std::vector<double> of_size;
    for (int p = 0; p < d; ++p) of_size.push_back(-2.0 * p);
    const BlanketScore score{of_size, 40};
    std::vector<std::int32_t> edges;
    for (std::int32_t a = 0; a < d; ++a) {
        for (std::int32_t b = a + 1; b < d; ++b) edges.insert(edges.end(), {a, b});
    }
    auto chosen = climb_edges(products, score, edges, nullptr);
    const auto total = [&](const std::vector<bool>& graph) {
        double sum = 0;
        for (std::int32_t v = 0; v < d; ++v) {
            std::vector<std::int32_t> near_v;
            for (std::size_t e = 0; e < graph.size(); ++e) {
                if (!graph[e]) continue;
                if (edges[2 * e] == v) near_v.push_back(edges[2 * e + 1]);
                if (edges[2 * e + 1] == v) near_v.push_back(edges[2 * e]);
            }
            sum += score(static_cast<std::int32_t>(near_v.size()), residual(products, v, near_v));
        }
        return sum;
    };
    const double top = total(chosen);
    CHECK(std::count(chosen.begin(), chosen.end(), true) > 5);
    for (std::size_t e = 0; e < chosen.size(); ++e) {
        chosen[e] = !chosen[e];
        CHECK(total(chosen) <= top + 1e-8);
        chosen[e] = !chosen[e];
    }
}

}  // namespace

TEST(regression_moves_leave_no_trace) { moves_leave_no_trace(); }
TEST(gaussian_sets_and_families_are_their_determinants) { sets_and_families_are_their_determinants(); }
TEST(collinear_columns_are_found) { collinear_columns_are_found(); }
TEST(climbs_of_edges_end_at_the_top) { climbs_end_at_the_top(); }

// Sums in the order of the rows have one result, whichever instruction set adds them.
TEST(products_of_cells_are_those_of_their_rows) {
    Draws draws(5, 1);
    const std::int64_t width = 13, n = 400;
    std::vector<double> values(static_cast<std::size_t>(width * n)), weights(static_cast<std::size_t>(n));
    std::vector<std::int64_t> cells(static_cast<std::size_t>(n));
    for (double& value : values) value = static_cast<double>(draws.below(2001)) / 7 - 100;
    for (double& weight : weights) weight = static_cast<double>(draws.below(4));
    for (auto& cell : cells) cell = draws.below(3) * 2;  // odd cells have no rows
    for (std::size_t d = 0; d <= 13; ++d) {
        std::vector<std::int32_t> members(d);
        std::iota(members.begin(), members.end(), static_cast<std::int32_t>(13 - d));
        for (const bool weighted : {false, true}) {
            const NumberBlock block{values, cells, weighted ? std::span<const double>(weights) : std::span<const double>(),
                                    width, members};
            std::vector<double> centres(6 * d, 1.5), products(6 * d * d, 2.0), wanted(products);
            add_products(block, centres, products);
            for (std::size_t r = 0; r < static_cast<std::size_t>(n); ++r) {
                const auto at = static_cast<std::size_t>(cells[r]) * d * d;
                const double* x = values.data() + r * static_cast<std::size_t>(width) + (13 - d);
                for (std::size_t i = 0; i < d; ++i) {
                    const double scaled = (weighted ? weights[r] : 1.0) * (x[i] - 1.5);
                    for (std::size_t k = 0; k <= i; ++k) wanted[at + i * d + k] += scaled * (x[k] - 1.5);
                }
            }
            bool same = true;
            for (std::size_t cell = 0; cell < 6; ++cell) {
                for (std::size_t i = 0; i < d; ++i) {
                    for (std::size_t k = 0; k <= i; ++k) {
                        const double value = wanted[(cell * d + i) * d + k];
                        same = same && products[(cell * d + i) * d + k] == value && products[(cell * d + k) * d + i] == value;
                    }
                }
            }
            CHECK(same);
        }
    }
}

void tile(const FloatKernels& kernels) {
    std::vector<double> left(80), right(80), into(64, 1.0), wanted(into);
    for (std::size_t i = 0; i < 80; ++i) left[i] = 1.0 / static_cast<double>(i + 1), right[i] = std::sqrt(static_cast<double>(i));
    kernels.add_tile(into.data() + 2, 12, left.data(), 9, right.data(), 9, 7);
    for (std::size_t r = 0; r < 7; ++r) {
        for (std::size_t i = 0; i < 4; ++i) {
            for (std::size_t j = 0; j < 8; ++j) wanted[2 + i * 12 + j] += left[r * 9 + i] * right[r * 9 + j];
        }
    }
    CHECK(into == wanted);
}

TEST(tiles_have_one_result_on_every_instruction_set) {
    for (const Isa isa : {Isa::portable, Isa::avx2, Isa::avx512}) {
        if (supports(isa)) tile(Variants<FloatKernels>::of(isa));
    }
}

// What is added up of moments that are held is what is counted.
void held_within(const LabelMoments& held, const LabelMoments& counted) {
    const auto some = within(held, counted.labels, std::span(counted.numbers).last(2));
    CHECK(some.states == counted.states && some.cardinalities == counted.cardinalities);
    bool same = some.moments.weights == counted.moments.weights;
    for (std::size_t cell = 0; cell < some.moments.weights.size(); ++cell) {
        for (std::size_t i = 0; i < 2; ++i) {
            same = same && std::fabs(some.moments.means[cell * 2 + i] - counted.moments.means[cell * 3 + i + 1]) < 1e-12;
            for (std::size_t k = 0; k <= i; ++k) {
                same = same && std::fabs(some.moments.products[cell * 3 + CellMoments::place(i, k)] -
                                         counted.moments.products[cell * 6 + CellMoments::place(i + 1, k + 1)]) < 1e-9;
            }
        }
    }
    CHECK(same);
}

TEST(dots_of_several_columns_are_those_of_each_on_every_instruction_set) {
    for (const auto isa : {Isa::portable, Isa::avx2, Isa::avx512}) {
        if (!supports(isa)) continue;
        const auto& k = Variants<FloatKernels>::of(isa);
        for (const std::int64_t n : {1, 7, 8, 9, 64, 131}) {
            std::vector<double> a, columns;
            for (std::int64_t i = 0; i < n; ++i) a.push_back(std::sin(static_cast<double>(i)));
            for (std::int64_t i = 0; i < 7 * n; ++i) columns.push_back(std::cos(static_cast<double>(i * i)));
            std::vector<const double*> b;
            for (std::int64_t c = 0; c < 7; ++c) b.push_back(columns.data() + c * n);
            for (std::int64_t m = 1; m <= 7; ++m) {
                std::vector<double> found(8, 0.5);
                k.add_dots(found.data(), a.data(), b.data(), m, n);
                for (std::int64_t c = 0; c < 8; ++c) {
                    CHECK(found[c] == 0.5 + (c < m ? FloatKernels::portable.dot(a.data(), b[c], n) : 0.0));
                }
            }
        }
    }
}

TEST(moments_within_labels_are_those_of_the_rows_of_each_configuration) {
    const TestTable table(7, 500, {2, 3, 4});
    Draws draws(11, 0);
    constexpr std::size_t n = 500, d = 3;
    std::vector<double> values(n * d), weights(n);
    for (auto& value : values) value = static_cast<double>(draws.below(2001)) / 1000 - 1;
    for (auto& weight : weights) weight = static_cast<double>(1 + draws.below(5));
    const std::vector<std::int32_t> labels{0, 2};
    for (const bool weighted : {false, true}) {
        const std::vector<std::int32_t> numbers{1, 3, 4};  // only their places are looked at
        const LabelledNumbers rows{table.columns.columns, numbers, values, weighted ? std::span<const double>(weights) : std::span<const double>()};
        const std::vector<MomentsAsked> asked{{labels, numbers}, {{}, numbers}};
        const auto found = moments_within(rows, asked, nullptr);
        CHECK(found[1].moments.weights.size() == 1 && found[1].states.empty());
        double total = 0;
        for (std::size_t cell = 0; cell < found[0].moments.weights.size(); ++cell) {
            std::vector<std::size_t> members;
            for (std::size_t r = 0; r < n; ++r) {
                if (table.codes[0][r] == found[0].states[2 * cell] && table.codes[2][r] == found[0].states[2 * cell + 1]) members.push_back(r);
            }
            double weight = 0, means[d] = {}, products[d][d] = {};
            for (const auto r : members) weight += weighted ? weights[r] : 1;
            for (std::size_t i = 0; i < d; ++i) {
                for (const auto r : members) means[i] += (weighted ? weights[r] : 1) * values[r * d + i] / weight;
            }
            bool same = found[0].moments.weights[cell] == weight;
            for (std::size_t i = 0; i < d; ++i) {
                same = same && std::fabs(found[0].moments.means[cell * d + i] - means[i]) < 1e-12;
                for (std::size_t k = 0; k <= i; ++k) {
                    for (const auto r : members) {
                        products[i][k] += (weighted ? weights[r] : 1) * (values[r * d + i] - means[i]) * (values[r * d + k] - means[k]);
                    }
                    same = same && std::fabs(found[0].moments.products[cell * 6 + CellMoments::place(i, k)] - products[i][k]) < 1e-9;
                }
            }
            CHECK(same);
            total += weight;
        }
        CHECK(total == found[1].moments.weights[0]);
        held_within(found[0], moments_within(rows, std::vector<MomentsAsked>{{{2}, numbers}}, nullptr)[0]);
    }
}

// Whether two have the same labels and configurations, and moments alike of some numbers.
bool alike(const LabelMoments& a, const LabelMoments& b, std::span<const std::int32_t> numbers) {
    const auto of_a = within(a, a.labels, numbers).moments, of_b = within(b, b.labels, numbers).moments;
    const auto near = [](double x, double y) { return std::fabs(x - y) < 1e-8; };
    return a.labels == b.labels && a.states == b.states && of_a.weights == of_b.weights &&
           std::ranges::equal(of_a.means, of_b.means, near) && std::ranges::equal(of_a.products, of_b.products, near);
}

TEST(moments_that_a_store_has_are_those_that_are_counted) {
    // few rows, whose sets of labels are too rich to be joined, and many, whose rows are gone through in parts
    for (const std::size_t n : {300, 20000}) {
        const TestTable table(5, static_cast<std::int64_t>(n), {2, 3, 4, 2, 5, 3});
        Draws draws(3, 0);
        constexpr std::size_t d = 4;
        std::vector<double> values(n * d);
        for (auto& value : values) value = static_cast<double>(draws.below(2001)) / 1000 - 1;
        const std::vector<std::int32_t> numbers{6, 7, 8, 9};  // only their places are looked at
        const LabelledNumbers rows{table.columns.columns, numbers, values, {}};
        std::size_t counted = 0;
        const auto count = [&](std::span<const MomentsAsked> asked) {
            counted += asked.size();
            return moments_within(rows, asked, nullptr);
        };
        MomentStore store({2, 3, 4, 2, 5, 3, 1, 1, 1, 1}, numbers, static_cast<double>(n), count);
        std::size_t n_asked = 0;
        for (int round = 0; round < 60; ++round) {
            std::vector<MomentsAsked> asked;
            for (std::uint64_t set = 0; set < 12; ++set) {
                const auto subset = draws.below(64), some = draws.below(15) + 1;
                asked.emplace_back();
                for (std::int32_t v = 0; v < 6; ++v) {
                    if (subset >> v & 1) asked.back().labels.push_back(v);
                }
                for (std::int32_t v = 0; v < 4; ++v) {
                    if (some >> v & 1) asked.back().numbers.push_back(6 + v);
                }
                if (std::ranges::count(asked, asked.back().labels, &MomentsAsked::labels) > 1) asked.pop_back();
            }
            std::vector<int> given(asked.size());
            bool same = true;
            const auto check = [&](const MomentsFound& found) {
                for (std::size_t i = 0; i < found.places.size(); ++i) {
                    const auto& of = asked[found.places[i]];
                    ++given[found.places[i]];
                    same = same && alike(*found.moments[i], moments_within(rows, {{of}}, nullptr)[0], of.numbers);
                }
            };
            store.find(asked, check, nullptr);
            CHECK(same && std::ranges::count(given, 1) == static_cast<std::ptrdiff_t>(asked.size()));
            n_asked += asked.size();
        }
        CHECK(counted < n_asked / 2);
    }
}
