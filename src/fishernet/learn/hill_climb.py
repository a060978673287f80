"""Greedy hill climbing: P2, Algorithm 7, and restarts.

From the start, the best of all single additions, removals and reversals of an arc is made until none raises the score.
A restart makes some random steps from the best graph and climbs on; the best graph of all climbs is kept.

What hill climbing and tabu search share: a graph that changes by one arc a step.

The state (what every toggle of an arc would change, and who reaches whom) lives in the core. A tie is a difference
below max(1e-9, 1e-12 |score|) nats; ties go to additions before removals before reversals, then to the first parent,
then to the first child, in the order of the variables.

A search among the most dependent pairs of variables only.

With thousands of variables most arcs are never worth a look. For every variable the m others are kept with which it
depends most, that is, an arc between which scores highest; two variables are candidates of each other when either kept
the other. The search then runs with all other arcs forbidden, but for those required and those of the start. Every pair
is scored once, in the order of the variables, and forgotten.

Tabu search: hill climbing that goes on over the top [1]_.

The best of all steps is made even when it lowers the score. An arc that was changed in one of the last ``tenure`` steps
stays as it is, in both directions, unless its change makes the best graph so far. The search ends when ``patience``
steps in a row have not bettered the best score. Until its first local optimum it is the climb, so it never ends
lower. A restart makes some random steps from the best graph and searches on.

References
----------
.. [1] F. Glover, "Tabu search, part I", ORSA Journal on Computing 1 (1989).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base.errors import FishernetError
from fishernet.graphs import Dag
from fishernet.learn.rules import Constraints
from fishernet.learn.search import Search, Step
from fishernet.scores import Families

KINDS = ("add", "remove", "reverse")


class ArcSearch:
    """A search that adds, removes or reverses one arc a step.

    Parameters
    ----------
    constraints : Constraints
        Where it starts, and what it may do.
    **escape
        How it leaves a local optimum: the core's ``patience``, ``tenure``, ``restarts``, ``perturb`` and ``key``.
    """

    def __init__(self, constraints: Constraints, **escape: int) -> None:
        self._names = constraints.start.names
        self._climb = _core.HillClimb(
            [list(parents) for parents in constraints.start.parents],
            constraints.max_parents,
            constraints.forbidden,
            constraints.required,
            **escape,
        )

    @property
    def best(self) -> Dag:
        """The best graph so far."""
        return Dag(self._names, self._climb.parents)

    @property
    def score(self) -> float:
        """Its score; NaN before the first scores."""
        return self._climb.score

    @property
    def steps(self) -> int:
        """How many steps were made, those in vain too."""
        return self._climb.n_steps

    def wanted(self) -> Families:
        """Return the families of what changed in the last step."""
        return Families(*self._climb.wanted())

    def tell(self, scores: npt.NDArray[np.float64]) -> None:
        """Take the scores of the wanted families and make a step."""
        self._climb.tell(scores)

    def trace(self) -> tuple[Step, ...]:
        """Return the steps from the start to the best graph so far."""
        names = self._names
        return tuple(Step(KINDS[kind], names[p], names[c], gain) for kind, p, c, gain in self._climb.steps)


def check_number(name: str, value: int, least: int) -> int:
    """Return a search's whole number, or raise FishernetError when it is none or too small."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value < 2**62:
        raise FishernetError(f"{name} must be a whole number, at least {least}, got {value!r}", parameter=name)
    return int(value)


def check_restarts(restarts: int, perturb: int | None, default: int) -> dict[str, int]:
    """Return both numbers by name; refuse a perturbation that would never happen."""
    if perturb is not None and check_number("perturb", perturb, 1) and restarts == 0:
        message = "perturb is how much a restart changes, and there are none; say restarts as well"
        raise FishernetError(message, parameter="perturb")
    return {"restarts": check_number("restarts", restarts, 0), "perturb": default if perturb is None else int(perturb)}


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


PERTURB = 20  # arcs; with fewer most restarts end where they began


class HillClimb(ArcSearch):
    """The greedy search as a `Search`.

    Parameters
    ----------
    constraints : Constraints
        Where it starts, and what it may do.
    restarts : int
        How often it goes on from the best graph with some arcs changed.
    perturb : int, optional
        How many random steps a restart makes first; 20 when not said.
    key : int
        All randomness comes from it.
    """

    def __init__(
        self, constraints: Constraints, *, restarts: int = 0, perturb: int | None = None, key: int = 0
    ) -> None:
        super().__init__(constraints, key=key, **check_restarts(restarts, perturb, PERTURB))


TENURE = 15  # steps; on fewer variables as many as there are, or no arc would be left
TABU_PERTURB = 4  # arcs


class TabuSearch(ArcSearch):
    """Tabu search as a `Search`.

    Parameters
    ----------
    constraints : Constraints
        Where it starts, and what it may do.
    tenure : int, optional
        For how many steps an arc that was changed stays as it is; 15 when not said, on fewer variables their number.
    patience : int
        How many steps in a row may fail to better the best score.
    restarts : int
        How often it goes on from the best graph with some arcs changed.
    perturb : int, optional
        How many random steps a restart makes first; 4 when not said.
    key : int
        All randomness comes from it.
    """

    def __init__(
        self,
        constraints: Constraints,
        *,
        tenure: int | None = None,
        patience: int = 100,
        restarts: int = 0,
        perturb: int | None = None,
        key: int = 0,
    ) -> None:
        super().__init__(
            constraints,
            tenure=min(TENURE, len(constraints.start.names)) if tenure is None else check_number("tenure", tenure, 1),
            patience=check_number("patience", patience, 1),
            key=key,
            **check_restarts(restarts, perturb, TABU_PERTURB),
        )
