"""The regret: log of the normalizer of the multinomial NML distribution (P4, Eq. 4.3)."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.errors import FishernetError

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
       Information Processing Letters 103, 2007; P4, Eq. 4.3.

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
        raise FishernetError(f"{name} must be a whole number, got {value!r}") from None


def regrets(n: npt.NDArray[np.int64], states: int) -> npt.NDArray[np.float64]:
    """Return the regret of every number of draws for one number of states."""
    as_float = float(states) if states < 1e300 else math.inf
    return _core.regret(n.astype(np.int64), as_float, math.log(states))


def set_regret(n: float, cardinalities: Sequence[int]) -> float:
    """Return the regret of n rows for a set of variables taken as one."""
    return float(regrets(np.array([int(n)]), math.prod(cardinalities))[0])
