"""What can be drawn: graphs, and the models that have one."""

from __future__ import annotations

from collections.abc import Iterable

from fishernet.errors import FishernetError, SchemaError
from fishernet.graphs import Cpdag, Dag, UndirectedGraph
from fishernet.models import BayesianNetwork, DependencyNetwork, GaussianBayesianNetwork, GaussianMarkovNetwork
from fishernet.plot.shapes import Drawable, Link

MOST_NODES = 2000

Graph = (
    Dag
    | UndirectedGraph
    | Cpdag
    | BayesianNetwork
    | DependencyNetwork
    | GaussianBayesianNetwork
    | GaussianMarkovNetwork
)


def drawable(graph: object) -> Drawable:
    """Return names and links of a graph, or of a model's graph.

    Raises
    ------
    SchemaError
        When it is neither, or has no variables.
    FishernetError
        When it has more than `MOST_NODES` variables.
    """
    found = _drawable(graph)
    if not found.names:
        raise SchemaError("the graph has no variables, so there is nothing to draw")
    if len(found.names) > MOST_NODES:
        raise FishernetError(
            f"a drawing of {len(found.names):,} variables cannot be read; at most {MOST_NODES:,} are drawn, so draw a "
            "part of the graph"
        )
    return found


def _drawable(graph: object) -> Drawable:
    match graph:
        case BayesianNetwork() | GaussianBayesianNetwork():
            return _drawable(graph.dag)
        case GaussianMarkovNetwork():
            return _drawable(graph.graph)
        case Dag():
            return _of_arcs(graph.names, _arcs(graph.parents), layered=True)
        case UndirectedGraph():
            links = [(u, v) for u, others in enumerate(graph.adjacency) for v in others if u < v]
            return Drawable(graph.names, links, [(False, False)] * len(links), layered=False)
        case Cpdag():
            where = {name: position for position, name in enumerate(graph.names)}
            directed = [(where[a], where[b]) for a, b in graph.directed]
            undirected = [(where[a], where[b]) for a, b in graph.undirected]
            heads = [(False, True)] * len(directed) + [(False, False)] * len(undirected)
            return Drawable(graph.names, [*directed, *undirected], heads, layered=False)
        case DependencyNetwork():
            return _of_arcs(graph.names, _arcs(conditional.parents for conditional in graph.conditionals))
    raise SchemaError(
        f"a {type(graph).__name__} has no graph to draw; take a Dag, a Cpdag, an UndirectedGraph, or a network with one"
    )


def _arcs(parents: Iterable[Iterable[int]]) -> list[Link]:
    return [(parent, child) for child, of in enumerate(parents) for parent in sorted(of)]


def _of_arcs(names: tuple[str, ...], arcs: list[Link], *, layered: bool = False) -> Drawable:
    """Return arcs as links; two that run both ways between the same nodes are one link with two heads."""
    known = set(arcs)
    links = [(u, v) for u, v in arcs if u < v or (v, u) not in known]
    return Drawable(names, links, [((v, u) in known, True) for u, v in links], layered=layered)
