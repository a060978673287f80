"""Normalized maximum likelihood (NML): the scores fNML and qNML, and the regret that both are made of."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, SupportsIndex

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base.errors import FishernetError
from fishernet.base.names import shown
from fishernet.data import Statistic
from fishernet.scores.base import CoreTerm, Score, cell_counts, sum_n_log_n

MOST_DRAWS = 2**53


def regret(n: SupportsIndex, r: SupportsIndex) -> float:
    r"""Return the log of the normalizer of the multinomial NML distribution, in nats.

    What a model with r states pays for being able to fit every sample of n draws: the log of the sum, over all such
    samples, of their maximized likelihood.

    Parameters
    ----------
    n : int
        The number of draws.
    r : int
        The number of states, of any size.

    Returns
    -------
    float
        0 for n = 0 and for r = 1; relative error below 1e-10.

    Raises
    ------
    FishernetError
        When n is negative or beyond 2**53, r below 1, or one of them not a whole number.

    Notes
    -----
    The sum is :math:`\sum_k n^{\underline{k}} (r-1)^{\overline{k}} / (n^k k!)`. Few states go by the recurrence
    :math:`C(r, n) = C(r-1, n) + n C(r-2, n) / (r-2)` [1]_ from two states, whose sum is Ramanujan's Q-function; many
    by adding the terms of the sum around the largest.

    References
    ----------
    .. [1] P. Kontkanen and P. Myllymäki, A linear-time algorithm for computing the multinomial stochastic complexity,
       Information Processing Letters 103, 2007.

    Examples
    --------
    >>> import math, fishernet as fn
    >>> fn.regret(1, 7) == math.log(7)
    True
    >>> round(fn.regret(50, 10), 2)
    13.24
    """
    draws, states = whole(n, "n"), whole(r, "r")
    if not 0 <= draws <= MOST_DRAWS:
        raise FishernetError(f"a number of draws n lies between 0 and 2**53, got {draws}")
    if states < 1:
        raise FishernetError(f"there is one state at least, got r = {states}")
    return float(regrets(np.array([draws]), states)[0])


def whole(value: SupportsIndex, name: str) -> int:
    """Return a whole number as an int."""
    try:
        return operator.index(value)
    except TypeError:
        raise FishernetError(f"{name} must be a whole number, got {shown(value)}") from None


def regrets(n: npt.NDArray[np.float64] | npt.NDArray[np.int64], states: int) -> npt.NDArray[np.float64]:
    """Return the regret of every number of draws for one number of states.

    Between whole numbers, as expected and weighted counts are, it is interpolated linearly: it rises with n, is exact
    at whole numbers and 0 for no draw.
    """
    below = np.floor(n).astype(np.int64)
    found = _regrets(below, states)
    share = n - below
    if share.any():
        found = found + share * (_regrets(below + (share > 0), states) - found)
    return found


def _regrets(n: npt.NDArray[np.int64], states: int) -> npt.NDArray[np.float64]:
    as_float = float(states) if states < 1e300 else math.inf
    return _core.regret(n, as_float, math.log(states))


def set_regret(n: float, cardinalities: Sequence[int]) -> float:
    """Return the regret of n rows for a set of variables taken as one."""
    return float(regrets(np.array([n], dtype=np.float64), math.prod(cardinalities))[0])


@dataclass(frozen=True)
class Fnml(Score):
    """Factorized NML (Silander et al., 2008): the child's regret in every configuration of its parents that occurs.

    ``loglik - sum_ij reg(N_ij, r_i)``. No parameter to choose; not the same for equivalent structures. Between whole
    numbers the regret is interpolated linearly in N_ij.
    """

    def joint(self, statistic: Statistic) -> float:
        """Return the sum of n log n over the cells."""
        return sum_n_log_n(cell_counts(statistic))

    def marginal(self, statistic: Statistic, states: int) -> float:
        """Return the sum over the parents' cells of ``n log n + reg(n, r)``, interpolated where n is not whole."""
        n = cell_counts(statistic)
        return sum_n_log_n(n) + float(regrets(n, states).sum())

    def core_term(self, total: float) -> CoreTerm:  # noqa: ARG002
        """Return the measure."""
        return CoreTerm("fnml", 0.0)


@dataclass(frozen=True)
class Qnml(Score):
    """Quotient NML (Silander et al., 2018): ``loglik - sum_i (reg(N, q_i r_i) - reg(N, q_i))``.

    No parameter to choose, and the same for equivalent structures. Between whole numbers the regrets are interpolated
    linearly in N.
    """

    equivalent: ClassVar[bool] = True

    def joint(self, statistic: Statistic) -> float:
        """Return the log of the NML of a set taken as one variable, up to N log N."""
        return sum_n_log_n(cell_counts(statistic)) - set_regret(statistic.total, statistic.cardinalities)

    def marginal(self, statistic: Statistic, states: int) -> float:  # noqa: ARG002
        """Return the same of the parents."""
        return self.joint(statistic)

    def core_term(self, total: float) -> CoreTerm:  # noqa: ARG002
        """Return the measure."""
        return CoreTerm("qnml", 0.0)
