"""Maximal chordal subgraphs, against networkx."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fishernet.graphs.undirected import chordal_subgraph

graphs = st.builds(
    lambda n, p, seed: nx.gnp_random_graph(n, p, seed=seed),
    st.integers(0, 12),
    st.sampled_from([0.1, 0.3, 0.6, 1.0]),
    st.integers(0, 10**6),
)


def subgraph(graph: nx.Graph) -> tuple[nx.Graph, list[tuple[int, tuple[int, ...]]]]:
    order = chordal_subgraph([sorted(graph[v]) for v in graph])
    found = nx.Graph()
    found.add_nodes_from(graph)
    found.add_edges_from((v, other) for v, earlier in order for other in earlier)
    return found, order


@given(graphs)
def test_the_order_is_perfect(graph: nx.Graph) -> None:
    found, order = subgraph(graph)
    assert sorted(v for v, _ in order) == sorted(graph)
    seen: set[int] = set()
    for v, earlier in order:
        assert set(earlier) <= seen & set(graph[v])
        assert all(found.has_edge(a, b) for a in earlier for b in earlier if a < b)
        seen.add(v)


@given(graphs)
def test_no_edge_can_be_added(graph: nx.Graph) -> None:
    found, _ = subgraph(graph)
    for edge in set(graph.edges) - set(found.edges):
        larger = found.copy()
        larger.add_edge(*edge)
        assert not nx.is_chordal(larger)


@given(graphs)
def test_a_chordal_graph_is_its_own(graph: nx.Graph) -> None:
    chordal, _ = nx.complete_to_chordal_graph(graph) if len(graph) else (graph, None)
    found, _ = subgraph(chordal)
    assert nx.utils.graphs_equal(nx.Graph(found), nx.Graph(chordal)) or set(map(frozenset, found.edges)) == set(
        map(frozenset, chordal.edges)
    )


def test_long_paths_and_large_cliques_are_no_trouble() -> None:
    n = 3000
    path = [[v for v in (i - 1, i + 1) if 0 <= v < n] for i in range(n)]
    assert sum(len(earlier) for _, earlier in chordal_subgraph(path)) == n - 1
    clique = [[j for j in range(150) if j != i] for i in range(150)]
    assert sum(len(earlier) for _, earlier in chordal_subgraph(clique)) == pytest.approx(150 * 149 / 2)
