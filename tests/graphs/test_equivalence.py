"""Compelled edges and equivalence against the d-separations themselves."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fishernet.graphs import Dag
from fishernet.graphs.equivalence import UNDIRECTED, class_marks, compelled_parents, relabelled


@pytest.mark.parametrize(("n", "number"), [(1, 1), (2, 2), (3, 11), (4, 185)])
def test_equivalent_is_having_the_same_separations(
    n: int, number: int, classes: Callable[[int], list[list[Dag]]]
) -> None:
    """The numbers of classes are those of S. B. Gillispie and M. D. Perlman, UAI 2001, Table 1."""
    groups = classes(n)
    assert len(groups) == number
    for one, other in itertools.product(range(number), repeat=2):
        for dag in groups[one]:
            assert dag.is_equivalent(groups[other][0]) == (one == other)


def test_compelled_is_pointing_the_same_way_in_the_whole_class(classes: Callable[[int], list[list[Dag]]]) -> None:
    for group in classes(4):
        always = frozenset.intersection(*(frozenset(dag.edges) for dag in group))
        for dag in group:
            compelled = compelled_parents(dag.parents, dag.order)
            assert {("abcd"[p], "abcd"[c]) for c, found in enumerate(compelled) for p in found} == always


def v_structures(dag: Dag) -> set[tuple[frozenset[str], str]]:
    joined = {frozenset(edge) for edge in dag.edges}
    into = itertools.combinations(dag.edges, 2)
    return {(frozenset({a, b}), c) for (a, c), (b, d) in into if c == d and frozenset({a, b}) not in joined}


@given(...)
def test_equivalent_is_same_skeleton_and_v_structures(dag: Dag, data: st.DataObject) -> None:
    """T. Verma and J. Pearl, UAI 1990: the other DAG has the same edges, each turned or not."""
    order = data.draw(st.permutations(dag.names))
    edges = [(a, b) if order.index(a) < order.index(b) else (b, a) for a, b in dag.edges]
    other = Dag.from_edges(data.draw(st.permutations(dag.names)), edges)
    assert dag.is_equivalent(other) == (v_structures(dag) == v_structures(other))
    assert other.is_equivalent(dag) == dag.is_equivalent(other)


@given(...)
def test_turning_a_covered_edge_stays_in_the_class(dag: Dag) -> None:
    """D. M. Chickering, UAI 1995, Lemma 1: x -> y may be turned if and only if y has x's parents and x."""
    for x, y in dag.edges:
        edges = [edge for edge in dag.edges if edge != (x, y)]
        parents = {name: {a for a, b in dag.edges if b == name} for name in (x, y)}
        if parents[y] == parents[x] | {x}:
            assert dag.is_equivalent(Dag.from_edges(dag.names, [*edges, (y, x)]))
        assert not dag.is_equivalent(Dag.from_edges(dag.names, edges))


def test_marks_follow_the_labels() -> None:
    dag = Dag(["a", "b", "c", "d"], [(), (0,), (), (1, 2)])  # a -> b, and b -> d <- c
    marks = class_marks(dag.parents, dag.order)
    assert marks == {(0, 1): UNDIRECTED, (1, 3): 3, (2, 3): 3}
    assert relabelled(marks, (3, 2, 1, 0)) == {(2, 3): UNDIRECTED, (0, 2): 0, (0, 1): 0}
