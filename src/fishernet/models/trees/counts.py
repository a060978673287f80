"""Expected numbers of events in a hidden tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fishernet.errors import ZeroProbabilityError
from fishernet.models.sequences.checks import Numbers


@dataclass(frozen=True, eq=False)
class TreeCounts:
    """Expected numbers of events, given strings.

    Attributes
    ----------
    root : (n_states,) float64
        How often the root was in each state.
    transition : float64, of the shape of the model's
        How often a child was in state b below a node in state a.
    emission : float64, of the shape of the model's
        How often a leaf had the symbol s below a node in state a; missing symbols do not count.
    log_likelihood : float
        The sum of the strings' log-probabilities, in nats.
    """

    root: Numbers
    transition: Numbers
    emission: Numbers
    log_likelihood: float


def times(quotients: Numbers, theta: Numbers) -> Numbers:
    """Return expected counts; a parameter that is 0 counts nothing, however large its derivative."""
    counts: Numbers = np.where(theta > 0, np.where(theta > 0, quotients, 0.0) * theta, 0.0)
    return counts


def check_possible(impossible: npt.NDArray[np.bool_]) -> None:
    """Raise ZeroProbabilityError when a string is impossible."""
    if impossible.any():
        number = int(np.argmax(impossible))
        raise ZeroProbabilityError(
            f"string {number} is impossible under the model (its probability is 0); leave it out, or use a model "
            "without zeros",
            variable=f"string {number}",
            configuration={},
        )
