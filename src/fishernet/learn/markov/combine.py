"""From a blanket a variable to one undirected graph."""

from __future__ import annotations

from collections.abc import Sequence

from fishernet.errors import FishernetError
from fishernet.graphs import UndirectedGraph
from fishernet.table.variable import listed

RULES = ("and", "or")


def combined(names: Sequence[str], blankets: Sequence[Sequence[int]], rule: str) -> UndirectedGraph:
    """Join variables that are in each other's blankets ("and"), or one in the other's ("or")."""
    check_rule(rule, RULES)
    sets = [set(blanket) for blanket in blankets]
    n = len(names)
    adjacency = []
    for one in range(n):
        both = [(other in sets[one]) + (one in sets[other]) for other in range(n)]
        adjacency.append([other for other in range(n) if other != one and both[other] >= (2 if rule == "and" else 1)])
    return UndirectedGraph(names, adjacency)


def check_rule(rule: str, known: Sequence[str]) -> None:
    """Raise FishernetError when a rule is unknown."""
    if rule not in known:
        raise FishernetError(f"unknown rule {rule!r}; there are {listed(known)}")
