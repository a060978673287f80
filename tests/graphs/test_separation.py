"""d-separation against its definition, against the moral graph of the ancestors, and against networkx."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fishernet.base.errors import SchemaError
from fishernet.graphs import Dag, UndirectedGraph, moral, to_networkx

Separation = tuple[int, int, frozenset[int]]
Three = tuple[list[str], list[str], list[str]]


def three_sets(data: st.DataObject, names: tuple[str, ...]) -> Three:
    """Disjoint sets of names, as lists."""
    owner = data.draw(st.lists(st.integers(0, 3), min_size=len(names), max_size=len(names)))
    a, b, c = ([name for name, number in zip(names, owner, strict=True) if number == which] for which in (1, 2, 3))
    return a, b, c


@pytest.mark.parametrize("n", [2, 3, 4])
def test_every_small_dag_follows_the_definition(
    n: int, all_dags: Callable[[int], list[Dag]], separations: Callable[[Dag], frozenset[Separation]]
) -> None:
    for dag in all_dags(n):
        expected = separations(dag)
        for a, b in itertools.permutations(range(n), 2):
            rest = [node for node in range(n) if node not in (a, b)]
            for z in itertools.chain.from_iterable(itertools.combinations(rest, k) for k in range(n - 1)):
                found = dag.is_d_separated(dag.names[a], dag.names[b], [dag.names[i] for i in z])
                assert found == ((min(a, b), max(a, b), frozenset(z)) in expected), (dag, a, b, z)


@given(...)
def test_networkx_agrees_on_sets(dag: Dag, data: st.DataObject) -> None:
    a, b, z = three_sets(data, dag.names)
    if a and b:
        assert dag.is_d_separated(a, b, z) == nx.is_d_separator(to_networkx(dag), set(a), set(b), set(z))


@given(...)
def test_every_variable_is_separated_from_its_earlier_ones_by_its_parents(dag: Dag) -> None:
    """The ordered Markov property."""
    for place, variable in enumerate(dag.order):
        parents = [dag.names[p] for p in dag.parents[variable]]
        others = [dag.names[i] for i in dag.order[:place] if i not in dag.parents[variable]]
        assert dag.is_d_separated(dag.names[variable], others, parents)


@given(...)
def test_undirected_separation_is_having_no_path_left(graph: UndirectedGraph, data: st.DataObject) -> None:
    a, b, z = three_sets(data, graph.names)
    left = to_networkx(graph)
    left.remove_nodes_from(z)
    assert graph.is_separated(a, b, z) == (not any(nx.has_path(left, x, y) for x in a for y in b))


def test_what_is_empty_is_separated_from_everything() -> None:
    dag = Dag.from_edges(["a", "b"], [("a", "b")])
    assert dag.is_d_separated([], "b", "a")
    assert dag.is_d_separated("a", [])
    assert dag.skeleton().is_separated([], ["a", "b"])
    assert not dag.is_d_separated(["a", "a"], iter(["b"]))


@pytest.mark.parametrize(
    ("a", "b", "z", "message"),
    [
        ("x", ["y", "x"], [], "the variable 'x' is both in a and in b"),
        ("x", "y", ["z", "x"], "the variable 'x' is both in a and in given"),
        ("x", "y", "y", "the variable 'y' is both in b and in given; the sets a, b and given must not overlap"),
        ("w", "y", [], "no variable 'w'; there are 'x', 'y', 'z'"),
    ],
)
def test_overlapping_and_unknown_sets_are_refused(a: str, b: str, z: str, message: str) -> None:
    dag = Dag(["x", "y", "z"], [(), (0,), (1,)])
    for separated in (dag.is_d_separated, dag.skeleton().is_separated):
        with pytest.raises(SchemaError, match=message):
            separated(a, b, z)


def test_a_collider_is_opened_by_a_far_descendant() -> None:
    n = 3000
    names = ["cause", "other", *(f"v{i}" for i in range(n))]
    chain = [(f"v{i}", f"v{i + 1}") for i in range(n - 1)]
    dag = Dag.from_edges(names, [("cause", "v0"), ("other", "v0"), *chain])
    assert dag.is_d_separated("cause", "other")
    assert not dag.is_d_separated("cause", "other", f"v{n - 1}")
    assert not dag.is_d_separated("cause", f"v{n - 1}")
    assert dag.is_d_separated("cause", f"v{n - 1}", "v1500")


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
