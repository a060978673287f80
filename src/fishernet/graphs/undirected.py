"""Undirected graphs over named variables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self, SupportsIndex

from fishernet.errors import SchemaError
from fishernet.graphs.kinds import summary
from fishernet.graphs.names import Pair, Positions, adjacent, joined, numbered, position
from fishernet.graphs.separation import disjoint_positions, reached


@dataclass(frozen=True, init=False, repr=False)
class UndirectedGraph:
    """An undirected graph: the structure of a Markov network; immutable.

    Two are equal when their names, in order, and their edges are.

    Parameters
    ----------
    names : sequence of str
        The variables, each once; the order is kept.
    adjacency : one iterable of positions a variable
        The variables each is joined with; what is joined must be so from both sides.

    Raises
    ------
    SchemaError
        When a name appears twice, or a position is out of range, given twice, its own variable's, or not answered
        from the other side.

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
    def n_edges(self) -> int:
        """The number of edges."""
        return sum(map(len, self.adjacency)) // 2

    def neighbors(self, name: str) -> tuple[str, ...]:
        """Return the names of the variables joined with one, in variable order: its Markov blanket."""
        return tuple(self.names[other] for other in self.adjacency[position(self._where, name)])

    def is_separated(self, a: str | Iterable[str], b: str | Iterable[str], given: str | Iterable[str] = ()) -> bool:
        """Return whether every path from a to b runs through a given variable.

        Parameters
        ----------
        a, b, given : a name or an iterable of names
            They must not overlap. What is empty is separated from everything.

        Raises
        ------
        SchemaError
            When a name is unknown, or in two of the sets.

        Notes
        -----
        Time O(n + m) for n variables and m edges.
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
