"""Gaussian Markov networks: SciPy's densities, conditioning by covariances, derivatives, information by simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import fishernet as fn
from fishernet.models import gaussian_markov_network
from tests.reference.gaussians import markov_networks, random_markov_network

CHAIN = fn.GaussianMarkovNetwork(["a", "b", "c"], [0, 1, -1], [[2, -1, 0], [-1, 2, 1], [0, 1, 3]])
ROWS = np.array([[0.5, 1.0, -2.0], [1.0, 2.0, 3.0]])


def rows(net: fn.GaussianMarkovNetwork, n: int = 4) -> Any:
    return np.random.default_rng(5).normal(size=(n, len(net.names)))


@given(markov_networks)
def test_the_density_is_the_normal_one(net: fn.GaussianMarkovNetwork) -> None:
    X = rows(net)
    expected = stats.multivariate_normal(net.mean, np.linalg.inv(net.precision)).logpdf(X)
    np.testing.assert_allclose(net.log_prob(X), np.atleast_1d(expected), rtol=1e-9, atol=1e-9)


@given(markov_networks)
def test_the_covariance_is_the_inverse(net: fn.GaussianMarkovNetwork) -> None:
    np.testing.assert_allclose(net.covariance @ net.precision, np.eye(len(net.names)), atol=1e-9)
    np.testing.assert_array_equal(net.covariance, net.covariance.T)


@given(markov_networks)
def test_the_graph_joins_what_the_precision_does(net: fn.GaussianMarkovNetwork) -> None:
    d = len(net.names)
    expected = [(net.names[i], net.names[j]) for i in range(d) for j in range(i + 1, d) if net.precision[i, j] != 0]
    assert list(net.graph.edges) == expected
    assert net.n_parameters == 2 * d + len(expected)


@given(markov_networks)
def test_partial_correlations_are_those_of_residuals(net: fn.GaussianMarkovNetwork) -> None:
    """Of two variables given all others: the correlation of the conditional covariance."""
    W, d = np.linalg.inv(net.precision), len(net.names)
    for i in range(d):
        assert net.partial_correlations[i, i] == 1
        for j in range(i):
            rest = [v for v in range(d) if v not in (i, j)]
            left = W[np.ix_([i, j], [i, j])]
            if rest:
                left = left - W[[i, j]][:, rest] @ np.linalg.solve(W[np.ix_(rest, rest)], W[rest][:, [i, j]])
            correlation = left[0, 1] / np.sqrt(left[0, 0] * left[1, 1])
            assert net.partial_correlations[i, j] == pytest.approx(correlation, abs=1e-9)


@given(markov_networks, st.data())
def test_predictions_are_conditional_means(net: fn.GaussianMarkovNetwork, data: st.DataObject) -> None:
    """By the covariance: mu_a + W_ab W_bb^-1 (x_b - mu_b), with what is neither a nor b left out."""
    order = data.draw(st.permutations(range(len(net.names))))
    if len(order) < 2:
        return
    k = data.draw(st.integers(1, len(order) - 1))
    m = data.draw(st.integers(k + 1, len(order)))
    a, b = list(order[:k]), list(order[k:m])
    W, X = np.linalg.inv(net.precision), rows(net)
    gain = W[np.ix_(a, b)] @ np.linalg.inv(W[np.ix_(b, b)])
    expected = net.mean[a] + (X[:, b] - net.mean[b]) @ gain.T
    wanted, known = [net.names[v] for v in a], [net.names[v] for v in b]
    frame = pd.DataFrame(X, columns=list(net.names))
    for known_rows in (frame, frame[known[::-1]], X, X[:, b]):
        np.testing.assert_allclose(net.predict(known_rows, wanted, given=known), expected, rtol=1e-7, atol=1e-7)
    left = W[np.ix_(a, a)] - gain @ W[np.ix_(b, a)]
    np.testing.assert_allclose(net.conditional_covariance(wanted, given=known), left, rtol=1e-7, atol=1e-8)
    each = [net.predict(np.delete(X, v, axis=1), name)[:, 0] for v, name in enumerate(net.names)]  # from all others
    np.testing.assert_allclose(net.predict_each(X), np.transpose(each), rtol=1e-9, atol=1e-9)


def test_kinds_of_parameters_can_be_chosen() -> None:
    scores, information = CHAIN.fisher_scores(ROWS), CHAIN.fisher_information()
    np.testing.assert_array_equal(CHAIN.fisher_scores(ROWS, parameters=["mean"]), scores[:, :3])
    np.testing.assert_array_equal(CHAIN.fisher_scores(ROWS, parameters=["precision"]), scores[:, 3:])
    np.testing.assert_array_equal(CHAIN.fisher_information(parameters=["mean"]), information[:3, :3])
    np.testing.assert_array_equal(CHAIN.fisher_information(parameters=["precision"]), information[3:, 3:])
    for wrong in (["edges"], []):
        with pytest.raises(fn.SchemaError, match="parameters must be among 'mean', 'precision'"):
            CHAIN.fisher_scores(ROWS, parameters=wrong)


def test_an_information_that_would_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gaussian_markov_network, "MOST_INFORMATION", CHAIN.n_parameters**2 - 1)
    monkeypatch.setattr(gaussian_markov_network, "MOST_SCORES", CHAIN.n_parameters)
    with pytest.raises(fn.StateSpaceError, match="practical"):
        CHAIN.fisher_information()
    with pytest.raises(fn.StateSpaceError, match="in parts"):
        CHAIN.fisher_scores(rows(CHAIN, 2))


def test_a_precision_that_is_nearly_symmetric_becomes_so() -> None:
    K = CHAIN.precision.copy()
    K[0, 1] *= 1 + 1e-13
    net = fn.GaussianMarkovNetwork(CHAIN.names, CHAIN.mean, K)
    np.testing.assert_array_equal(net.precision, net.precision.T)


@pytest.mark.parametrize(
    ("names", "mean", "precision", "message"),
    [
        (["a", "b"], [0], np.eye(2), r"the mean must have shape \(2,\), got \(1,\)"),
        (["a", "b"], [0, 0], np.eye(3), r"the precision must have shape \(2, 2\)"),
        (["a", "b"], [0, np.nan], np.eye(2), "the mean must be finite, got nan"),
        (["a", "b"], [0, 0], [[1, np.inf], [0, 1]], r"the precision must be finite, got inf at \(0, 1\)"),
        (["a", "b"], [0, 0], [[1, 0.5], [0.4, 1]], "must be symmetric; between 'a' and 'b' it has 0.5 and 0.4"),
        (["a", "b"], [0, 0], [[1, 0], [0, -1]], "the precision of 'b' must be positive, got -1"),
        (["a", "b"], [0, 0], [[1, 2], [2, 1]], "must be positive definite; the smallest eigenvalue .* -1"),
        (["a", "a"], [0, 0], np.eye(2), "'a' appears more than once"),
        (["a", "b"], ["x", 0], np.eye(2), "must be an array of numbers"),
        ("ab", [0, 0], np.eye(2), "names must be a sequence of str"),
        ([], [], np.empty((0, 0)), "needs a variable"),
    ],
)
def test_what_is_no_distribution_is_refused(names: Any, mean: Any, precision: Any, message: str) -> None:
    with pytest.raises(fn.SchemaError, match=message):
        fn.GaussianMarkovNetwork(names, mean, precision)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[0.0, 1.0]], r"must have shape \(n, 3\) here, got \(1, 2\)"),
        ([0.0, 1.0, 2.0], r"must have shape \(n, 3\) here, got \(3,\)"),
        ([[0.0, np.inf, 1.0]], "'b'.*inf"),
        ({"a": [1.0], "b": [1.0]}, "there is no column 'c'"),
        ({"a": [1.0], "b": [1.0], "c": ["x"]}, "column 'c', row 0: numbers are needed, and the label 'x' is none"),
        (fn.Table.from_codes([[0, 0, 0]]), "the table lacks the column 'a', 'b', 'c'"),
        ([[1.0], [1.0, 2.0]], "no array"),
    ],
)
def test_rows_that_do_not_fit_are_refused(X: Any, message: str) -> None:
    for method in (CHAIN.log_prob, CHAIN.fisher_scores, CHAIN.predict_each):
        with pytest.raises(fn.FishernetError, match=message):
            method(X)


def test_predictions_of_each_need_complete_rows() -> None:
    with pytest.raises(fn.FishernetError, match=r"missing in 'b' \(1\)"):
        CHAIN.predict_each([[0.0, np.nan, 1.0]])


@pytest.mark.parametrize(
    ("names", "given", "message"),
    [
        (["d"], None, "no variable 'd'"),
        (["a"], ["d"], "no variable 'd'"),
        (["a"], ["a", "b"], "others than those predicted, each once; see 'a'"),
        (["a"], ["b", "b"], "each once"),
        (["a", "a"], None, "each once"),
        ([], None, "some variables"),
        (["a", "b", "c"], None, "at least one given variable"),
        (["a"], [], "at least one given variable"),
    ],
)
def test_what_cannot_be_predicted_is_refused(names: Any, given: Any, message: str) -> None:
    with pytest.raises(fn.SchemaError, match=message):
        CHAIN.predict(ROWS, names, given=given)


def test_extreme_scales_stay_exact() -> None:
    net = random_markov_network(4, 5)
    scales = np.array([1e-30, 1e30, 1.0, 1e-10, 1e20])
    wide = fn.GaussianMarkovNetwork(net.names, net.mean * scales, net.precision / scales[:, None] / scales)
    X = rows(net)
    np.testing.assert_allclose(wide.log_prob(X * scales), net.log_prob(X) - np.log(scales).sum(), rtol=1e-9)
    np.testing.assert_allclose(wide.partial_correlations, net.partial_correlations, rtol=1e-12)
