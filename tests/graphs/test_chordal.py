"""Chordality against its definition, the known numbers of chordal graphs, and networkx."""

from __future__ import annotations

import itertools

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fishernet.graphs import Dag, UndirectedGraph, is_chordal, moral, to_networkx
from fishernet.graphs.undirected import cardinality_order, chordal_subgraph


def has_chordless_cycle(graph: UndirectedGraph) -> bool:
    """Whether some four or more vertices induce a cycle."""
    for size in range(4, len(graph.names) + 1):
        for part in itertools.combinations(range(len(graph.names)), size):
            inside = {v: [w for w in graph.adjacency[v] if w in part] for v in part}
            if all(len(found) == 2 for found in inside.values()):
                edges = [(graph.names[v], graph.names[w]) for v in part for w in inside[v] if v < w]
                if len(UndirectedGraph.from_edges([graph.names[v] for v in part], edges).components()) == 1:
                    return True
    return False


@pytest.mark.parametrize(("n", "number"), [(0, 1), (1, 1), (2, 2), (3, 8), (4, 61), (5, 822)])
def test_every_small_graph_follows_the_definition(n: int, number: int) -> None:
    """The numbers of labelled chordal graphs are N. C. Wormald's (Graphs and Combinatorics 1, 1985)."""
    names, pairs = list("abcde"[:n]), list(itertools.combinations("abcde"[:n], 2))
    found = 0
    for kept in itertools.product([False, True], repeat=len(pairs)):
        graph = UndirectedGraph.from_edges(names, itertools.compress(pairs, kept))
        assert is_chordal(graph) != has_chordless_cycle(graph)
        found += is_chordal(graph)
    assert found == number


@given(...)
def test_networkx_agrees(graph: UndirectedGraph) -> None:
    assert is_chordal(graph) == nx.is_chordal(to_networkx(graph))


@given(n=st.integers(0, 30), data=st.data())
def test_joining_the_earlier_neighbors_makes_a_graph_chordal(n: int, data: st.DataObject) -> None:
    names = [f"v{i}" for i in range(n)]
    parents = [data.draw(st.sets(st.integers(0, i - 1), max_size=3)) if i else set() for i in range(n)]
    for child in reversed(range(n)):  # afterwards the earlier neighbors of every vertex are joined with one another
        for parent in parents[child]:
            parents[parent] |= {other for other in parents[child] if other < parent}
    graph = Dag(names, parents).skeleton()
    assert graph == moral(Dag(names, parents))
    assert is_chordal(graph)


@pytest.mark.parametrize("n", [4, 5, 2000])
def test_a_cycle_is_not_chordal_and_a_fan_is(n: int) -> None:
    names = [f"v{i}" for i in range(n)]
    cycle = [*itertools.pairwise(names), (names[-1], names[0])]
    assert not is_chordal(UndirectedGraph.from_edges(names, cycle))
    assert is_chordal(UndirectedGraph.from_edges(names, cycle + [(names[0], name) for name in names[2:-1]]))


@given(...)
def test_each_next_vertex_has_the_most_visited_neighbors(graph: UndirectedGraph) -> None:
    order = cardinality_order(graph.adjacency)
    assert sorted(order) == list(range(len(graph.names)))
    for place in range(len(order)):
        done = set(order[:place])
        visited = {vertex: len(done & set(graph.adjacency[vertex])) for vertex in order[place:]}
        assert visited[order[place]] == max(visited.values())


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
