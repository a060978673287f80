"""Graphs turned into others: the moral graph of a DAG, and graphs as networkx holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from fishernet.graphs.dag import Dag
from fishernet.graphs.edges import require_kind
from fishernet.graphs.graph import Graph, HasGraph, graph_of, taken_apart
from fishernet.graphs.undirected import UndirectedGraph

if TYPE_CHECKING:
    import networkx as nx


def to_networkx(graph: Graph | HasGraph) -> nx.Graph:
    """Return a graph, or that of a model, as one of networkx, its nodes the names in variable order.

    Parameters
    ----------
    graph : Dag, Cpdag, UndirectedGraph, DirectedGraph, or a model with a graph

    Returns
    -------
    networkx.DiGraph or networkx.Graph
        A ``DiGraph`` of a directed graph, a ``Graph`` of an undirected one. networkx has no graph with both kinds of
        edges: a Cpdag becomes a ``DiGraph`` in which every edge has the attribute ``directed``, and an undirected edge
        is two opposite ones with ``directed=False``. Nodes of a network have their ``states``, edges of a Gaussian
        Markov network their ``partial_correlation``.

    Raises
    ------
    ImportError
        When networkx is not installed.
    SchemaError
        When it is not a graph, or a model without one.

    See Also
    --------
    Dag.from_networkx, UndirectedGraph.from_networkx : the way back.

    Examples
    --------
    >>> import fishernet as fn
    >>> dag = fn.Dag.from_edges(["a", "b", "c"], [("c", "a")])
    >>> fn.graphs.to_networkx(dag).nodes
    NodeView(('a', 'b', 'c'))
    >>> fn.graphs.to_networkx(fn.graphs.cpdag(dag)).edges(data="directed")
    OutEdgeDataView([('a', 'c', False), ('c', 'a', False)])
    >>> fn.graphs.to_networkx(fn.datasets.load("asia")).nodes["smoke"]
    {'states': ('yes', 'no')}
    """
    found, model = graph_of(graph), taken_apart(graph)[1]
    try:
        import networkx
    except ImportError as error:
        raise ImportError("to_networkx needs networkx; install it with: pip install networkx") from error
    names, links = found.names, found.links()
    result = networkx.DiGraph() if links.directed else networkx.Graph()
    result.add_nodes_from(names)
    for variable in () if model is None else model.variables:
        if variable.states:
            result.nodes[variable.name]["states"] = variable.states
    mixed = links.directed and bool(links.lines)
    both_ways = [pair for u, v in links.lines for pair in ((u, v), (v, u))] if links.directed else links.lines
    for pairs, directed in ((links.arcs, True), (both_ways, False)):
        result.add_edges_from(((names[u], names[v]) for u, v in pairs), **({"directed": directed} if mixed else {}))
    if model is not None and model.inference == "normal" and not links.directed:
        K: npt.NDArray[np.float64] = cast(Any, model).precision
        for u, v in links.lines:
            result.edges[names[u], names[v]]["partial_correlation"] = float(-K[u, v] / np.sqrt(K[u, u] * K[v, v]))
    return result


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
        When it is not a Dag.

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
