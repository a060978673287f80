"""The moral graph against its definition and against networkx."""

from __future__ import annotations

import itertools

import networkx as nx
import pytest
from hypothesis import given

from fishernet.base.errors import SchemaError
from fishernet.graphs import Dag, moral, to_networkx


@given(...)
def test_networkx_agrees(dag: Dag) -> None:
    expected = {frozenset(edge) for edge in nx.moral_graph(to_networkx(dag)).edges}
    found = moral(dag)
    assert found.names == dag.names
    assert {frozenset(edge) for edge in found.edges} == expected


@given(...)
def test_neighbors_are_the_markov_blanket(dag: Dag) -> None:
    found = moral(dag)
    assert all(found.neighbors(name) == dag.markov_blanket(name) for name in dag.names)


@given(...)
def test_only_parents_of_one_child_are_married(dag: Dag) -> None:
    skeleton, found = set(dag.skeleton().edges), set(moral(dag).edges)
    families = [{dag.names[p] for p in parents} for parents in dag.parents]
    pairs = itertools.combinations(dag.names, 2)
    assert found == {pair for pair in pairs if pair in skeleton or any(set(pair) <= family for family in families)}


def test_another_kind_of_graph_is_refused() -> None:
    with pytest.raises(SchemaError, match="moral needs a Dag, not UndirectedGraph"):
        moral(Dag(["a"], [()]).skeleton())  # type: ignore[arg-type]
