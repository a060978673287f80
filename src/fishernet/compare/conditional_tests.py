"""Whether a variable's conditional is the same in two tables, given its parents.

Within one configuration of the parents, rows of one table could stand in the other if the conditional is the same in
both: given the states that occur there and how many rows each table has there, the counts of one table are a draw from
a multivariate hypergeometric distribution. The configurations and their sizes are held as they are, so that a change
upstream, however large, and tables of unequal size cannot accuse a variable whose conditional did not change.

Taken in an order in which parents come first, each test is exact given all that came before it; so variables whose
conditionals did not change are tested by independent draws, and the largest statistic of a draw corrects for their
number (Westfall and Young, 1993).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fishernet.compare.corrections import ROUNDING

Array = npt.NDArray[np.float64]


def conditional_draws(before: Array, after: Array, n_draws: int, random: np.random.Generator) -> Array:
    """Return the G statistic of a conditional, and those of draws in which it did not change.

    Parameters
    ----------
    before, after : (configurations, states)
        How many rows of each table have a state in a configuration of the parents.
    n_draws : int
    random : numpy.random.Generator

    Returns
    -------
    (1 + n_draws,)
        In the first place the observed statistic, twice the log-likelihood ratio summed over the configurations. A
        configuration that one table lacks, or in which one state alone occurs, tells nothing and adds 0.
    """
    one, other = (np.rint(counts).astype(np.int64) for counts in (before, after))
    both = one + other
    found = np.zeros(1 + n_draws)
    log = np.log(np.maximum(np.arange(int(both.max(initial=0)) + 1), 1))
    telling = (one.sum(axis=1) > 0) & (other.sum(axis=1) > 0) & ((both > 0).sum(axis=1) > 1)
    for j in np.flatnonzero(telling):
        states = np.flatnonzero(both[j])
        pooled, n = both[j, states], int(one[j].sum())
        drawn = random.multivariate_hypergeometric(pooled, n, size=n_draws, method="marginals")
        found += _g_statistics(np.vstack([one[j, states], drawn]), pooled, n, log)
    return found


def _g_statistics(counts: npt.NDArray[np.int64], pooled: npt.NDArray[np.int64], n: int, log: Array) -> Array:
    """Return the G statistics of tables of two rows with given sums, of which the first row is given, (tables,).

    ``log`` has the logarithms of counts, and 0 for none.
    """
    rest = pooled - counts
    terms = (counts * log[counts] + rest * log[rest]).sum(axis=1)
    total = int(pooled.sum())
    fixed = n * np.log(n) + (total - n) * np.log(total - n) + (pooled * np.log(pooled)).sum() - total * np.log(total)
    return np.asarray(np.maximum(2 * (terms - fixed), 0.0))


def step_down_max_t(statistics: Array) -> Array:
    """Return p-values such that the chance of any false one is at most the level, (columns,) from (1 + B, columns).

    The first row is the observed one. A column is made comparable with others by a cube root that brings a chi-squared
    variable near a normal one (Wilson and Hilferty, 1931), with the mean and variance that it has over all rows. Then
    the largest observed value is compared with the largest of all columns in each row, the second largest with those of
    the columns that are left, and so on (Westfall and Young, 1993, algorithm 2.8).
    """
    spread = statistics.std(axis=0)
    known = np.flatnonzero(spread > ROUNDING * np.abs(statistics).max(axis=0, initial=0.0))
    found = np.ones(statistics.shape[1])
    if len(known) == 0:
        return found
    scaled = _near_normal(statistics[:, known])
    order = np.argsort(scaled[0], kind="stable")  # the smallest first
    largest = np.maximum.accumulate(scaled[:, order], axis=1)
    observed = scaled[0, order]
    reached = (largest >= observed - ROUNDING * np.maximum(np.abs(observed), 1.0)).mean(axis=0)
    found[known[order]] = np.maximum.accumulate(reached[::-1])[::-1]
    return found


def _near_normal(statistics: Array) -> Array:
    mean, variance = statistics.mean(axis=0), statistics.var(axis=0)
    share = variance / (9 * mean**2)  # 2 / (9 degrees) of the scaled chi-squared with this mean and variance
    return np.asarray((np.cbrt(statistics / mean) - (1 - share)) / np.sqrt(share))
