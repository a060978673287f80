"""What networkx gets is the same graph."""

from __future__ import annotations

import sys

import networkx as nx
import pytest
from hypothesis import given

from fishernet.base.errors import SchemaError
from fishernet.graphs import Dag, UndirectedGraph, cpdag, to_networkx


@given(...)
def test_a_dag_becomes_a_directed_graph(dag: Dag) -> None:
    found = to_networkx(dag)
    assert type(found) is nx.DiGraph
    assert tuple(found.nodes) == dag.names
    assert sorted(found.edges) == sorted(dag.edges)
    assert nx.is_directed_acyclic_graph(found)


@given(...)
def test_an_undirected_graph_becomes_one(graph: UndirectedGraph) -> None:
    found = to_networkx(graph)
    assert type(found) is nx.Graph
    assert tuple(found.nodes) == graph.names
    assert {frozenset(edge) for edge in found.edges} == {frozenset(edge) for edge in graph.edges}


@given(...)
def test_an_undirected_edge_of_a_cpdag_becomes_two(dag: Dag) -> None:
    completed = cpdag(dag)
    found = to_networkx(completed)
    assert type(found) is nx.DiGraph
    assert tuple(found.nodes) == dag.names
    both_ways = [(*edge, False) for pair in completed.undirected for edge in (pair, pair[::-1])]
    assert sorted(found.edges(data="directed")) == sorted([(*edge, True) for edge in completed.directed] + both_ways)


def test_without_networkx_the_message_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match="pip install networkx"):
        to_networkx(Dag(["a"], [()]))


def test_anything_else_is_refused() -> None:
    with pytest.raises(SchemaError, match="to_networkx needs a Dag or Cpdag or UndirectedGraph, not list"):
        to_networkx([("a", "b")])  # type: ignore[arg-type]
