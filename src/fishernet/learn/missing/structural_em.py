"""Structures from rows with missing cells: structural EM, and a start from the available cases.

Friedman's structural EM [1]_ alternates two things: the expected statistics of all rows under the network so far, and a
search on these, as if they were counts of complete rows. Each round's graph is scored better by the statistics of its
round than the one before, so the score that is maximized, that of the observed cells, rises until no round gains.

References
----------
.. [1] N. Friedman, "Learning belief networks in the presence of missing values and hidden variables", 1997; "The
   Bayesian structural EM algorithm", 1998.
.. [2] G. Celeux and J. Diebolt, "The SEM algorithm: a probabilistic teacher algorithm derived from the EM algorithm for
   the mixture problem", Computational Statistics Quarterly 2, 1985.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from fishernet.base.errors import SchemaError
from fishernet.base.names import several
from fishernet.base.progress import Interrupted, Watch
from fishernet.data import Source, Table
from fishernet.data.variable import mixes_numbers
from fishernet.graphs import Dag
from fishernet.learn.em import Effort, EmResult
from fishernet.learn.missing.incomplete import AvailableCases, ExpectedCounts, fit_rows, fit_to, incomplete_rows
from fishernet.learn.missing.mixed_em import completions, fit_mixed
from fishernet.learn.order import Order
from fishernet.learn.rules import Rules
from fishernet.learn.search import Search, SearchResult
from fishernet.models import BayesianNetwork
from fishernet.scores import LocalScores, Score
from fishernet.scores.local import family_positions
from fishernet.scores.node_average import NodeAverage

MOST_ROUNDS = 30
START_RESTARTS = 4  # of the search on available cases
# What the start pays for missing cells, of the price of node-average. A dependence that the start lacks is missing from
# the expected statistics too, which so confirm that there is none; an arc too many is taken out by the first round.
START_CAUTION = 0.25
COMPLETIONS = 64  # of a gap, in the statistics of a search
LEAST_GAIN = 1e-6  # of a round, in nats a row
ROUGH = 1e-5  # how far the parameters are fitted between rounds, in nats a known cell
ROUGH_STEPS = 20
ROUNDS_OF_DRAWS = 4  # after which graphs change by chance alone
STEPS_OF_DRAWS = 5  # between them
COPIES = 8, 4, 2  # of each row, whose weights are then exact: the first with which rows are no more than
DRAWN_ROWS = 20_000  # or the last


def structural_em(rows: Any, score: Score, search: Search, rules: Rules, watch: Watch) -> SearchResult:
    """Return the graph that a search finds on expected statistics, round by round, from that of the available cases.

    The score of the result is that of its graph on the last round's expected statistics, NaN when there was no time for
    one, or a number of the first graph has no regression. Each round goes on from the graph so far, without restarts; a
    search over orders goes on as a tabu search.
    """
    rounds = (_OfLabelsAndNumbers if mixes_numbers(rows.variables) else _OfLabels)(rows, score)
    first = (rounds.beginning or search).run(rounds.available, rules, watch.about("the available cases"))
    found = dataclasses.replace(first, score=math.nan)  # which is another score
    n_scores, gains, round_number = first.n_scores, True, 0
    try:
        while gains and found.finished and not watch.late and round_number < rounds.most:
            round_number += 1
            try:
                scorer = rounds.expected(found.dag, watch.about(f"round {round_number}"))
            except SchemaError:  # no regression can be fitted, which whoever wants the parameters is told
                break
            now = float(scorer(family_positions(scorer.source, found.dag)).sum())
            of_round = dataclasses.replace(rules, start=found.dag)
            later = search.refining().run(scorer, of_round, watch.about(f"round {round_number}"))
            n_scores += later.n_scores
            gains = later.score > now + LEAST_GAIN * max(1.0, float(rows.total))
            found = later if gains else dataclasses.replace(found, score=now, finished=later.finished)
    except Interrupted:
        raise
    except KeyboardInterrupt:
        raise Interrupted(best=found.dag, size=several(found.dag.n_edges, "arc")) from None
    ended = found.finished and not watch.late and (not gains or rounds.drawn)
    return dataclasses.replace(found, n_scores=n_scores, finished=ended, seconds=watch.seconds)


class _OfLabels:
    """Rounds of labels: on the counts that are expected of all rows."""

    beginning, most, drawn = Order(restarts=START_RESTARTS), MOST_ROUNDS, False

    def __init__(self, rows: Table, score: Score) -> None:
        self._rows, self._score = rows, score
        self.available = LocalScores(rows, NodeAverage(START_CAUTION))

    def expected(self, dag: Dag, watch: Watch) -> LocalScores:
        """Return what scores graphs on the statistics that are expected under a graph."""
        rows = incomplete_rows(dag, self._rows, {})
        with _no_graph():
            net = fit_rows(dag, rows, Effort(1, ROUGH_STEPS, ROUGH), watch).model
        return LocalScores(ExpectedCounts(net, self._rows, most=COMPLETIONS), self._score)


class _OfLabelsAndNumbers:
    """Rounds of labels and numbers: on rows whose missing cells are drawn, each several times over.

    That is stochastic EM [2]_: expected moments of every set of numbers in every configuration of labels would be sums
    over the states of all labels that a row lacks.
    """

    beginning, most, drawn = None, ROUNDS_OF_DRAWS, True  # it begins with the search that was asked for

    def __init__(self, rows: Table, score: Score) -> None:
        self._rows, self._score = rows, score
        self.available = LocalScores(rows, NodeAverage(prior=True))

    def expected(self, dag: Dag, watch: Watch) -> LocalScores:
        """Return the same of rows that are drawn."""
        with _no_graph():
            net = fit_mixed(dag, self._rows, Effort(1, STEPS_OF_DRAWS, ROUGH), watch, told=False).model
        return LocalScores(completions(net, self._rows, _copies(self._rows)), self._score)


@contextmanager
def _no_graph() -> Iterator[None]:
    """Let Ctrl-C say nothing of the best so far, which is a network where a graph is wanted."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt from None


