"""A search among the most dependent pairs of variables only.

With thousands of variables most arcs are never worth a look. For every variable the m others are kept with which it
depends most, that is, an arc between which scores highest; two variables are candidates of each other when either kept
the other. The search then runs with all other arcs forbidden, but for those required and those of the start. Every pair
is scored once, in the order of the variables, and forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from fishernet.graphs import Dag
from fishernet.learn.constraints import Constraints
from fishernet.learn.search import Search, Step
from fishernet.scores import Families

Array = npt.NDArray[np.float64]

PAIRS_AT_ONCE = 1 << 18


class CandidateSearch:
    """Scores all pairs, then makes a search among the candidates and leaves the rest to it.

    Parameters
    ----------
    constraints : Constraints
        Pairs between which both arcs are forbidden take nobody's place.
    most : int
        How many others a variable keeps.
    make : callable
        Makes the search from the tighter constraints.
    """

    def __init__(self, constraints: Constraints, most: int, make: Callable[[Constraints], Search]) -> None:
        self._constraints, self._most, self._make = constraints, most, make
        n = len(constraints.start.names)
        self._alone = np.zeros(n)
        self._gains = np.full((n, n), -np.inf)
        self._begin, self._end = 0, 0  # the children whose pairs are wanted; none: the families without parents
        self._search: Search | None = None

    @property
    def best(self) -> Dag:
        """The best graph so far; the start, while pairs are scored."""
        return self._constraints.start if self._search is None else self._search.best

    @property
    def score(self) -> float:
        """Its score; NaN while pairs are scored."""
        return float("nan") if self._search is None else self._search.score

    @property
    def steps(self) -> int:
        """How many steps were made."""
        return 0 if self._search is None else self._search.steps

    def trace(self) -> tuple[Step, ...]:
        """Return the steps of the search among the candidates."""
        return () if self._search is None else self._search.trace()

    def wanted(self) -> Families:
        """Return some pairs, then what the search wants."""
        if self._search is not None:
            return self._search.wanted()
        n = len(self._alone)
        if self._end == 0:
            return Families(np.arange(n, dtype=np.int32), np.zeros(n + 1, np.int64), np.zeros(0, np.int32), once=True)
        children = np.arange(self._begin, self._end, dtype=np.int32)
        parents = np.concatenate([np.arange(child, dtype=np.int32) for child in children])
        return Families(np.repeat(children, children), np.arange(len(parents) + 1, dtype=np.int64), parents, once=True)

    def tell(self, scores: Array) -> None:
        """Take the scores of some pairs; after the last ones, make the search."""
        if self._search is not None:
            self._search.tell(scores)
            return
        if self._end == 0:
            self._alone, self._end = scores, 1
        else:
            first = 0
            for child in range(self._begin, self._end):
                gains = scores[first : first + child] - self._alone[child]
                self._gains[child, :child] = self._gains[:child, child] = gains
                first += child
        self._begin = self._end
        pairs = self._begin
        while self._end < len(self._alone) and pairs <= PAIRS_AT_ONCE:
            self._end += 1
            pairs += self._end
        if self._begin == self._end:
            self._search = self._make(self._restricted())
            self._gains = np.zeros((0, 0))

    def _restricted(self) -> Constraints:
        old = self._constraints
        self._gains[old.forbidden & old.forbidden.T] = -np.inf
        allowed = strongest(self._gains, self._most)
        allowed |= allowed.T
        for child, parents in enumerate(old.start.parents):
            allowed[list(parents), child] = True
        return replace(old, forbidden=old.forbidden | ~allowed)


def strongest(gains: Array, most: int) -> npt.NDArray[np.bool_]:
    """Mark the highest gains of every row, at most so many and only finite ones; the first among those that tie.

    Parameters
    ----------
    gains : (n, n) float64
    most : int

    Returns
    -------
    (n, n) bool
    """
    n = len(gains)
    if most >= n:
        return np.isfinite(gains)
    marked = np.zeros((n, n), dtype=bool)
    for row, chosen in zip(gains, marked, strict=True):
        least = np.partition(row, n - most)[n - most]
        if np.isneginf(least):
            chosen[:] = np.isfinite(row)
            continue
        tie = max(1e-9, 1e-12 * abs(least))
        chosen[:] = row > least + tie
        level = np.flatnonzero(np.abs(row - least) <= tie)
        chosen[level[: most - int(chosen.sum())]] = True
    return marked
