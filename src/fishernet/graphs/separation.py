"""Separation in graphs, by reachability over positions.

In an undirected graph a path is blocked by a given node on it. In a DAG a path is blocked by a given node where the
path runs through, and by a collider (``-> c <-``) of which neither c nor a descendant is given; a and b are
*d-separated* when every path between them is blocked [1]_. Paths need not be enumerated: it is enough to know at which
nodes one can arrive from a child, and at which from a parent [2]_, so each node is visited at most twice.

References
----------
.. [1] J. Pearl, *Probabilistic Reasoning in Intelligent Systems*, Morgan Kaufmann 1988, section 3.3.
.. [2] R. D. Shachter, "Bayes-Ball: the rational pastime", UAI 1998.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fishernet.base.errors import SchemaError
from fishernet.base.names import Positions, positions

FROM_CHILD, FROM_PARENT = 0, 1


def disjoint_positions(
    where: Mapping[str, int], a: str | Iterable[str], b: str | Iterable[str], given: str | Iterable[str]
) -> tuple[Positions, Positions, Positions]:
    """Return the positions of three sets of names; SchemaError when one is unknown, or in two of the sets."""
    sets = {"a": positions(where, a), "b": positions(where, b), "given": positions(where, given)}
    names, owner = list(where), dict[int, str]()
    for label, members in sets.items():
        for member in members:
            if owner.setdefault(member, label) != label:
                raise SchemaError(
                    f"the variable {names[member]!r} is both in {owner[member]} and in {label}; "
                    "the sets a, b and given must not overlap"
                )
    return sets["a"], sets["b"], sets["given"]


def marked(size: int, members: Iterable[int]) -> bytearray:
    """Return a flag per node: 1 for the members."""
    flags = bytearray(size)
    for member in members:
        flags[member] = 1
    return flags


def reached(neighbors: Sequence[Positions], start: Iterable[int], barred: Iterable[int] = ()) -> bytearray:
    """Return a flag per node: 1 for the start and all that can be reached from it without entering a barred node.

    With the parents as neighbors these are the start and its ancestors. Time O(n + m).
    """
    stack = list(start)
    found, closed = marked(len(neighbors), stack), marked(len(neighbors), barred)
    while stack:
        for node in neighbors[stack.pop()]:
            if not (found[node] or closed[node]):
                found[node] = 1
                stack.append(node)
    return found


def d_connected(
    parents: Sequence[Positions], children: Sequence[Positions], a: Positions, b: Positions, given: Positions
) -> bool:
    """Return whether a path from a to b is open; the three sets do not overlap.

    Time O(n + m) for n nodes and m edges.
    """
    size = len(parents)
    target, blocked = marked(size, b), marked(size, given)
    opening = reached(parents, given)  # colliders that are given, or have a given descendant
    visited = (bytearray(size), bytearray(size))
    stack = [(node, FROM_CHILD) for node in a]
    while stack:
        node, way = stack.pop()
        if visited[way][node]:
            continue
        if target[node]:
            return True
        visited[way][node] = 1
        if opening[node] if way == FROM_PARENT else not blocked[node]:
            stack.extend((parent, FROM_CHILD) for parent in parents[node])
        if not blocked[node]:
            stack.extend((child, FROM_PARENT) for child in children[node])
    return False
