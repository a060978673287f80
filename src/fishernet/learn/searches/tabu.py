"""Tabu search: hill climbing that goes on over the top [1]_.

The best of all steps is made even when it lowers the score. An arc that was changed in one of the last ``tenure`` steps
stays as it is, in both directions, unless its change makes the best graph so far. The search ends when ``patience``
steps in a row have not bettered the best score. Until its first local optimum it is the climb, so it never ends
lower. A restart makes some random steps from the best graph and searches on.

References
----------
.. [1] F. Glover, "Tabu search, part I", ORSA Journal on Computing 1 (1989).
"""

from __future__ import annotations

from fishernet.learn.constraints import Constraints
from fishernet.learn.searches.arc_search import ArcSearch, check_number, check_restarts

TENURE = 15  # steps; on fewer variables as many as there are, or no arc would be left
PERTURB = 4  # arcs


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
            **check_restarts(restarts, perturb, PERTURB),
        )
