"""Linear-Gaussian networks from data: least squares, likelihoods, and what cannot be fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from tests.reference.gaussians import random_bayesian_network, rows_of

DAG = fn.Dag.from_edges(["a", "b", "c", "d"], [("a", "c"), ("b", "c"), ("c", "d")])


def data(n: int, seed: int = 0) -> Any:
    random = np.random.default_rng(seed)
    return random.normal(size=(n, 4)) @ random.normal(size=(4, 4)) + random.normal(size=4)


@given(st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([0.3, 1.0]))
def test_every_variable_is_regressed_on_its_parents(seed: int, d: int, share: float) -> None:
    """NumPy's least squares on the rows themselves; the variance is divided by n."""
    true = random_bayesian_network(seed, d, share)
    X = rows_of(true.sample(3 * d + 5, seed=seed))
    net = fn.learn.parameters(true.dag, X)
    assert net.dag == true.dag
    for v, parents in enumerate(true.dag.parents):
        design = np.column_stack([np.ones(len(X)), X[:, list(parents)]])
        expected = np.linalg.lstsq(design, X[:, v], rcond=None)[0]
        rest = X[:, v] - design @ expected
        size = np.abs(expected).max()
        intercept, slopes, sd = net.conditionals[v].as_regression()
        np.testing.assert_allclose([intercept, *slopes], expected, rtol=1e-6, atol=1e-6 * size)
        assert sd == pytest.approx(np.sqrt((rest**2).mean()), rel=1e-7)


def test_the_mean_score_of_the_rows_is_zero() -> None:
    X = data(40)
    net = fn.learn.parameters(DAG, X)
    spread = np.sqrt(np.concatenate([np.diag(block) for [block] in net.fisher_information()]))
    np.testing.assert_allclose(net.fisher_scores(X).mean(axis=0) / spread, 0, atol=1e-9)


def test_equivalent_structures_get_the_same_distribution() -> None:
    """And it is that of the Markov network of their moral graph, which is chordal."""
    X = data(40)
    other = fn.Dag.from_edges(["d", "c", "b", "a"], [("d", "c"), ("c", "b"), ("c", "a"), ("b", "a")])
    first = fn.Dag.from_edges(["a", "b", "c", "d"], [("a", "c"), ("c", "d"), ("a", "b"), ("c", "b")])
    one, two = fn.learn.parameters(first, X), fn.learn.parameters(other, X[:, ::-1])
    np.testing.assert_allclose(one.log_prob(X), two.log_prob(X[:, ::-1]), rtol=1e-9)
    markov = fn.learn.gaussian_network(X, fn.graphs.moral(first))
    np.testing.assert_allclose(one.log_prob(X), markov.log_prob(X), rtol=1e-9)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, dict, fn.data.Scatter.from_data])
def test_frames_and_scatters_are_matched_by_name(kind: Any) -> None:
    X = data(20)
    columns = {"d": X[:, 3], "more": X[:, 0] + 1, "b": X[:, 1], "a": X[:, 0], "c": X[:, 2]}
    found, expected = fn.learn.parameters(DAG, kind(columns)), fn.learn.parameters(DAG, X)
    assert isinstance(found, fn.BayesianNetwork)
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-9)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-9)


def changed(column: int, value: Any) -> Any:
    X = data(20)
    X[:, column] = value(X)
    return X


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (changed(3, lambda X: 2 - X[:, 2]), "standard deviation of 'd' would be 0: in 20 rows .* its parents, 'c'"),
        (changed(2, lambda X: X[:, 0] - X[:, 1]), "standard deviation of 'c' would be 0.* its parents, 'a', 'b'"),
        (
            changed(1, lambda X: 5 * X[:, 0]),
            "parents of 'c' are collinear in 20 rows: 'b' is a linear combination of 'a'",
        ),
        (changed(0, lambda X: 0.1), "the column 'a' is constant"),
        (changed(0, lambda X: np.where(np.arange(20) == 3, np.inf, X[:, 0])), "column 'a', row 3: inf"),
        (data(3), "standard deviation of 'c' would be 0: in 3 rows"),
        (data(1), "two rows at least"),
        (data(20)[:, :3], "4 names for 3 columns"),
        ({"a": [1.0], "b": [2.0], "c": [3.0]}, "no column 'd'"),
        (fn.data.Scatter.from_data(data(20)), "no column 'a'; there are 'v0', 'v1', 'v2', 'v3'"),
    ],
)
def test_data_that_do_not_fit_are_refused(X: Any, message: str) -> None:
    with pytest.raises(fn.SchemaError, match=message):
        fn.learn.parameters(DAG, X)


def test_numbers_are_not_smoothed() -> None:
    for options in ({"smoothing": 0.5}, {"smoothing": "snml"}, {"ess": 1.0}):
        with pytest.raises(fn.FishernetError, match="numbers are fitted by maximum likelihood"):
            fn.learn.parameters(DAG, data(20), **options)
