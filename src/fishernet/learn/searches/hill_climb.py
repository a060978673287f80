"""Greedy hill climbing: P2, Algorithm 7, and restarts.

From the start, the best of all single additions, removals and reversals of an arc is made until none raises the score.
A restart makes some random steps from the best graph and climbs on; the best graph of all climbs is kept.
"""

from __future__ import annotations

from fishernet.learn.constraints import Constraints
from fishernet.learn.searches.arc_search import ArcSearch, check_restarts

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
