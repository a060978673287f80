"""Rows of numbers that lack some: scores, kernels, fillings and comparisons of what is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fishernet as fn

DAG = fn.Dag.from_edges(list("abcd"), [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")])
P = np.random.default_rng(3).uniform(0.5, 2, sum(2 + len(parents) for parents in DAG.parents))


def bayesian(values: Any) -> fn.BayesianNetwork:
    """Return the network of an intercept, coefficients and a standard deviation for each variable in turn."""
    rest = iter(values)
    levels, slopes, sds = [], [], []
    for parents in DAG.parents:
        levels.append(next(rest))
        slopes.append([next(rest) for _ in parents])
        sds.append(next(rest))
    return fn.BayesianNetwork.from_regressions(DAG, levels, slopes, sds)


NET = bayesian(P)
MARKOV = NET.to_markov_network()
PAIRS = [(i, i) for i in range(4)] + [(MARKOV.names.index(u), MARKOV.names.index(v)) for u, v in MARKOV.edges]
Q = np.array([*MARKOV.mean, *(MARKOV.precision[i, j] for i, j in PAIRS)])


def markov(values: Any) -> fn.GaussianMarkovNetwork:
    """Return the network of these means, and entries of the precision."""
    K = np.zeros((4, 4))
    for (i, j), value in zip(PAIRS, values[4:], strict=True):
        K[i, j] = K[j, i] = value
    return fn.GaussianMarkovNetwork(MARKOV.names, values[:4], K)


def gappy(n: int, share: float = 0.4) -> Any:
    rows = NET.sample(n, seed=1).numbers.T.copy()
    rows[np.random.default_rng(1).random(rows.shape) < share] = np.nan
    rows[0] = np.nan
    return rows


@pytest.mark.parametrize(("made", "values"), [(bayesian, P), (markov, Q)], ids=["Bayesian", "Markov"])
def test_scores_are_derivatives_of_the_density_of_what_is_known(made: Callable[[Any], Any], values: Any) -> None:
    rows = gappy(40)
    scores = made(values).fisher_scores(rows)
    h = 1e-5
    for place in range(len(values)):
        up, down = (np.where(np.arange(len(values)) == place, values + step, values) for step in (h, -h))
        slope = (made(up).log_prob(rows) - made(down).log_prob(rows)) / (2 * h)
        np.testing.assert_allclose(scores[:, place], slope, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(scores[0], 0, atol=1e-12)  # of a row of which nothing is known


def test_features_are_the_means_of_those_of_completed_rows() -> None:
    rows, n = gappy(6, 0.3), 20_000
    kernel = fn.kernels.FisherKernel(NET)
    completed = fn.infer.impute(NET, np.repeat(rows, n, axis=0), how="draw", seed=1)
    drawn = np.asarray(kernel.features(completed)).reshape(len(rows), n, -1)
    spread = drawn.std(axis=1) / np.sqrt(n)
    assert (np.abs(kernel.features(rows) - drawn.mean(axis=1)) < 5 * spread + 1e-9).all()
    np.testing.assert_allclose(kernel(rows), kernel.features(rows) @ kernel.features(rows).T, rtol=1e-12, atol=1e-12)


def test_what_is_filled_in_is_what_is_expected() -> None:
    rows = gappy(30)
    filled = fn.infer.impute(NET, rows).numbers.T
    for row, whole in zip(rows, filled, strict=True):
        known = {name: float(x) for name, x in zip(NET.names, row, strict=True) if not np.isnan(x)}
        for name, x, found in zip(NET.names, row, whole, strict=True):
            assert found == pytest.approx(x if name in known else NET.query(name, given=known).mean, rel=1e-9)
    many = np.repeat(rows[3:4], 4000, axis=0)
    drawn = fn.infer.impute(NET, many, how="draw", seed=1).numbers
    assert (fn.infer.impute(NET, many, how="draw", seed=1).numbers == drawn).all()
    lacking = [name for name, x in zip(NET.names, rows[3], strict=True) if np.isnan(x)]
    asked = NET.query(lacking, given={n: float(x) for n, x in zip(NET.names, rows[3], strict=True) if n not in lacking})
    found = np.cov(drawn[[NET.names.index(name) for name in lacking]]).reshape(len(lacking), -1)
    np.testing.assert_allclose(found, asked.covariance, rtol=0.15, atol=0.02)


def test_a_changed_regression_is_found_among_missing_numbers() -> None:
    later = NET.sample(400, seed=5).numbers.T.copy()
    later[:, 3] += 1.5 * later[:, 2]
    later[np.random.default_rng(2).random(later.shape) < 0.2] = np.nan
    first, second = (dict(zip("abcd", rows.T, strict=True)) for rows in (gappy(400, 0.2), later))
    found = fn.compare.explain_change(first, second, DAG, permutations=99, resamples=100, seed=1)
    assert [v.variable for v in found.by_variable.values() if v.p_corrected <= 0.05] == ["d"]
    assert 0 < found.by_variable["d"].low < found.by_variable["d"].high
    assert fn.compare.two_sample_test(first, second, seed=1).p_value <= 0.05
