"""Cut points against NumPy's quantiles and against counting by hand."""

from __future__ import annotations

import math
from itertools import combinations, pairwise
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from fishernet import SchemaError, Table
from fishernet.data import Blocks
from fishernet.data.encoding.bins import (
    LEAST_AUTO,
    MOST_AUTO,
    equal_width_cuts,
    interval_labels,
    quantile_cuts,
)
from fishernet.data.encoding.histogram import description_length_cuts
from fishernet.data.variable import Continuous

values = st.one_of(
    st.integers(-5, 5).map(float), st.floats(-1e6, 1e6), st.floats(allow_nan=False, allow_infinity=False)
)
samples = st.lists(values, min_size=2, max_size=60)
ascending = st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=6, unique=True).map(sorted)


def distinct(data: list[float]) -> tuple[np.ndarray, np.ndarray]:
    found, counts = np.unique(np.array(data) + 0.0, return_counts=True)
    return found, counts


@given(samples, st.integers(1, 8))
def test_quantile_cuts_are_numpys_inverted_distribution_function(data: list[float], n_bins: int) -> None:
    found, counts = distinct(data)
    if len(found) <= n_bins:
        return
    shares = np.array([j / n_bins for j in range(1, n_bins)])
    expected = np.quantile(np.array(data) + 0.0, shares, method="inverted_cdf") if n_bins > 1 else np.array([])
    # a cut at the largest value would leave the last bin empty; it moves to the value before
    expected = np.unique(np.minimum(expected, found[-2]))
    # NumPy multiplies shares in floating point, and at a tie may go one value further
    if all(abs(share * len(data) - round(share * len(data))) > 1e-9 for share in shares):
        assert quantile_cuts(found, counts, n_bins) == expected.tolist()


@given(samples, st.integers(2, 8))
def test_quantile_cuts_by_counting(data: list[float], n_bins: int) -> None:
    found, counts = distinct(data)
    if len(found) <= n_bins:
        return
    expected = []
    for j in range(1, n_bins):
        reached = [v for v in found if n_bins * sum(x <= v for x in data) >= j * len(data)]
        expected.append(min(reached[0], found[-2]))
    assert quantile_cuts(found, counts, n_bins) == sorted(set(expected))


@given(samples, st.integers(2, 8))
def test_no_quantile_bin_is_empty_and_there_are_at_least_two(data: list[float], n_bins: int) -> None:
    found, counts = distinct(data)
    if len(found) <= n_bins:
        return
    cuts = quantile_cuts(found, counts, n_bins)
    sizes = np.bincount(np.searchsorted(cuts, data, side="left"), minlength=len(cuts) + 1)
    assert 2 <= len(sizes) <= n_bins
    assert (sizes > 0).all()


def test_quantile_bins_are_equally_full_where_values_differ() -> None:
    found, counts = distinct([float(x) for x in range(12)])
    assert quantile_cuts(found, counts, 4) == [2.0, 5.0, 8.0]
    assert quantile_cuts(found, counts, 1) == []


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 4)), min_size=1, max_size=20), st.integers(1, 5))
def test_weights_count_as_repeated_rows(rows: list[tuple[int, int]], n_bins: int) -> None:
    repeated = [value for value, weight in rows for _ in range(weight)]
    if not repeated:
        return
    columns = {"x": [value for value, _ in rows], "n": [weight for _, weight in rows]}
    for binning in ("quantile", "equal-width"):
        weighted = Table.from_frame(columns, bins=n_bins, weights="n", binning=binning)
        plain = Table.from_frame({"x": repeated}, bins=n_bins, binning=binning)
        if plain.variables[0].cuts is not None and weighted.variables[0].cuts is not None:  # few numbers are states
            assert weighted.variables == plain.variables


