"""Greedy hill climbing: P2, Algorithm 7.

From the start, the best of all single additions, removals and reversals of an arc is made until none raises the score.
A tie is a difference below max(1e-9, 1e-12 |score|) nats; ties go to additions before removals before reversals,
then to the first parent, then to the first child, in the order of the variables. The state of the search (what every
toggle of an arc would change, and who reaches whom) lives in the core.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.graphs import Dag
from fishernet.learn.constraints import Constraints
from fishernet.learn.search import Step
from fishernet.scores import Families

KINDS = ("add", "remove", "reverse")


class HillClimb:
    """The greedy search as a `Search`.

    Parameters
    ----------
    constraints : Constraints
        Where it starts, and what it may do.
    """

    def __init__(self, constraints: Constraints) -> None:
        self._names = constraints.start.names
        self._climb = _core.HillClimb(
            [list(parents) for parents in constraints.start.parents],
            constraints.max_parents,
            constraints.forbidden,
            constraints.required,
        )

    @property
    def best(self) -> Dag:
        """The graph reached so far; a climb never goes down."""
        return Dag(self._names, self._climb.parents)

    @property
    def score(self) -> float:
        """Its score; NaN before the first scores."""
        return self._climb.score

    @property
    def steps(self) -> int:
        """How many steps were made."""
        return self._climb.n_steps

    def wanted(self) -> Families:
        """Return the families of what changed in the last step."""
        return Families(*self._climb.wanted())

    def tell(self, scores: npt.NDArray[np.float64]) -> None:
        """Take the scores of the wanted families and make the best step."""
        self._climb.tell(scores)

    def trace(self) -> tuple[Step, ...]:
        """Return the steps made so far."""
        names = self._names
        return tuple(Step(KINDS[kind], names[p], names[c], gain) for kind, p, c, gain in self._climb.steps)
