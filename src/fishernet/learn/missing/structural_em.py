"""Structures from rows with missing cells: structural EM, and a start from the available cases.

Friedman's structural EM [1]_ alternates two things: the expected statistics of all rows under the network so far, and a
search on these, as if they were counts of complete rows. Each round's graph is scored better by the statistics of its
round than the one before, so the score that is maximized, that of the observed cells, rises until no round gains.

References
----------
.. [1] N. Friedman, "Learning belief networks in the presence of missing values and hidden variables", 1997; "The
   Bayesian structural EM algorithm", 1998.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

from fishernet.base.names import several
from fishernet.base.progress import Interrupted, Watch
from fishernet.data import Source, Table
from fishernet.graphs import Dag
from fishernet.learn.em import Effort, EmResult
from fishernet.learn.missing.incomplete import AvailableCases, ExpectedCounts, fit_rows, fit_to, incomplete_rows
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


def structural_em(rows: Any, score: Score, search: Search, rules: Rules, watch: Watch) -> SearchResult:
    """Return the graph that a search finds on expected statistics, round by round, from that of the available cases.

    The score of the result is that of its graph on the last round's expected statistics, NaN when there was no time for
    one. Each round goes on from the graph so far, without restarts; a search over orders goes on as a tabu search.
    """
    beginning = Order(restarts=START_RESTARTS)
    available = LocalScores(rows, NodeAverage(START_CAUTION))
    first = beginning.run(available, rules, watch.about("the available cases"))
    found = dataclasses.replace(first, score=math.nan)  # which is another score
    n_scores, gains, round_number = first.n_scores, True, 0
    try:
        while gains and found.finished and not watch.late and round_number < MOST_ROUNDS:
            round_number += 1
            net = fitted(found.dag, rows, watch.about(f"round {round_number}"))
            scorer = LocalScores(ExpectedCounts(net, rows, most=COMPLETIONS), score)
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
    return dataclasses.replace(found, n_scores=n_scores, finished=found.finished and not gains, seconds=watch.seconds)


def fitted(dag: Dag, rows: Table, watch: Watch) -> BayesianNetwork:
    """Return the parameters of a round, fitted as far as the next search needs them, or as there is time."""
    try:
        return fit_rows(dag, incomplete_rows(dag, rows, {}), Effort(1, ROUGH_STEPS, ROUGH), watch).model
    except KeyboardInterrupt:
        raise KeyboardInterrupt from None  # its best is a network; a graph is wanted


def graph_by_turns(rows: Table, find: Callable[[Source], Dag]) -> Dag:
    """Return what finds a graph from counts finds from rows with missing cells, by turns with the parameters.

    The first graph is found on the available cases: for every set of columns the rows that are complete in it.
    """
    watch = Watch()

    def fitted_from(dag: Dag, start: BayesianNetwork | None = None) -> EmResult[BayesianNetwork]:
        return fit_rows(dag, rows, Effort(1, ROUGH_STEPS, ROUGH), watch, start=start)

    rows = incomplete_rows(Dag(rows.names, [()] * len(rows.names)), rows, {})  # where each column has a known cell
    enough = LEAST_GAIN * max(1.0, float(rows.total))
    first = fitted_from(find(AvailableCases(rows)))
    return by_turns(first, rows, find, lambda dag, counts: fitted_from(dag, fit_to(dag, counts)), enough).model.dag


def by_turns(
    found: EmResult[BayesianNetwork],
    rows: Table,
    find: Callable[[Source], Dag],
    fitted_from: Callable[[Dag, Source], EmResult[BayesianNetwork]],
    enough: float,
) -> EmResult[BayesianNetwork]:
    """Improve a network: find a graph on the counts that it expects, fit that, and so on while the likelihood rises.

    A gain is more than `enough` nats. Where the graph found is the likeliest of its form, as a tree is, the likelihood
    of the known cells cannot fall.
    """
    for _ in range(MOST_ROUNDS):
        counts = ExpectedCounts(found.model, rows, most=COMPLETIONS)
        dag = find(counts)
        if dag == found.model.dag:
            break
        later = fitted_from(dag, counts)
        if later.log_likelihood <= found.log_likelihood + enough:
            break
        found = later
    return found
