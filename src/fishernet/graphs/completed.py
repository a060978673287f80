"""Completed partially directed acyclic graphs (CPDAGs): one drawing for all DAGs of an equivalence class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Self

from fishernet.base.display import Drawn, table_html
from fishernet.base.errors import CycleError, SchemaError
from fishernet.base.names import Pair, numbered
from fishernet.graphs.dag import Dag
from fishernet.graphs.edges import joined, require_kind, summary
from fishernet.graphs.equivalence import UNDIRECTED, Marks
from fishernet.graphs.graph import Links
from fishernet.graphs.separation import reached
from fishernet.graphs.undirected import cardinality_order

NO_CLASS = "no class of DAGs has these edges as its CPDAG"
REMEDY = "cpdag(dag) makes the CPDAG of a DAG"


@dataclass(frozen=True, init=False, repr=False)
class Cpdag(Drawn):
    """The CPDAG of a class of equivalent DAGs; immutable. `cpdag` makes the one of a DAG.

    An edge is directed where all DAGs of the class agree on its direction, and undirected where they do not. Two are
    equal when their names, in order, and their edges are.

    Parameters
    ----------
    names : sequence of str
        The variables, each once; the order is kept.
    directed : iterable of (str, str)
        Pairs (tail, head), in any order.
    undirected : iterable of (str, str)
        Pairs in either direction, in any order.

    Raises
    ------
    SchemaError
        When a name is unknown or doubled, two variables are joined twice, or there is no class of DAGs with this
        CPDAG.

    Notes
    -----
    Making one takes O(n log n + n k + m log m) for n variables, m edges and up to k parents a variable. Whether such a
    class exists is decided exactly: the undirected edges are directed along a maximum cardinality search, which
    gives a DAG of the class where there is one [1]_, and the CPDAG of this DAG is compared.

    References
    ----------
    .. [1] S. A. Andersson, D. Madigan and M. D. Perlman, "A characterization of Markov equivalence classes for acyclic
       digraphs", Annals of Statistics 25, 1997.

    Examples
    --------
    >>> import fishernet as fn
    >>> fn.graphs.Cpdag(["a", "b", "c"], [("a", "c"), ("b", "c")], [])
    Cpdag(3 variables, 2 edges: 'a' -> 'c', 'b' -> 'c')
    """

    names: tuple[str, ...]
    """The variables' names."""
    directed: tuple[Pair, ...]
    """The compelled edges as pairs of names (tail, head), sorted by the head's position, then by the tail's."""
    undirected: tuple[Pair, ...]
    """The reversible edges as pairs of names: the earlier variable first, sorted by its position, then the other's."""
    marks: Mapping[tuple[int, int], int] = field(compare=False)
    """The edges by position: {(lower, higher): the head's position, or -1 where it is undirected}."""
    _member: Dag = field(compare=False)

    def __init__(self, names: Iterable[str], directed: Iterable[Pair], undirected: Iterable[Pair]) -> None:
        where = numbered(names)
        marks = _checked_marks(tuple(where), joined(where, directed), joined(where, undirected))
        object.__setattr__(self, "names", tuple(where))
        object.__setattr__(self, "marks", MappingProxyType(marks))
        object.__setattr__(self, "_member", _member(self.names, marks))
        arcs = sorted((head, a + b - head) for (a, b), head in marks.items() if head != UNDIRECTED)
        object.__setattr__(self, "directed", tuple((self.names[tail], self.names[head]) for head, tail in arcs))
        lines = [pair for pair, head in marks.items() if head == UNDIRECTED]
        object.__setattr__(self, "undirected", tuple((self.names[a], self.names[b]) for a, b in lines))

    def extension(self) -> Dag:
        """Return a DAG of the class, always the same one; every DAG of the class is equivalent to it."""
        return self._member

    def members(self) -> Iterator[Dag]:
        """Yield the DAGs of the class: its free edges in all directions that close no cycle and make no new collider.

        There may be very many: n! where all of n variables are joined.

        Examples
        --------
        >>> import fishernet as fn
        >>> chain = fn.Dag.from_edges(["a", "b", "c"], [("a", "b"), ("b", "c")])
        >>> len(list(fn.graphs.cpdag(chain).members()))
        3
        """
        n = len(self.names)
        joined: list[set[int]] = [set() for _ in range(n)]
        parents: list[set[int]] = [set() for _ in range(n)]
        for (a, b), head in self.marks.items():
            joined[a].add(b)
            joined[b].add(a)
            if head != UNDIRECTED:
                parents[head].add(a + b - head)
        free = [pair for pair, head in self.marks.items() if head == UNDIRECTED]

        def directed(at: int) -> Iterator[Dag]:
            if at == len(free):
                yield Dag(self.names, [tuple(sorted(of)) for of in parents])
                return
            for tail, head in (free[at], free[at][::-1]):
                collides = any(other not in joined[tail] for other in parents[head])
                if collides or reached([tuple(of) for of in parents], [tail])[head]:
                    continue
                parents[head].add(tail)
                yield from directed(at + 1)
                parents[head].remove(tail)

        yield from directed(0)

    def links(self) -> Links:
        """Return what joins the variables, for pictures and files; in the layers of one of the DAGs."""
        directed = set(self.directed)
        pairs = tuple((parent, child) for child, found in enumerate(self._member.parents) for parent in found)
        heads = tuple((False, (self.names[u], self.names[v]) in directed) for u, v in pairs)
        return Links(pairs, heads, directed=True, layered=True)

    def __repr__(self) -> str:
        return summary("Cpdag", len(self.names), ("->", self.directed), ("-", self.undirected))

    def _plain_html(self) -> str:
        rows = [(a, arrow, b) for arrow, pairs in (("->", self.directed), ("-", self.undirected)) for a, b in pairs]
        return table_html(("from", "", "to"), rows, len(rows))

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (self.names, self.directed, self.undirected)


