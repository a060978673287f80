"""Random Gaussian models, and what SciPy and explicit formulas say of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

import fishernet as fn


def random_graph(random: np.random.Generator, d: int, share: float) -> fn.UndirectedGraph:
    """Return a graph that has each edge with the same probability."""
    names = [f"x{v}" for v in range(d)]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    return fn.UndirectedGraph.from_edges(names, [pair for pair in pairs if random.random() < share])


def random_covariance(random: np.random.Generator, d: int) -> Any:
    """Return a positive definite matrix, neither nearly singular nor of similar scales."""
    factor = random.normal(size=(d, d)) / np.sqrt(d)
    scales = 10 ** random.uniform(-2, 2, d)
    return (factor @ factor.T + 0.2 * np.eye(d)) * scales[:, None] * scales


def pattern(graph: fn.UndirectedGraph) -> Any:
    """Return where the graph allows a precision other than 0, (d, d) bool."""
    linked = np.eye(len(graph.names), dtype=bool)
    for v, others in enumerate(graph.adjacency):
        linked[v, list(others)] = True
    return linked


def random_markov_network(seed: int, d: int, share: float = 0.5) -> fn.GaussianMarkovNetwork:
    """Return a network with a random pattern of zeros, diagonally dominant before its scales."""
    random = np.random.default_rng(seed)
    K = np.where(pattern(random_graph(random, d, share)), random.uniform(-1, 1, (d, d)), 0.0)
    K = np.triu(K, 1) + np.triu(K, 1).T
    K += np.diag(np.abs(K).sum(axis=1) + random.uniform(0.2, 1, d))
    scales = 10 ** random.uniform(-0.5, 0.5, d)
    return fn.GaussianMarkovNetwork([f"x{v}" for v in range(d)], random.normal(size=d), K * scales[:, None] * scales)


def random_bayesian_network(seed: int, d: int, share: float = 0.5) -> fn.BayesianNetwork:
    """Return a linear-Gaussian network whose variables are in no particular order."""
    random = np.random.default_rng(seed)
    order = random.permutation(d).tolist()
    names = [f"x{v}" for v in range(d)]
    pairs = [(names[order[i]], names[order[j]]) for j in range(d) for i in range(j) if random.random() < share]
    dag = fn.Dag.from_edges(names, pairs)
    slopes = [random.normal(size=len(parents)) for parents in dag.parents]
    return fn.BayesianNetwork.from_regressions(dag, random.normal(size=d), slopes, random.uniform(0.3, 2, d))


class Regressions(NamedTuple):
    """What `fishernet.BayesianNetwork.from_regressions` takes beside the graph."""

    intercepts: Any
    coefficients: list[Any]
    sds: Any


def regressions(net: fn.BayesianNetwork) -> Regressions:
    """Return the parameters of a linear-Gaussian network."""
    parts = [conditional.as_regression() for conditional in net.conditionals]
    return Regressions(
        np.array([part[0] for part in parts]), [part[1] for part in parts], np.array([part[2] for part in parts])
    )


def rows_of(drawn: Any) -> Any:
    """Return a table of numbers, or an array, as rows, (n, d)."""
    return np.ascontiguousarray(drawn.numbers.T) if isinstance(drawn, fn.Table) else drawn


markov_networks = st.builds(
    random_markov_network, st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([0.3, 1.0])
)
bayesian_networks = st.builds(
    random_bayesian_network, st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([0.3, 1.0])
)
