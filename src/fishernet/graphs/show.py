"""How a graph shows itself."""

from __future__ import annotations

from collections.abc import Iterable

from fishernet.graphs.names import Pair

MOST = 6  # edges that are written out


def summary(kind: str, n_variables: int, *groups: tuple[str, Iterable[Pair]]) -> str:
    """Return the kind, how large the graph is, and its first edges.

    Parameters
    ----------
    kind : str
    n_variables : int
    groups : pairs of an arrow and the edges that are drawn with it
    """
    edges = [f"{a!r} {arrow} {b!r}" for arrow, pairs in groups for a, b in pairs]
    shown = ", ".join(edges[:MOST]) + (", ..." if len(edges) > MOST else "")
    return f"{kind}({_counted(n_variables, 'variable')}, {_counted(len(edges), 'edge')}{shown and ': '}{shown})"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
