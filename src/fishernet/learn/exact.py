"""Exact search: the network with the highest score of all.

Two ways lead there. While memory allows it, dynamic programming over all subsets of the variables [1]_: every set is
counted once, every child's best parents within every set are found, and the best network over a set has a sink, whose
parents are the best among the others, above the best network over these. Time and memory double with every variable,
and a little more. Beyond, the parent sets that may be best are found first, and with few of them bounds leave little to
search (`fishernet.learn.exact_sparse`).

References
----------
.. [1] T. Silander and P. Myllymäki, "A simple approach for finding the globally optimal Bayesian network structure",
   UAI 2006.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import NoReturn

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import FishernetError, StateSpaceError
from fishernet.base.names import shown
from fishernet.base.progress import Interrupted, Watch
from fishernet.graphs import Dag
from fishernet.learn.exact_sparse import MOST_GIVEN, MOST_VARIABLES, SparseRun, bound_by_fit
from fishernet.learn.hill_climb import HillClimb
from fishernet.learn.order import Order
from fishernet.learn.rules import Rules
from fishernet.learn.search import Scorer, Search, SearchResult, Step, tie
from fishernet.scores.local import n_sets, subset_terms, total_score

MAX_MEMORY = 2.0**33  # bytes
NUMBER = 8  # bytes
KIND = 2500  # bytes of a table of terms, for scores whose terms depend on the number of cells
MARGINALS_AT_ONCE = 3  # the core counts for so many numbers of states of the child at a time
UNITS_PER_SET = 256.0  # of the progress, where Python counts
MOST_PROVEN = 20  # variables whose best graph other searches have proven
ROWS_OF_A_SET = 200  # which take as long as the rest of the work on a set
WORK_OF_PROOF = 1.5e9  # sets times rows: about a second
ROWS_OF_A_PARENT_SET = 800  # the same, of sets that are counted one by one
ROWS_OF_A_CELL = 3  # the same of the cells of such a set and its child
USUAL_PARENTS = 3  # of the largest sets that are looked at in a second
WORK_ON_SETS = 4e8  # some nanoseconds: what follows when they are known
SHARE = 0.5  # of the time goes to another search at the most, whose graph is the answer if this one does not end


@dataclass(frozen=True)
class Exact(Search):
    """Exact search: the network with the highest score of all that keep the rules.

    Ties (below ``max(1e-9, 1e-12 |score|)`` nats) go to few parents, and to those that come first in the order of the
    variables. The result has no steps. With a deadline a search over orders goes before (`fishernet.learn.order`): what
    it found is the answer when there is not enough time, with ``finished`` False.

    When the time is over first, ``bound`` says how good a graph can be at all, and ``gap`` how far from that
    the one that was found is.

    With a checkpoint only the result is kept, and a search that was stopped begins anew: its tables take as much memory
    as it may have, and writing them would take longer than many of its stages.

    Notes
    -----
    For n variables the tables take ``8 (n / 2 + 1) 2**n`` bytes, for fNML and K2 (whose g depends on the child) up to
    ``8 (n / 2 + 4) 2**n``: 25 variables go into 2**33 bytes. More variables need a score with which few parent sets are
    worth considering (BIC, AIC, HQC), or few parents. So do numbers beside labels, and rows that lack cells: all sets
    of parents that the rules allow are scored, which ends in good time for some 15 variables.
    """

    max_memory: float = MAX_MEMORY
    """Bytes that its tables, or else its parent sets and what it reached, may take; default 2**33."""

    def __post_init__(self) -> None:
        if not check.is_number(self.max_memory) or not self.max_memory > 0:
            message = f"max_memory must be a positive number of bytes, got {shown(self.max_memory)}"
            raise FishernetError(message, parameter="max_memory")

    def run(self, scorer: Scorer, rules: Rules, watch: Watch) -> SearchResult:
        """Find the best graph of all that keep the rules; on Ctrl-C the message says how far the search was."""
        source, score = scorer.source, scorer.score
        fits = scorer.of_sets and bytes_needed(scorer) <= self.max_memory
        if not fits and len(source.variables) > MOST_VARIABLES:
            refuse_tables(scorer, self.max_memory)
        known = _search_before(scorer, rules, watch, tables=fits)
        watch = watch.about("exact search")
        run: TableRun | SparseRun = TableRun(scorer, rules, watch)
        if not fits:
            run = SparseRun(scorer, rules, watch, start=known.dag, max_memory=self.max_memory)
        found = _finish(run, known, scorer)
        if found is None:
            known = _better(known, run, scorer)
            bounds = [bound for bound in (run.bound, bound_by_fit(scorer)) if bound is not None]
            bound = max(min(bounds), known.score) if bounds and known.score == known.score else None
            return replace(known, finished=False, seconds=watch.seconds, seed=None, bound=bound)
        dag = Dag(rules.names, found)
        best = total_score(source, dag, score)
        return SearchResult(dag, best, (), run.n_scores, True, watch.seconds, bound=best)


def _search_before(scorer: Scorer, rules: Rules, watch: Watch, *, tables: bool) -> SearchResult:
    """Return what is found in a part of the time.

    Where there is no deadline, it is for Ctrl-C alone, and for the bound that the way with few parent sets goes by.
    """
    left = watch.seconds_left
    if left is None:
        return (HillClimb() if tables else Order(restarts=0)).run(scorer, rules, Watch())
    first = Watch(max_seconds=SHARE * left)
    return proven(Order().run(scorer, rules, first), scorer, rules, first)


def _finish(run: TableRun | SparseRun, known: SearchResult, scorer: Scorer) -> list[list[int]] | None:
    """Return the best network's parents, as the run does; on Ctrl-C the error has the best graph that is known."""
    try:
        return run.parents()
    except KeyboardInterrupt:
        best = _better(known, run, scorer).dag
        raise Interrupted(f"interrupted when {run.how_far}", best=best) from None


