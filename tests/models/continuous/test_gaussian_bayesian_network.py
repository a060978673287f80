"""Linear-Gaussian networks: the joint distribution by another route, derivatives, information by simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy import stats

import fishernet as fn
from fishernet.models import bayesian_network
from tests.reference.gaussians import bayesian_networks, regressions

DAG = fn.Dag.from_edges(["c", "a", "b"], [("a", "b"), ("a", "c"), ("b", "c")])
NET = fn.BayesianNetwork.from_regressions(DAG, [0.5, 1, -1], [[2, -1], [], [0.5]], [1, 0.5, 2])


def rows(net: fn.BayesianNetwork, n: int = 4) -> Any:
    return np.random.default_rng(5).normal(size=(n, len(net.names)))


def joint(net: fn.BayesianNetwork) -> tuple[Any, Any]:
    """Return mean and covariance: x = c + B x + e, so x = (I - B)^-1 (c + e)."""
    d = len(net.names)
    B = np.zeros((d, d))
    intercepts, coefficients, sds = regressions(net)
    for v, (parents, slopes) in enumerate(zip(net.dag.parents, coefficients, strict=True)):
        B[v, list(parents)] = slopes
    spread = np.linalg.inv(np.eye(d) - B)
    return spread @ intercepts, spread @ np.diag(sds**2) @ spread.T


@given(bayesian_networks)
def test_the_joint_distribution_is_normal(net: fn.BayesianNetwork) -> None:
    mean, covariance = joint(net)
    np.testing.assert_allclose(net.mean, mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(net.covariance, covariance, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(net.precision @ covariance, np.eye(len(mean)), atol=1e-7)
    X = rows(net)
    expected = np.atleast_1d(stats.multivariate_normal(mean, covariance, allow_singular=True).logpdf(X))
    np.testing.assert_allclose(net.log_prob(X), expected, rtol=1e-6, atol=1e-6)


@given(bayesian_networks)
def test_as_a_markov_network_it_is_the_same_and_lies_in_the_moral_graph(net: fn.BayesianNetwork) -> None:
    other, X = net.to_markov_network(), rows(net)
    np.testing.assert_allclose(other.log_prob(X), net.log_prob(X), rtol=1e-8, atol=1e-8)
    assert set(other.graph.edges) <= set(fn.graphs.moral(net.dag).edges)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dag": "a -> b"}, "needs a Dag, not str"),
        ({"dag": fn.Dag.from_edges([], [])}, "needs a variable"),
        ({"intercepts": [0, 0]}, r"the intercepts must have shape \(3,\)"),
        ({"coefficients": [[2], [], [0.5]]}, r"the coefficients of 'c' must have shape \(2,\), got \(1,\)"),
        ({"coefficients": [[2, 1], []]}, "3 arrays of coefficients are needed, one per variable, got 2"),
        ({"coefficients": [[2, np.inf], [], [0.5]]}, "the coefficients of 'c' must be finite"),
        ({"sds": [1, 0, 1]}, "the standard deviation of 'a' must be positive, got 0"),
        ({"sds": [1, 1, -2]}, "the standard deviation of 'b' must be positive, got -2"),
        ({"sds": [1, np.nan, 1]}, "must be finite"),
    ],
)
def test_what_is_no_network_is_refused(change: dict[str, Any], message: str) -> None:
    parts: dict[str, Any] = {
        "dag": DAG,
        "intercepts": [0, 0, 0],
        "coefficients": [[1, 2], [], [3]],
        "sds": [1, 1, 1],
    }
    with pytest.raises(fn.SchemaError, match=message):
        fn.BayesianNetwork.from_regressions(**parts | change)


def test_rows_that_do_not_fit_are_refused() -> None:
    for method in (NET.log_prob, NET.fisher_scores):
        with pytest.raises(fn.SchemaError, match="column 'a', row 1: inf"):
            method([[0.0, 0.0, 0.0], [0.0, np.inf, 0.0]])
        with pytest.raises(fn.SchemaError, match="no column 'b'"):
            method({"a": [0.0], "c": [1.0]})


def test_scores_that_would_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bayesian_network, "MOST_SCORES", NET.n_parameters)
    with pytest.raises(fn.StateSpaceError, match="in parts"):
        NET.fisher_scores(rows(NET, 2))


@given(bayesian_networks)
def test_each_variable_is_predicted_by_its_conditional_mean(net: fn.BayesianNetwork) -> None:
    X, table = rows(net), net.sample(4, seed=5)
    K, mean = net.precision, net.mean
    for v, name in enumerate(net.names):
        if len(net.names) == 1:
            continue
        rest = [u for u in range(len(net.names)) if u != v]
        expected = mean[v] - (X[:, rest] - mean[rest]) @ K[v, rest] / K[v, v]
        np.testing.assert_allclose(net.predict(X, name), expected, rtol=1e-7, atol=1e-7)
        assert net.predict(table, name).shape == (4,)


def test_what_is_asked_of_states_is_refused() -> None:
    table = NET.sample(2, seed=1)
    for ask in (
        lambda: NET.predict_proba(table, "a"),
        lambda: fn.infer.family_marginals(NET),
        lambda: fn.infer.JunctionTree(NET),
        lambda: NET.conditional("a").probabilities,
    ):
        with pytest.raises(fn.SchemaError, match="'[abc]' is continuous"):
            ask()
    with pytest.raises(fn.SchemaError, match="is categorical"):
        _ = fn.datasets.load("asia").covariance
