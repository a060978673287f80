"""Exact search: the network with the highest score of all.

Dynamic programming over the subsets of the variables (Silander and Myllymäki [1]_): every set is counted once, every
child's best parents within every set are found, and the best network over a set has a sink, whose parents are the best
among the others, above the best network over these. Time and memory double with every variable, and a little more.

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

from fishernet import _core
from fishernet.counts import CountSource, TableCounts
from fishernet.errors import FishernetError, StateSpaceError
from fishernet.graphs import Dag
from fishernet.learn.constraints import Constraints
from fishernet.learn.search import SearchResult, run_search
from fishernet.learn.searches.hill_climb import HillClimb
from fishernet.progress import Progress, Reporter
from fishernet.scores import BuiltIn, LocalScores, Score
from fishernet.scores.local import total_score
from fishernet.scores.subsets import n_sets, subset_terms

MOST_MEMORY = 2**33  # bytes, when the caller says nothing
NUMBER = 8  # bytes
KIND = 2500  # bytes of a table of terms, for scores whose terms depend on the number of cells
MARGINALS_AT_ONCE = 3  # the core counts for so many numbers of states of the child at a time
UNITS_PER_SET = 256.0  # of the progress, where Python counts


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
        The rules; where the start is matters to the climb alone.
    max_memory : float, optional
        Bytes that its tables may take; 2**33 when not said.
    max_seconds : float, optional
        After this time the graph of the hill climb is the result, with ``finished`` False.
    progress : callable, optional
        ``progress("exact search", done, total)``.

    Returns
    -------
    SearchResult
        Without steps.

    Raises
    ------
    StateSpaceError
        When the tables would take more than `max_memory`.
    MissingValueError
        When a cell is missing.
    KeyboardInterrupt
        On Ctrl-C; its message says how far the search was, its attribute ``best`` is the graph of the hill climb.

    Notes
    -----
    For n variables the tables take ``8 (n / 2 + 1) 2**n`` bytes, for fNML and K2 (whose g depends on the child) up to
    ``8 (n / 2 + 4) 2**n``.
    """
    began = time.monotonic()
    check_memory(source, score, max_memory)
    scores = LocalScores(source, score)
    climb = run_search(HillClimb(constraints), scores, max_seconds=max_seconds)
    run = ExactRun(Reporter(progress, "exact search"), None if max_seconds is None else began + max_seconds)
    try:
        found = run.parents(source, score, constraints)
    except KeyboardInterrupt as interrupt:
        interrupt.args = (f"interrupted when {run.share:.0%} of the exact search was done",)
        interrupt.best = climb.dag  # type: ignore[attr-defined]
        raise
    if found is None:
        return replace(climb, finished=False, seconds=time.monotonic() - began)
    dag = Dag(constraints.start.names, found)
    return SearchResult(dag, total_score(source, dag, score), (), run.n_scores, True, time.monotonic() - began)


class ExactRun:
    """One run of the search: its progress and its deadline.

    Attributes
    ----------
    done, total : float
        How far it is, in units of work: counting a set is 32, scoring a family and comparing it 1.
    n_scores : int
        How many families there were to choose from.
    """

    def __init__(self, reporter: Reporter, deadline: float | None) -> None:
        self._reporter = reporter
        self._deadline = deadline
        self.done = 0.0
        self.total = math.inf
        self.n_scores = 0

    @property
    def share(self) -> float:
        """How much of the work is done."""
        return self.done / self.total

    def parents(self, source: CountSource, score: Score, constraints: Constraints) -> list[list[int]] | None:
        """Return the best network's parents; None when the deadline came first."""
        search = self._search(source, score, constraints)
        if search is None:
            return None
        counted = self.done
        while not search.finished:
            if self._late():
                return None
            search.advance()
            self._tell(counted + search.done, counted + search.total)
        self.n_scores = round(search.n_scores)
        self._reporter.finish(round(self.total))
        return search.parents

    def _search(self, source: CountSource, score: Score, constraints: Constraints) -> _core.ExactSearch | None:
        """Return the core's search; where the core cannot count by itself, after counting. None: too late."""
        rules = constraints.max_parents, constraints.forbidden, constraints.required
        if isinstance(source, TableCounts) and isinstance(score, BuiltIn):
            source.table.require_complete("a score")
            measure, parameter = score.rule(source.n_rows)
            return _core.ExactSearch(source.table.native, measure, parameter, *rules)
        n, most = len(source.variables), constraints.max_parents + 1
        total = UNITS_PER_SET * n_sets(n, most)
        after = total + n * 2.0 ** (n - 1)

        def after_part(n_counted: int) -> bool:
            self._tell(self.done + UNITS_PER_SET * n_counted, after)
            return not self._late()

        terms = subset_terms(source, score, most=most, after_part=after_part)
        if terms is None:
            return None
        return _core.ExactSearch(terms.joint, terms.marginals, terms.kind_of_child, *rules)

    def _late(self) -> bool:
        return self._deadline is not None and time.monotonic() >= self._deadline

    def _tell(self, done: float, total: float) -> None:
        self.done, self.total = done, total
        self._reporter.step(round(done), round(total))


def check_memory(source: CountSource, score: Score, max_memory: float | None) -> None:
    """Raise StateSpaceError when exact search would take more memory than it may."""
    most = MOST_MEMORY if max_memory is None else max_memory
    if not most > 0:
        raise FishernetError(f"max_memory must be a positive number of bytes, got {max_memory!r}")
    need = bytes_needed(source, score)
    if need > most:
        raise StateSpaceError(
            f"the tables of an exact search over {len(source.variables)} variables",
            cells=math.ceil(need / NUMBER),
            limit=int(min(most, 2.0**62)) // NUMBER,
            remedy=f"that is {need / 1e9:.3g} GB, and max_memory allows {most / 1e9:.3g} GB: allow more, learn from "
            "fewer variables, or take another search",
        )


def bytes_needed(source: CountSource, score: Score) -> int:
    """Return how much memory an exact search takes at the most, beside the table and the work of a few threads."""
    states = Counter(variable.cardinality for variable in source.variables)
    n = len(source.variables)
    marginals, kinds = len(states), 0
    if isinstance(source, TableCounts) and isinstance(score, BuiltIn):
        measure = score.rule(source.n_rows).measure
        marginals = min(MARGINALS_AT_ONCE, len(states)) if measure in ("fnml", "k2") else 0
        kinds = math.prod(many + 1 for many in states.values())
        kinds *= {"bdeu": KIND, "qnml": NUMBER, "bdq": NUMBER}.get(measure, 0)
    return NUMBER * ((n + 2 + 2 * marginals) << (n - 1)) + kinds
