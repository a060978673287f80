"""What the rest of the library knows of a graph: its names and its links.

Pictures, files, reports, networkx and the command line ask no more. A graph of your own is a class with `names` and
`links()`; it may also be the ``graph`` of a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

from fishernet.base.display import Brief
from fishernet.base.errors import SchemaError
from fishernet.base.names import a

Arc = tuple[int, int]
WANTED = "a graph, or a model that has one"


@dataclass(frozen=True, slots=True, repr=False)
class Links(Brief):
    """What joins the variables of a graph.

    Examples
    --------
    >>> import fishernet as fn
    >>> links = fn.Dag.from_edges(["a", "b", "c"], [("a", "b"), ("c", "b")]).links()
    >>> links.pairs, links.heads
    (((0, 1), (2, 1)), ((False, True), (False, True)))
    >>> links.blanket(0)
    [1, 2]
    """

    pairs: tuple[tuple[int, int], ...]
    """The positions of two joined variables; each pair once."""
    heads: tuple[tuple[bool, bool], ...]
    """Whether a link has an arrow head at its first variable, and at its second one."""
    directed: bool
    """Whether links may have heads; those of an undirected graph never have."""
    layered: bool
    """Whether every pair runs forward and none closes a cycle, so that the graph can be drawn in layers."""

    @classmethod
    def of_parents(cls, parents: Iterable[Iterable[int]], *, layered: bool) -> Self:
        """Return the links from parents to children; two arcs between the same variables are one link with two heads.

        Parameters
        ----------
        parents : one iterable of positions per variable
        layered : bool
            Whether there is no cycle.
        """
        arcs = [(parent, child) for child, found in enumerate(parents) for parent in sorted(found)]
        known = set(arcs)
        pairs = [(u, v) for u, v in arcs if u < v or (v, u) not in known]
        return cls(tuple(pairs), tuple(((v, u) in known, True) for u, v in pairs), True, layered)

    @classmethod
    def of_edges(cls, edges: Iterable[tuple[int, int]]) -> Self:
        """Return links without heads."""
        pairs = tuple(edges)
        return cls(pairs, ((False, False),) * len(pairs), False, False)

    @property
    def arcs(self) -> list[Arc]:
        """The directed links as positions (tail, head), sorted by head; a link with two heads is two arcs."""
        forward = [(u, v) for (u, v), (_, stop) in zip(self.pairs, self.heads, strict=True) if stop]
        back = [(v, u) for (u, v), (start, _) in zip(self.pairs, self.heads, strict=True) if start]
        return sorted(forward + back, key=lambda arc: (arc[1], arc[0]))

    @property
    def lines(self) -> list[tuple[int, int]]:
        """The links without heads, as positions."""
        return [pair for pair, heads in zip(self.pairs, self.heads, strict=True) if heads == (False, False)]

    def blanket(self, variable: int) -> list[int]:
        """Return the positions of a Markov blanket: given these, the variable is independent of all others.

        Without cycles parents, children and the children's other parents, and what a link without a head joins. In a
        directed graph with cycles, which is that of a dependency network, the parents alone.
        """
        found = {u + v - variable for u, v in self.lines if variable in (u, v)}
        arcs = self.arcs
        found |= {tail for tail, head in arcs if head == variable}
        if self.layered:
            children = {head for tail, head in arcs if tail == variable}
            found |= children | {tail for tail, head in arcs if head in children}
        return sorted(found - {variable})


@runtime_checkable
class Graph(Protocol):
    """A graph over named variables."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables' names, each once."""

    def links(self) -> Links:
        """Return what joins them, by position among the names."""


class WithGraph(Protocol):
    """A model, or a result about one graph."""

    @property
    def graph(self) -> Graph | None:
        """Its graph; None where it has none."""


class HasGraph(WithGraph, Protocol):
    """What this layer asks of a model."""

    @property
    def variables(self) -> Sequence[Any]:
        """Its variables, in the order of the graph's names; each has `states`."""

    @property
    def inference(self) -> str:
        """How it answers questions; "normal": it has the `precision` of a normal distribution."""


Holder = TypeVar("Holder", bound=WithGraph)


def taken_apart(given: Graph | Holder) -> tuple[Graph | None, Holder | None]:
    """Return a graph and None, or the graph of a model, if it has one, and the model."""
    return (given, None) if isinstance(given, Graph) else (given.graph, given)


def graph_of(given: Graph | WithGraph, name: str = "graph") -> Graph:
    """Return a graph as it is, and of a model its graph; SchemaError, which names the argument, when there is none."""
    graph, holder = taken_apart(given)
    if graph is None:
        raise SchemaError(f"{name} must be {WANTED}; {holder!r} has no graph", parameter=name)
    return graph


def directed_arcs(graph: Graph, parameter: str) -> list[tuple[str, str]]:
    """Return the arcs of a directed graph without cycles, as names; SchemaError of another graph."""
    links = graph.links()
    if not links.layered or links.lines:
        message = (
            f"{parameter} must be a BayesianNetwork or a Dag, not {a(type(graph).__name__)}, which has cycles or no "
            "directions"
        )
        raise SchemaError(message, parameter=parameter)
    return [(graph.names[u], graph.names[v]) for u, v in links.arcs]
