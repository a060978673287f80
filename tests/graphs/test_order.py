"""The topological order, and which drawings have none."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from hypothesis import given

from fishernet.base.errors import CycleError
from fishernet.graphs import Dag

Parents = tuple[tuple[int, ...], ...]


@pytest.mark.parametrize(("n", "number"), [(0, 1), (1, 1), (2, 3), (3, 25), (4, 543)])
def test_the_number_of_dags_is_robinsons(n: int, number: int, all_drawings: Callable[[int], list[Parents]]) -> None:
    """R. W. Robinson, "Counting labeled acyclic digraphs", 1973."""
    accepted, cycles = 0, []
    for parents in all_drawings(n):
        try:
            Dag(list("abcd"[:n]), parents)
            accepted += 1
        except CycleError as error:
            cycles.append((parents, ["abcd".index(name) for name in error.cycle]))
    assert accepted == number
    for parents, cycle in cycles:
        steps = list(itertools.pairwise(cycle))
        assert len(set(cycle)) == len(steps) > 1
        assert all(tail in parents[head] for tail, head in steps)
        assert cycle[0] == cycle[-1] == min(cycle)


def test_the_order_is_the_first_of_all_in_the_dictionary(all_dags: Callable[[int], list[Dag]]) -> None:
    for dag in all_dags(4):
        rows = itertools.permutations(range(4))  # in lexicographic order
        valid = (r for r in rows if all(r.index(p) < r.index(c) for c, ps in enumerate(dag.parents) for p in ps))
        assert dag.order == next(valid)


@given(...)
def test_parents_come_first(dag: Dag) -> None:
    place = {variable: i for i, variable in enumerate(dag.order)}
    assert sorted(dag.order) == list(range(len(dag.names)))
    assert all(place[parent] < place[child] for child, found in enumerate(dag.parents) for parent in found)


def test_a_cycle_is_named_without_what_hangs_on_it() -> None:
    edges = [("root", "c"), ("c", "b"), ("b", "d"), ("d", "c"), ("d", "leaf"), ("leaf", "end")]
    with pytest.raises(CycleError, match="b -> d -> c -> b; remove or turn one of them") as caught:
        Dag.from_edges(["end", "leaf", "b", "c", "d", "root"], edges)
    assert caught.value.cycle == ("b", "d", "c", "b")
    with pytest.raises(CycleError) as caught:
        Dag.from_edges(["a", "b"], [("a", "b"), ("b", "b")])
    assert caught.value.cycle == ("b", "b")


def test_a_long_chain_needs_no_deep_stack() -> None:
    n = 5000
    names = [f"v{i}" for i in range(n)]
    assert Dag(names, [(i + 1,) for i in range(n - 1)] + [()]).order == tuple(reversed(range(n)))
    with pytest.raises(CycleError) as caught:
        Dag(names, [((i + 1) % n,) for i in range(n)])
    assert len(caught.value.cycle) == n + 1
