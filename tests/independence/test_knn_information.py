from __future__ import annotations

import math
import os
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

import fishernet as fn
from fishernet import _core
from tests.reference.nearest import distances as all_distances
from tests.reference.nearest import information_counts, kth_distances

information = fn.independence.knn_mutual_information


def columns(points: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.ascontiguousarray(points.T)


@st.composite
def samples(draw: st.DrawFn) -> tuple[np.ndarray[Any, Any], ...]:
    """x, y and z, some with ties and far outliers, and k."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(4, 90))
    dims = draw(st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(0, 4)))
    spread = draw(st.sampled_from([1.0, 1e-12, 1e12]))
    grid = draw(st.sampled_from([None, 1.0, 8.0]))
    made = []
    for d in dims:
        values = rng.standard_t(2, (n, d))
        values = values if grid is None else np.round(values * grid) / grid
        made.append(values * spread)
    k = draw(st.integers(1, min(12, n - 1)))
    return (*made, np.array(k))


@settings(deadline=None, max_examples=150)
@given(samples())
def test_counts_equal_brute_force(sample: tuple[np.ndarray[Any, Any], ...]) -> None:
    x, y, z, k = sample
    rng = np.random.default_rng(len(x))
    orders = np.stack([np.arange(len(x)), rng.permutation(len(x))]).astype(np.int32)
    engine = _core.KnnInformation(columns(x), columns(y), columns(z), int(k))
    estimates = engine.estimate(orders)
    for t, order in enumerate(orders):
        counts, value = information_counts(x, y[order], z if z.shape[1] else None, int(k))
        np.testing.assert_array_equal(engine.counts(orders[t : t + 1]), counts)
        np.testing.assert_allclose(estimates[t], value, rtol=0, atol=1e-11)


@pytest.mark.parametrize("z_columns", [1, 3])
def test_an_order_may_repeat_rows_where_there_is_z(z_columns: int) -> None:
    rng = np.random.default_rng(5)
    x, y, z = rng.normal(size=(60, 1)), rng.normal(size=(60, 1)), rng.normal(size=(60, z_columns))
    order = rng.integers(0, 60, size=(1, 60)).astype(np.int32)
    engine = _core.KnnInformation(columns(x), columns(y), columns(z), 3)
    counts, value = information_counts(x, y[order[0]], z, 3)
    np.testing.assert_array_equal(engine.counts(order), counts)
    assert engine.estimate(order)[0] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.6, 0.9])
def test_gaussians_within_the_documented_error(correlation: float) -> None:
    rng = np.random.default_rng(11)
    n, repeats = 1000, 40
    found = []
    for _ in range(repeats):
        x, noise = rng.normal(size=(2, n))
        found.append(information(x, correlation * x + math.sqrt(1 - correlation**2) * noise))
    known = -0.5 * math.log(1 - correlation**2)
    assert abs(np.mean(found) - known) < 0.02
    assert np.std(found) < 0.05


def test_conditional_information_of_gaussians() -> None:
    """x and y share a part that z does not know: I(x; y | z) is that of their partial correlation, 1/2."""
    rng = np.random.default_rng(12)
    found = []
    for _ in range(30):
        z, shared, a, b = rng.normal(size=(4, 1500))
        found.append(information(z + shared + a, z + shared + b, z))
    known = -0.5 * math.log(1 - 0.25)
    assert abs(np.mean(found) - known) < 0.04


def test_independent_given_z_is_near_zero_and_dependent_without() -> None:
    rng = np.random.default_rng(13)
    z = rng.normal(size=2000)
    x, y = z + 0.5 * rng.normal(size=(2, 2000))
    assert information(x, y) > 0.3
    assert abs(information(x, y, z)) < 0.05


def test_mutual_information_is_symmetric() -> None:
    x, y, z = np.random.default_rng(14).normal(size=(3, 120))
    assert information(x, y) == information(y, x)
    assert information(x, y, z) == information(y, x, z)


def test_a_common_scale_changes_nothing() -> None:
    x, y, z = np.random.default_rng(15).normal(size=(3, 120))
    assert information(4 * x, 4 * y, 4 * z) == information(x, y, z)  # a power of two is exact


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_the_number_of_threads_changes_no_bit(threads: int) -> None:
    rng = np.random.default_rng(16)
    x, y, z = rng.normal(size=(3, 700))
    orders = np.stack([rng.permutation(700) for _ in range(5)]).astype(np.int32)
    before = fn.set_threads(1)
    try:
        alone = _core.KnnInformation(x[None], y[None], z[None], 4).estimate(orders)
        fn.set_threads(threads)
        together = _core.KnnInformation(x[None], y[None], z[None], 4).estimate(orders)
    finally:
        fn.set_threads(before)
    assert alone.tobytes() == together.tobytes()


SCRIPT = """
import sys, numpy as np, fishernet as fn
from fishernet import _core
rng = np.random.default_rng(1)
for dims in (0, 1, 3):
    engine = _core.KnnInformation(*(rng.standard_t(2, (d, 300)) for d in (1, 2, dims)), 5)
    sys.stdout.write(engine.estimate(_core.draw_orders(300, 20, 1, 0)).tobytes().hex())
"""


def test_every_instruction_set_gives_the_same_bits() -> None:
    found = set()
    for isa in ("portable", "avx2", "avx512"):
        environment = {**os.environ, "FISHERNET_ISA": isa}
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, check=True, capture_output=True, text=True
        )
        found.add(run.stdout)
    assert len(found) == 1


def test_the_order_of_the_rows_changes_no_bit() -> None:
    rng = np.random.default_rng(17)
    x, y, z = rng.normal(size=(3, 200))
    order = rng.permutation(200)
    assert information(x, y, z) == information(x[order], y[order], z[order])


def test_nearest_others_agree_with_a_tree() -> None:
    points = np.random.default_rng(18).normal(size=(400, 3))
    rows, near = _core.nearest_others(columns(points), 6)
    tree_distances, tree_rows = cKDTree(points).query(points, k=7, p=np.inf)
    np.testing.assert_array_equal(rows, tree_rows[:, 1:])
    np.testing.assert_allclose(near, tree_distances[:, 1:], rtol=0, atol=0)


def test_equally_near_rows_come_in_their_order() -> None:
    rows, near = _core.nearest_others(np.array([[0.0, 1.0, -1.0, 1.0, 5.0]]), 3)
    assert rows[0].tolist() == [1, 2, 3]
    assert near[0].tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("d", [1, 2, 3])
def test_entropy_by_its_definition(d: int) -> None:
    from scipy.special import digamma

    points = np.random.default_rng(19).normal(size=(80, d))
    eps = kth_distances(all_distances(points), 4)
    known = digamma(80) - digamma(4) + d * np.mean(np.log(2 * eps))
    assert fn.independence.entropy(points, k=4) == pytest.approx(known, abs=1e-12)


def test_entropy_of_a_gaussian() -> None:
    found = [fn.independence.entropy(np.random.default_rng(s).normal(0, 3, size=2000)) for s in range(20)]
    assert abs(np.mean(found) - 0.5 * math.log(2 * math.pi * math.e * 9)) < 0.02


def test_entropy_of_an_atom() -> None:
    values = np.concatenate([np.zeros(10), np.linspace(1, 2, 50)])
    with pytest.warns(fn.FishernetWarning, match="tied"):
        assert fn.independence.entropy(values, k=5) == -math.inf


def test_ties_are_counted_with_a_warning() -> None:
    rng = np.random.default_rng(20)
    x, y = np.round(rng.normal(size=(2, 200)), 1)
    with pytest.warns(fn.FishernetWarning, match=r"tied values in x .*, y"):
        found = information(x, y)
    assert found == pytest.approx(information_counts(x, y, None, 5)[1], abs=1e-12)


def test_few_ties_are_no_news() -> None:
    x, y = np.random.default_rng(21).normal(size=(2, 100))
    x[:5] = x[5:10]  # ten of a hundred
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        information(x, y)


NAN = np.array([0.0, 1.0, np.nan, 3.0, 4.0, 5.0, 6.0, 7.0])
WELL = np.arange(8.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: information(NAN, WELL), r"'x', row 2: nan"),
        (lambda: information(WELL, np.where(WELL == 4, np.inf, WELL)), r"'y', row 4: inf"),
        (lambda: information(WELL, WELL, np.column_stack([WELL, NAN])), r"'z\[:, 1\]', row 2"),
        (lambda: information(WELL[:6], WELL[:6]), r"6 rows are too few for the 5-th neighbour; at least 7"),
        (lambda: information(WELL, np.ones(8)), r"'y' is constant"),
        (lambda: information(WELL, WELL[:7]), r"x has 8 rows, and y has 7"),
        (lambda: information(WELL, WELL, WELL[:7]), r"x has 8 rows, and z has 7"),
        (lambda: information(WELL, np.array(["a", "b"] * 4)), r"'y' is not of numbers"),
        (lambda: information(WELL, np.zeros((8, 2, 2))), r"y must have the shape"),
        (lambda: fn.independence.entropy(NAN), r"'x', row 2"),
    ],
)
def test_data_that_do_not_fit(call: Any, message: str) -> None:
    with pytest.raises(fn.SchemaError, match=message):
        call()


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "5"])
def test_k_must_be_a_positive_integer(k: Any) -> None:
    with pytest.raises(fn.FishernetError, match="k must be an integer of at least 1"):
        information(WELL, WELL**2, k=k)
