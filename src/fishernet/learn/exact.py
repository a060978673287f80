"""The search itself: which way it takes, and what it gives when it is cut short.

Exact search by tables over all subsets of the variables.

Every set is counted once, every child's best parents within every set are found, and the best network over a set has a
sink, whose parents are the best among the others, above the best network over these [1]_. Time and memory double with
every variable, and a little more.

References
----------
.. [1] T. Silander and P. Myllymäki, "A simple approach for finding the globally optimal Bayesian network structure",
   UAI 2006.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import replace
from typing import NoReturn

from fishernet import _core
from fishernet.base.errors import FishernetError, StateSpaceError
from fishernet.base.progress import Progress
from fishernet.data import CountSource, TableCounts
from fishernet.graphs import Dag
from fishernet.learn.exact_sparse import MOST_VARIABLES, SparseRun
from fishernet.learn.hill_climb import HillClimb
from fishernet.learn.rules import Constraints
from fishernet.learn.search import Run, SearchResult, Watch, run_search
from fishernet.scores import BuiltIn, LocalScores, Score
from fishernet.scores.local import n_sets, subset_terms, total_score

NUMBER = 8  # bytes
KIND = 2500  # bytes of a table of terms, for scores whose terms depend on the number of cells
MARGINALS_AT_ONCE = 3  # the core counts for so many numbers of states of the child at a time
UNITS_PER_SET = 256.0  # of the progress, where Python counts


class TableRun:
    """One run.

    Parameters
    ----------
    source : CountSource
    score : Score
    constraints : Constraints
    watch : Watch

    Attributes
    ----------
    done, total : float
        How far it is, in units of work: counting a set is 32, scoring a family and comparing it 1.
    n_scores : int
        How many families there were to choose from.
    """

    def __init__(self, source: CountSource, score: Score, constraints: Constraints, watch: Watch) -> None:
        self._source = source
        self._score = score
        self._constraints = constraints
        self._watch = watch
        self.done = 0.0
        self.total = math.inf
        self.n_scores = 0

    @property
    def how_far(self) -> str:
        """Which part of the work is done."""
        return f"{self.done / self.total:.0%} of the exact search was done"

    def parents(self) -> list[list[int]] | None:
        """Return the best network's parents; None when the time was over first."""
        search = self._search()
        if search is None:
            return None
        counted = self.done
        while not search.finished:
            if self._watch.late:
                return None
            search.advance()
            self._tell(counted + search.done, counted + search.total)
        self.n_scores = round(search.n_scores)
        self._watch.finish(self.total)
        return search.parents

    def _search(self) -> _core.ExactSearch | None:
        """Return the core's search; where the core cannot count by itself, after counting. None: too late."""
        source, score, constraints = self._source, self._score, self._constraints
        rules = constraints.max_parents, constraints.forbidden, constraints.required
        if isinstance(source, TableCounts) and isinstance(score, BuiltIn) and not source.table.has_fractions:
            measure, parameter = score.rule(source.n_rows)
            return _core.ExactSearch(source.table.native, measure, parameter, *rules)
        n, most = len(source.variables), constraints.max_parents + 1
        after = UNITS_PER_SET * n_sets(n, most) + n * 2.0 ** (n - 1)

        def after_part(n_counted: int) -> bool:
            self._tell(self.done + UNITS_PER_SET * n_counted, after)
            return not self._watch.late

        terms = subset_terms(source, score, most=most, after_part=after_part)
        if terms is None:
            return None
        return _core.ExactSearch(terms.joint, terms.marginals, terms.kind_of_child, *rules)

    def _tell(self, done: float, total: float) -> None:
        self.done, self.total = done, total
        self._watch.tell(done, total)


