"""Chordal graphs: those in which every cycle of four or more edges has a chord.

They are the graphs whose separations a DAG can express too (also called *decomposable* or *triangulated*). Maximum
cardinality search finds it out [1]_: number the vertices one after the other, always one with the most numbered
neighbors; the graph is chordal if and only if then the earlier neighbors of every vertex are joined with one another.

References
----------
.. [1] R. E. Tarjan and M. Yannakakis, "Simple linear-time algorithms to test chordality of graphs, test acyclicity of
   hypergraphs, and selectively reduce acyclic hypergraphs", SIAM J. Comput. 13, 1984.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from fishernet.graphs.kinds import require_kind
from fishernet.graphs.undirected import UndirectedGraph


def cardinality_order(adjacency: Sequence[Sequence[int]]) -> list[int]:
    """Return the vertices in the order of a maximum cardinality search.

    Time and memory O(n + m): a vertex is put on a stack again whenever its number of visited neighbors rises, and its
    older entries, which name a lower number, are passed over.
    """
    size = len(adjacency)
    visited, weight = bytearray(size), [0] * size
    stacks: list[list[int]] = [list(reversed(range(size)))]
    order: list[int] = []
    while stacks:
        if not stacks[-1]:
            stacks.pop()
            continue
        vertex = stacks[-1].pop()
        if visited[vertex]:
            continue
        visited[vertex] = 1
        order.append(vertex)
        for other in adjacency[vertex]:
            if not visited[other]:
                weight[other] += 1
                if weight[other] == len(stacks):
                    stacks.append([])
                stacks[weight[other]].append(other)
    return order


def chordal_subgraph(adjacency: Sequence[Sequence[int]]) -> list[tuple[int, tuple[int, ...]]]:
    """Return a maximal chordal subgraph: every vertex with its earlier neighbors in it.

    The order is perfect: the earlier neighbors of every vertex are joined with one another. A chordal graph is its own:
    all its edges are kept. Among unvisited vertices the one with the most earlier neighbors comes next; it becomes an
    earlier neighbor of those whose others are among its own [1]_. Time O(m (k + log n)) for m edges and cliques of up
    to k vertices.

    References
    ----------
    .. [1] P. M. Dearing, D. R. Shier and D. D. Warner, "Maximal chordal subgraphs", Discrete Applied Mathematics 20,
       1988.
    """
    earlier: list[set[int]] = [set() for _ in adjacency]
    visited = bytearray(len(adjacency))
    waiting = [(0, vertex) for vertex in range(len(adjacency))]
    order = []
    while waiting:
        _, vertex = heapq.heappop(waiting)
        if visited[vertex]:  # an entry from when it had fewer
            continue
        visited[vertex] = 1
        order.append((vertex, tuple(sorted(earlier[vertex]))))
        for other in adjacency[vertex]:
            if not visited[other] and earlier[other] <= earlier[vertex]:
                earlier[other].add(vertex)
                heapq.heappush(waiting, (-len(earlier[other]), other))
    return order


def is_chordal(graph: UndirectedGraph) -> bool:
    """Return whether every cycle of four or more edges has a chord.

    Parameters
    ----------
    graph : UndirectedGraph

    Raises
    ------
    SchemaError
        When it is no UndirectedGraph.

    Notes
    -----
    By maximum cardinality search [1]_, in time O(n + m) for n variables and m edges.

    References
    ----------
    .. [1] R. E. Tarjan and M. Yannakakis, "Simple linear-time algorithms to test chordality of graphs, test acyclicity
       of hypergraphs, and selectively reduce acyclic hypergraphs", SIAM J. Comput. 13, 1984.

    Examples
    --------
    >>> import fishernet as fn
    >>> square = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    >>> fn.graphs.is_chordal(fn.UndirectedGraph.from_edges(["a", "b", "c", "d"], square))
    False
    >>> fn.graphs.is_chordal(fn.UndirectedGraph.from_edges(["a", "b", "c", "d"], [*square, ("a", "c")]))
    True
    """
    require_kind("is_chordal", graph, UndirectedGraph, hint="dag.skeleton() and moral(dag) make one of a Dag")
    adjacency = [frozenset(found) for found in graph.adjacency]
    rank = [0] * len(adjacency)
    for place, vertex in enumerate(cardinality_order(graph.adjacency)):
        rank[vertex] = place
    for vertex, found in enumerate(graph.adjacency):
        earlier = [other for other in found if rank[other] < rank[vertex]]
        if earlier:
            last = max(earlier, key=rank.__getitem__)  # it is enough that the last of them is joined with the others
            if not all(other == last or other in adjacency[last] for other in earlier):
                return False
    return True
