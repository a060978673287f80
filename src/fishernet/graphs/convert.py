"""Graphs as other libraries hold them.

The moral graph of a DAG.
"""

from __future__ import annotations

from typing import Any

from fishernet.graphs.cpdag import Cpdag
from fishernet.graphs.dag import Dag
from fishernet.graphs.edges import require_kind
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
    require_kind("to_networkx", graph, Dag, Cpdag, UndirectedGraph)
    try:
        import networkx
    except ImportError as error:
        raise ImportError("to_networkx needs networkx; install it with: pip install networkx") from error
    result = networkx.Graph() if isinstance(graph, UndirectedGraph) else networkx.DiGraph()
    result.add_nodes_from(graph.names)
    if isinstance(graph, Cpdag):
        result.add_edges_from(graph.directed, directed=True)
        for a, b in graph.undirected:
            result.add_edges_from([(a, b), (b, a)], directed=False)
    else:
        result.add_edges_from(graph.edges)
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
