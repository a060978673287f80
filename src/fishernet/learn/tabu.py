"""Tabu search: hill climbing that goes on over the top [1]_.

The best of all steps is made even when it lowers the score. An arc that was changed in one of the last ``tenure`` steps
stays as it is, in both directions, unless its change makes the best graph so far. The search ends when ``patience``
steps in a row have not bettered the best score. Until its first local optimum it is the climb, so it never ends
lower.

References
----------
.. [1] F. Glover, "Tabu search, part I", ORSA Journal on Computing 1 (1989).
"""

from __future__ import annotations

from fishernet.learn.arc_search import ArcSearch, check_number
from fishernet.learn.constraints import Constraints


class TabuSearch(ArcSearch):
    """Tabu search as a `Search`.

    Parameters
    ----------
    constraints : Constraints
        Where it starts, and what it may do.
    tenure : int
        For how many steps an arc that was changed stays as it is.
    patience : int
        How many steps in a row may fail to better the best score.
    """

    def __init__(self, constraints: Constraints, *, tenure: int = 15, patience: int = 100) -> None:
        super().__init__(
            constraints, tenure=check_number("tenure", tenure, 1), patience=check_number("patience", patience, 1)
        )
