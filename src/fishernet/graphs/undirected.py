"""Undirected graphs over named variables, and which of them are chordal: every cycle of four or more edges has a chord.

Chordal graphs are those whose separations a DAG can express too (also called *decomposable* or *triangulated*).
Maximum cardinality search finds it out: number the vertices one after the other, always one with the most numbered
neighbors; the graph is chordal if and only if then the earlier neighbors of every vertex are joined with one another.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self, SupportsIndex

from fishernet.base.display import Drawn
from fishernet.base.errors import SchemaError
from fishernet.base.names import Pair, Positions, numbered, position
from fishernet.graphs.edges import adjacent, joined, networkx_parts, require_kind, summary
from fishernet.graphs.graph import Links
from fishernet.graphs.separation import disjoint_positions, reached


@dataclass(frozen=True, init=False, repr=False)
class UndirectedGraph(Drawn):
    """An undirected graph: the structure of a Markov network; immutable.

    Two are equal when their names, in order, and their edges are.

    Parameters
    ----------
    names : sequence of str
        The variables, each once; the order is kept.
    adjacency : one iterable of positions per variable
        The neighbors of each variable; every edge is listed on both sides.

    Raises
    ------
    SchemaError
        When a name appears twice, or a position is out of range, given twice, its own variable's, or listed on one
        side only.

    See Also
    --------
    UndirectedGraph.from_edges : the same from pairs of names.

    Notes
    -----
    Making one takes O(n + m log m) for n variables and m edges.

    Examples
    --------
    >>> import fishernet as fn
    >>> graph = fn.UndirectedGraph.from_edges(["a", "b", "c", "d"], [("b", "a"), ("b", "c")])
    >>> graph
    UndirectedGraph(4 variables, 2 edges: 'a' - 'b', 'b' - 'c')
    >>> graph.neighbors("b")
    ('a', 'c')
    >>> graph.is_separated("a", "c", "b")
    True
    >>> graph.components()
    (('a', 'b', 'c'), ('d',))
    """

    names: tuple[str, ...]
    """The variables' names."""
    adjacency: tuple[Positions, ...]
    """The positions each variable is joined with, ascending."""
    _where: dict[str, int] = field(compare=False)

    def __init__(self, names: Iterable[str], adjacency: Iterable[Iterable[SupportsIndex]]) -> None:
        where = numbered(names)
        object.__setattr__(self, "names", tuple(where))
        object.__setattr__(self, "_where", where)
        object.__setattr__(self, "adjacency", adjacent(self.names, adjacency, "neighbors"))
        self._require_symmetry()

    def _require_symmetry(self) -> None:
        arcs = {(one, other) for one, others in enumerate(self.adjacency) for other in others}
        for one, others in enumerate(self.adjacency):
            for other in others:
                if one == other:
                    raise SchemaError(f"the variable {self.names[one]!r} cannot be joined with itself")
                if (other, one) not in arcs:
                    raise SchemaError(
                        f"{self.names[other]!r} is among the neighbors of {self.names[one]!r}, but not the other way "
                        "round; an undirected edge is listed on both sides"
                    )

    @classmethod
    def from_edges(cls, names: Iterable[str], edges: Iterable[Pair]) -> Self:
        """Make a graph of pairs of names.

        Parameters
        ----------
        names : sequence of str
            The variables; those without edges too.
        edges : iterable of (str, str)
            Each edge once, in either direction.

        Raises
        ------
        SchemaError
            When a name is unknown or doubled, or an edge is no pair, given twice, or from a variable to itself.
        """
        where = numbered(names)
        adjacency: list[list[int]] = [[] for _ in where]
        for one, other in joined(where, edges):
            adjacency[one].append(other)
            if one != other:
                adjacency[other].append(one)
        return cls(where, adjacency)

    @classmethod
    def from_networkx(cls, graph: Any) -> Self:
        """Make one of an undirected graph of networkx; other attributes of its nodes and edges are dropped.

        Parameters
        ----------
        graph : networkx.Graph
            Its nodes are str.

        Raises
        ------
        SchemaError
            When it is not an undirected graph, a node is not a str, or an edge appears twice.
        """
        return cls.from_edges(*networkx_parts(graph, directed=False))

    @cached_property
    def edges(self) -> tuple[Pair, ...]:
        """The edges as pairs of names: the earlier variable first, sorted by its position, then by the other's."""
        return tuple(
            (self.names[one], self.names[other])
            for one, others in enumerate(self.adjacency)
            for other in others
            if one < other
        )

    @property
    def families(self) -> tuple[Positions, ...]:
        """Positions of the variables that each one depends on given these: its neighbours."""
        return self.adjacency

    @property
    def n_edges(self) -> int:
        """The number of edges."""
        return sum(map(len, self.adjacency)) // 2

    def links(self) -> Links:
        """Return what joins the variables, for pictures and files."""
        return Links.of_edges((u, v) for u, others in enumerate(self.adjacency) for v in others if u < v)

    def neighbors(self, name: str) -> tuple[str, ...]:
        """Return the names of the variables joined with one, in variable order: its Markov blanket."""
        return tuple(self.names[other] for other in self.adjacency[position(self._where, name)])

    def is_separated(self, a: str | Iterable[str], b: str | Iterable[str], given: str | Iterable[str] = ()) -> bool:
        """Return whether every path from a to b runs through a given variable, in time O(n + m).

        The sets must not overlap. An empty set is separated from every other.
        """
        start, target, barred = disjoint_positions(self._where, a, b, given)
        found = reached(self.adjacency, start, barred)
        return not any(found[other] for other in target)

    def components(self) -> tuple[tuple[str, ...], ...]:
        """Return the names of each connected component, in variable order; time O(n + m)."""
        label = [-1] * len(self.names)
        for first in range(len(self.names)):
            stack = [first] if label[first] < 0 else []
            while stack:
                variable = stack.pop()
                if label[variable] < 0:
                    label[variable] = first
                    stack.extend(self.adjacency[variable])
        members: dict[int, list[str]] = {}
        for variable, first in enumerate(label):
            members.setdefault(first, []).append(self.names[variable])
        return tuple(tuple(found) for found in members.values())

    def __repr__(self) -> str:
        return summary("UndirectedGraph", len(self.names), ("-", self.edges))

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (self.names, self.adjacency)


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
