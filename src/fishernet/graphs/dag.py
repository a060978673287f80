"""Directed acyclic graphs over named variables, their topological order, and the cycle that forbids one."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, islice

from fishernet.base import check
from fishernet.base.errors import CycleError, SchemaError
from fishernet.base.names import Positions, position, positions
from fishernet.graphs.adjustment import is_adjustment_set, minimal_adjustment_sets, minimal_separators
from fishernet.graphs.directed import DirectedGraph
from fishernet.graphs.edges import arrangement, require_kind
from fishernet.graphs.equivalence import Marks, class_marks, relabelled
from fishernet.graphs.front_door import front_door_sets, instruments
from fishernet.graphs.graph import Links
from fishernet.graphs.separation import d_connected, disjoint_positions, marked, reached
from fishernet.graphs.undirected import UndirectedGraph

MOST_COMPARED = 20  # sets that separate a pair, among which the smallest is taken


def topological_order(names: Sequence[str], parents: Sequence[Positions], children: Sequence[Positions]) -> Positions:
    """Return the positions with every parent before its children; ties go to the lowest position. Time O(n log n + m).

    CycleError names a cycle that the edges close.
    """
    waiting = [len(found) for found in parents]
    ready = [variable for variable, number in enumerate(waiting) if number == 0]  # ascending, hence a heap
    order = []
    while ready:
        variable = heapq.heappop(ready)
        order.append(variable)
        for child in children[variable]:
            waiting[child] -= 1
            if waiting[child] == 0:
                heapq.heappush(ready, child)
    if len(order) < len(parents):
        raise CycleError([names[variable] for variable in _cycle(parents, waiting)])
    return tuple(order)


def _cycle(parents: Sequence[Positions], waiting: Sequence[int]) -> list[int]:
    """Return a cycle among the variables that still wait, along the edges, the first repeated at the end.

    Each of them waits for a parent that waits too, so going backwards must come round.
    """
    path: list[int] = []
    seen: dict[int, int] = {}
    variable = next(v for v, number in enumerate(waiting) if number)
    while variable not in seen:
        seen[variable] = len(path)
        path.append(variable)
        variable = next(parent for parent in parents[variable] if waiting[parent])
    cycle = path[seen[variable] :][::-1]
    start = cycle.index(min(cycle))
    return [*cycle[start:], *cycle[: start + 1]]


@dataclass(frozen=True, init=False, repr=False)
class Dag(DirectedGraph):
    """A directed acyclic graph: the structure of a Bayesian network; immutable.

    Two are equal when their names, in order, and their edges are. `is_equivalent` says whether they have the same
    independences.

    Parameters
    ----------
    names : sequence of str
        The variables, each once; the order is kept.
    parents : one iterable of positions per variable
        The parents of each variable.

    Raises
    ------
    SchemaError
        When a name appears twice, or a position is not an integer, out of range or given twice.
    CycleError
        When the edges close a cycle (also from a variable to itself), naming one.

    See Also
    --------
    Dag.from_edges : the same from pairs of names.

    Notes
    -----
    Making one takes O(n log n + m log m) for n variables and m edges.

    Examples
    --------
    >>> import fishernet as fn
    >>> dag = fn.Dag.from_edges(["rain", "sprinkler", "wet"], [("rain", "wet"), ("sprinkler", "wet")])
    >>> dag
    Dag(3 variables, 2 edges: 'rain' -> 'wet', 'sprinkler' -> 'wet')
    >>> dag.parents
    ((), (), (0, 1))
    >>> dag.is_d_separated("rain", "sprinkler", []), dag.is_d_separated("rain", "sprinkler", "wet")
    (True, False)
    >>> dag.markov_blanket("rain")
    ('sprinkler', 'wet')
    """

    children: tuple[Positions, ...] = field(compare=False)
    """The positions of each variable's children, ascending."""
    order: Positions = field(compare=False)
    """The positions with every parent before its children; ties go to the lowest position."""

    def _check_cycles(self) -> None:
        object.__setattr__(self, "children", _turned(self.parents))
        object.__setattr__(self, "order", topological_order(self.names, self.parents, self.children))

    @property
    def families(self) -> tuple[Positions, ...]:
        """Positions of the variables that each one's conditional is given: its parents."""
        return self.parents

    @property
    def marks(self) -> Marks:
        """The edges of its equivalence class by position, as those of a `Cpdag`."""
        return class_marks(self.parents, self.order)

    def links(self) -> Links:
        """Return what joins the variables, for pictures and files."""
        return Links.of_parents(self.parents, layered=True)

    def is_equivalent(self, other: Dag) -> bool:
        """Return whether the two DAGs have the same d-separations: the same skeleton and v-structures.

        Parameters
        ----------
        other : Dag
            Over the same variables, in any order.

        Raises
        ------
        SchemaError
            When the variables differ.

        Notes
        -----
        The compelled edges are compared, in time O(m + n k) with n variables, m edges and up to k parents a variable
        [1]_.

        References
        ----------
        .. [1] D. M. Chickering, "A transformational characterization of equivalent Bayesian network structures",
           UAI 1995.

        Examples
        --------
        >>> import fishernet as fn
        >>> chain = fn.Dag.from_edges(["a", "b", "c"], [("a", "b"), ("b", "c")])
        >>> chain.is_equivalent(fn.Dag.from_edges(["c", "b", "a"], [("c", "b"), ("b", "a")]))
        True
        >>> chain.is_equivalent(fn.Dag.from_edges(["a", "b", "c"], [("a", "b"), ("c", "b")]))
        False
        """
        require_kind("is_equivalent", other, Dag)
        place = arrangement(self._where, other.names)
        if self.n_edges != other.n_edges:
            return False
        return self.marks == relabelled(other.marks, place)

    def ancestors(self, names: str | Iterable[str]) -> tuple[str, ...]:
        """Return the names of all ancestors of one or several variables, in variable order.

        A variable is not its own ancestor: a given one is listed only when it is an ancestor of another given
        one. Time O(n + m).
        """
        above = [parent for child in positions(self._where, names) for parent in self.parents[child]]
        return self._flagged(reached(self.parents, above))

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """Return the names of a variable's parents, children and children's other parents, in variable order.

        Given these, the variable is d-separated from all others.
        """
        own = position(self._where, name)
        below = self.children[own]
        flags = marked(len(self.names), chain(self.parents[own], below, *(self.parents[child] for child in below)))
        flags[own] = 0
        return self._flagged(flags)

    def is_d_separated(self, a: str | Iterable[str], b: str | Iterable[str], given: str | Iterable[str] = ()) -> bool:
        """Return whether a and b are d-separated by the given variables.

        Then they are independent given those in every distribution that factorizes along the DAG.

        Parameters
        ----------
        a, b, given : a name or an iterable of names
            They must not overlap. An empty set is separated from every other.

        Raises
        ------
        SchemaError
            When a name is unknown, or in two of the sets.

        Notes
        -----
        By reachability [1]_, in time O(n + m) for n variables and m edges.

        References
        ----------
        .. [1] R. D. Shachter, "Bayes-Ball: the rational pastime", UAI 1998.
        """
        return not d_connected(self.parents, self.children, *disjoint_positions(self._where, a, b, given))

    def adjustment_sets(
        self, x: str, y: str, *, unobserved: str | Iterable[str] = (), most: int = 1000
    ) -> tuple[tuple[str, ...], ...]:
        """Return the minimal sets of variables that tell the effect of x on y from what was only seen.

        With such a set Z, ``P(y | do(x))`` is the mean over Z of ``P(y | x, Z)``, if the graph is one of causes. None
        of them holds another; an empty one means that nothing need be adjusted for, and no set that nothing observed is
        enough.

        Parameters
        ----------
        x, y : str
            The cause and what it acts on.
        unobserved : a name or an iterable of names
            Variables of which there are no data.
        most : int
            At most so many sets.

        Raises
        ------
        SchemaError
            When a name is unknown, or x is y.

        Notes
        -----
        Shpitser, VanderWeele and Robins (2010) have the criterion, Kloks and Kratsch (1998) the way to list the sets,
        in a time that is polynomial for each.

        Examples
        --------
        >>> import fishernet as fn
        >>> arcs = [("z", "x"), ("z", "w"), ("w", "y"), ("x", "y")]
        >>> fn.Dag.from_edges(list("xyzw"), arcs).adjustment_sets("x", "y")
        (('z',), ('w',))
        """
        cause, target = self._pair(x, y)
        hidden = positions(self._where, unobserved)
        every = minimal_adjustment_sets(self.parents, self.children, cause, target, hidden)
        return tuple(self._named(found) for found in islice(every, check.integer(most, "most", least=1)))

    def is_valid_adjustment(self, x: str, y: str, given: str | Iterable[str] = ()) -> bool:
        """Return whether some variables are an adjustment set for x and y (`adjustment_sets`), minimal or not.

        Raises
        ------
        SchemaError
            When a name is unknown, or x is y.

        Examples
        --------
        >>> import fishernet as fn
        >>> fork = fn.Dag.from_edges(list("xyz"), [("z", "x"), ("z", "y"), ("x", "y")])
        >>> fork.is_valid_adjustment("x", "y", "z"), fork.is_valid_adjustment("x", "y")
        (True, False)
        """
        return is_adjustment_set(self.parents, self.children, *self._pair(x, y), positions(self._where, given))

    def front_door_sets(
        self, x: str, y: str, *, unobserved: str | Iterable[str] = (), most: int = 1000
    ) -> tuple[tuple[str, ...], ...]:
        """Return the minimal sets of variables between x and y that tell its effect whatever common causes they have.

        With such a set Z, ``P(y | do(x))`` is the sum over Z of ``P(Z | x)`` times the mean of ``P(y | x', Z)`` over
        x', if the graph is one of causes. None of them holds another; small ones come first.

        Parameters
        ----------
        x, y : str
            The cause and what it acts on.
        unobserved : a name or an iterable of names
            Variables of which there are no data.
        most : int
            At most so many sets.

        Raises
        ------
        SchemaError
            When a name is unknown, or x is y.

        See Also
        --------
        adjustment_sets : where common causes are observed.

        Notes
        -----
        The criterion is Pearl's (1995). Jeong, Tian and Bareinboim (2022) show how to tell that no set fulfils it. The
        10,000 smallest candidates are tried; if only a larger set fulfils it, the method returns one from which no
        single variable can be left out.

        Examples
        --------
        >>> import fishernet as fn
        >>> arcs = [("genes", "smoke"), ("genes", "cancer"), ("smoke", "tar"), ("tar", "cancer")]
        >>> dag = fn.Dag.from_edges(["genes", "smoke", "tar", "cancer"], arcs)
        >>> dag.front_door_sets("smoke", "cancer", unobserved="genes")
        (('tar',),)
        """
        every = front_door_sets((self.parents, self.children), *self._pair(x, y), positions(self._where, unobserved))
        return tuple(self._named(found) for found in islice(every, check.integer(most, "most", least=1)))

    def instruments(
        self, x: str, y: str, *, unobserved: str | Iterable[str] = ()
    ) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return the variables that act on x, and on y through x alone, each with what must be given for that.

        With such a z and what is given, W, the effect of x on y in a linear model is the covariance of z and y given W
        over that of z and x, whatever common causes x and y have.

        Parameters
        ----------
        x, y : str
            The cause and what it acts on.
        unobserved : a name or an iterable of names
            Variables of which there are no data.

        Raises
        ------
        SchemaError
            When a name is unknown, or x is y.

        Notes
        -----
        The criterion is Brito and Pearl's (2002). Nothing below x is given, and nothing that is not needed to separate
        z from y.

        Examples
        --------
        >>> import fishernet as fn
        >>> arcs = [("offer", "school"), ("talent", "school"), ("talent", "wage"), ("school", "wage")]
        >>> dag = fn.Dag.from_edges(["offer", "school", "talent", "wage"], arcs)
        >>> dag.instruments("school", "wage", unobserved="talent")
        (('offer', ()),)
        """
        every = instruments((self.parents, self.children), *self._pair(x, y), positions(self._where, unobserved))
        return tuple((self.names[z], self._named(given)) for z, given in every)

    def implied_independences(self) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
        """Return for each pair that no arc joins a smallest-found set that separates it: (a, b, given).

        A table of the graph's variables should have these independences; `fishernet.compare.falsify` tests those given
        parents.

        Examples
        --------
        >>> import fishernet as fn
        >>> fn.Dag.from_edges(list("abc"), [("a", "b"), ("b", "c")]).implied_independences()
        (('a', 'c', ('b',)),)
        """
        found = []
        for a, b in combinations(range(len(self.names)), 2):
            if a not in self.parents[b] and b not in self.parents[a]:
                sets = islice(minimal_separators(self.parents, a, b, set()), MOST_COMPARED)
                found.append((self.names[a], self.names[b], self._named(min(sets, key=len))))
        return tuple(found)

    def _pair(self, x: str, y: str) -> tuple[int, int]:
        cause, target = position(self._where, x), position(self._where, y)
        if cause == target:
            raise SchemaError(f"{x!r} cannot be its own cause; name two variables", parameter="y")
        return cause, target

    def _named(self, found: Positions) -> tuple[str, ...]:
        return tuple(self.names[v] for v in found)

    def skeleton(self) -> UndirectedGraph:
        """Return the graph with the same edges without their directions."""
        pairs = zip(self.parents, self.children, strict=True)
        return UndirectedGraph(self.names, [above + below for above, below in pairs])

    def _flagged(self, flags: bytearray) -> tuple[str, ...]:
        return tuple(name for name, flag in zip(self.names, flags, strict=True) if flag)


def _turned(parents: tuple[Positions, ...]) -> tuple[Positions, ...]:
    """Return the children of each variable, ascending."""
    children: list[list[int]] = [[] for _ in parents]
    for child, found in enumerate(parents):
        for parent in found:
            children[parent].append(child)
    return tuple(map(tuple, children))
