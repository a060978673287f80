"""Directed graphs over named variables, cycles allowed: who is given whom in a dependency network."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self, SupportsIndex

from fishernet.base.display import Drawn
from fishernet.base.errors import SchemaError
from fishernet.base.names import Pair, Positions, numbered
from fishernet.graphs.edges import adjacent, joined, networkx_parts, summary
from fishernet.graphs.graph import Links


@dataclass(frozen=True, init=False, repr=False)
class DirectedGraph(Drawn):
    """A directed graph that may have cycles: the structure of a dependency network; immutable.

    Two are equal when their names, in order, and their edges are.

    Parameters
    ----------
    names : sequence of str
        The variables, each once; the order is kept.
    parents : one iterable of positions per variable
        The parents of each variable, of a dependency network its inputs.

    Raises
    ------
    SchemaError
        When a name appears twice, or a position is not an integer, out of range, given twice or its own variable's.

    See Also
    --------
    fishernet.Dag : without cycles.

    Examples
    --------
    >>> import fishernet as fn
    >>> fn.graphs.DirectedGraph.from_edges(["a", "b"], [("a", "b"), ("b", "a")])
    DirectedGraph(2 variables, 2 edges: 'b' -> 'a', 'a' -> 'b')
    """

    names: tuple[str, ...]
    """The variables' names."""
    parents: tuple[Positions, ...]
    """The positions of each variable's parents, ascending."""
    _where: dict[str, int] = field(compare=False)

    def __init__(self, names: Iterable[str], parents: Iterable[Iterable[SupportsIndex]]) -> None:
        where = numbered(names)
        object.__setattr__(self, "names", tuple(where))
        object.__setattr__(self, "_where", where)
        object.__setattr__(self, "parents", adjacent(self.names, parents, "parents"))
        self._check_cycles()

    def _check_cycles(self) -> None:
        """Raise an error when the edges close a cycle that this kind of graph forbids: here an arc to itself."""
        for child, found in enumerate(self.parents):
            if child in found:
                raise SchemaError(f"the variable {self.names[child]!r} cannot be a parent of its own")

    @classmethod
    def from_edges(cls, names: Iterable[str], edges: Iterable[Pair]) -> Self:
        """Make a graph of pairs of names.

        Parameters
        ----------
        names : sequence of str
            The variables; those without edges too.
        edges : iterable of (str, str)
            Pairs (parent, child), each once, in any order.

        Raises
        ------
        SchemaError
            When a name is unknown or doubled, or an edge is not a pair or is given twice.
        CycleError
            Of a Dag, when the edges close a cycle, naming one.
        """
        where = numbered(names)
        parents: list[list[int]] = [[] for _ in where]
        for parent, child in joined(where, edges):
            parents[child].append(parent)
        return cls(where, parents)

    @classmethod
    def from_networkx(cls, graph: Any) -> Self:
        """Make one of a directed graph of networkx; other attributes of its nodes and edges are dropped.

        Parameters
        ----------
        graph : networkx.DiGraph
            Its nodes are str.

        Raises
        ------
        SchemaError
            When it is not a directed graph, a node is not a str, or an edge appears twice.
        CycleError
            Of a Dag, when the edges close a cycle, naming one.
        """
        return cls.from_edges(*networkx_parts(graph, directed=True))

    @cached_property
    def edges(self) -> tuple[Pair, ...]:
        """The edges as pairs of names (parent, child), sorted by the child's position, then by the parent's."""
        return tuple(
            (self.names[parent], self.names[child]) for child, found in enumerate(self.parents) for parent in found
        )

    @property
    def n_edges(self) -> int:
        """The number of edges."""
        return sum(map(len, self.parents))

    def links(self) -> Links:
        """Return what joins the variables, for pictures and files."""
        return Links.of_parents(self.parents, layered=False)

    def __repr__(self) -> str:
        return summary(type(self).__name__, len(self.names), ("->", self.edges))

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (self.names, self.parents)