def _better(known: SearchResult, run: TableRun | SparseRun, scorer: Scorer) -> SearchResult:
    """Return the best graph that a run has seen, if it is better than what is known."""
    if run.best is None:
        return known
    dag = Dag(known.dag.names, run.best)
    score = total_score(scorer.source, dag, scorer.score)
    if score <= known.score + tie(score):
        return known
    last = Step("exact", "", "", score - known.score)
    return replace(known, dag=dag, score=score, steps=(*known.steps, last))


def proven(found: SearchResult, scorer: Scorer, rules: Rules, watch: Watch) -> SearchResult:
    """Return the best graph of all where that is cheap to find: what was found, proven to be it, or a better one.

    A better graph may be found where no proof is cheap. Of equally good graphs it is the one that was found. What is
    cheap depends on the table alone, so that the same call finds the same graph.
    """
    run = _cheap_run(scorer, rules, watch.about("exact search"), found.dag) if found.finished else None
    if run is None:
        return found
    is_proven = _finish(run, found, scorer) is not None
    found = replace(_better(found, run, scorer), seconds=watch.seconds)
    return replace(found, bound=found.score) if is_proven else found


def _cheap_run(scorer: Scorer, rules: Rules, watch: Watch, start: Dag) -> TableRun | SparseRun | None:
    """Return an exact search that takes about a second: one that surely ends, or else one that gives up by then."""
    source = scorer.source
    n = len(source.variables)
    rows = 0.0 if all(variable.is_continuous for variable in source.variables) else math.inf
    if scorer.in_core is not None:
        rows = source.total
    if n <= MOST_PROVEN and scorer.of_sets and 2.0**n * (rows + ROWS_OF_A_SET) <= WORK_OF_PROOF:
        return TableRun(scorer, rules, watch)
    if n > MOST_VARIABLES or scorer.in_core is None:
        return None
    # the sets from which bounds are made count as well
    work = rows + ROWS_OF_A_PARENT_SET
    if scorer.in_core[1].measure != "likelihood":  # whose price rules sets of many cells out
        states = [variable.cardinality for variable in source.variables]
        work += ROWS_OF_A_CELL * (sum(states) / n) ** (1 + min(rules.max_parents, USUAL_PARENTS))
    most_sets = WORK_OF_PROOF / work - n * math.comb(n - 1, MOST_GIVEN)
    if most_sets <= 0:
        return None
    limits: dict[str, float] = {"max_memory": MAX_MEMORY, "most_sets": most_sets, "most_work": WORK_ON_SETS}
    return SparseRun(scorer, rules, watch, start=start, **limits)


