"""Which kind of graph a function takes."""

from __future__ import annotations

from fishernet.errors import SchemaError


def require_kind(function: str, graph: object, *kinds: type, hint: str = "") -> None:
    """Raise SchemaError when the graph is of none of the kinds that a function takes."""
    if not isinstance(graph, kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise SchemaError(f"{function} needs a {wanted}, not {type(graph).__name__}{hint and '; '}{hint}")
