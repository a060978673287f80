"""How edges between named variables are given, checked and shown.

Callers name variables; the code uses their positions among the graph's names. *Where* is always the mapping from the
names to their positions.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, SupportsIndex

import numpy as np

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import Pair, Positions, a, cut, listed, position, several, shown


def arrangement(where: Mapping[str, int], others: Sequence[str]) -> Positions:
    """Return the position of every name of another graph; SchemaError names variables that only one of them has."""
    known = set(others)
    here = [name for name in where if name not in known]
    there = [name for name in others if name not in where]
    if here or there:
        sides = zip(("first", "second"), (here, there), strict=True)
        lacks = "; ".join(f"only the {side} has {listed(names)}" for side, names in sides if names)
        raise SchemaError(f"the graphs must have the same variables, in any order: {lacks}")
    return tuple(where[name] for name in others)


def joined(where: Mapping[str, int], edges: Iterable[Pair]) -> list[tuple[int, int]]:
    """Return the positions of pairs of names, in the order given; SchemaError for anything else."""
    pairs = []
    for edge in check.items(edges, "edges", "pairs of names"):
        ordered = not isinstance(edge, str | bytes | set | frozenset) and isinstance(edge, Iterable)
        ends = tuple(edge) if ordered and getattr(edge, "ndim", 1) != 0 else ()
        if len(ends) != 2:
            raise SchemaError(f"an edge must be a pair of names, got {shown(edge)}")
        pairs.append((position(where, ends[0]), position(where, ends[1])))
    return pairs


def adjacent(names: Sequence[str], lists: Iterable[Iterable[SupportsIndex]], what: str) -> tuple[Positions, ...]:
    """Return one ascending tuple of positions per variable; `what` they are (``"parents"``) is for the messages.

    SchemaError when the number does not fit, or a position is no integer, out of range or given twice.
    """
    if isinstance(lists, str | Mapping) or not isinstance(lists, Iterable) or getattr(lists, "ndim", 1) == 0:
        raise SchemaError(f"{what} must be one tuple of positions per variable, not {type(lists).__name__}")
    given = list(lists)
    if len(given) != len(names):
        raise SchemaError(
            f"{several(len(names), 'variable needs', 'variables need')} {len(names)} tuples of {what}, got {len(given)}"
        )
    return tuple(_ascending(names, variable, found, what) for variable, found in enumerate(given))


def _ascending(names: Sequence[str], variable: int, found: Iterable[SupportsIndex], what: str) -> Positions:
    who = f"the {what} of {names[variable]!r}"
    if isinstance(found, str) or not isinstance(found, Iterable) or getattr(found, "ndim", 1) == 0:
        raise SchemaError(f"{who} must be a tuple of positions, not {shown(found)}; from_edges takes names")
    ascending = tuple(sorted(_integer(item, who) for item in found))
    if ascending and not 0 <= ascending[0] <= ascending[-1] < len(names):
        wrong = ascending[0] if ascending[0] < 0 else ascending[-1]
        raise SchemaError(f"{who}: the position {wrong} is not from 0 to {len(names) - 1}")
    for one, after in itertools.pairwise(ascending):
        if one == after:
            raise SchemaError(f"{who} name {names[one]!r} (position {one}) more than once; give each edge once")
    return ascending


def _integer(item: Any, who: str) -> int:
    try:
        if isinstance(item, bool | np.bool_):
            raise TypeError
        return operator.index(item)
    except TypeError:
        raise SchemaError(f"{who} must be positions (integers), got {shown(item)}; from_edges takes names") from None


def networkx_parts(graph: Any, *, directed: bool) -> tuple[list[Any], list[tuple[Any, ...]]]:
    """Return the nodes and the edges of a graph of networkx; SchemaError for anything else."""
    kind = "a DiGraph" if directed else "an undirected Graph"
    if not callable(getattr(graph, "is_directed", None)) or not hasattr(graph, "nodes") or not hasattr(graph, "edges"):
        raise SchemaError(f"{kind} of networkx is needed, not {type(graph).__name__}")
    if graph.is_directed() != directed:
        raise SchemaError(f"{kind} of networkx is needed; this one is {'un' if directed else ''}directed")
    return list(graph.nodes), [tuple(edge)[:2] for edge in graph.edges]


MOST = 6  # edges that are written out
LONGEST = 40  # characters of a name that is written out


def require_kind(function: str, graph: object, *kinds: type, hint: str = "") -> None:
    """Raise SchemaError when the graph is of none of the kinds that a function takes."""
    if not isinstance(graph, kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise SchemaError(f"{function} needs {a(wanted)}, not {type(graph).__name__}{hint and '; '}{hint}")


def summary(kind: str, n_variables: int, *groups: tuple[str, Iterable[Pair]]) -> str:
    """Return the kind, how large the graph is, and its first edges; a group is an arrow and the edges that it draws."""
    edges = [f"{_short(one)} {arrow} {_short(other)}" for arrow, pairs in groups for one, other in pairs]
    shown = ", ".join(edges[:MOST]) + (", ..." if len(edges) > MOST else "")
    return f"{kind}({several(n_variables, 'variable')}, {several(len(edges), 'edge')}{shown and ': '}{shown})"


def _short(name: str) -> str:
    return cut(repr(name), LONGEST)
