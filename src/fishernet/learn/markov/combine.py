"""From a blanket a variable to one undirected graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fishernet.errors import FishernetError
from fishernet.graphs import UndirectedGraph
from fishernet.table.variable import listed

RULES = ("and", "or")

Edge = tuple[int, int]


def combined(names: Sequence[str], blankets: Sequence[Sequence[int]], rule: str) -> UndirectedGraph:
    """Join variables that are in each other's blankets ("and"), or one in the other's ("or")."""
    check_rule(rule, RULES)
    return joined(names, edges_between(blankets, rule))


def edges_between(blankets: Sequence[Sequence[int]], rule: str) -> list[Edge]:
    """Return the pairs of variables that a rule joins: the earlier first, ascending."""
    sets = [set(blanket) for blanket in blankets]
    pairs = {(min(one, other), max(one, other)) for one, blanket in enumerate(sets) for other in blanket}
    return sorted((a, b) for a, b in pairs if rule == "or" or (a in sets[b] and b in sets[a]))


def joined(names: Sequence[str], edges: Iterable[Edge]) -> UndirectedGraph:
    """Return the graph of ascending edges."""
    adjacency: list[list[int]] = [[] for _ in names]
    for a, b in edges:
        adjacency[a].append(b)
        adjacency[b].append(a)
    return UndirectedGraph(names, adjacency)


def check_rule(rule: str, known: Sequence[str]) -> None:
    """Raise FishernetError when a rule is unknown."""
    if rule not in known:
        raise FishernetError(f"unknown rule {rule!r}; there are {listed(known)}")
