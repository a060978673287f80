"""Graphs to try: all small DAGs, and random ones with hostile names for hypothesis."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import cache

import pytest
from hypothesis import strategies as st

from fishernet.graphs import Dag, UndirectedGraph

Parents = tuple[tuple[int, ...], ...]
Separation = tuple[int, int, frozenset[int]]


@st.composite
def dags(draw: st.DrawFn) -> Dag:
    names = draw(st.lists(st.text(), unique=True, max_size=8))
    order = draw(st.permutations(names))
    pairs = list(itertools.combinations(order, 2))
    return Dag.from_edges(names, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])


@st.composite
def undirected_graphs(draw: st.DrawFn) -> UndirectedGraph:
    names = draw(st.lists(st.text(), unique=True, max_size=8))
    pairs = list(itertools.combinations(names, 2))
    return UndirectedGraph.from_edges(names, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])


st.register_type_strategy(st.DataObject, st.data())
st.register_type_strategy(Dag, dags())
st.register_type_strategy(UndirectedGraph, undirected_graphs())


def drawings(n: int) -> Iterator[Parents]:
    """Every way to draw no arrow, an arrow or its reversal between any two of n nodes, cyclic ones too."""
    pairs = list(itertools.combinations(range(n), 2))
    for choice in itertools.product((None, 0, 1), repeat=len(pairs)):
        arrows = [
            pair if turn == 0 else pair[::-1] for pair, turn in zip(pairs, choice, strict=True) if turn is not None
        ]
        yield tuple(tuple(a for a, b in arrows if b == node) for node in range(n))


def has_order(parents: Parents) -> bool:
    """Whether the nodes can be put in a row with parents first: every such row is tried."""
    rows = itertools.permutations(range(len(parents)))
    return any(all(row.index(p) < row.index(c) for c, found in enumerate(parents) for p in found) for row in rows)


@pytest.fixture(scope="session")
def all_drawings() -> Callable[[int], list[Parents]]:
    return cache(lambda n: list(drawings(n)))


@pytest.fixture(scope="session")
def all_dags() -> Callable[[int], list[Dag]]:
    """All DAGs on n nodes named a, b, c, ..."""
    return cache(lambda n: [Dag(list("abcdef"[:n]), found) for found in drawings(n) if has_order(found)])


def descendants(parents: Parents, node: int) -> set[int]:
    found = {node}
    for _ in parents:
        found |= {child for child, above in enumerate(parents) if found & set(above)}
    return found


def path_is_open(parents: Parents, path: tuple[int, ...], given: frozenset[int]) -> bool:
    for before, node, after in zip(path, path[1:], path[2:], strict=False):
        if before in parents[node] and after in parents[node]:
            if not descendants(parents, node) & given:
                return False
        elif node in given:
            return False
    return True


def paths(parents: Parents, path: tuple[int, ...], end: int) -> Iterator[tuple[int, ...]]:
    if path[-1] == end:
        yield path
        return
    for node in range(len(parents)):
        if node not in path and (node in parents[path[-1]] or path[-1] in parents[node]):
            yield from paths(parents, (*path, node), end)


@pytest.fixture(scope="session")
def separations() -> Callable[[Dag], frozenset[Separation]]:
    """The function that finds all d-separations (a, b, given) with a < b of a small DAG, path by path (Pearl 1988)."""

    @cache
    def found(parents: Parents) -> frozenset[Separation]:
        nodes = range(len(parents))
        return frozenset(
            (a, b, frozenset(given))
            for a, b in itertools.combinations(nodes, 2)
            for size in range(len(parents) - 1)
            for given in itertools.combinations([node for node in nodes if node not in (a, b)], size)
            if not any(path_is_open(parents, path, frozenset(given)) for path in paths(parents, (a,), b))
        )

    return lambda dag: found(dag.parents)


@pytest.fixture(scope="session")
def classes(
    all_dags: Callable[[int], list[Dag]], separations: Callable[[Dag], frozenset[Separation]]
) -> Callable[[int], list[list[Dag]]]:
    """The DAGs on n nodes, those with the same d-separations together."""

    @cache
    def grouped(n: int) -> list[list[Dag]]:
        groups: dict[frozenset[Separation], list[Dag]] = {}
        for dag in all_dags(n):
            groups.setdefault(separations(dag), []).append(dag)
        return list(groups.values())

    return grouped