def bytes_needed(source: CountSource, score: Score) -> int:
    """Return how much memory the tables take at the most, beside the table of data and the work of a few threads."""
    states = Counter(variable.cardinality for variable in source.variables)
    n = len(source.variables)
    marginals, kinds = len(states), 0
    if isinstance(source, TableCounts) and isinstance(score, BuiltIn):
        measure = score.rule(source.n_rows).measure
        marginals = min(MARGINALS_AT_ONCE, len(states)) if measure in ("fnml", "k2") else 0
        kinds = math.prod(many + 1 for many in states.values())
        kinds *= {"bdeu": KIND, "qnml": NUMBER, "bdq": NUMBER}.get(measure, 0)
    return NUMBER * ((n + 2 + 2 * marginals) << (n - 1)) + kinds


def refuse_tables(source: CountSource, score: Score, max_memory: float) -> NoReturn:
    """Raise StateSpaceError for tables that would take too much memory."""
    need = bytes_needed(source, score)
    size = f"{need / 1e9:.3g} GB" if need < 1e30 else "more than any computer has"
    raise StateSpaceError(
        f"the tables of an exact search over {len(source.variables)} variables",
        cells=need // NUMBER,
        limit=int(min(max_memory, 2.0**62)) // NUMBER,
        remedy=f"that is {size}, and {max_memory / 1e9:.3g} GB are allowed: learn from fewer variables, or take "
        "another search",
        parameter="max_memory",
    )


MOST_MEMORY = 2**33  # bytes, when the caller says nothing


def exact_search(
    source: CountSource,
    score: Score,
    constraints: Constraints,
    *,
    max_memory: float | None = None,
    max_seconds: float | None = None,
    progress: Progress | None = None,
) -> SearchResult:
    """Find the network with the highest score of all that keep the rules.

    Ties (below max(1e-9, 1e-12 |score|) nats) go to few parents, and to those that come first in the order of the
    variables. A hill climb goes before: what it found is the answer when there is not enough time.

    Parameters
    ----------
    source : CountSource
    score : Score
    constraints : Constraints
        The rules. The start matters to the climb alone.
    max_memory : float, optional
        Bytes that its tables, or else its parent sets and what it reached, may take; 2**33 when not said.
    max_seconds : float, optional
        After this time the graph of the hill climb is the result, with ``finished`` False.
    progress : callable, optional
        ``progress("exact search", done, total)``; the total is None where parent sets have to be found first.

    Returns
    -------
    SearchResult
        Without steps.

    Raises
    ------
    StateSpaceError
        When it would take more than `max_memory`.
    MissingValueError
        When a cell is missing.
    KeyboardInterrupt
        On Ctrl-C; its message says how far the search was, its attribute ``best`` is the graph of the hill climb.

    Notes
    -----
    For n variables the tables take ``8 (n / 2 + 1) 2**n`` bytes, for fNML and K2 (whose g depends on the child) up to
    ``8 (n / 2 + 4) 2**n``: 25 variables go into 2**33 bytes. More variables need a score with which few parent sets are
    worth a look (BIC, AIC, HQC), or few parents.
    """
    began = time.monotonic()
    most = MOST_MEMORY if max_memory is None else max_memory
    if not most > 0:
        message = f"max_memory must be a positive number of bytes, got {max_memory!r}"
        raise FishernetError(message, parameter="max_memory")
    fits = bytes_needed(source, score) <= most
    if not fits and len(source.variables) > MOST_VARIABLES:
        refuse_tables(source, score, most)
    scores = LocalScores(source, score)
    climb = run_search(HillClimb(constraints), scores, max_seconds=max_seconds)
    watch = Watch(progress, None if max_seconds is None else began + max_seconds)
    run: Run = (
        TableRun(source, score, constraints, watch)
        if fits
        else SparseRun(scores, constraints, watch, start=climb.dag, max_memory=most)
    )
    try:
        found = run.parents()
    except KeyboardInterrupt as interrupt:
        interrupt.args = (f"interrupted when {run.how_far}",)
        interrupt.best = climb.dag  # type: ignore[attr-defined]
        raise
    seconds = time.monotonic() - began
    if found is None:
        return replace(climb, finished=False, seconds=seconds)
    dag = Dag(constraints.start.names, found)
    return SearchResult(dag, total_score(source, dag, score), (), run.n_scores, True, seconds)
