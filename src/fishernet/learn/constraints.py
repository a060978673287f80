"""Graphs from tests of independence: the PC algorithm [1]_, whatever the order of the columns [2]_.

Two variables are joined unless some of their neighbours separate them: sets of none, one, two ... of the neighbours at
the beginning of each round are tried. Of ``a - c - b`` with a and b apart, c is a collider (``a -> c <- b``) where it
is in few of the sets that separate a and b: in less than half ("majority") or none ("conservative") of all such sets.
What follows from colliders and from the tiers is directed by Meek's rules [3]_.

References
----------
.. [1] P. Spirtes, C. Glymour and R. Scheines, "Causation, Prediction, and Search", 2nd edition, MIT Press 2000.
.. [2] D. Colombo and M. H. Maathuis, "Order-independent constraint-based causal structure learning", JMLR 15, 2014.
.. [3] C. Meek, "Causal inference and causal explanation with background knowledge", UAI 1995.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from fishernet.base import check
from fishernet.base.display import Framed
from fishernet.base.errors import SchemaError
from fishernet.base.names import Pair, several
from fishernet.base.progress import Progress, Watch
from fishernet.base.vocabulary import word
from fishernet.data import as_source
from fishernet.data.matching import is_table
from fishernet.data.moments import without_determined
from fishernet.data.options import AUTO
from fishernet.data.source import without_empty
from fishernet.graphs import Cpdag, Links
from fishernet.independence import ChiSquared, FisherZ, GSquared, IndependenceTest
from fishernet.independence.contingency import FunctionTest
from fishernet.learn.missing.incomplete import AvailableCases
from fishernet.learn.numbers.preparing import varying
from fishernet.learn.rules import Rules

Names = tuple[str, ...]
ColliderName = Literal["majority", "conservative"]
PcTestName = Literal["g-squared", "chi-squared", "fisher-z"]
OF_LABELS: dict[str, Callable[[Any], IndependenceTest]] = {"g-squared": GSquared, "chi-squared": ChiSquared}
COLLIDERS = ("majority", "conservative")
HALF = 0.5
AT_ONCE = 64  # sets whose bounds are asked for together
SURE = 1 - 1e-6  # of alpha: a bound below it is no matter of rounding


@dataclass(frozen=True, eq=False, repr=False)
class PcResult(Framed):
    """A graph that was found by tests of independence: what is joined, and which way where the tests decide it."""

    names: tuple[str, ...]
    """The variables."""
    directed: tuple[Pair, ...]
    """Arcs as pairs (parent, child)."""
    undirected: tuple[Pair, ...]
    """Edges whose direction is left open."""
    separating: Mapping[Pair, tuple[str, ...]]
    """Of each pair that is not joined, in the order of the variables, the set that separated it first."""
    p_values: Mapping[Pair, float]
    """The p-value of that test: above alpha."""
    ambiguous: tuple[tuple[str, str, str], ...]
    """Triples a - c - b of which the tests do not say whether c is a collider."""
    conflicts: tuple[tuple[str, str, str], ...]
    """Colliders a -> c <- b that were not directed, since others had directed an arc the other way."""
    alpha: float
    """Up to which p-value a dependence is believed."""
    n_tests: int
    """Tests made."""
    finished: bool
    """False where the time was over first: some pairs are joined that more tests would have separated."""
    seconds: float
    """How long it took."""

    @property
    def cpdag(self) -> Cpdag | None:
        """The class of graphs with these edges, or None where the tests contradict one another."""
        try:
            return Cpdag(self.names, self.directed, self.undirected)
        except SchemaError:
            return None

    def links(self) -> Links:
        """Return what joins the variables, for pictures and files."""
        where = {name: place for place, name in enumerate(self.names)}
        pairs = tuple((where[a], where[b]) for a, b in (*self.directed, *self.undirected))
        heads = tuple((False, True) for _ in self.directed) + tuple((False, False) for _ in self.undirected)
        return Links(pairs, heads, directed=True, layered=False)

    def __repr__(self) -> str:
        size = f"{several(len(self.names), 'variable')}, {several(len(self.directed), 'arc')}"
        free = f"{several(len(self.undirected), 'edge')} without direction"
        end = "" if self.finished else ", stopped by the time limit"
        return f"PcResult({size}, {free}; {several(self.n_tests, 'test')}, {self.seconds:.2f} s{end})"

    def to_frame(self) -> pa.Table:
        """Return the edges as a pyarrow Table: from, to, and whether the direction is known."""
        edges = [*((a, b, True) for a, b in self.directed), *((a, b, False) for a, b in self.undirected)]
        columns = list(zip(*edges, strict=True)) or [(), (), ()]
        types = pa.string(), pa.string(), pa.bool_()
        names = ("from", "to", "directed")
        return pa.table({name: pa.array(of, kind) for name, of, kind in zip(names, columns, types, strict=True)})


def pc(
    data: Any,
    *,
    test: PcTestName | IndependenceTest | Callable[..., Any] | None = None,
    alpha: float = 0.05,
    colliders: ColliderName = "majority",
    tiers: Iterable[Iterable[str]] | None = None,
    max_given: int | None = None,
    names: Iterable[str] | None = None,
    max_seconds: float | None = None,
    progress: Progress | None = None,
) -> PcResult:
    """Learn a graph by tests of conditional independence (PC-stable).

    Parameters
    ----------
    data : Table, data frame or Source
        Its cells may be missing: each test takes the rows that are complete in its columns. Numbers beside labels are
        cut into bins by description length.
    test : {"g-squared", "chi-squared", "fisher-z"} or a test, optional
        By default "g-squared" of labels, and "fisher-z" where all columns are numbers. Or an object or a function that
        answers ``test(i, j, given)`` for positions, with a ``p_value`` (`fishernet.independence.IndependenceTest`).
    alpha : float
        Two variables are separated where the p-value of a test is above it. Each test errs by itself, so with many
        columns some edges are there by chance: take a smaller alpha with many rows.
    colliders : {"majority", "conservative"}
        Whether c is a collider of ``a - c - b`` where it is in less than half of the sets that separate a and b, or in
        none; and is not where it is in more than half, or in all.
    tiers : iterable of iterables of names, optional
        No arc runs from a later tier to an earlier one; nothing is conditioned on that comes after both of a pair.
    max_given : int, optional
        The most variables that are given at once.
    names : sequence of str, optional
        Of the variables of a test of your own, in the order of its positions; by default those of the data.
    max_seconds : float, optional
        After this time no more tests are made.
    progress : callable or True, optional
        True for a bar, or ``progress("testing independence", tests done, None)``.

    Returns
    -------
    PcResult

    Raises
    ------
    SchemaError
        When there are no columns, columns do not suit the test, or a name is unknown.
    FishernetError
        When alpha or another option is out of range.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> found = fn.learn.pc(asia.sample(20_000, seed=1), alpha=0.01)
    >>> ("lung", "either") in found.directed, found.separating["tub", "lung"]
    (True, ())
    """
    alpha = check.number(alpha, "alpha", above=0, most=1)
    most = check.optional_integer(max_given, "max_given", least=0)
    rule = word(colliders, "colliders", COLLIDERS)
    every, of, how = _test_of(data, test, names)
    if not of:
        raise SchemaError("the data have no columns to learn from")
    ranks = _ranks(every, of, tiers)
    search = _Search(of, how, alpha, ranks, most, Watch(progress, "testing independence", max_seconds))
    search.separate()
    search.direct(rule)
    return search.result()


def _test_of(data: Any, test: Any, names: Iterable[str] | None) -> tuple[Names, Names, IndependenceTest]:
    """Return the names of the data's columns, those of the variables, and the test."""
    if test is not None and not isinstance(test, str):
        of = as_source(data).names if names is None else tuple(names)
        return of, of, FunctionTest(test) if inspect.isroutine(test) else test
    source = as_source(data)
    every = source.names
    if source.rows is not None:
        [source] = without_empty([source.rows])
    numbers = [variable.is_continuous for variable in source.variables]
    named = test or ("fisher-z" if numbers and all(numbers) else "g-squared")
    named = word(named, "test", [*OF_LABELS, "fisher-z"])
    if named == "fisher-z":
        source = without_determined(varying(source) if is_table(source) else source)
        return every, source.names, FisherZ(source)
    if any(numbers):
        source = source.discretize(AUTO)
    counted = AvailableCases(source) if is_table(source) and source.has_missing else source
    return every, source.names, OF_LABELS[named](counted)


