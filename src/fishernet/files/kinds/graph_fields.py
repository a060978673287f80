"""An undirected graph as fields of the model file, and back.

::

    "names": ["a", "b", "c"],
    "edges": [[0, 1], [1, 2]]                positions, each edge once, i < j
"""

from __future__ import annotations

from fishernet.errors import SchemaError
from fishernet.files.fields import Fields, shown
from fishernet.files.labels import is_text
from fishernet.graphs import UndirectedGraph


def graph_fields(graph: UndirectedGraph) -> dict[str, object]:
    """Return an undirected graph as what `json` writes.

    Raises
    ------
    SchemaError
        When a name cannot be stored.
    """
    for name in graph.names:
        if not is_text(name):
            raise SchemaError(f"the name {name!r} holds half of a surrogate pair, which cannot be written")
    edges = [[one, other] for one, others in enumerate(graph.adjacency) for other in others if one < other]
    return {"names": list(graph.names), "edges": edges}


def read_graph(fields: Fields) -> UndirectedGraph:
    """Return the undirected graph that the fields describe."""
    names = fields.items("names")
    for number, name in enumerate(names):
        if not isinstance(name, str) or not is_text(name):
            raise fields.wrong(f"expected a text, got {shown(name)}", f"names[{number}]")
    adjacency: list[list[int]] = [[] for _ in names]
    for number, edge in enumerate(fields.items("edges")):
        if not isinstance(edge, list) or len(edge) != 2 or not all(type(v) is int for v in edge):
            raise fields.wrong(f"expected [position, position], got {shown(edge)}", f"edges[{number}]")
        one, other = edge
        if not 0 <= one < other < len(names):
            what = f"the positions must be ascending and below {len(names)}, got {one} and {other}"
            raise fields.wrong(what, f"edges[{number}]")
        adjacency[one].append(other)
        adjacency[other].append(one)
    with fields.checking():
        return UndirectedGraph(names, adjacency)