@given(samples, st.integers(1, 8))
def test_equal_width_cuts_are_numpys_linspace(data: list[float], n_bins: int) -> None:
    found = distinct(data)[0]
    lowest, highest = float(found[0]), float(found[-1])
    if len(found) <= n_bins or highest / 2 - lowest / 2 > 1e300:
        return
    cuts = equal_width_cuts(lowest, highest, n_bins)
    expected = np.linspace(lowest, highest, n_bins + 1)[1:-1]
    if len(cuts) == len(expected):
        np.testing.assert_allclose(cuts, expected, rtol=1e-12, atol=1e-12 * max(abs(lowest), abs(highest)))
    else:  # the range is too narrow for so many numbers
        assert (highest - lowest) / n_bins < 4 * np.spacing(max(abs(lowest), abs(highest)))
    assert all(lowest <= cut < highest for cut in cuts)


def test_the_widest_range_does_not_overflow() -> None:
    assert equal_width_cuts(-1.7e308, 1.7e308, 2) == [0.0]


@given(ascending)
def test_labels_are_unique_and_show_cuts_in_order(cuts: list[float]) -> None:
    labels = interval_labels(cuts)
    assert len(labels) == len(cuts) + 1
    assert len(set(labels)) == len(labels)
    shown = [float(label.removeprefix("<= ").partition(", ")[2].rstrip("]") or label[3:]) for label in labels[:-1]]
    assert shown == sorted(shown)
    np.testing.assert_allclose(shown, cuts, rtol=1e-5)


@pytest.mark.parametrize(
    ("cuts", "labels"),
    [
        ([], ["any"]),
        ([2.5], ["<= 2.5", "> 2.5"]),
        ([2.5, 4.0, 7.0], ["<= 2.5", "(2.5, 4]", "(4, 7]", "> 7"]),
        ([-1234567.0, 0.1], ["<= -1234567", "(-1234567, 0.1]", "> 0.1"]),
        ([1 / 3, 2 / 3], ["<= 0.333333", "(0.333333, 0.666667]", "> 0.666667"]),
        ([1.0, 1.0000001], ["<= 1", "(1, 1.0000001]", "> 1.0000001"]),
        ([1e-20, 1e20], ["<= 1e-20", "(1e-20, 1e+20]", "> 1e+20"]),
        ([1.79769313485e308], ["<= 1.79769e+308", "> 1.79769e+308"]),
    ],
)
def test_labels_read_well(cuts: list[float], labels: list[str]) -> None:
    assert interval_labels(cuts) == labels


@pytest.mark.parametrize("cut", [1.7976931348500002e308, 1.7976931348623157e308, -1.7976931348623157e308])
@pytest.mark.parametrize("apart", [1e-5, 1e-8, 1e-10, 1e-12, 1e-15])
def test_labels_near_the_largest_number_are_finite(cut: float, apart: float) -> None:
    """Rounded to fewer digits, the largest numbers of all read as infinity."""
    cuts = sorted([cut, cut * (1 - apart)])
    for label, exact in zip(interval_labels(cuts), cuts, strict=False):
        shown = float(label.removeprefix("<= ").rpartition(", ")[2].rstrip("]"))
        assert math.isfinite(shown)
        assert shown == pytest.approx(exact, rel=1e-5)


# ------------------------------------------------------------------------------------------ through a table


def test_equal_numbers_never_part_and_cuts_are_remembered() -> None:
    rng = np.random.default_rng(3)
    x = np.round(rng.normal(size=500), 1)
    table = Table.from_frame({"x": x}, bins={"x": 4})
    variable = table.variables[0]
    assert variable.cuts is not None
    assert table.column("x").tolist() == [sum(cut < value for cut in variable.cuts) for value in x]
    assert table == Table.from_frame({"x": x}, schema=table.variables)


def test_new_data_is_binned_by_the_old_cuts() -> None:
    table = Table.from_frame({"x": list(range(100))}, bins=4)
    assert table.variables[0].states == ("<= 24", "(24, 49]", "(49, 74]", "> 74")
    new = Table.from_frame({"x": [-1e9, 24, 24.5, 1e9]}, schema=table.variables)
    assert new.column("x").tolist() == [0, 0, 1, 3]


def test_the_order_of_rows_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    variables = {Table.from_frame({"x": rng.permutation(x)}, bins=7).variables for _ in range(5)}
    assert len(variables) == 1


