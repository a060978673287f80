"""Which kind of graph a function takes, and how each kind shows itself."""

from __future__ import annotations

from collections.abc import Iterable

from fishernet.errors import SchemaError
from fishernet.graphs.names import Pair

MOST = 6  # edges that are written out


def require_kind(function: str, graph: object, *kinds: type, hint: str = "") -> None:
    """Raise SchemaError when the graph is of none of the kinds that a function takes."""
    if not isinstance(graph, kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise SchemaError(f"{function} needs a {wanted}, not {type(graph).__name__}{hint and '; '}{hint}")


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
