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
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa

from fishernet.base import check
from fishernet.base.display import Framed
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import listed, several, shown
from fishernet.base.progress import Progress, Reporter
from fishernet.base.random import Seed, fixed_seed
from fishernet.base.vocabulary import BlanketSearchName, Rule, TestName, refuse_options, word
from fishernet.data import Source, Table, as_source
from fishernet.data.matching import frame_names, is_frame
from fishernet.graphs import UndirectedGraph
from fishernet.independence import ChiSquared, FisherZ, GSquared, IndependenceTest, KnnTest
from fishernet.independence.contingency import Answer
from fishernet.independence.knn_test import Plan

Blanket = tuple[int, ...]


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

    def find(self, variable: int) -> Blanket:
        """Return the blanket of a variable, ascending."""
        blanket: Blanket = ()
        met = {blanket}
        while (grown := self._grown(variable, blanket)) != blanket:
            blanket = self._shrunk(variable, grown) if self.interleaved else grown
            if blanket in met:  # what was dropped would come back again and again
                break
            met.add(blanket)
        return blanket if self.interleaved else self._shrunk(variable, blanket)

    def _grown(self, variable: int, blanket: Blanket) -> Blanket:
        """Return the blanket with one more member, or as it is when it is complete."""
        candidates = [v for v in range(self.n_variables) if v != variable and v not in blanket]
        if not candidates or (self.max_blanket is not None and len(blanket) >= self.max_blanket):
            return blanket
        best, answer = self._strongest(variable, candidates, blanket)
        if answer is None:
            answer = self._ask(variable, best, blanket)
        return tuple(sorted((*blanket, best))) if answer.p_value <= self.alpha else blanket

    def _strongest(self, variable: int, candidates: Sequence[int], given: Blanket) -> tuple[int, Answer | None]:
        """Return the first of the candidates with the largest association, and its test where one was made."""
        association = getattr(self.test, "association", None)
        best, most, found = candidates[0], -math.inf, None
        for candidate in candidates:
            answer = None
            if association is not None:
                strength = association(variable, candidate, given)
            else:
                answer = self._ask(variable, candidate, given)
                strength = answer.statistic
            if strength > most:
                best, most, found = candidate, strength, answer
        return best, found

    def _shrunk(self, variable: int, blanket: Blanket) -> Blanket:
        """Return the blanket without the members that are independent given the rest, one after the other."""
        kept = blanket
        for member in blanket:
            rest = tuple(v for v in kept if v != member)
            if self._ask(variable, member, rest).p_value > self.alpha:
                kept = rest
        return kept

    def _ask(self, i: int, j: int, given: Blanket) -> Answer:
        answer = self.test(i, j, given)
        self.n_tests += 1
        self.n_skipped += bool(getattr(answer, "skipped", False))
        if not (hasattr(answer, "statistic") and hasattr(answer, "p_value")):
            raise FishernetError(f"a test must answer with a statistic and a p_value, got {answer!r}")
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
class BlanketsFound(Framed):
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

    def __repr__(self) -> str:
        edges = f"{self.graph().n_edges:,} to {several(self.graph('or').n_edges, 'edge')}"
        return f"BlanketsFound({several(len(self.names), 'variable')}, {edges}; {several(self.n_tests, 'test')})"

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
    names: Iterable[str] | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
    **options: Any,
) -> BlanketsFound:
    """Find the Markov blanket of every variable by tests of independence, and say how.

    Parameters
    ----------
    X, test, search, alpha, standardize, max_blanket, names, seed, progress, **options
        As for `markov_graph`.

    Returns
    -------
    BlanketsFound

    Examples
    --------
    >>> import numpy as np
    >>> import fishernet as fn
    >>> a, b, c = np.random.default_rng(1).normal(size=(3, 500))
    >>> found = fn.learn.markov_blankets({"a": a, "b": a + b, "c": a + b + c}, test="fisher-z")
    >>> found.blankets
    ((1,), (0, 2), (1,))
    """
    began = time.monotonic()
    check.share(alpha, "alpha")
    search = word(search, "search", SEARCHES)
    max_blanket = check.optional_integer(max_blanket, "max_blanket", least=0)
    number = fixed_seed(seed)
    of, how = _test_of(X, test, names, standardize, alpha, number, options)
    if not of:
        raise SchemaError("the data have no columns to learn from")
    walk = BlanketSearch(len(of), how, alpha, interleaved=SEARCHES[search], max_blanket=max_blanket)
    reporter = Reporter(progress, "finding Markov blankets")
    blankets = []
    for variable in range(len(of)):
        reporter.step(variable, len(of))
        blankets.append(walk.find(variable))
    reporter.finish(len(of))
    drawn = number if test == "knn-mi" else None
    return BlanketsFound(of, tuple(blankets), walk.n_tests, walk.n_skipped, time.monotonic() - began, drawn)


