"""Search over orders of the variables and over graphs: best order score search [1]_ within an iterated local search.

An order stands for the graph in which everyone's parents are chosen among its predecessors: grown one at a time, the
best first, while the score rises, then shrunk in the same way. One variable after the other is put where the graph's
score is best, until no such move raises it. What was found about a variable's parents is kept in a grow-shrink tree, in
the core, so that another order costs walks down the trees. Growing parents one at a time misses those that help only
together: a second walk begins with the best pair among the ten best single parents.

The first order is that of the graph where a tabu search ends, so that the result is never below that; another tabu
search goes on from the order's graph. Restarts alternate [2]_: one puts some variables of the best order in random
places and climbs over orders, the next searches over graphs from where that ended, or every fourth time from some
random steps away from the best graph. Each has its own random numbers, so that the first so many restarts are the same
however many there are, and more are never worse.

What several variables depend on together is hard to grow for each of them anew. So on tables that are not large the
first search over orders, and every second restart, also begin with the parent sets that a variable's neighbours have in
the best graph, and exchange one parent for another where that raises the score.

References
----------
.. [1] B. Andrews, J. Ramsey, R. Sanchez-Romero, J. Camchong and E. Kummerfeld, "Fast scalable and accurate discovery of
   DAGs using the best order score search and grow-shrink trees", NeurIPS 2023.
.. [2] M. Wienöbst, L. Henckel and S. Weichwald, "Embracing discrete search: a reasonable approach to causal structure
   learning", ICLR 2026, restart a search over orders from near the best one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fishernet import _core
from fishernet.base.random import stream_key
from fishernet.data import Source
from fishernet.learn.hill_climb import PATIENCE, TENURE, RunsInCore, Tabu
from fishernet.learn.rules import Rules
from fishernet.learn.search import CoreSearch

MOST_RESTARTS, LEAST_RESTARTS = 80, 4
WORK = 40_000_000  # restarts times columns times rows
FEWEST_ROWS = 5000  # for which a family of labels and numbers takes as long as for fewer
NUMBER_BESIDE_LABELS = 3  # columns of labels: its moments in configurations of labels take longer than counts
FAMILIES_OF_NUMBERS = 500_000  # that restarts score at most, by an estimate: some seconds
FAMILIES_OF_BOTH = 500_000  # the same of numbers beside labels, which have a regression in each configuration of these
FEW_OF_BOTH = 100  # columns of which some have labels; if they are no more, searches look as far as in others
ROWS_OF_LABELS = 20_000_000_000  # the same of labels, times the rows that are counted for each family
LEAST_COUNTED = 2000  # rows; fewer take no less, for what a family takes beside them
ROWS_OF_FAMILIES = 250_000_000  # the same where families of numbers lack cells, and each goes through its own rows
MOVES = (3, 10, 30)  # what restarts over orders change, in turn
STEPS = (20,)  # and restarts over graphs
PAIRS_AMONG = 10
MOST_WIDE = 2_000_000  # variables times rows, up to which searches look further for parents


@dataclass(frozen=True)
class Order(RunsInCore):
    """Search over orders and graphs."""

    restarts: int | None = None
    """How often it goes on from near the best order or graph, in turn; default 80, fewer where the number of columns
    times that of rows is above 500,000 or a graph has hundreds of arcs, but at least 4 (1 of hundreds of columns, many
    of them numbers beside labels). Beside labels a number is three columns, and rows are 5,000 at least."""
    perturb: int | None = None
    """How many variables, or arcs, a restart changes; by default 3, 10 and 30 variables in turn, and 20 arcs."""
    graphs: bool = True
    """False searches over orders alone, as in the paper."""
    together: bool = True
    """False grows parents one at a time alone, in a half to a third of the time, and misses those that help only
    together."""
    candidates: int | None = None
    """Only arcs among the most dependent pairs of variables (`fishernet.learn.hill_climb.among_candidates`)."""
    seed: int = 0
    """All randomness comes from it."""

    def refining(self) -> Tabu:
        """Return the search that improves a good graph, of which another order would leave little."""
        return Tabu(candidates=self.candidates)

    def in_core(self, rules: Rules, source: Source) -> CoreSearch:
        """Return the core's search."""
        n = len(rules.names)
        numbers = sum(variable.is_continuous for variable in source.variables)
        slow = n if source.has_missing else numbers  # columns whose families go through rows of their own
        many = 0 < numbers < n and slow * n > FEW_OF_BOTH**2
        moves, steps = (MOVES, STEPS) if self.perturb is None else ((self.perturb,), (self.perturb,))
        return _core.OrderSearch(
            rules.parents,
            *rules.limits,
            restarts=_default_restarts(source) if self.restarts is None else self.restarts,
            moves=list(moves),
            steps=list(steps),
            key=stream_key(self.seed),
            graphs=self.graphs,
            pairs_among=PAIRS_AMONG if self.graphs and self.together else 0,
            wide=self.together and not many and n * source.total <= MOST_WIDE,
            patience=PATIENCE,
            tenure=min(TENURE, n),
            most_families=_most_families(source) if self.restarts is None else None,
            least_restarts=1 if many else LEAST_RESTARTS,
        )


def _most_families(source: Source) -> int:
    """Return how many families the restarts of a search score at most by default, by an estimate."""
    numbers = np.mean([variable.is_continuous for variable in source.variables])
    if numbers == 1:
        return FAMILIES_OF_NUMBERS
    if numbers and source.has_missing:
        return int(ROWS_OF_FAMILIES / max(1.0, source.total))
    of_labels = ROWS_OF_LABELS / max(LEAST_COUNTED, source.total)
    of_numbers = FAMILIES_OF_BOTH * min(1.0, FEW_OF_BOTH / len(source.variables))
    return int(1 / (numbers / of_numbers + (1 - numbers) / of_labels))


def _default_restarts(source: Source) -> int:
    """Return how many restarts a search makes by default: fewer where each takes long."""
    n, numbers = len(source.variables), sum(variable.is_continuous for variable in source.variables)
    columns = n if numbers in (0, n) else n - numbers + NUMBER_BESIDE_LABELS * numbers
    rows = float(source.total) if numbers in (0, n) else max(float(source.total), FEWEST_ROWS)
    fair = WORK / max(1.0, columns * rows)
    return round(max(LEAST_RESTARTS, min(MOST_RESTARTS, fair)))