@pytest.mark.parametrize("binning", ["quantile", "equal-width"])
@given(st.lists(st.integers(-20, 20), min_size=1), st.integers(1, 10))
def test_never_more_bins_than_distinct_values(binning: str, x: list[int], n_bins: int) -> None:
    variable = Table.from_frame({"x": x}, bins={"x": n_bins}, binning=binning).variables[0]  # type: ignore[arg-type]
    n_distinct = len(set(x))
    assert variable.cardinality <= min(n_bins, n_distinct)
    if n_distinct <= n_bins:
        assert variable.cuts is None
        assert variable.states == tuple(sorted(set(x)))
    else:
        assert variable.cuts is not None


def test_a_mapping_bins_the_named_columns_only() -> None:
    columns: dict[str, Any] = {"x": [1, 2, 3, 4], "y": [1, 2, 1, 2], "z": [1.5, 2.5, 3.5, 4.5]}
    table = Table.from_frame(columns, bins=cast(Any, {"x": 2, "z": [2.0, 2.2]}))
    assert [v.states for v in table.variables] == [("<= 2", "> 2"), (1, 2), ("<= 2", "(2, 2.2]", "> 2.2")]
    assert table.column("z").tolist() == [0, 2, 2, 2]


def test_bins_leave_text_truth_and_categories_alone() -> None:
    columns = {"t": ["1", "2", "3"], "b": [True, False, True], "x": [1.5, 2.5, 3.5]}
    table = Table.from_frame(columns, bins=2)
    assert [v.cuts is None for v in table.variables] == [True, True, False]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            ["1", "a"],
            "row 0: bins are cut from numbers, and '1' is none|row 1: bins are cut from numbers, and 'a'",
        ),
        ([True, False], "bins are cut from numbers, and True is none"),
    ],
)
def test_what_cannot_be_binned(column: list[object], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Table.from_frame({"x": column}, bins={"x": 1})


@pytest.mark.parametrize("bins", [1, 2, 5, "auto"])
@pytest.mark.parametrize("binning", ["quantile", "equal-width"])
@pytest.mark.parametrize("n_infinite", [1, 150])
def test_infinite_numbers_lie_in_the_bins_of_the_least_and_the_largest(
    bins: Any, binning: Any, n_infinite: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.random.default_rng(0).normal(size=400)
    clipped, x[:n_infinite], x[-n_infinite:] = x.copy(), np.inf, -np.inf
    finite = x[np.isfinite(x)]
    clipped[:n_infinite], clipped[-n_infinite:] = finite.max(), finite.min()
    want = Table.from_frame({"x": clipped}, bins=bins, binning=binning)
    for most_sorted in (2**22, 64):
        monkeypatch.setattr("fishernet.data.encoding.bins.MOST_SORTED", most_sorted)
        got = Table.from_frame({"x": x}, bins=bins, binning=binning)
        assert got.variables[0].states == want.variables[0].states
        assert got.column("x").tolist() == want.column("x").tolist()
    parts = [Table.from_frame({"x": x[:100]}), Table.from_frame({"x": x[100:]})]
    assert Blocks(parts).discretize(bins, binning=binning).variables[0].states == want.variables[0].states


def test_one_finite_number_among_infinite_ones_is_one_bin() -> None:
    table = Table.from_frame({"x": [5.0, np.inf, -np.inf, 5.0]}, bins={"x": 2})
    assert table.variables[0].states == ("any",)


@pytest.mark.parametrize(
    ("numbers", "codes"),
    [
        ([1, 2, np.inf], [0, 1, 2]),
        ([-np.inf, 1, 2], [0, 1, 2]),
        ([-np.inf, 1, np.inf], [0, 1, 2]),
        ([-np.inf, np.inf], [0, 1]),
        ([-np.inf, 0], [0, 1]),
        ([-1e308, 1e308, -np.inf], [0, 1, 0]),
        ([np.inf], [0]),
    ],
)
def test_few_numbers_and_infinite_ones_have_a_bin_each(numbers: list[float], codes: list[int]) -> None:
    table = Table.from_frame({"x": numbers * 3})
    assert isinstance(table.variables[0], Continuous)
    assert table.discretize(3).column("x").tolist() == codes * 3


def test_infinite_numbers_fit_given_cuts() -> None:
    table = Table.from_frame({"x": [1.0, float("inf"), float("-inf")]}, bins={"x": [0.0]})
    assert table.column("x").tolist() == [1, 1, 0]


# ------------------------------------------------------------------------------------------------- automatic bins


def multinomial_complexity(n: int, k: int) -> float:
    """The sum of maximum likelihoods over all samples of n of k values: of two by SciPy, of more by the recurrence."""
    held = np.arange(n + 1)
    found = [1.0, float(binom.pmf(held, n, held / n).sum())]
    while len(found) < k:
        found.append(found[-1] + n / len(found[:-1]) * found[-2])
    return found[k - 1]


def gain(least: float, ends: list[float], counts: list[int], cuts: list[float]) -> float:
    """Minus the description length of the histogram with some cuts, one bin at a time."""
    n, width = sum(counts), min(b - a for a, b in pairwise([least, *ends]) if b > a)
    found = -math.log(multinomial_complexity(n, len(cuts) + 1)) - math.log(math.comb(len(ends) - 1, len(cuts)))
    for low, high in pairwise([least - width, *cuts, ends[-1]]):
        held = sum(count for end, count in zip(ends, counts, strict=True) if low < end <= high)
        found += held * math.log(held / (n * (high - low)))
    return found


@settings(max_examples=12)  # each of them tries every set of cuts
@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 60)), min_size=MOST_AUTO, max_size=9), st.integers(-9, 9))
def test_automatic_cuts_describe_the_numbers_in_the_fewest_nats(pieces: list[tuple[int, int]], least: int) -> None:
    ends = np.cumsum([least, *(step for step, _ in pieces)])[1:].astype(float)
    counts = [50 * count for _, count in pieces]
    most = max(LEAST_AUTO, min(MOST_AUTO, math.isqrt(sum(counts) // 50)))
    cuts = description_length_cuts(float(least), ends, np.array(counts, float), LEAST_AUTO, most)
    assert LEAST_AUTO <= len(cuts) + 1 <= most
    tried = [c for k in range(LEAST_AUTO - 1, most) for c in combinations(ends[:-1].tolist(), k)]
    best = max(gain(float(least), ends.tolist(), counts, list(some)) for some in tried)
    assert gain(float(least), ends.tolist(), counts, cuts) == pytest.approx(best, rel=1e-12, abs=1e-8)


@given(
    st.integers(0, 2**32),
    st.integers(30, 3000),
    st.sampled_from(["normal", "exponential", "uniform", "standard_cauchy"]),
)
def test_automatic_bins_are_few_and_none_is_empty(seed: int, n: int, law: str) -> None:
    x = getattr(np.random.default_rng(seed), law)(size=n)
    codes = Table.from_frame({"x": x}, bins="auto").codes[0]
    assert 1 <= len(np.unique(codes)) <= min(MOST_AUTO, max(2, n // 20))
    assert (np.bincount(codes) > 0).all()


def test_automatic_cuts_fall_where_the_density_changes() -> None:
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.uniform(0, 1, 9000), rng.uniform(9, 10, 9000)])
    cuts = cut_points(x)
    assert 0.9 < cuts[cuts < 5].max() < 1.1
    assert cuts.max() > 1.1


def cut_points(x: Any, **how: Any) -> np.ndarray:
    (variable,) = Table.from_frame({"x": x, **how}, bins="auto", weights="w" if "w" in how else None).variables
    return np.array(cast(Any, variable).cuts)


def test_automatic_cuts_know_neither_missing_cells_nor_how_rows_are_repeated() -> None:
    rng = np.random.default_rng(2)
    x, w = rng.gamma(2.0, size=900), rng.integers(0, 5, 900)
    np.testing.assert_array_equal(cut_points(np.append(x, [np.nan] * 20_000)), cut_points(x))
    np.testing.assert_array_equal(cut_points(x, w=w), cut_points(np.repeat(x, w)))
    np.testing.assert_array_equal(cut_points(8 * x), 8 * cut_points(x))