def markov_graph(
    X: Any,
    *,
    test: TestName | IndependenceTest = "knn-mi",
    rule: Rule = "and",
    search: BlanketSearchName = "iamb",
    alpha: float = 0.05,
    standardize: bool = True,
    max_blanket: int | None = None,
    names: Iterable[str] | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
    **options: Any,
) -> UndirectedGraph:
    """Learn an undirected graph: the Markov blanket of every variable by tests of independence, then one graph.

    Parameters
    ----------
    X : (n_rows, n_columns) array, data frame, Table, data frame or Source
        Numbers for the continuous tests; for the tests on counts a Table (or what `Table.from_codes` and
        `Table.from_frame` take) or a source of counts.
    test : str or callable
        "knn-mi": mutual information from nearest neighbours with permutations, which sees any dependence [1]_.
        "fisher-z": partial correlation. "g-squared", "chi-squared": tables of counts. Or a function
        ``test(i, j, given)`` that answers with a ``statistic`` and a ``p_value``; the candidate with the largest
        statistic is tested first, or the one with the largest ``test.association(i, j, given)`` where there is that.
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
    names : sequence of str, optional
        Of the columns of an array (otherwise v0, v1, ...); of a frame, those that are taken.
    seed : None, int or numpy.random.Generator
    progress : callable or True, optional
        True for a bar, or ``progress(what, done, total)``, in variables.
    **options
        "knn-mi": ``k=5``, ``permutations=200``, ``scheme="local"``, ``k_perm=5``, ``skip_below=None``,
        ``stop_early=True`` (no decision depends on it), as for `fishernet.independence.knn_test`, which says why the
        scheme of [1]_, "simple", rejects too much.

    Returns
    -------
    UndirectedGraph

    Raises
    ------
    SchemaError
        When a column is constant, of another kind than the test needs, has NaN or infinite values (the message names it
        and the row) or, with "fisher-z", is a linear combination of others; when there are too few rows or names do not
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
) -> tuple[tuple[str, ...], IndependenceTest]:
    """Return the names of the variables and the test on their data."""
    if not isinstance(test, str):
        if options:
            raise FishernetError(f"options {listed(options)} go with a test's name; this test is made already")
        if not callable(test):
            kind = "a test's name, or a function test(i, j, given)"
            raise FishernetError(f"test must be {kind}, got {shown(test)}", parameter="test")
        return _names_of(X, names), test
    named: str = word(test, "test", [*CONTINUOUS, *DISCRETE])
    if named in DISCRETE:
        if options:
            raise FishernetError(f"test {named!r} takes no options, got {listed(options)}")
        counted = _counted(X, names)
        how = DISCRETE[named](counted)
    else:
        if named == "knn-mi":
            options = {"stop_early": True, "standardize": standardize, "alpha": alpha, "seed": seed} | options
        own = inspect.signature(CONTINUOUS[named]).parameters.keys() - {"X", "names", "as_knn_test"}
        if named == "knn-mi":
            own |= {field.name for field in fields(Plan)}
        refuse_options(options, own, f"the test {named!r}")
        how = CONTINUOUS[named](X, names=names, **options)
    return how.names, how


def _counted(X: Any, names: Iterable[str] | None) -> Source:
    """Return data as a source of counts."""
    if not hasattr(X, "variables") and not is_frame(X):
        table = Table.from_codes(X)
        variables = [replace(v, name=name) for v, name in zip(table.variables, _names_of(X, names), strict=True)]
        return Table.adopt(variables, table.codes, n_rows=table.n_rows)
    source = as_source(X)
    if names is None:
        return source
    if not hasattr(source, "select"):
        raise SchemaError("a source of statistics has its own names")
    chosen: Source = source.select(names)
    return chosen


def _names_of(X: Any, names: Iterable[str] | None) -> tuple[str, ...]:
    """Return the names of the columns of any data; what is in them is the test's business."""
    if hasattr(X, "variables"):
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
