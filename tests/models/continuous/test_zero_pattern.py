"""Precisions with the zeros of a graph: what defines the maximum, closed forms, and where there is none."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

import fishernet as fn
from fishernet.models import zero_pattern
from fishernet.models.gaussian_markov_network import Curvature, Entries
from fishernet.models.zero_pattern import cliques, completed_precision
from tests.reference.gaussians import pattern, random_covariance, random_graph

shares = st.sampled_from([0.1, 0.3, 0.6, 1.0])


def names(d: int) -> list[str]:
    return [f"x{v}" for v in range(d)]


def cycle(d: int) -> fn.UndirectedGraph:
    labels = names(d)
    return fn.UndirectedGraph.from_edges(labels, [(labels[v], labels[(v + 1) % d]) for v in range(d)])


def off(K: Any, S: Any, graph: fn.UndirectedGraph) -> float:
    """Return how far the inverse is from S on the graph, for variances of 1."""
    sizes = np.sqrt(np.diag(S))
    return float(np.abs((np.linalg.inv(K) - S) / sizes[:, None] / sizes)[pattern(graph)].max())


@given(st.integers(0, 10**6), st.integers(1, 12), shares)
def test_the_inverse_agrees_on_the_graph_and_zeros_are_exact(seed: int, d: int, share: float) -> None:
    """These two conditions are those of the maximum likelihood (Dempster 1972)."""
    random = np.random.default_rng(seed)
    graph, S = random_graph(random, d, share), random_covariance(random, d)
    K = completed_precision(S, graph)
    assert off(K, S, graph) < 1e-9
    assert (K[~pattern(graph)] == 0).all()
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K / np.sqrt(np.outer(np.diag(K), np.diag(K))))[0] > 0


@pytest.mark.parametrize("few", [0, 10**6])
@pytest.mark.parametrize(("d", "share", "common"), [(60, 0.05, 0.0), (60, 0.5, 3.0), (150, 0.02, 5.0)])
def test_both_ways_to_solve_for_a_step_arrive(
    few: int, d: int, share: float, common: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a common cause makes all correlations high, far away from the start."""
    monkeypatch.setattr(zero_pattern, "FEW_ENTRIES", few)
    random = np.random.default_rng(d)
    graph = random_graph(random, d, share)
    X = random.normal(size=(3 * d, d)) + common * random.normal(size=(3 * d, 1))
    S = np.cov(X.T, bias=True)
    assert off(completed_precision(S, graph), S, graph) < 1e-9


def test_what_stands_beside_the_graph_does_not_matter() -> None:
    random = np.random.default_rng(2)
    graph, S = cycle(5), random_covariance(random, 5)
    other = np.where(pattern(graph), S, 10 * S)
    np.testing.assert_array_equal(completed_precision(S, graph), completed_precision(other, graph))


@given(st.integers(0, 10**6), st.integers(2, 9))
def test_a_chordal_graph_has_the_closed_form(seed: int, d: int) -> None:
    """Lauritzen (1996, Prop. 5.9): inverses of the cliques' blocks less those of the separators'."""
    random = np.random.default_rng(seed)
    labels, tree = names(d), nx.random_labeled_tree(d, seed=seed % 2**32)
    chordal = nx.complete_to_chordal_graph(nx.compose(tree, nx.gnp_random_graph(d, 0.3, seed=seed % 2**32)))[0]
    graph = fn.UndirectedGraph.from_edges(labels, [(labels[a], labels[b]) for a, b in chordal.edges])
    S = random_covariance(random, d)
    order = list(nx.chordal_graph_cliques(chordal))
    expected, joint = np.zeros((d, d)), nx.Graph()
    joint.add_nodes_from(range(len(order)))
    joint.add_weighted_edges_from(
        (a, b, len(order[a] & order[b])) for a in range(len(order)) for b in range(a) if order[a] & order[b]
    )
    separators = [order[a] & order[b] for a, b in nx.maximum_spanning_tree(joint).edges]
    for sign, members in [(1, clique) for clique in order] + [(-1, part) for part in separators]:
        at = np.ix_(sorted(members), sorted(members))
        expected[at] += sign * np.linalg.inv(S[at])
    scales = np.sqrt(np.outer(np.diag(S), np.diag(S)))
    np.testing.assert_allclose(completed_precision(S, graph) * scales, expected * scales, rtol=1e-7, atol=1e-7)


def test_a_cycle_is_what_a_general_optimizer_finds() -> None:
    graph, S = cycle(4), random_covariance(np.random.default_rng(8), 4)
    S = S / np.sqrt(np.outer(np.diag(S), np.diag(S)))
    entries = Entries.of_adjacency(graph.adjacency)

    def loss(x: Any) -> float:
        K = entries.filled(x)
        sign, log_det = np.linalg.slogdet(K)
        return float((S * K).sum() - log_det) if sign > 0 and np.linalg.eigvalsh(K)[0] > 0 else np.inf

    start = entries.taken(np.eye(4) * 1.0)
    best = optimize.minimize(
        loss, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13, "maxfev": 20000}
    )
    np.testing.assert_allclose(completed_precision(S, graph), entries.filled(best.x), atol=1e-5)