class TableRun:
    """One run over tables of all subsets."""

    def __init__(self, scorer: Scorer, rules: Rules, watch: Watch) -> None:
        self._scorer, self._rules, self._watch = scorer, rules, watch
        self.done: float = 0.0  # in units of the core's work: scoring a family and comparing it is 1
        self.total: float = math.inf
        self.n_scores: int = 0
        self.best: list[list[int]] | None = None  # only at the end

    @property
    def bound(self) -> None:
        """What no graph's score is above: nothing is known before the end."""
        return

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
            if self._tell(counted + search.done, counted + search.total):
                return None
            search.advance()
        self.n_scores = round(search.n_scores)
        self._watch.finish(self.total)
        self.best = search.parents
        return self.best

    def _search(self) -> _core.ExactSearch | None:
        """Return the core's search; where the core cannot count, after counting here. None when the time is over."""
        source, score = self._scorer.source, self._scorer.score
        if self._scorer.in_core is not None:
            rows, term = self._scorer.in_core
            return _core.ExactSearch(rows, term.measure, term.parameter, *self._rules.limits)
        n, most = len(source.variables), self._rules.max_parents + 1
        after = UNITS_PER_SET * n_sets(n, most) + n * 2.0 ** (n - 1)

        def after_part(n_counted: int) -> bool:
            return not self._tell(self.done + UNITS_PER_SET * n_counted, after)

        terms = subset_terms(source, score, most=most, after_part=after_part)
        if terms is None:
            return None
        return _core.ExactSearch(terms.joint, terms.marginals, terms.kind_of_child, terms.prices, *self._rules.limits)

    def _tell(self, done: float, total: float) -> bool:
        self.done, self.total = done, total
        return self._watch.look(done, total)


def bytes_needed(scorer: Scorer) -> int:
    """Return how much memory the tables take at the most, beside the table of data and the work of a few threads."""
    source = scorer.source
    states = Counter(variable.cardinality for variable in source.variables)
    n = len(source.variables)
    marginals, kinds = len(states), 0
    if scorer.in_core is not None:
        measure = scorer.in_core[1].measure
        marginals = min(MARGINALS_AT_ONCE, len(states)) if measure in ("fnml", "k2") else 0
        kinds = math.prod(many + 1 for many in states.values())
        kinds *= {"bdeu": KIND, "qnml": NUMBER, "bdq": NUMBER}.get(measure, 0)
    return NUMBER * ((n + 2 + 2 * marginals) << (n - 1)) + kinds


def refuse_tables(scorer: Scorer, max_memory: float) -> NoReturn:
    """Raise StateSpaceError for tables that would take too much memory."""
    need = bytes_needed(scorer)
    size = f"{need / 1e9:.3g} GB" if need < 1e30 else "more than any computer has"
    raise StateSpaceError(
        f"the tables of an exact search over {len(scorer.source.variables)} variables",
        cells=need // NUMBER,
        limit=int(min(max_memory, 2.0**62)) // NUMBER,
        remedy=f"that is {size}, and max_memory allows {max_memory / 1e9:.3g} GB: learn from fewer variables, or take "
        "another search",
    )
