"""CPDAGs against the enumerated classes, against Meek's rules and against a known network."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fishernet.base.errors import SchemaError
from fishernet.graphs import Cpdag, Dag, cpdag

ASIA = ["asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp"]
ASIA_EDGES = [
    ("asia", "tub"),
    ("smoke", "lung"),
    ("smoke", "bronc"),
    ("tub", "either"),
    ("lung", "either"),
    ("either", "xray"),
    ("either", "dysp"),
    ("bronc", "dysp"),
]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4])
def test_an_edge_is_directed_where_the_whole_class_agrees(n: int, classes: Callable[[int], list[list[Dag]]]) -> None:
    for group in classes(n):
        always = [edge for edge in group[0].edges if all(edge in dag.edges for dag in group)]
        free = sorted(tuple(sorted(edge)) for edge in group[0].edges if edge not in always)
        for dag in group:
            found = cpdag(dag)
            assert found.names == dag.names
            assert found.directed == tuple(sorted(always, key=lambda edge: edge[::-1]))
            assert found.undirected == tuple(free)
            assert found.extension() in group


def completed_by_rules(dag: Dag) -> tuple[set[tuple[str, str]], set[frozenset[str]]]:
    """The v-structures, and then the rules 1 to 3 of C. Meek (UAI 1995) until none applies."""
    joined = {frozenset(edge) for edge in dag.edges}
    pairs = itertools.permutations(dag.edges, 2)
    arcs = {(a, c) for (a, c), (b, d) in pairs if c == d and frozenset({a, b}) not in joined}

    def must_point(a: str, b: str) -> bool:
        free = {edge for edge in joined if not any(frozenset(arc) == edge for arc in arcs)}
        first = any(y == a and frozenset({x, b}) not in joined for x, y in arcs if x != b)
        second = any((a, c) in arcs and (c, b) in arcs for c in dag.names)
        into = [c for c in dag.names if (c, b) in arcs and frozenset({a, c}) in free]
        third = any(frozenset({c, d}) not in joined for c, d in itertools.combinations(into, 2))
        return first or second or third

    while True:
        free = {edge for edge in joined if not any(frozenset(arc) == edge for arc in arcs)}
        forced = [(a, b) for a, b in itertools.permutations(dag.names, 2) if frozenset({a, b}) in free]
        forced = [(a, b) for a, b in forced if must_point(a, b)]
        if not forced:
            return arcs, free
        arcs.add(forced[0])


@given(...)
def test_meeks_rules_agree(dag: Dag) -> None:
    found = cpdag(dag)
    arcs, free = completed_by_rules(dag)
    assert set(found.directed) == arcs
    assert {frozenset(edge) for edge in found.undirected} == free


def test_asia() -> None:
    """Only tub -> either <- lung and either -> dysp <- bronc are v-structures; either -> xray follows."""
    found = cpdag(Dag.from_edges(ASIA, ASIA_EDGES))
    assert found.directed == tuple(sorted(ASIA_EDGES[3:], key=lambda edge: (ASIA.index(edge[1]), ASIA.index(edge[0]))))
    assert found.undirected == (("asia", "tub"), ("smoke", "lung"), ("smoke", "bronc"))
    assert repr(found).startswith("Cpdag(8 variables, 8 edges: 'tub' -> 'either', 'lung' -> 'either', ")


@given(...)
def test_the_extension_is_a_member_of_the_class(dag: Dag) -> None:
    found = cpdag(dag)
    assert found.extension().is_equivalent(dag)
    assert cpdag(found.extension()) == found


@given(...)
def test_equal_cpdags_are_equivalent_dags(dag: Dag, data: st.DataObject) -> None:
    order = data.draw(st.permutations(dag.names))
    edges = [(a, b) if order.index(a) < order.index(b) else (b, a) for a, b in dag.edges]
    other = Dag.from_edges(dag.names, edges)
    assert (cpdag(dag) == cpdag(other)) == dag.is_equivalent(other)
    if dag.is_equivalent(other):
        assert hash(cpdag(dag)) == hash(cpdag(other))


@pytest.mark.parametrize(("n", "number"), [(1, 1), (2, 2), (3, 11), (4, 185)])
def test_a_cpdag_is_accepted_if_and_only_if_there_is_a_class(
    n: int, number: int, classes: Callable[[int], list[list[Dag]]]
) -> None:
    """Every way to join n variables is tried; the numbers are those of Gillispie and Perlman (UAI 2001)."""
    names, pairs = list("abcd"[:n]), list(itertools.combinations("abcd"[:n], 2))
    accepted, messages = set(), set()
    for choice in itertools.product(range(4), repeat=len(pairs)):
        drawn = list(zip(pairs, choice, strict=True))
        arcs = [pair if kind == 1 else pair[::-1] for pair, kind in drawn if kind in (1, 2)]
        try:
            accepted.add(Cpdag(names, arcs, [pair for pair, kind in drawn if kind == 3]))
        except SchemaError as error:
            messages.add(str(error).partition(":")[0])
    assert len(accepted) == number
    assert accepted == {cpdag(group[0]) for group in classes(n)}
    assert messages <= {"no class of DAGs has these edges as its CPDAG"}


@pytest.mark.parametrize(
    ("directed", "undirected", "message"),
    [
        ([("a", "b")], [], "that of 'a' and 'b' would have to be undirected; cpdag.dag. makes the CPDAG of a DAG"),
        ([("a", "b"), ("c", "b")], [("b", "d")], "that of 'b' and 'd' would have to be -> in all its DAGs"),
        ([("a", "b"), ("b", "c"), ("c", "a")], [], "they close 'a' -> 'b' -> 'c' -> 'a'"),
        ([], [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")], "no class of DAGs"),
        ([("a", "b")], [("b", "a")], "'a' and 'b' are joined more than once"),
        ([("a", "b"), ("b", "a")], [], "'a' and 'b' are joined more than once"),
        ([], [("a", "b"), ("b", "a")], "'a' and 'b' are joined more than once"),
        ([("c", "c")], [], "'c' cannot be joined with itself"),
        ([("a", "x")], [], "no variable 'x'"),
        ([], ["ab"], "an edge must be a pair of names"),
    ],
)
def test_wrong_edges_are_refused(directed: Any, undirected: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Cpdag(["a", "b", "c", "d"], directed, undirected)


def test_order_and_direction_of_what_is_given_do_not_matter() -> None:
    found = cpdag(Dag.from_edges(ASIA, ASIA_EDGES))
    again = Cpdag(ASIA, reversed(found.directed), [edge[::-1] for edge in reversed(found.undirected)])
    assert again == found
    assert (again.directed, again.undirected) == (found.directed, found.undirected)
    assert again.extension() == found.extension()
