"""What the sizes of Markov blankets are worth before the data are seen."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from fishernet.errors import FishernetError

Prior = bool | tuple[float, float, float]


def log_prior(prior: Prior, n_variables: int) -> npt.NDArray[np.float64]:
    """Return the log-probability of a blanket by its size, (n_variables,): ``log B(a + p, b + m - p) / B(a, b)``.

    An edge is there with a probability that has a Beta(a, b) distribution, and m could be.

    Parameters
    ----------
    prior : bool or (a, b, m)
        True is (1/2, 1/2, n_variables - 1), False nothing.
    n_variables : int

    Raises
    ------
    FishernetError
        When the numbers are out of range.
    """
    if prior is False:
        return np.zeros(n_variables)
    try:
        a, b, m = (0.5, 0.5, float(n_variables - 1)) if prior is True else map(float, prior)
    except (TypeError, ValueError):
        raise FishernetError(f"prior must be True, False or three numbers (a, b, m), got {prior!r}") from None
    if not (0 < a < math.inf and 0 < b < math.inf and n_variables - 1 <= m < math.inf):
        raise FishernetError(f"prior (a, b, m) needs positive a and b and m at least {n_variables - 1}, got {prior!r}")
    return np.array([_log_beta(a + size, b + m - size) - _log_beta(a, b) for size in range(n_variables)])


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
