"""The search itself: which way it takes, and what it gives when it is cut short."""

from __future__ import annotations

import time
from dataclasses import replace

from fishernet.counts import CountSource
from fishernet.errors import FishernetError
from fishernet.graphs import Dag
from fishernet.learn.constraints import Constraints
from fishernet.learn.search import SearchResult, run_search
from fishernet.learn.searches.exact.run import Run, Watch
from fishernet.learn.searches.exact.sparse import MOST_VARIABLES, SparseRun
from fishernet.learn.searches.exact.tables import TableRun, bytes_needed, refuse_tables
from fishernet.learn.searches.hill_climb import HillClimb
from fishernet.progress import Progress
from fishernet.scores import LocalScores, Score
from fishernet.scores.local import total_score

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
        raise FishernetError(f"max_memory must be a positive number of bytes, got {max_memory!r}")
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