def graph_by_turns(rows: Table, find: Callable[[Source], Dag]) -> Dag:
    """Return what finds a graph from counts finds from rows with missing cells, by turns with the parameters.

    The first graph is found on the available cases: for every set of columns the rows that are complete in it.
    """
    watch, enough = Watch(), LEAST_GAIN * max(1.0, float(rows.total))
    effort = Effort(1, ROUGH_STEPS, ROUGH)
    if mixes_numbers(rows.variables):

        def fitted_mixed(dag: Dag, _: Source | None = None) -> EmResult[BayesianNetwork]:
            return fit_mixed(dag, rows, effort, watch, told=False)

        drawn = partial(completions, rows=rows, copies=_copies(rows))
        return by_turns(fitted_mixed(find(AvailableCases(rows))), drawn, find, fitted_mixed, enough).model.dag

    def fitted_from(dag: Dag, counts: Source | None = None) -> EmResult[BayesianNetwork]:
        return fit_rows(dag, known, effort, watch, start=None if counts is None else fit_to(dag, counts))

    known = incomplete_rows(Dag(rows.names, [()] * len(rows.names)), rows, {})  # where each column has a known cell
    expected = partial(ExpectedCounts, rows=known, most=COMPLETIONS)
    return by_turns(fitted_from(find(AvailableCases(known))), expected, find, fitted_from, enough).model.dag


def _copies(rows: Table) -> int:
    """Return how often a round draws each row."""
    return next((n for n in COPIES if n * rows.n_rows <= DRAWN_ROWS), COPIES[-1])


def by_turns(
    found: EmResult[BayesianNetwork],
    expected: Callable[[BayesianNetwork], Source],
    find: Callable[[Source], Dag],
    fitted_from: Callable[[Dag, Source], EmResult[BayesianNetwork]],
    enough: float,
) -> EmResult[BayesianNetwork]:
    """Improve a network: find a graph on what it expects, fit that, and so on while the likelihood rises.

    A gain is more than `enough` nats. Where the graph found is the likeliest of its form, as a tree is, the likelihood
    of the known cells cannot fall.
    """
    for _ in range(MOST_ROUNDS):
        counts = expected(found.model)
        dag = find(counts)
        if dag == found.model.dag:
            break
        later = fitted_from(dag, counts)
        if later.log_likelihood <= found.log_likelihood + enough:
            break
        found = later
    return found
