"""Graphs, and the graphs of networks, for programs that draw and measure them: DOT and GraphML."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

from fishernet.base.errors import SchemaError
from fishernet.base.io import replacing_text
from fishernet.files.networks import check_names_storable

Pair = tuple[str, str]

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Picture(NamedTuple):
    """What a graph consists of."""

    names: Sequence[str]
    arcs: Sequence[Pair] | None
    """Directed edges; None where the graph has none by its nature."""
    edges: Sequence[Pair]
    """Undirected ones."""


def store_dot(model: Any, path: str | os.PathLike[str]) -> str:
    """Write a graph, or the graph of a model, in the language of Graphviz; return that nothing is to be noted."""
    return _store(model, path, "DOT", _dot)


def store_graphml(model: Any, path: str | os.PathLike[str]) -> str:
    """Write a graph, or the graph of a model, in GraphML; return that nothing is to be noted.

    A Cpdag is written as `fishernet.graphs.to_networkx` makes it: an undirected edge is two arcs with directed=False.
    """
    return _store(model, path, "GraphML", _graphml)


def picture_of(model: Any, format_name: str) -> Picture:
    """Return the graph of a model, which may be one itself; SchemaError when it has none."""
    for attribute, of in _PICTURES.items():
        if hasattr(model, attribute):
            return of(model)
    raise SchemaError(f"a {format_name} file holds a graph or a network, and a {type(model).__name__} is none")


def _of_inputs(model: Any) -> Picture:
    names = model.names
    return Picture(names, [(names[u], names[v]) for v, inputs in enumerate(model.inputs) for u in inputs], [])


def _of_scopes(model: Any) -> Picture:
    joined = {pair for scope in model.scopes for pair in combinations(sorted(scope), 2)}
    return Picture(model.names, None, [(model.names[u], model.names[v]) for u, v in sorted(joined)])


_PICTURES: dict[str, Callable[[Any], Picture]] = {  # the first attribute that a model has tells its kind
    "dag": lambda model: Picture(model.names, model.dag.edges, []),
    "inputs": _of_inputs,
    "graph": lambda model: Picture(model.names, None, model.graph.edges),
    "scopes": _of_scopes,
    "undirected": lambda graph: Picture(graph.names, graph.directed, graph.undirected),
    "skeleton": lambda graph: Picture(graph.names, graph.edges, []),
    "edges": lambda graph: Picture(graph.names, None, graph.edges),
}


def _store(
    model: Any, path: str | os.PathLike[str], format_name: str, lines: Callable[[Picture], Iterator[str]]
) -> str:
    picture = picture_of(model, format_name)
    check_names_storable(picture.names)
    with replacing_text(path) as file:
        file.writelines(lines(picture))
    return ""


def _dot(picture: Picture) -> Iterator[str]:
    directed = picture.arcs is not None
    yield "digraph {\n" if directed else "graph {\n"
    for name in picture.names:
        yield f"  {_dot_name(name)};\n"
    for a, b in picture.arcs or ():
        yield f"  {_dot_name(a)} -> {_dot_name(b)};\n"
    for a, b in picture.edges:
        yield (
            f"  {_dot_name(a)} -> {_dot_name(b)} [dir=none];\n"
            if directed
            else f"  {_dot_name(a)} -- {_dot_name(b)};\n"
        )
    yield "}\n"


def _dot_name(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "\\r").replace("\n", "\\n")
    return f'"{escaped}"'


def _graphml(picture: Picture) -> Iterator[str]:
    odd = next((name for name in picture.names if _NO_XML.search(name)), None)
    if odd is not None:
        raise SchemaError(f"the name {odd!r} holds a character that GraphML cannot hold")
    mixed = picture.arcs is not None and len(picture.edges) > 0
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    if mixed:
        yield '  <key id="directed" for="edge" attr.name="directed" attr.type="boolean" />\n'
    yield f'  <graph edgedefault="{"undirected" if picture.arcs is None else "directed"}">\n'
    for name in picture.names:
        yield f"    <node id={quoteattr(name)} />\n"
    for a, b in picture.arcs or ():
        yield _graphml_edge(a, b, "true" if mixed else "")
    for a, b in picture.edges:
        yield _graphml_edge(a, b, "false" if mixed else "")
        if mixed:
            yield _graphml_edge(b, a, "false")
    yield "  </graph>\n</graphml>\n"


def _graphml_edge(a: str, b: str, directed: str) -> str:
    ends = f"    <edge source={quoteattr(a)} target={quoteattr(b)}"
    return f'{ends}><data key="directed">{directed}</data></edge>\n' if directed else f"{ends} />\n"
