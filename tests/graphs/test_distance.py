"""Distances against their definitions, pair by pair, and the laws of a distance."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fishernet.base.errors import SchemaError
from fishernet.graphs import Cpdag, Dag, cpdag, hamming, shd

NAMES = ["a", "b", "c", "d", "e"]


@st.composite
def dags_of_five(draw: st.DrawFn) -> Dag:
    order = draw(st.permutations(NAMES))
    pairs = st.sampled_from(list(itertools.combinations(order, 2)))
    return Dag.from_edges(draw(st.permutations(NAMES)), draw(st.lists(pairs, unique=True)))


def joining(group: list[Dag], a: str, b: str) -> frozenset[tuple[str, str]]:
    """How two variables are joined in the DAGs of a class: in neither, one or both directions."""
    return frozenset(edge for dag in group for edge in dag.edges if set(edge) == {a, b})


@pytest.mark.parametrize("n", [2, 3])
def test_shd_counts_the_pairs_that_are_joined_differently(n: int, classes: Callable[[int], list[list[Dag]]]) -> None:
    pairs = list(itertools.combinations("abc"[:n], 2))
    for one, other in itertools.product(classes(n), repeat=2):
        expected = sum(joining(one, *pair) != joining(other, *pair) for pair in pairs)
        for first, second in itertools.product(one, other):
            assert shd(first, second) == expected


def test_shd_counts_each_kind_of_difference_once() -> None:
    """Tsamardinos et al. 2006, Algorithm 4: missing, extra, and wrongly directed edges cost one each."""
    collider = Dag.from_edges(["a", "b", "c", "d"], [("a", "c"), ("b", "c"), ("c", "d")])
    assert shd(collider, Dag.from_edges(collider.names, [])) == 3  # three edges missing
    chain = Dag.from_edges(collider.names, [("a", "c"), ("c", "b"), ("c", "d")])
    assert shd(collider, chain) == 3  # three edges lose their directions
    turned = Dag.from_edges(collider.names, [("a", "c"), ("d", "c"), ("c", "b")])
    assert shd(collider, turned) == 2  # c - b and c - d are turned, a -> c stays


@given(a=dags_of_five(), b=dags_of_five(), c=dags_of_five())
def test_shd_is_a_distance_between_classes(a: Dag, b: Dag, c: Dag) -> None:
    assert shd(a, b) == shd(b, a)
    assert (shd(a, b) == 0) == a.is_equivalent(b)
    assert shd(a, c) <= shd(a, b) + shd(b, c)
    mine, theirs = ({frozenset(edge) for edge in dag.edges} for dag in (a, b))
    assert hamming(a.skeleton(), b.skeleton()) == len(mine ^ theirs) <= shd(a, b)


@given(a=dags_of_five(), b=dags_of_five())
def test_a_dag_stands_for_its_cpdag(a: Dag, b: Dag) -> None:
    assert shd(a, b) == shd(cpdag(a), b) == shd(a, cpdag(b)) == shd(cpdag(a), cpdag(b))
    assert shd(a, b) == shd(Dag.from_edges(NAMES, a.edges), b)


def test_other_variables_are_refused() -> None:
    a, b = Dag(["x", "y"], [(), ()]), Dag(["x", "z"], [(), ()])
    message = "the graphs must have the same variables, in any order: only the first has 'y'; only the second has 'z'"
    with pytest.raises(SchemaError, match=message):
        shd(a, b)
    with pytest.raises(SchemaError, match=message):
        hamming(a.skeleton(), b.skeleton())
    with pytest.raises(SchemaError, match=r"only the first has 'y'$"):
        shd(cpdag(a), Cpdag(["x"], [], []))
