"""Undirected graphs by tests of independence: Markov blankets by IAMB or inter-IAMB [1]_, then one graph.

The blanket of a variable grows: of all others the one with the strongest association given the blanket is tested, and
added if the test rejects independence; the first that is not ends the growth. Then it shrinks: a member that is
independent of the variable given the rest is dropped. Inter-IAMB shrinks after every addition.

References
----------
.. [1] I. Tsamardinos, C. F. Aliferis and A. Statnikov, "Algorithms for large scale Markov blanket discovery", FLAIRS
   2003.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from fishernet.base import check
from fishernet.base.display import Framed
from fishernet.base.errors import FishernetError, SchemaError, warn
from fishernet.base.names import listed, several, shown
from fishernet.base.progress import Progress, Watch
from fishernet.base.random import Seed, fixed_seed, generator
from fishernet.base.vocabulary import BlanketSearchName, Rule, TestName, refuse_options, word
from fishernet.data import Table
from fishernet.data.matching import as_numbers, frame_names, is_frame
from fishernet.data.moments import without_determined
from fishernet.data.source import is_source
from fishernet.graphs import UndirectedGraph
from fishernet.independence import ChiSquared, FisherZ, GSquared, IndependenceTest, KnnTest, TestResult
from fishernet.independence.contingency import FunctionTest, counted
from fishernet.independence.continuous import STATES
from fishernet.independence.nearest_neighbours import Plan
from fishernet.learn.keywords import BlanketKeywords

Blanket = tuple[int, ...]

LONG = 60.0  # seconds that nobody waits for without a word


@dataclass
class BlanketSearch:
    """Finds the blankets of variables one at a time, and counts what it took."""

    n_variables: int
    test: IndependenceTest
    alpha: float = 0.05
    """Independence is rejected where the p-value is at most this."""
    interleaved: bool = False
    """Inter-IAMB."""
    max_blanket: int | None = None
    """A blanket with so many members grows no more."""
    n_tests: int = field(default=0, init=False)
    """Tests made."""
    n_skipped: int = field(default=0, init=False)
    """Those of them that skipped their permutations."""
    look: Callable[[], None] = field(default=lambda: None)
    """Called before all that may take long; what it raises ends the search."""
    so_far: Blanket = field(default=(), init=False)
    """The blanket that is being found."""

    def find(self, variable: int) -> Blanket:
        """Return the blanket of a variable, ascending."""
        blanket: Blanket = ()
        self.so_far = blanket
        met = {blanket}
        while (grown := self._grown(variable, blanket)) != blanket:
            blanket = self._shrunk(variable, grown) if self.interleaved else grown
            self.so_far = blanket
            if blanket in met:  # what was dropped would come back again and again
                break
            met.add(blanket)
        return blanket if self.interleaved else self._shrunk(variable, blanket)

    def _grown(self, variable: int, blanket: Blanket) -> Blanket:
        """Return the blanket with one more member, or as it is when it is complete."""
        candidates = [v for v in range(self.n_variables) if v != variable and v not in blanket]
        if not candidates or (self.max_blanket is not None and len(blanket) >= self.max_blanket):
            return blanket
        best, most, answer = candidates[0], -math.inf, None
        for candidate in candidates:  # the first with the largest association
            tested = self._ask(variable, candidate, blanket) if self.test.ranks_by_test else None
            if tested is None:
                self.look()
            strength = self.test.association(variable, candidate, blanket) if tested is None else tested.statistic
            if strength > most:
                best, most, answer = candidate, strength, tested
        if answer is None:
            answer = self._ask(variable, best, blanket)
        return tuple(sorted((*blanket, best))) if answer.p_value <= self.alpha else blanket

    def _shrunk(self, variable: int, blanket: Blanket) -> Blanket:
        """Return the blanket without the members that are independent given the rest, one after the other."""
        kept = blanket
        for member in blanket:
            rest = tuple(v for v in kept if v != member)
            if self._ask(variable, member, rest).p_value > self.alpha:
                kept = rest
        return kept

    def _ask(self, i: int, j: int, given: Blanket) -> TestResult:
        self.look()
        answer = self.test(i, j, given)
        self.n_tests += 1
        self.n_skipped += answer.skipped
        if not 0 <= answer.p_value <= 1 or math.isnan(answer.statistic):
            raise FishernetError(f"the test of {i} and {j} given {given} answered {answer!r}: no p-value from 0 to 1")
        return answer


RULES = ("and", "or")

Edge = tuple[int, int]


def combined(names: Sequence[str], blankets: Sequence[Sequence[int]], rule: str) -> UndirectedGraph:
    """Join variables that are in each other's blankets ("and"), or one in the other's ("or")."""
    rule = word(rule, "rule", RULES)
    return joined(names, edges_between(blankets, rule))


def edges_between(blankets: Sequence[Sequence[int]], rule: str) -> list[Edge]:
    """Return the pairs of variables that a rule joins: the earlier first, ascending."""
    sets = [set(blanket) for blanket in blankets]
    pairs = {(min(one, other), max(one, other)) for one, blanket in enumerate(sets) for other in blanket}
    return sorted((a, b) for a, b in pairs if rule == "or" or (a in sets[b] and b in sets[a]))


def joined(names: Sequence[str], edges: Iterable[Edge]) -> UndirectedGraph:
    """Return the graph of ascending edges."""
    adjacency: list[list[int]] = [[] for _ in names]
    for a, b in edges:
        adjacency[a].append(b)
        adjacency[b].append(a)
    return UndirectedGraph(names, adjacency)


CONTINUOUS: dict[str, Callable[..., Any]] = {"knn-mi": KnnTest, "fisher-z": FisherZ}
DISCRETE: dict[str, Callable[..., Any]] = {"g-squared": GSquared, "chi-squared": ChiSquared}
SEARCHES = {"iamb": False, "inter-iamb": True}  # whether additions and removals are interleaved


@dataclass(frozen=True, repr=False)
class MarkovBlankets(Framed):
    """The Markov blanket of every variable, and how they were found."""

    names: tuple[str, ...]
    """The variables."""
    blankets: tuple[tuple[int, ...], ...]
    """The positions in the blanket of each, ascending; j may be in i's while i is not in j's."""
    n_tests: int
    """Tests made."""
    n_skipped: int
    """Those of them whose permutations were skipped (`skip_below`)."""
    seconds: float
    """How long it took."""
    seed: int | None
    """The seed that gives the same again; None where nothing was drawn."""
    unfinished: tuple[str, ...] = ()
    """The variables whose blankets were not found within `max_seconds`: they have the members found so far, and the
    variables in whose blankets they are."""

    def __repr__(self) -> str:
        edges = f"{self.graph().n_edges:,} to {several(self.graph('or').n_edges, 'edge')}"
        undone = f"; {len(self.unfinished)} not done" if self.unfinished else ""
        size = several(len(self.names), "variable")
        return f"MarkovBlankets({size}, {edges}; {several(self.n_tests, 'test')}{undone})"

    def graph(self, rule: Rule = "and") -> UndirectedGraph:
        """Return the graph that joins variables in each other's blankets ("and") or one in the other's ("or")."""
        return combined(self.names, self.blankets, rule)

    def to_frame(self) -> pa.Table:
        """Return the variables and the names in their blankets as a pyarrow Table."""
        of = [[self.names[v] for v in blanket] for blanket in self.blankets]
        return pa.table({"variable": list(self.names), "blanket": pa.array(of, pa.list_(pa.string()))})


def markov_blankets(
    X: Any,
    *,
    test: TestName | IndependenceTest = "knn-mi",
    search: BlanketSearchName = "iamb",
    alpha: float = 0.05,
    standardize: bool = True,
    max_blanket: int | None = None,
    max_rows: int | None = None,
    max_seconds: float | None = None,
    names: Iterable[str] | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
    **options: Unpack[BlanketKeywords],
) -> MarkovBlankets:
    """Find the Markov blanket of every variable by tests of independence, and say how.

    Parameters
    ----------
    X, test, search, alpha, standardize, max_blanket, max_rows, max_seconds, names, seed, progress, **options
        As for `markov_graph`.

    Returns
    -------
    MarkovBlankets

    Examples
    --------
    >>> import numpy as np
    >>> import fishernet as fn
    >>> a, b, c = np.random.default_rng(1).normal(size=(3, 500))
    >>> found = fn.learn.markov_blankets({"a": a, "b": a + b, "c": a + b + c}, test="fisher-z")
    >>> found.blankets
    ((1,), (0, 2), (1,))
    """
    check.share(alpha, "alpha")
    search = word(search, "search", SEARCHES)
    max_blanket = check.optional_integer(max_blanket, "max_blanket", least=0)
    number = fixed_seed(seed)
    work = _Work(Watch(progress, "finding Markov blankets", max_seconds))
    asked: dict[str, Any] = {**options}
    data, drawn = _some_rows(X, test, names, asked, max_rows, number)
    of, how = _test_of(data, test, None if drawn else names, standardize, alpha, number, asked, work)
    if not of:
        raise SchemaError("the data have no columns to learn from")
    work.n_variables = len(of)
    walk = BlanketSearch(len(of), how, alpha, SEARCHES[search], max_blanket, look=work.look)
    try:
        if max_seconds is None:
            _foretell(how, len(of), work.watch)
        for variable in range(len(of)):
            work.blankets.append(walk.find(variable))
        work.watch.finish(len(of))
    except _OutOfTimeError:
        _warn_of_the_rest(of, len(work.blankets), walk.n_tests, max_seconds)
    blankets, unfinished = _with_the_rest(work.blankets, walk.so_far, len(of)), of[len(work.blankets) :]
    repeats = number if test == "knn-mi" or drawn else None
    return MarkovBlankets(of, blankets, walk.n_tests, walk.n_skipped, work.watch.seconds, repeats, unfinished)


class _OutOfTimeError(Exception):
    """The time that was given is over."""


@dataclass
class _Work:
    """How far it is."""

    watch: Watch
    n_variables: int = 0
    blankets: list[Blanket] = field(default_factory=list)

    def look(self) -> None:
        """Say how far it is; raise when the time is over."""
        if self.watch.look(len(self.blankets), self.n_variables):
            raise _OutOfTimeError

    def permuting(self, what: str, done: int, total: int | None) -> None:  # noqa: ARG002
        """Look on while a test goes on."""
        if self.n_variables:
            self.look()


def _foretell(test: IndependenceTest, n_variables: int, watch: Watch) -> None:
    """Warn when the work will take long, by the time of one estimate (which is kept)."""
    permutations = test.permutations
    if not permutations or n_variables < 2:
        return
    began = watch.seconds
    test.association(0, 1, ())
    n_estimates = n_variables * (n_variables - 1) // 2 + n_variables * permutations
    expected = (watch.seconds - began) * n_estimates
    if expected > LONG:
        warn(
            f"this will take about {_duration(expected)} or more: an estimate for these rows takes "
            f"{watch.seconds - began:.2g} s, and {several(n_variables, 'column')} with {permutations} permutations "
            f"of a test ask for {n_estimates:,}, without those given others; max_rows=5000 takes that many rows at "
            "random, max_seconds= keeps what is found in time, and test='fisher-z' sees linear dependence at once",
            parameter="max_rows",
        )


def _duration(seconds: float) -> str:
    for unit, size in (("day", 86400), ("hour", 3600)):
        if seconds >= 2 * size:
            return several(round(seconds / size), unit)
    return several(max(1, round(seconds / 60)), "minute")


def _warn_of_the_rest(names: Sequence[str], done: int, n_tests: int, max_seconds: float | None) -> None:
    rest = names[done:]
    warn(
        f"stopped by max_seconds={max_seconds:g} after {several(n_tests, 'test')}: the Markov blankets of "
        f"{listed(rest)} ({len(rest)} of {several(len(names), 'column')}) are not done, and have what was found so "
        "far; give more time, or take fewer rows with max_rows=",
        parameter="max_seconds",
    )


def _with_the_rest(found: Sequence[Blanket], so_far: Blanket, n_variables: int) -> tuple[Blanket, ...]:
    """Return all blankets: those that are not found have the members so far, and whom the others have found."""
    rest = []
    for variable in range(len(found), n_variables):
        others = {other for other, blanket in enumerate(found) if variable in blanket}
        rest.append(tuple(sorted(others | set(so_far if variable == len(found) else ()))))
    return (*found, *rest)


def _some_rows(
    X: Any,
    test: str | IndependenceTest,
    names: Iterable[str] | None,
    options: dict[str, Any],
    max_rows: int | None,
    seed: int,
) -> tuple[Any, bool]:
    """Return the data, or some of their rows drawn at random where there are more, and whether these were drawn."""
    most = check.optional_integer(max_rows, "max_rows", least=1)
    if most is None:
        return X, False
    if not isinstance(test, str):
        raise FishernetError("max_rows goes with a test's name; this test has its rows already", parameter="max_rows")
    named = word(test, "test", [*CONTINUOUS, *DISCRETE])
    purpose = f"the test {named!r}"
    if named in CONTINUOUS:
        data: Table | None = as_numbers(X, names, purpose=purpose, remedy=STATES, gaps=True)
    else:
        data = counted(X, names, options.pop("bins", None), purpose).rows
    if data is None:
        raise FishernetError("max_rows needs the rows, and the source knows statistics alone", parameter="max_rows")
    if data.n_rows <= most:
        return data, True
    return data[np.sort(generator(seed).choice(data.n_rows, most, replace=False))], True


def markov_graph(
    X: Any,
    *,
    test: TestName | IndependenceTest = "knn-mi",
    rule: Rule = "and",
    search: BlanketSearchName = "iamb",
    alpha: float = 0.05,
    standardize: bool = True,
    max_blanket: int | None = None,
    max_rows: int | None = None,
    max_seconds: float | None = None,
    names: Iterable[str] | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
    **options: Unpack[BlanketKeywords],
) -> UndirectedGraph:
    """Learn an undirected graph: the Markov blanket of every variable by tests of independence, then one graph.

    Parameters
    ----------
    X : (n_rows, n_columns) array, Table, data frame or Source
        Numbers for "knn-mi" and "fisher-z"; states for "g-squared" and "chi-squared", of an array codes. Columns of the
        other kind are refused by name.
    test : str or callable
        "knn-mi": mutual information from nearest neighbours with permutations, which sees any dependence [1]_.
        "fisher-z": partial correlation. "g-squared", "chi-squared": tables of counts. Or a function
        ``test(i, j, given)`` that returns a ``statistic`` and a ``p_value``, or a
        `fishernet.independence.IndependenceTest`. The candidate with the largest statistic is tested first, or the one
        with the largest ``test.association(i, j, given)`` where ``test.ranks_by_test`` is False.
    rule : {"and", "or"}
        Join variables that are in each other's blankets, or one in the other's.
    search : {"iamb", "inter-iamb"}
        When members that became superfluous are dropped: after the blanket is complete, or after each addition.
    alpha : float
        The level of every test.
    standardize : bool
        "knn-mi": bring every column to mean 0 and standard deviation 1 first.
    max_blanket : int, optional
        A blanket with so many members grows no more.
    max_rows : int, optional
        Where there are more rows, so many are drawn at random (by `seed`), and the rest is not looked at.
    max_seconds : float, optional
        After so long it ends with a warning. Columns that are not done then have the neighbours found so far.
    names : sequence of str, optional
        Of the columns of an array (otherwise v0, v1, ...); of a frame, those that are taken.
    seed : None, int or numpy.random.Generator
    progress : callable or True, optional
        True for a bar, or ``progress(what, done, total)``, in variables.
    **options
        "g-squared", "chi-squared": ``bins=None``, how numbers are cut into states.
        "knn-mi": ``k=5``, ``permutations=200``, ``scheme="local"``, ``k_perm=5``, ``skip_below=None``,
        ``stop_early=True`` (no decision depends on it), as for `fishernet.independence.knn_test`, which says why the
        scheme of [1]_, "simple", rejects too much.

    Returns
    -------
    UndirectedGraph

    Warns
    -----
    FishernetWarning
        When "knn-mi" will take more than a minute, by the time of its first estimate; when `max_seconds` ends it; and
        when, for "fisher-z", a column is a linear combination of others, and left out of the graph.

    Raises
    ------
    SchemaError
        When a column is constant, of another kind than the test needs, has NaN or infinite values (the message names it
        and the row); when there are too few rows or names do not
        fit.
    FishernetError
        When an option is unknown or out of range.
    MissingValueError
        When a cell of a table is missing.

    References
    ----------
    .. [1] J. Leppä-aho, "Methods for Learning Directed and Undirected Graphical Models", 2020, section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> import fishernet as fn
    >>> a, b, c = np.random.default_rng(3).normal(size=(3, 400))
    >>> data = {"a": a, "b": np.cos(2 * a) + b / 3, "c": c}
    >>> fn.learn.markov_graph(data, seed=1).edges
    (('a', 'b'),)
    >>> fn.learn.markov_graph(data, test="fisher-z").edges  # sees linear dependence only
    ()
    """
    rule = word(rule, "rule", RULES)
    found = markov_blankets(
        X,
        test=test,
        search=search,
        alpha=alpha,
        standardize=standardize,
        max_blanket=max_blanket,
        max_rows=max_rows,
        max_seconds=max_seconds,
        names=names,
        seed=seed,
        progress=progress,
        **options,
    )
    return found.graph(rule)


def _test_of(
    X: Any,
    test: str | IndependenceTest,
    names: Iterable[str] | None,
    standardize: bool,
    alpha: float,
    seed: int,
    options: dict[str, Any],
    work: _Work,
) -> tuple[tuple[str, ...], IndependenceTest]:
    """Return the names of the variables and the test on their data."""
    if not isinstance(test, str):
        if options:
            raise FishernetError(f"options {listed(options)} go with a test's name; this test is made already")
        if not callable(test):
            kind = "a test's name, or a function test(i, j, given)"
            raise FishernetError(f"test must be {kind}, got {shown(test)}", parameter="test")
        return _names_of(X, names), FunctionTest(test) if inspect.isroutine(test) else test
    named: str = word(test, "test", [*CONTINUOUS, *DISCRETE])
    if named == "knn-mi":
        options = {"stop_early": True, "standardize": standardize, "alpha": alpha, "seed": seed} | options
    made_by = (CONTINUOUS | DISCRETE)[named]
    own = inspect.signature(made_by).parameters.keys() - {"X", "data", "names", "progress", "as_knn_test"}
    if named == "knn-mi":
        own |= {field.name for field in fields(Plan)}
    refuse_options(options, own, f"the test {named!r}")
    if named == "knn-mi":
        options = options | {"progress": work.permuting}
    if named == "fisher-z":
        X = without_determined(as_numbers(X, names, purpose="the test 'fisher-z'", remedy=STATES, gaps=True))
        names = None
    how = made_by(X, names=names, **options)
    return how.names, how


def _names_of(X: Any, names: Iterable[str] | None) -> tuple[str, ...]:
    """Return the names of the columns of any data; what is in them is the test's business."""
    if is_source(X):
        own = tuple(variable.name for variable in X.variables)
    elif is_frame(X):
        own = frame_names(X)
    else:
        n = np.shape(X)
        own = tuple(f"v{c}" for c in range(n[1] if len(n) == 2 else 0))
        if names is not None and len(list(names)) == len(own):
            return tuple(names)
    if names is not None and tuple(names) != own:
        raise SchemaError(f"names {listed(names)} differ from the data's, {listed(own)}")
    return own
