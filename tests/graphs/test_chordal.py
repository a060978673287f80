"""Chordality against its definition, the known numbers of chordal graphs, and networkx."""

from __future__ import annotations

import itertools

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fishernet.base.errors import SchemaError
from fishernet.graphs import Dag, UndirectedGraph, is_chordal, moral, to_networkx
from fishernet.graphs.undirected import cardinality_order


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


def test_a_dag_is_refused_with_a_hint() -> None:
    with pytest.raises(SchemaError, match=r"is_chordal needs a UndirectedGraph, not Dag; dag.skeleton\(\) and moral"):
        is_chordal(Dag(["a"], [()]))  # type: ignore[arg-type]
