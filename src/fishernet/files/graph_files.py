"""Graphs, and the graphs of networks, for programs that draw and measure them: DOT and GraphML."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from fishernet.base.errors import SchemaError
from fishernet.base.io import replacing_text
from fishernet.files.networks import check_names_storable
from fishernet.files.words import escaped
from fishernet.graphs import Graph
from fishernet.graphs.graph import HasGraph, graph_of


def store_dot(model: Graph | HasGraph, path: str | os.PathLike[str]) -> str:
    """Write a graph, or the graph of a model, in the language of Graphviz; return that nothing is to be noted."""
    return _store(model, path, _dot)


def store_graphml(model: Graph | HasGraph, path: str | os.PathLike[str]) -> str:
    """Write a graph, or the graph of a model, in GraphML; return that nothing is to be noted.

    A Cpdag is written as `fishernet.graphs.to_networkx` makes it: an undirected edge is two arcs with directed=False.
    """
    return _store(model, path, _graphml)


def _store(model: Graph | HasGraph, path: str | os.PathLike[str], lines: Callable[[Graph], Iterator[str]]) -> str:
    graph = graph_of(model, "model")
    check_names_storable(graph.names)
    with replacing_text(path) as file:
        file.writelines(lines(graph))
    return ""


def _dot(graph: Graph) -> Iterator[str]:
    names, links = [_dot_name(name) for name in graph.names], graph.links()
    yield "digraph {\n" if links.directed else "graph {\n"
    for name in names:
        yield f"  {name};\n"
    for u, v in links.arcs:
        yield f"  {names[u]} -> {names[v]};\n"
    for u, v in links.lines:
        yield f"  {names[u]} -> {names[v]} [dir=none];\n" if links.directed else f"  {names[u]} -- {names[v]};\n"
    yield "}\n"


def _dot_name(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "\\r").replace("\n", "\\n")
    return f'"{escaped}"'


def _graphml(graph: Graph) -> Iterator[str]:
    names, links = graph.names, graph.links()
    odd = next((name for name in names if any(map(_is_no_xml, name))), None)
    if odd is not None:
        raise SchemaError(f"the name {odd!r} holds a character that GraphML cannot hold")
    mixed = links.directed and len(links.lines) > 0
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    if mixed:
        yield '  <key id="directed" for="edge" attr.name="directed" attr.type="boolean" />\n'
    yield f'  <graph edgedefault="{"directed" if links.directed else "undirected"}">\n'
    for name in names:
        yield f'    <node id="{escaped(name)}" />\n'
    for u, v in links.arcs:
        yield _graphml_edge(names[u], names[v], "true" if mixed else "")
    for u, v in links.lines:
        yield _graphml_edge(names[u], names[v], "false" if mixed else "")
        if mixed:
            yield _graphml_edge(names[v], names[u], "false")
    yield "  </graph>\n</graphml>\n"


def _is_no_xml(sign: str) -> bool:
    return (sign < " " and sign not in "\t\n\r") or sign in "\ufffe\uffff"


def _graphml_edge(a: str, b: str, directed: str) -> str:
    ends = f'    <edge source="{escaped(a)}" target="{escaped(b)}"'
    return f'{ends}><data key="directed">{directed}</data></edge>\n' if directed else f"{ends} />\n"