def _ranks(every: Names, names: Names, tiers: Iterable[Iterable[str]] | None) -> list[int | None]:
    """Return the tier of each variable; None for those in none. Tiers may name columns that were left out."""
    layers = None if tiers is None else [[tier] if isinstance(tier, str) else list(tier) for tier in tiers]
    Rules.of(every, tiers=layers)  # refuses what are no tiers
    found: list[int | None] = [None] * len(names)
    for rank, layer in enumerate(layers or ()):
        for name in layer:
            if name in names:
                found[names.index(name)] = rank
    return found


class _Search:
    """One search: what is joined, what separated the rest, and which way edges point."""

    def __init__(
        self,
        names: tuple[str, ...],
        test: IndependenceTest,
        alpha: float,
        ranks: list[int | None],
        most: int | None,
        watch: Watch,
    ) -> None:
        n = len(names)
        self._names, self._test, self._alpha, self._ranks, self._watch = names, test, alpha, ranks, watch
        self._most = n if most is None else most
        self._joined = [set(range(n)) - {v} for v in range(n)]
        self._separating: dict[tuple[int, int], tuple[int, ...]] = {}
        self._p_values: dict[tuple[int, int], float] = {}
        self._known: dict[tuple[int, int, tuple[int, ...]], float] = {}
        self._arcs: set[tuple[int, int]] = set()
        self._ambiguous: set[tuple[int, int, int]] = set()
        self._conflicts: list[tuple[int, int, int]] = []
        self._given = self._n_bounded = 0
        self._late = False

    def separate(self) -> None:
        """Take away each edge whose ends some of their neighbours separate."""
        while not self._late and self._given <= self._most:
            before = [frozenset(of) for of in self._joined]
            if all(len(of) - 1 < self._given for of in before):
                break
            for a, b in itertools.combinations(range(len(before)), 2):
                if b in self._joined[a] and not self._late:
                    self._try(a, b, before)
            self._given += 1
        self._given -= 1

    def _try(self, a: int, b: int, before: list[frozenset[int]]) -> None:
        for given in self._open(a, b, self._sets(a, b, before, self._given)):
            p = self._p_value(a, b, given)
            if self._late:
                return
            if p > self._alpha:
                self._joined[a].discard(b)
                self._joined[b].discard(a)
                self._separating[a, b], self._p_values[a, b] = given, p
                return

    def _sets(self, a: int, b: int, joined: list[frozenset[int]], size: int) -> Iterator[tuple[int, ...]]:
        """Yield sets of neighbours of a, then of b, that do not come after both; each once."""
        latest = self._latest(a, b)
        seen = set()
        for one, other in ((a, b), (b, a)):
            may = sorted(v for v in joined[one] - {other} if latest is None or (self._ranks[v] or 0) <= latest)
            for given in itertools.combinations(may, size):
                if given not in seen:
                    seen.add(given)
                    yield given

    def _open(self, a: int, b: int, sets: Iterable[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
        """Yield those sets of which a bound does not say already that they do not separate a and b."""
        waiting = iter(sets)
        while some := list(itertools.islice(waiting, AT_ONCE)):
            if self._is_late():
                return
            bounds = self._test.bounds(min(a, b), max(a, b), some)
            if bounds is None:
                yield from some
                continue
            self._n_bounded += int(np.count_nonzero(bounds < SURE * self._alpha))
            yield from (
                given for given, bound in zip(some, bounds.tolist(), strict=True) if bound >= SURE * self._alpha
            )

    def _latest(self, a: int, b: int) -> int | None:
        first, second = self._ranks[a], self._ranks[b]
        return None if first is None or second is None else max(first, second)

    def _p_value(self, a: int, b: int, given: tuple[int, ...]) -> float:
        key = (a, b, given) if a < b else (b, a, given)
        if key not in self._known:
            if self._is_late():
                return 0.0
            self._known[key] = float(self._test(*key).p_value)
        return self._known[key]

    @property
    def _n_tests(self) -> int:
        return len(self._known) + self._n_bounded

    def _is_late(self) -> bool:
        """Say how far it is, and return whether the time is over."""
        self._late = self._late or self._watch.look(self._n_tests)
        return self._late

    # ------------------------------------------------------------------------------------------------- directions

    def direct(self, rule: ColliderName) -> None:
        """Direct arcs by tiers and colliders, then by Meek's rules."""
        n = len(self._names)
        for a in range(n):
            for b in self._joined[a]:
                first, second = self._ranks[a], self._ranks[b]
                if first is not None and second is not None and first < second:
                    self._arcs.add((a, b))
        found = []
        joined = [frozenset(of) for of in self._joined]
        for c in range(n):
            for a, b in itertools.combinations(sorted(self._joined[c]), 2):
                if b in self._joined[a] or self._late:
                    continue
                share, p = self._share_with(a, c, b, joined)
                none = share is None
                if none or (share == HALF if rule == "majority" else 0 < share < 1):  # type: ignore[operator]
                    self._ambiguous.add((a, c, b))
                elif share < HALF:  # type: ignore[operator]
                    found.append((-p, a, c, b))
        for _, a, c, b in sorted(found):  # the surest separations first
            if {(c, a), (c, b)} & self._arcs or self._leads(c, a) or self._leads(c, b):
                self._conflicts.append((a, c, b))
            else:
                self._arcs |= {(a, c), (b, c)}
        while self._follow():
            pass

    def _share_with(self, a: int, c: int, b: int, joined: list[frozenset[int]]) -> tuple[float | None, float]:
        """Return in what share of the sets that separate a and b c is, and the largest p-value of these."""
        sets = {given for size in range(self._given + 1) for given in self._sets(a, b, joined, size)}
        separating = self._separating.get((min(a, b), max(a, b)))
        if separating is not None:
            sets.add(separating)
        p_values = {given: self._p_value(a, b, given) for given in self._open(a, b, sorted(sets))}
        apart = {given: p for given, p in p_values.items() if p > self._alpha}
        if not apart:
            return None, 0.0
        return float(np.mean([c in given for given in apart])), max(apart.values())

    def _leads(self, a: int, b: int) -> bool:
        """Whether a directed path leads from a to b."""
        waiting, seen = [a], {a}
        while waiting:
            v = waiting.pop()
            for tail, head in self._arcs:
                if tail == v and head not in seen:
                    seen.add(head)
                    waiting.append(head)
        return b in seen and a != b

    def _follow(self) -> bool:
        """Direct an edge that must point one way, if there is one."""
        for a in range(len(self._names)):
            for b in sorted(self._joined[a]):
                if {(a, b), (b, a)} & self._arcs or not self._must(a, b) or self._leads(b, a):
                    continue
                self._arcs.add((a, b))
                return True
        return False

    def _must(self, a: int, b: int) -> bool:
        """Whether a - b must point to b: otherwise there were a collider more, or a circle."""
        joined, arcs = self._joined, self._arcs
        into_a = [v for v, head in arcs if head == a]
        if any(v != b and v not in joined[b] and not self._is_ambiguous(v, a, b) for v in into_a):
            return True
        if any((a, v) in arcs and (v, b) in arcs for v in joined[a] & joined[b]):
            return True
        beside = [v for v in joined[a] & joined[b] if not {(a, v), (v, a)} & arcs]
        towards = [v for v in beside if (v, b) in arcs]
        for u, v in itertools.combinations(towards, 2):
            if v not in joined[u] and not self._is_ambiguous(u, a, v):
                return True
        return any(
            (v, u) in arcs and u in joined[a] and (u, b) in arcs and not {(a, v), (v, a)} & arcs
            for v in joined[a] - joined[b] - {b}
            for u in joined[v] & joined[b]
        )

    def _is_ambiguous(self, a: int, c: int, b: int) -> bool:
        return (min(a, b), c, max(a, b)) in self._ambiguous

    def result(self) -> PcResult:
        """Return what was found."""
        names = self._names
        free = [
            (a, b)
            for a in range(len(names))
            for b in sorted(self._joined[a])
            if a < b and not {(a, b), (b, a)} & self._arcs
        ]
        arcs = sorted(self._arcs, key=lambda arc: (arc[1], arc[0]))
        self._watch.finish(self._n_tests)
        return PcResult(
            names,
            tuple((names[a], names[b]) for a, b in arcs),
            tuple((names[a], names[b]) for a, b in free),
            {(names[a], names[b]): tuple(names[v] for v in given) for (a, b), given in self._separating.items()},
            {(names[a], names[b]): p for (a, b), p in self._p_values.items()},
            tuple((names[a], names[c], names[b]) for a, c, b in sorted(self._ambiguous)),
            tuple((names[a], names[c], names[b]) for a, c, b in self._conflicts),
            self._alpha,
            self._n_tests,
            not self._late,
            self._watch.seconds,
        )
