"""How strongly counts speak of a changed conditional, exactly and without draws: an e-value.

Given the states and the sizes of a configuration, the count of each state in the later table, one state after the
other, is hypergeometric if the conditional did not change. The likelihood ratio of a uniform distribution over all
counts that are possible to the hypergeometric one has the expected value 1, and so has the product of ``1 - w + w *
ratio`` over the configurations: an e-value, whose inverse is a p-value (Markov's inequality). It is as small as the
change is large, where a test by drawn tables has no p-value below one in so many draws.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

IN_CONFIGURATION = 0.2  # the weight of a change in one configuration


def log_evidence(before: Array, after: Array) -> float:
    """Return the logarithm of an e-value of "this conditional did not change".

    Parameters
    ----------
    before, after : (configurations, states)
        How many rows of each table have a state in a configuration of the parents.
    """
    one, other = (np.rint(counts).astype(np.int64) for counts in (before, after))
    both = (one.sum(axis=1) > 0) & (other.sum(axis=1) > 0)
    one, other = one[both], other[both]
    ratio = np.zeros(len(one))
    for state in range(one.shape[1] - 1):
        drawn, size = other[:, state:].sum(axis=1), (one + other)[:, state:].sum(axis=1)
        ratio += _log_ratio(other[:, state], (one + other)[:, state], drawn, size)
    return float(np.logaddexp(math.log1p(-IN_CONFIGURATION), math.log(IN_CONFIGURATION) + ratio).sum())


def _log_ratio(
    count: Counts,
    having: Counts,
    drawn: Counts,
    size: Counts,
) -> Array:
    """Return log(uniform / hypergeometric) of so many of the drawn that have a state, which so many of all have."""
    possible = np.minimum(having, drawn) - np.maximum(0, having + drawn - size) + 1
    log_chance = _log_choose(having, count) + _log_choose(size - having, drawn - count) - _log_choose(size, drawn)
    return np.asarray(-np.log(possible) - log_chance)


def _log_choose(n: Counts, k: Counts) -> Array:
    from scipy.special import gammaln  # slow to import, and needed by few calls

    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