def test_parts_are_independent() -> None:
    labels = names(9)
    edges = [("x0", "x8"), ("x8", "x3"), ("x3", "x5"), ("x5", "x0"), ("x1", "x2"), ("x2", "x7")]
    graph = fn.UndirectedGraph.from_edges(labels, edges)
    S = random_covariance(np.random.default_rng(4), 9)
    K = completed_precision(S, graph)
    part = ["x0", "x3", "x5", "x8"]
    at = np.ix_([0, 3, 5, 8], [0, 3, 5, 8])
    alone = fn.UndirectedGraph.from_edges(part, edges[:4])
    np.testing.assert_allclose(K[at], completed_precision(S[at], alone), rtol=1e-12)
    assert K[4, 4] == pytest.approx(1 / S[4, 4], rel=1e-13)


@given(st.integers(0, 10**6), st.integers(1, 8), shares)
def test_the_curvature_is_a_product_on_the_entries(seed: int, d: int, share: float) -> None:
    random = np.random.default_rng(seed)
    graph, W = random_graph(random, d, share), random_covariance(random, d)
    entries = Entries.of_adjacency(graph.adjacency)
    direction = random.normal(size=len(entries))
    D = entries.filled(direction)
    expected = W @ D @ W
    sparse, dense = Curvature(entries, W), Curvature(entries, W)
    sparse._dense, sparse._right, dense._dense = False, W[:, entries.columns], True
    scale = np.abs(expected).max()
    for curvature in (sparse, dense):
        np.testing.assert_allclose(curvature(direction) / scale, entries.taken(expected) / scale, atol=1e-11)
    np.testing.assert_array_equal(entries.taken(D), direction)
    assert entries.inner(direction, direction) == pytest.approx((D**2).sum())
    for a, own in enumerate(curvature.diagonal):
        unit = entries.filled(np.eye(len(entries))[a])
        assert own == pytest.approx(entries.taken(W @ unit @ W)[a], rel=1e-9)


@given(st.integers(0, 10**6), st.integers(1, 9), shares)
def test_cliques_are_maximal_and_cover_everything(seed: int, d: int, share: float) -> None:
    graph = random_graph(np.random.default_rng(seed), d, share)
    drawn = nx.Graph(list(graph.edges))
    drawn.add_nodes_from(graph.names)
    maximal = {frozenset(clique) for clique in nx.find_cliques(drawn)}
    found = [frozenset(graph.names[v] for v in clique) for clique in cliques(graph.adjacency)]
    assert set(found) <= maximal
    assert {frozenset(edge) for edge in graph.edges} <= {
        frozenset((a, b)) for clique in found for a in clique for b in clique
    }
    assert set().union(*found) == set(graph.names)


def test_a_singular_clique_is_named() -> None:
    X = np.random.default_rng(1).normal(size=(4, 6))
    labels = names(6)
    ring = list(cycle(6).edges)
    graph = fn.UndirectedGraph.from_edges(labels, [*ring, ("x1", "x3"), ("x0", "x2"), ("x0", "x3")])
    with pytest.raises(fn.SchemaError, match="4 variables 'x0', 'x1', 'x2', 'x3' are all joined .* singular"):
        completed_precision(np.cov(X.T, bias=True), graph)


def test_a_cycle_without_a_completion_does_not_converge() -> None:
    """A cycle whose angles arccos(r) do not close has none, though all its cliques are positive definite.

    Barrett, Johnson and Tarazaga (1993): of an odd number of angles, the largest must be below the sum of the others.
    """
    S = np.eye(4)
    for i, j, r in [(0, 1, 0.95), (1, 2, 0.95), (2, 3, 0.95), (0, 3, -0.5)]:
        S[i, j] = S[j, i] = r
    with pytest.raises(fn.ConvergenceError, match="too few rows") as caught:
        completed_precision(S, cycle(4))
    assert caught.value.residual > 1e-8
    assert caught.value.steps > 0


def test_without_edges_the_variances_are_enough() -> None:
    X = np.random.default_rng(5).normal(size=(3, 5))
    S = np.cov(X.T, bias=True)
    lonely = fn.UndirectedGraph.from_edges(names(5), [])
    np.testing.assert_allclose(completed_precision(S, lonely), np.diag(1 / np.diag(S)), rtol=1e-13)


def test_a_variance_that_is_not_positive_is_named() -> None:
    with pytest.raises(fn.SchemaError, match="variance of 'x1' is not positive"):
        completed_precision(np.diag([1.0, 0.0]), fn.UndirectedGraph.from_edges(names(2), []))


@pytest.mark.slow
def test_a_thousand_variables_are_possible() -> None:
    random = np.random.default_rng(3)
    labels = names(1024)
    pairs = {tuple(sorted(random.choice(1024, 2, replace=False).tolist())) for _ in range(1600)}
    graph = fn.UndirectedGraph.from_edges(labels, [(labels[a], labels[b]) for a, b in pairs])
    S = np.cov(random.normal(size=(2000, 1024)).T, bias=True)
    assert off(completed_precision(S, graph), S, graph) < 1e-9