def _checked_marks(names: Sequence[str], arcs: Iterable[tuple[int, int]], lines: Iterable[tuple[int, int]]) -> Marks:
    """Return the edges by position, ascending."""
    heads = [(tail, head, head) for tail, head in arcs] + [(a, b, UNDIRECTED) for a, b in lines]
    marks: Marks = {}
    for a, b, head in heads:
        if a == b:
            raise SchemaError(f"the variable {names[a]!r} cannot be joined with itself")
        pair = (min(a, b), max(a, b))
        if pair in marks:
            twice = f"{names[pair[0]]!r} and {names[pair[1]]!r}"
            raise SchemaError(f"{twice} are joined more than once; give each edge once")
        marks[pair] = head
    return dict(sorted(marks.items()))


def _member(names: Sequence[str], marks: Marks) -> Dag:
    """Return a DAG whose CPDAG has these edges; SchemaError when there is none."""
    dag = _directed(names, marks)
    for pair, found in dag.marks.items():
        if found != marks[pair]:
            a, b = (names[i] for i in pair)
            what = "undirected" if found == UNDIRECTED else f"{'->' if found == pair[1] else '<-'} in all its DAGs"
            raise SchemaError(f"{NO_CLASS}: that of {a!r} and {b!r} would have to be {what}; {REMEDY}")
    return dag


def _directed(names: Sequence[str], marks: Marks) -> Dag:
    """Return the DAG in which every undirected edge points along a maximum cardinality search."""
    adjacency: list[list[int]] = [[] for _ in names]
    for (a, b), head in marks.items():
        if head == UNDIRECTED:
            adjacency[a].append(b)
            adjacency[b].append(a)
    rank = [0] * len(names)
    for place, variable in enumerate(cardinality_order(adjacency)):
        rank[variable] = place
    parents: list[list[int]] = [[] for _ in names]
    for (a, b), mark in marks.items():
        head = max(a, b, key=rank.__getitem__) if mark == UNDIRECTED else mark
        parents[head].append(a + b - head)
    try:
        return Dag(names, parents)
    except CycleError as error:
        cycle = " -> ".join(map(repr, error.cycle))
        raise SchemaError(f"{NO_CLASS}: with the undirected ones directed they close {cycle}; {REMEDY}") from None


def cpdag(dag: Dag) -> Cpdag:
    """Return the CPDAG of a DAG: an edge is directed where all equivalent DAGs agree, and undirected elsewhere.

    Parameters
    ----------
    dag : Dag

    Raises
    ------
    SchemaError
        When it is not a Dag.

    Notes
    -----
    By labelling the compelled edges in topological order [1]_, in time O(n log n + n k + m log m) for n variables, m
    edges and up to k parents a variable.

    References
    ----------
    .. [1] D. M. Chickering, "A transformational characterization of equivalent Bayesian network structures", UAI 1995.

    Examples
    --------
    >>> import fishernet as fn
    >>> names = ["a", "b", "c", "d"]
    >>> fn.graphs.cpdag(fn.Dag.from_edges(names, [("a", "c"), ("b", "c"), ("c", "d")])).directed
    (('a', 'c'), ('b', 'c'), ('c', 'd'))
    >>> fn.graphs.cpdag(fn.Dag.from_edges(names, [("b", "a"), ("b", "c"), ("c", "d")])).undirected
    (('a', 'b'), ('b', 'c'), ('c', 'd'))
    """
    require_kind("cpdag", dag, Dag)
    marks, names = dag.marks, dag.names
    arcs = [(names[a + b - head], names[head]) for (a, b), head in marks.items() if head != UNDIRECTED]
    return Cpdag(names, arcs, [(names[a], names[b]) for (a, b), head in marks.items() if head == UNDIRECTED])
