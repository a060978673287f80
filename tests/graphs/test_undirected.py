"""Undirected graphs: what they hold, and what they refuse."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fishernet.base.errors import SchemaError
from fishernet.graphs import UndirectedGraph, to_networkx


def test_edges_come_in_variable_order() -> None:
    graph = UndirectedGraph.from_edges(["z", "y", "x"], [("x", "y"), ("x", "z"), ("y", "z")])
    assert graph.names == ("z", "y", "x")
    assert graph.adjacency == ((1, 2), (0, 2), (0, 1))
    assert graph.edges == (("z", "y"), ("z", "x"), ("y", "x"))
    assert graph.n_edges == 3
    assert graph.neighbors("x") == ("z", "y")


@given(...)
def test_edges_make_the_same_graph_again(graph: UndirectedGraph, data: st.DataObject) -> None:
    edges = [edge[::-1] if data.draw(st.booleans()) else edge for edge in data.draw(st.permutations(graph.edges))]
    assert UndirectedGraph.from_edges(graph.names, edges) == graph
    assert UndirectedGraph(graph.names, graph.adjacency) == graph
    assert graph.n_edges == len(graph.edges)


@given(...)
def test_networkx_finds_the_same_components_and_neighbors(graph: UndirectedGraph) -> None:
    other = to_networkx(graph)
    expected = sorted(sorted(map(graph.names.index, found)) for found in nx.connected_components(other))
    assert [[graph.names.index(name) for name in found] for found in graph.components()] == expected
    for name in graph.names:
        assert sorted(graph.neighbors(name)) == sorted(other.neighbors(name))


def test_adjacency_must_hold_both_ways() -> None:
    with pytest.raises(SchemaError, match="'b' is among the neighbors of 'a', but not the other way round"):
        UndirectedGraph(["a", "b"], [(1,), ()])
    with pytest.raises(SchemaError, match="'b' cannot be joined with itself"):
        UndirectedGraph(["a", "b"], [(), (1,)])
    with pytest.raises(SchemaError, match="'a' cannot be joined with itself"):
        UndirectedGraph.from_edges(["a", "b"], [("a", "a")])
    with pytest.raises(SchemaError, match="more than once; give each edge once"):
        UndirectedGraph.from_edges(["a", "b"], [("a", "b"), ("b", "a")])
    with pytest.raises(SchemaError, match="2 variables need 2 tuples of neighbors, got 1"):
        UndirectedGraph(["a", "b"], [()])
    with pytest.raises(SchemaError, match="no variable 'x'"):
        UndirectedGraph(["a"], [()]).neighbors("x")
