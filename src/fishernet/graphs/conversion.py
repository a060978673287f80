"""Graphs turned into others: the moral graph of a DAG, and graphs as networkx holds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fishernet.graphs.cpdag import Cpdag
from fishernet.graphs.dag import Dag
from fishernet.graphs.edges import graph_itself, require_kind, wrong_kind
from fishernet.graphs.undirected import UndirectedGraph


def to_networkx(graph: Dag | Cpdag | UndirectedGraph | Any) -> Any:
    """Return a graph, or that of a network, as one of networkx, its nodes the names in variable order.

    Parameters
    ----------
    graph : Dag, Cpdag, UndirectedGraph, or a network

    Returns
    -------
    networkx.DiGraph or networkx.Graph
        A ``DiGraph`` of a Dag, a Bayesian or a dependency network, a ``Graph`` of an UndirectedGraph or a Markov
        network. networkx has no graph with both kinds of edges: a Cpdag becomes a ``DiGraph`` in which every edge has
        the attribute ``directed``, and an undirected one is two opposite edges with ``directed=False``. Nodes of a
        network have their ``states``; edges of a Gaussian Markov network their ``partial_correlation``.

    Raises
    ------
    ImportError
        When networkx is not installed.
    SchemaError
        When there is no graph.

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
    kind, edges = _kind_and_edges(graph)
    try:
        import networkx
    except ImportError as error:
        raise ImportError("to_networkx needs networkx; install it with: pip install networkx") from error
    result = getattr(networkx, kind)()
    result.add_nodes_from(graph.names)
    for variable in getattr(graph, "variables", ()):
        if variable.states:
            result.nodes[variable.name]["states"] = variable.states
    result.add_edges_from(edges)
    return result


def _kind_and_edges(graph: Any) -> tuple[str, Sequence[tuple[Any, ...]]]:
    """Return the name of the class in networkx, and the edges with their attributes."""
    shape = graph_itself(graph)
    if hasattr(shape, "undirected"):
        both_ways = [pair for a, b in shape.undirected for pair in ((a, b), (b, a))]
        directed = [(*pair, {"directed": True}) for pair in shape.directed]
        return "DiGraph", [*directed, *((*pair, {"directed": False}) for pair in both_ways)]
    if hasattr(shape, "adjacency"):
        if not hasattr(graph, "partial_correlations"):
            return "Graph", shape.edges
        where, r = {name: at for at, name in enumerate(shape.names)}, graph.partial_correlations
        return "Graph", [(a, b, {"partial_correlation": float(r[where[a], where[b]])}) for a, b in shape.edges]
    if hasattr(shape, "edges") and hasattr(shape, "parents"):  # of a graph, or of a dependency network
        return "DiGraph", shape.edges
    raise wrong_kind("to_networkx", graph, Dag, Cpdag, UndirectedGraph, hint="or a network")


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
