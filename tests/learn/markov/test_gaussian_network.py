"""Gaussian Markov networks from data: the conditions of maximum likelihood, closed forms, and what cannot be fitted."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.covariance import GraphicalLasso

import fishernet as fn
from tests.reference.gaussians import pattern, random_covariance, random_graph

NAMES = ["a", "b", "c", "d"]
RING = fn.UndirectedGraph.from_edges(NAMES, [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")])


def data(n: int, d: int = 4, seed: int = 0) -> Any:
    random = np.random.default_rng(seed)
    return random.normal(size=(n, d)) @ random.normal(size=(d, d)) + random.normal(size=d)


@given(st.integers(0, 10**6), st.integers(1, 7), st.sampled_from([0.2, 0.5, 1.0]))
def test_moments_agree_on_the_graph(seed: int, d: int, share: float) -> None:
    """The gradient of the log-likelihood in every free parameter is 0 there."""
    random = np.random.default_rng(seed)
    graph = random_graph(random, d, share)
    X = random.multivariate_normal(random.normal(size=d), random_covariance(random, d), size=3 * d + 5)
    net = fn.learn.gaussian_network(X, graph)
    S = np.cov(X.T, bias=True).reshape(d, d)
    scale = np.sqrt(np.outer(np.diag(S), np.diag(S)))
    assert np.abs((net.covariance - S) / scale)[pattern(graph)].max() < 1e-8
    assert set(net.graph.edges) <= set(graph.edges)
    np.testing.assert_allclose(net.mean, X.mean(axis=0), rtol=1e-9, atol=1e-12)


def test_the_mean_score_of_the_rows_is_zero() -> None:
    X = data(200)
    net = fn.learn.gaussian_network(X, RING)
    scores = net.fisher_scores(X)
    spread = np.sqrt(np.diag(net.fisher_information()))
    assert np.abs(scores.mean(axis=0) / spread).max() < 1e-8


def test_no_other_precision_with_these_zeros_is_likelier() -> None:
    X = data(60)
    net, random = fn.learn.gaussian_network(X, RING), np.random.default_rng(4)
    best, scales = net.log_prob(X).mean(), np.sqrt(np.diag(net.precision))
    for _ in range(50):
        step = 0.002 * random.normal(size=(4, 4))
        change = np.where(pattern(RING), step + step.T, 0.0) * scales[:, None] * scales
        other = fn.GaussianMarkovNetwork(NAMES, net.mean + 0.002 * random.normal(size=4), net.precision + change)
        assert other.log_prob(X).mean() < best


def test_a_complete_graph_gives_the_inverse_of_the_covariance() -> None:
    X = data(50)
    graph = fn.UndirectedGraph.from_edges(NAMES, [*RING.edges, ("a", "c"), ("b", "d")])
    expected = np.linalg.inv(np.cov(X.T, bias=True))
    np.testing.assert_allclose(fn.learn.gaussian_network(X, graph).precision, expected, rtol=1e-9)


def test_the_graphical_lasso_is_reached_from_its_own_graph_and_shrunk_covariance() -> None:
    """Its inverse agrees with S + alpha sign(K) on its edges, so that given those ours finds the same precision."""
    X, alpha = data(400), 0.3
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    lasso = GraphicalLasso(alpha=alpha, tol=1e-6, max_iter=1000).fit(X)
    K = np.where(np.abs(lasso.precision_) > 1e-6, lasso.precision_, 0.0)
    graph = fn.UndirectedGraph(NAMES, [[j for j in range(4) if j != i and K[i, j] != 0] for i in range(4)])
    assert 0 < graph.n_edges < 6
    S = np.cov(X.T, bias=True) + alpha * np.sign(K) * (1 - np.eye(4))
    found = fn.learn.gaussian_network(fn.data.Scatter(400, np.zeros(4), 400 * S, NAMES), graph)
    np.testing.assert_allclose(found.precision, K, atol=1e-4)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_frames_are_matched_by_name(kind: Any) -> None:
    X = data(30)
    frame = kind({name: X[:, NAMES.index(name)] for name in "dbca"})
    found, expected = fn.learn.gaussian_network(frame, RING), fn.learn.gaussian_network(X, RING)
    assert found.names == expected.names
    np.testing.assert_allclose(found.precision, expected.precision, rtol=1e-9, atol=1e-12)


def test_a_scatter_is_enough_and_adds_up() -> None:
    X = data(30)
    scatter = fn.data.Scatter.from_data(X[:12], NAMES) + fn.data.Scatter.from_data(X[12:], NAMES)
    found, expected = fn.learn.gaussian_network(scatter, RING), fn.learn.gaussian_network(X, RING)
    np.testing.assert_allclose(found.precision, expected.precision, rtol=1e-8, atol=1e-10)
    turned = scatter.marginal([3, 1, 0, 2])
    np.testing.assert_allclose(
        fn.learn.gaussian_network(turned, RING).precision, found.precision, rtol=1e-8, atol=1e-10
    )


def test_few_rows_are_enough_for_small_cliques() -> None:
    """Of a chain over 30 variables: four rows; of one clique: more rows than variables."""
    names = [f"x{v}" for v in range(30)]
    chain = fn.UndirectedGraph.from_edges(names, list(itertools.pairwise(names)))
    net = fn.learn.gaussian_network(data(4, 30), chain)
    assert np.isfinite(net.log_prob(data(2, 30))).all()


def wrong(column: Any) -> Any:
    X = data(20)
    X[:, 2] = column(X)
    return X


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (wrong(lambda X: 3.7), "the column 'c' is constant"),
        (wrong(lambda X: np.where(np.arange(20) == 5, np.nan, X[:, 2])), "missing in 'c'"),
        (wrong(lambda X: np.where(np.arange(20) == 5, -np.inf, X[:, 2])), "column 'c', row 5: -inf"),
        (wrong(lambda X: 2 * X[:, 1] + 1), "2 variables 'b', 'c' are all joined"),
        (data(20, 3), "4 names for 3 columns"),
        (data(1), "two rows at least; there is 1"),
        (data(0), "two rows at least; there are 0"),
        (data(2), "2 variables 'a', 'b' are all joined with one another, and their covariance is singular"),
        (pd.DataFrame(data(20), columns=list("abce")), "the data lack 'd', which the graph has"),
        (fn.data.Scatter.from_data(data(20)), "the data lack 'a', 'b', 'c', 'd', which the graph has"),
        (fn.Table.from_codes([[0, 1, 0, 1]]), "'v0', 'v1', 'v2', 'v3' are categorical"),
        (pd.DataFrame({"a": ["x", "y"], "b": [1, 2], "c": [1, 2], "d": [1, 2]}), "'a' is not of numbers"),
    ],
)
def test_data_that_do_not_fit_are_refused(X: Any, message: str) -> None:
    with pytest.raises(fn.FishernetError, match=message):
        fn.learn.gaussian_network(X, RING)


def test_cliques_too_large_for_the_rows_are_named() -> None:
    graph = fn.UndirectedGraph.from_edges(
        ["p", *NAMES], [("p", "a"), *[(a, b) for i, a in enumerate(NAMES) for b in NAMES[i + 1 :]]]
    )
    with pytest.raises(fn.SchemaError, match="4 variables 'a', 'b', 'c', 'd' are all joined .* take more rows"):
        fn.learn.gaussian_network(data(4, 5), graph)


def lines_follow_the_cycle(X: Any) -> bool:
    """Whether three rows of a cycle's variables have no maximum of the likelihood (Buhl 1993, theorem 4.3).

    Three rows less their mean lie in a plane; every variable is a line in it. There is no maximum where the lines,
    turned from one to the next, come in the order of the cycle.
    """
    axes = np.linalg.svd(X - X.mean(axis=0))[0][:, :2]
    order = np.argsort(np.arctan2(*(axes.T @ X)) % np.pi)
    steps = (np.roll(order, -1) - order) % len(order)
    return bool((steps == 1).all() or (steps == len(order) - 1).all())


@pytest.mark.parametrize("seeds", [range(60), [160, 182, 234]])  # in the last three the gradient falls below 1e-8
def test_three_rows_of_a_cycle_have_a_maximum_or_say_that_there_is_none(seeds: Any) -> None:
    outcomes = []
    for seed in seeds:
        X = np.random.default_rng(seed).normal(size=(3, 4))
        if lines_follow_the_cycle(X):
            with pytest.raises(fn.ConvergenceError, match="too few rows"):
                fn.learn.gaussian_network(X, RING)
        else:
            covariance = fn.learn.gaussian_network(X, RING).covariance
            np.testing.assert_allclose(covariance[pattern(RING)], np.cov(X.T, bias=True)[pattern(RING)], atol=1e-7)
        outcomes.append(lines_follow_the_cycle(X))
    assert any(outcomes)


@pytest.mark.slow
def test_a_large_graph_without_a_maximum_comes_to_an_end() -> None:
    """A grid with more entries than fit a matrix of curvatures, and three rows."""
    pairs = [(v, v + 1) for v in range(121) if v % 11 < 10] + [(v, v + 11) for v in range(110)]
    labels = [f"x{v}" for v in range(121)]
    grid = fn.UndirectedGraph.from_edges(labels, [(labels[a], labels[b]) for a, b in pairs])
    with pytest.raises(fn.ConvergenceError, match="too few rows"):
        fn.learn.gaussian_network(np.random.default_rng(0).normal(size=(3, 121)), grid)


def test_only_an_undirected_graph_will_do() -> None:
    with pytest.raises(fn.SchemaError, match="gaussian_network needs an UndirectedGraph, not Dag; .*moral"):
        fn.learn.gaussian_network(data(9), fn.Dag.from_edges(NAMES, []))  # type: ignore[arg-type]
