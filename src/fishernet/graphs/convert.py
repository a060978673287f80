"""Graphs turned into others: the moral graph of a DAG, and graphs as networkx holds them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from fishernet.graphs.cpdag import Cpdag
from fishernet.graphs.dag import Dag
from fishernet.graphs.edges import require_kind, wrong_kind
from fishernet.graphs.undirected import UndirectedGraph


def to_networkx(graph: Dag | Cpdag | UndirectedGraph) -> Any:
    """Return a graph as one of networkx, its nodes the names in variable order.

    Parameters
    ----------
    graph : Dag, Cpdag or UndirectedGraph

    Returns
    -------
    networkx.DiGraph or networkx.Graph
        A ``DiGraph`` of a Dag, a ``Graph`` of an UndirectedGraph. networkx has no graph with both kinds of edges: a
        Cpdag becomes a ``DiGraph`` in which every edge has the attribute ``directed``, and an undirected one is two
        opposite edges with ``directed=False``.

    Raises
    ------
    ImportError
        When networkx is not installed.
    SchemaError
        When it is another kind of graph.

    Examples
    --------
    >>> import fishernet as fn
    >>> dag = fn.Dag.from_edges(["a", "b", "c"], [("c", "a")])
    >>> fn.graphs.to_networkx(dag).nodes
    NodeView(('a', 'b', 'c'))
    >>> fn.graphs.to_networkx(fn.graphs.cpdag(dag)).edges(data="directed")
    OutEdgeDataView([('a', 'c', False), ('c', 'a', False)])
    """
    kind, edges = _kind_and_edges(graph)
    try:
        import networkx
    except ImportError as error:
        raise ImportError("to_networkx needs networkx; install it with: pip install networkx") from error
    result = getattr(networkx, kind)()
    result.add_nodes_from(graph.names)
    result.add_edges_from(edges)
    return result


@singledispatch
def _kind_and_edges(graph: object) -> tuple[str, Sequence[tuple[Any, ...]]]:
    """Return the name of the class in networkx, and the edges with their attributes."""
    raise wrong_kind("to_networkx", graph, Dag, Cpdag, UndirectedGraph)


@_kind_and_edges.register
def _(graph: Dag) -> tuple[str, Sequence[tuple[Any, ...]]]:
    return "DiGraph", graph.edges


@_kind_and_edges.register
def _(graph: UndirectedGraph) -> tuple[str, Sequence[tuple[Any, ...]]]:
    return "Graph", graph.edges


@_kind_and_edges.register
def _(graph: Cpdag) -> tuple[str, Sequence[tuple[Any, ...]]]:
    both_ways = [pair for a, b in graph.undirected for pair in ((a, b), (b, a))]
    directed = [(*pair, {"directed": True}) for pair in graph.directed]
    return "DiGraph", [*directed, *((*pair, {"directed": False}) for pair in both_ways)]


def moral(dag: Dag) -> UndirectedGraph:
    """Return the moral graph of a DAG: its skeleton, and an edge between any two parents of a variable [1]_.

    It is the smallest undirected graph whose separations all hold in the DAG, and every variable's neighbors in it
    are its Markov blanket.

    Parameters
    ----------
    dag : Dag

    Raises
    ------
    SchemaError
        When it is no Dag.

    Notes
    -----
    Time O(n + sum of k^2) over the numbers k of parents, up to a logarithm.

    References
    ----------
    .. [1] S. L. Lauritzen and D. J. Spiegelhalter, "Local computations with probabilities on graphical structures and
       their application to expert systems", JRSS B 50, 1988.

    Examples
    --------
    >>> import fishernet as fn
    >>> fn.graphs.moral(fn.Dag.from_edges(["a", "b", "c"], [("a", "c"), ("b", "c")])).edges
    (('a', 'b'), ('a', 'c'), ('b', 'c'))
    """
    require_kind("moral", dag, Dag)
    adjacency: list[set[int]] = [set() for _ in dag.names]
    for child, parents in enumerate(dag.parents):
        family = {child, *parents}
        for parent in parents:
            adjacency[parent] |= family
        adjacency[child].update(parents)
    return UndirectedGraph(dag.names, [sorted(found - {own}) for own, found in enumerate(adjacency)])
