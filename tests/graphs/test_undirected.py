"""Undirected graphs: what they hold, and what they refuse."""

from __future__ import annotations

import copy
import itertools
import pickle
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fishernet.base.errors import SchemaError
from fishernet.graphs import UndirectedGraph, to_networkx

HOSTILE = ["", " ", "a b", 'quo"te', "it's", "a,b", "new\nline", "naïve", "变量", "🐟", "->", "None"]


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


def test_equality_is_by_names_and_edges() -> None:
    graph = UndirectedGraph.from_edges(["a", "b", "c"], [("a", "b")])
    assert graph == UndirectedGraph.from_edges(iter(["a", "b", "c"]), {("b", "a")})
    assert hash(graph) == hash(UndirectedGraph.from_edges(["a", "b", "c"], [("b", "a")]))
    assert graph != UndirectedGraph.from_edges(["a", "b", "c"], [("a", "c")])
    assert graph != UndirectedGraph.from_edges(["b", "a", "c"], [("a", "b")])
    assert graph != UndirectedGraph.from_edges(["a", "b"], [("a", "b")])


@given(...)
def test_copies_are_equal(graph: UndirectedGraph) -> None:
    assert pickle.loads(pickle.dumps(graph)) == copy.deepcopy(graph) == graph


def test_nothing_can_be_changed() -> None:
    graph = UndirectedGraph.from_edges(["a", "b"], [("a", "b")])
    assert graph.edges
    for name in ("names", "adjacency", "edges", "n_edges", "other"):
        with pytest.raises(AttributeError):
            setattr(graph, name, ())
    with pytest.raises(AttributeError):
        del graph.names
    assert graph.edges == (("a", "b"),)


def test_hostile_names_are_only_names() -> None:
    edges = list(itertools.pairwise(HOSTILE))
    graph = UndirectedGraph.from_edges(HOSTILE, edges)
    assert graph.edges == tuple(edges)
    assert graph.neighbors("") == (" ",)
    assert graph.is_separated("", "None", "new\nline")
    assert "\n" not in repr(graph)


def test_no_variables_and_no_edges() -> None:
    assert UndirectedGraph([], []).components() == ()
    assert repr(UndirectedGraph.from_edges(["a"], [])) == "UndirectedGraph(1 variable, 0 edges)"


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("a", "a")], "'a' cannot be joined with itself"),
        ([("a", "b"), ("b", "a")], "more than once; give each edge once"),
        ([("a", "b"), ("a", "b")], "more than once"),
        ([("a", "x")], "no variable 'x'; there are 'a', 'b'"),
        (["ab"], "an edge must be a pair of names, got 'ab'"),
    ],
)
def test_wrong_edges_are_refused(edges: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        UndirectedGraph.from_edges(["a", "b"], edges)


def test_adjacency_must_hold_both_ways() -> None:
    with pytest.raises(SchemaError, match="'b' is among the neighbors of 'a', but not the other way round"):
        UndirectedGraph(["a", "b"], [(1,), ()])
    with pytest.raises(SchemaError, match="'b' cannot be joined with itself"):
        UndirectedGraph(["a", "b"], [(), (1,)])
    with pytest.raises(SchemaError, match="2 variables need 2 tuples of neighbors, got 1"):
        UndirectedGraph(["a", "b"], [()])
    with pytest.raises(SchemaError, match="no variable 'x'"):
        UndirectedGraph(["a"], [()]).neighbors("x")
