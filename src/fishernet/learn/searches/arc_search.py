"""What hill climbing and tabu search share: a graph that changes by one arc a step.

The state (what every toggle of an arc would change, and who reaches whom) lives in the core. A tie is a difference
below max(1e-9, 1e-12 |score|) nats; ties go to additions before removals before reversals, then to the first parent,
then to the first child, in the order of the variables.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.errors import FishernetError
from fishernet.graphs import Dag
from fishernet.learn.constraints import Constraints
from fishernet.learn.search import Step
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
        raise FishernetError(f"{name} must be a whole number, at least {least}, got {value!r}")
    return int(value)


def check_restarts(restarts: int, perturb: int | None, default: int) -> dict[str, int]:
    """Return both numbers by name; refuse a perturbation that would never happen."""
    if perturb is not None and check_number("perturb", perturb, 1) and restarts == 0:
        raise FishernetError("perturb is how much a restart changes, and there are none; say restarts as well")
    return {"restarts": check_number("restarts", restarts, 0), "perturb": default if perturb is None else int(perturb)}
