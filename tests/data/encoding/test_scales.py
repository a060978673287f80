"""Scales of numbers: maps without end in both directions, and their choice by likelihood."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

import fishernet as fn
from fishernet.data.encoding.scales import Scale, chosen_scale, heaped_at, rounding_unit

SCALES = [
    Scale("log", (0.0, 0.5)),
    Scale("log", (3.0, 0.1)),
    Scale("power", (0.0, 1.0, 2.0)),
    Scale("power", (0.7, -5.0, 0.1)),
    Scale("power", (2.0, 1e6, 1e3)),
    Scale("arcsinh", (4.0, 0.3)),
    Scale("quantiles", (-5.0, 0.0, 0.001, 7.5, -2.5, -1.0, 0.5, 3.0)),
    Scale("quantiles", (1.0, 1.5, -1.0, 1.0)),
]
EVERY = pytest.mark.parametrize("scale", SCALES, ids=str)


@EVERY
@given(x=st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20))
def test_they_rise_and_come_back(scale: Scale, x: list[float]) -> None:
    values = np.unique(np.array(x))
    y = scale.forward(values)
    assert np.isfinite(y).all()
    assert (np.diff(y) >= 0).all()
    np.testing.assert_allclose(scale.inverse(y), values, rtol=1e-7, atol=1e-5)


@EVERY
def test_slopes_are_derivatives(scale: Scale) -> None:
    x, h = np.linspace(-7.3, 9.1, 40), 1e-5
    numerical = (scale.forward(x + h) - scale.forward(x - h)) / (2 * h)
    np.testing.assert_allclose(np.exp(scale.log_slope(x)), numerical, rtol=1e-4)


@EVERY
def test_every_number_on_the_scale_has_a_value(scale: Scale) -> None:
    assert np.isfinite(scale.inverse(np.linspace(-30, 30, 50))).all()


def test_missing_numbers_stay_missing() -> None:
    for scale in SCALES:
        assert np.isnan(scale.forward(np.array([np.nan]))).all()


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [("log", (0.0,)), ("root", (1.0,)), ("power", (2.5, 0.0, 1.0)), ("arcsinh", (0.0, 0.0)), ("log", (0.0, np.inf))]
    + [("quantiles", knots) for knots in ((), (1.0, 2.0), (1.0, 2.0, 0.0), (1.0, 1.0, 0.0, 1.0), (1.0, 2.0, 1.0, 0.0))],
)
def test_what_is_no_scale_is_refused(kind: str, parameters: tuple[float, ...]) -> None:
    with pytest.raises(fn.FishernetError):
        Scale(kind, parameters)


def test_the_likeliest_is_chosen_and_normal_numbers_stay_as_they_are() -> None:
    rng = np.random.default_rng(1)
    z = rng.normal(size=3000)
    assert chosen_scale(50 + 3 * z) is None
    of_log = chosen_scale(np.exp(2 * z))
    assert of_log is not None
    assert of_log.kind == "log"
    heavy = chosen_scale(np.sinh(2 * z))
    assert heavy is not None
    assert heavy.kind == "arcsinh"
    assert chosen_scale(rng.integers(0, 5, 3000).astype(float)) is None
    assert chosen_scale(np.array([])) is None
    assert chosen_scale(np.full(100, 3.0)) is None


def test_the_choice_does_not_depend_on_the_unit_or_the_order() -> None:
    x = np.exp(np.random.default_rng(2).normal(size=2000))
    for unit in (1e-9, 1.0, 1e9):
        found = chosen_scale(unit * x[::-1])
        assert found is not None
        assert found.kind == "log"


def test_the_unit_of_numbers_of_many_sizes_is_small_for_the_small_ones() -> None:
    """With a millionth of the spread the small ones would stand for intervals that hold most numbers."""
    random = np.random.default_rng(1)
    x = np.exp(random.normal(0, 8, 3000))
    unit = rounding_unit(x)
    assert unit is not None
    assert unit <= 1.001e-3 * np.quantile(x, 0.01)
    net = fn.learn.bayesian_network({"x": x, "y": random.choice(["a", "b"], 3000)}, bins={})
    rows = net.sample(4000, seed=2)
    x = rows["x"]
    expected = norm.logpdf(np.log(x), 0, 8) - np.log(x) + math.log(0.5)
    assert net.log_prob(rows).mean() == pytest.approx(expected.mean(), abs=0.1)


@pytest.mark.parametrize(
    ("numbers", "unit"),
    [
        ([1, 2, 7], 1.0),
        ([1000, 5000, 2000], 1000.0),
        ([0.05, 0.1, 1.25], 0.05),
        ([1.5, np.nan, 3.0], 1.5),
        ([math.pi, math.e], 1e-6 * (math.pi - math.e) / 2),
        ([1e20, 3.0], 0.5e14),
        ([1e-12, 3e-12], 1e-6 * 1e-12),
        ([0.0], None),
        ([], None),
    ],
)
def test_the_unit_of_rounding(numbers: list[float], unit: float | None) -> None:
    assert rounding_unit(np.array(numbers)) == pytest.approx(unit)


def test_a_table_keeps_its_numbers_and_names_its_scales() -> None:
    table = fn.Table.from_frame({"a": np.exp(np.random.default_rng(1).normal(size=200)), "b": ["x", "y"] * 100})
    scaled = table.rescale()
    np.testing.assert_array_equal(scaled.column("a"), table.column("a"))
    assert str(scaled.variables[0].scale) == "log(x)"
    assert scaled.rescale({"a": "identity"}).variables[0].scale is None
    with pytest.raises(fn.SchemaError, match="'b' has states"):
        table.rescale({"b": "log"})
    with pytest.raises(fn.SchemaError, match="unknown scale 'root'"):
        table.rescale({"a": "root"})
    with pytest.raises(fn.SchemaError, match="'c'"):
        table.rescale({"c": "log"})


@pytest.mark.parametrize(
    ("numbers", "heap"),
    [
        ([0.0] * 30 + list(range(1, 70)), 0.0),
        ([5.0] * 30 + list(range(70)), 5.0),
        ([99.0] * 29 + list(range(71)), None),
        ([1.0, 1.0, 1.0, 2.0, 2.0] * 9, None),
        ([7.0] * 30, None),
        ([], None),
        ([np.nan, 1.0], None),
    ],
)
def test_a_number_with_a_weight_of_its_own(numbers: list[float], heap: float | None) -> None:
    assert heaped_at(np.array(numbers)) == heap


@given(st.lists(st.sampled_from([-2.0, 0.0, 0.5, 1.0, 3.0, 7.0, 8.0, math.nan]), max_size=60), st.integers(0, 30))
def test_heaps_are_found_wherever_they_lie(numbers: list[float], others: int) -> None:
    """Against the definition, number by number."""
    column = np.array([*numbers, *(100.0 + np.arange(others))])
    times = Counter(column[~np.isnan(column)].tolist())
    ordered, n = sorted(times), sum(times.values())
    expected = []
    for at, number in enumerate(ordered):
        beside = [times[ordered[b]] for b in (at - 1, at + 1) if 0 <= b < len(ordered)]
        if beside and times[number] >= 0.3 * n and times[number] >= 3 * max(*beside, 1):
            expected.append(number)
    most = max(times.values(), default=0)
    first = next((number for number in ordered if times[number] == most), None)  # the heaviest alone is looked at
    assert heaped_at(column) == (first if first in expected else None)


@EVERY
def test_moments_are_integrals_over_the_normal_density(scale: Scale) -> None:
    means, sds = np.array([[-0.4, 0.9], [2.5, 0.0]]), np.array([[0.3, 1e-3], [0.7, 0.05]])
    shares = (np.arange(200_000) + 0.5) / 200_000
    drawn = scale.inverse(means[..., None] + sds[..., None] * norm.ppf(shares))
    mean, sd = scale.moments(means, sds)
    np.testing.assert_allclose(mean, drawn.mean(axis=-1), rtol=2e-4, atol=2e-4)
    np.testing.assert_allclose(sd, drawn.std(axis=-1), rtol=5e-3, atol=2e-4)


@pytest.mark.parametrize("at", [0.0, 1e9])
def test_moments_of_lines_keep_their_digits(at: float) -> None:
    """A column of years or seconds has a mean far from 0, and a small spread."""
    knots = (at - 3.0, at, at + 0.5, at + 4.0, -2.0, -0.5, 0.5, 2.0)
    mean, sd = Scale("quantiles", knots).moments(np.array([0.2]), np.array([0.4]))
    near, spread = Scale("quantiles", (-3.0, 0.0, 0.5, 4.0, *knots[4:])).moments(np.array([0.2]), np.array([0.4]))
    assert mean[0] - at == pytest.approx(near[0], abs=1e-6)
    assert sd[0] == pytest.approx(spread[0], rel=1e-9)


def test_a_scale_of_quantiles_makes_any_column_normal() -> None:
    """Humps, hard ends, a heap at an end, heavy tails: kurtosis and skewness of a normal number, or nearly."""
    rng = np.random.default_rng(5)
    columns = [
        np.concatenate([rng.normal(0, 1, 1500), rng.normal(9, 1, 1500)]),
        rng.uniform(size=3000),
        rng.standard_t(2, size=3000),
        np.minimum(rng.integers(0, 90, 3000), 72).astype(float),
    ]
    for column in columns:
        scale = chosen_scale(column, "quantiles")
        assert scale is not None
        y = scale.forward(column)
        assert abs(y.mean()) < 0.05
        assert y.std() == pytest.approx(1, abs=0.07)
        assert np.mean(np.abs(y) < 1) == pytest.approx(0.683, abs=0.08)
        assert chosen_scale(column) != scale  # of itself a column is never put on it
