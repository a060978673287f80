from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import fishernet as fn

fisher_z_test = fn.independence.fisher_z_test


def residuals(of: np.ndarray[Any, Any], by: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    design = np.column_stack([np.ones(len(of)), by])
    return np.asarray(of - design @ np.linalg.lstsq(design, of, rcond=None)[0])


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.integers(0, 4))
def test_it_is_the_correlation_of_the_residuals(seed: int, q: int) -> None:
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(40, q))
    x, y = z.sum(axis=1) + rng.normal(size=(2, 40))
    r = np.corrcoef(residuals(x, z), residuals(y, z))[0, 1]
    statistic = math.sqrt(40 - q - 3) * abs(np.arctanh(r))
    found = fisher_z_test(x, y, z if q else None)
    assert found.statistic == pytest.approx(statistic, rel=1e-9, abs=1e-12)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(statistic), rel=1e-9)
    columns = fn.independence.FisherZ(np.column_stack([x, y, z]))
    assert columns(0, 1, tuple(range(2, 2 + q))).p_value == pytest.approx(found.p_value, rel=1e-9)


def test_p_values_are_uniform_under_the_null() -> None:
    rng = np.random.default_rng(1)
    p_values = []
    for _ in range(1000):
        x, y = rng.normal(size=(2, 50))
        p_values.append(fisher_z_test(x, y, rng.normal(size=(50, 2))).p_value)
    assert stats.kstest(p_values, "uniform").pvalue > 0.01


def test_a_copy_but_for_a_little_noise_is_far_from_independent() -> None:
    x, noise = np.random.default_rng(2).normal(size=(2, 100))
    found = fisher_z_test(x, x + 1e-4 * noise)
    assert math.isfinite(found.statistic)
    assert found.p_value == 0


def test_a_collinear_column_is_named() -> None:
    a, b = np.random.default_rng(3).normal(size=(2, 50))
    test = fn.independence.FisherZ({"a": a, "b": b, "sum": a + b})
    with pytest.raises(fn.SchemaError, match="'b' is a linear combination of 'sum', 'a'"):
        test(0, 1, (2,))
    with pytest.raises(fn.SchemaError, match="'y' is a linear combination of 'x'"):
        fisher_z_test(a, 3 - 2 * a)


def test_too_few_rows() -> None:
    x, y, z = np.random.default_rng(4).normal(size=(3, 4))
    with pytest.raises(fn.SchemaError, match=r"4 rows are too few to test 'x' and 'y' given 1 column; at least 5"):
        fisher_z_test(x, y, z)
    assert 0 <= fisher_z_test(x, y).p_value <= 1


def test_a_constant_column_is_named() -> None:
    with pytest.raises(fn.SchemaError, match="'b' is constant"):
        fn.independence.FisherZ({"a": [1.0, 2, 3, 4, 5], "b": [1.0] * 5})


def test_x_is_one_column() -> None:
    with pytest.raises(fn.SchemaError, match="x must be a single column"):
        fisher_z_test(np.eye(6)[:, :2], np.arange(6.0))


@pytest.mark.parametrize("made", [fn.independence.FisherZ, fn.independence.KnnTest], ids=["fisher-z", "knn-mi"])
def test_a_test_takes_the_rows_that_are_complete_in_its_columns(made: Callable[..., Any]) -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 4)) @ rng.normal(size=(4, 4))
    X[rng.random(X.shape) < 0.2] = np.nan
    how = {} if made is fn.independence.FisherZ else {"seed": 1, "standardize": False}
    test = made(dict(zip("abcd", X.T, strict=True)), **how)
    for i, j, others in [(0, 1, ()), (2, 0, (3,)), (1, 2, (0, 3))]:
        at = [i, j, *others]
        alone = made(X[~np.isnan(X[:, at]).any(axis=1)][:, at], **how)
        found, expected = test(i, j, others), alone(0, 1, tuple(range(2, len(at))))
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-9)
        assert found.p_value == pytest.approx(expected.p_value, rel=1e-6 if not how else 0.5, abs=0.05)  # or by chance
    X[np.isfinite(X[:, 1]), 0] = np.nan  # no row has both
    nothing = made(dict(zip("abcd", X.T, strict=True)), **how)(0, 1, ())
    assert (nothing.statistic, nothing.p_value) == (0.0, 1.0)
    graph = fn.learn.markov_graph(dict(zip("abcd", X.T, strict=True)), test="fisher-z")
    assert ("a", "b") not in graph.edges
