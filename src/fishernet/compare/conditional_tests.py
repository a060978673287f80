"""Whether a variable's conditional is the same in two tables, given its parents: an exact test of its counts.

Within one configuration of the parents, rows of one table could stand in the other if the conditional is the same in
both: given the states that occur there and how many rows each table has there, the counts of one table are a draw from
a multivariate hypergeometric distribution. The configurations and their sizes are held as they are, so that a change
upstream, however large, and tables of unequal size cannot accuse a variable whose conditional did not change. Taken in
an order in which parents come first, each p-value is at most t with probability t at most, given all that came before
it; so those of variables whose conditionals did not change join as independent ones do (`corrections.holm_sidak`).

No statistic sees all changes. Four are joined: the squared deviations of all cells relative to what is expected
(chi-square), the same with the large cells in front, a shift of the same direction in all configurations (Mantel,
1963), and the configuration that deviates most. Each is ranked among the observed table and the draws, the ranks are
summed as Cauchy variables (Liu and Xie, 2020), those above one half as 0, and the sum is ranked again; so the joined
test is exact as well.

A test by draws has no p-value below one in so many. `log_evidence` needs none: given the states and the sizes of a
configuration, the count of each state in the later table, one state after the other, is hypergeometric if the
conditional did not change. The likelihood ratio of a uniform distribution over all counts that are possible to the
hypergeometric one has the expected value 1, and so has the product of ``1 - w + w * ratio`` over the configurations: an
e-value, whose inverse is a p-value (Markov's inequality).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

WEIGHTS = np.array([3.0, 1.0, 1.0, 1.0]) / 6  # of the statistics, in the order above
PROMISING = 0.1  # first p-values up to which more draws decide
IN_CONFIGURATION = 0.2  # the weight of a change in one configuration, in the evidence without draws
AT_A_STAGE = 10_000  # draws
STILL_OPEN = 0.01  # p-values of so many draws up to which still more decide
AT_ONCE = 2**20  # cells that are drawn at once
MOST_CELLS = 10**8  # that are drawn for one conditional; there is one draw at least for each first one
DIGITS = 9  # of statistics and ranks that are compared: a draw that is the observed table ties with it


def conditional_p_value(before: Array, after: Array, random: np.random.Generator, first: int, more: int) -> float:
    """Return the p-value of "this conditional did not change"; NaN where the tables can tell nothing.

    Parameters
    ----------
    before, after : (configurations, states)
        How many rows of each table have a state in a configuration of the parents.
    random : numpy.random.Generator
    first, more : int
        How many draws to make, and how many others where the first p-value is at most `PROMISING`: the second p-value
        alone counts then, so that the probability of a p-value up to t stays at most t. More than `AT_A_STAGE` are made
        only where these alone still leave it open.
    """
    test = _Test.of(before, after)
    if test is None:
        return math.nan
    p = test.p_value(random, first)
    if p > PROMISING or more <= first:
        return p
    most = max(first, min(more, MOST_CELLS // test.pooled.size))
    p = test.p_value(random, min(most, AT_A_STAGE))
    return p if p > STILL_OPEN or most <= AT_A_STAGE else test.p_value(random, most)


class _Test:
    """The four statistics of a conditional, of the configurations that tell something.

    Those tell nothing that one of the tables lacks, or in which one state alone occurs.
    """

    def __init__(self, one: Counts, pooled: Counts) -> None:
        self.one, self.pooled = one, pooled
        self.total, self.size = pooled.sum(axis=1), one.sum(axis=1)
        share = pooled / self.total[:, None]
        self.expected = self.size[:, None] * share
        spread = self.size * (self.total - self.size) / np.maximum(self.total - 1, 1)
        self._by_share = np.where(pooled > 0, 1 / (np.where(pooled > 0, share, 1) * spread[:, None]), 0.0)
        degrees = (pooled > 0).sum(axis=1) - 1
        self._off, self._scale = 1 - 2 / (9 * degrees), np.sqrt(2 / (9 * degrees))
        self._degrees = degrees
        overall = spread @ share
        self._by_state = overall.sum() / np.where(overall > 0, overall, np.inf)
        self._inverse = np.linalg.pinv(np.diag(overall) - share.T @ (spread[:, None] * share))

    @classmethod
    def of(cls, before: Array, after: Array) -> _Test | None:
        one, other = (np.rint(counts).astype(np.int64) for counts in (before, after))
        pooled = one + other
        telling = (one.sum(axis=1) > 0) & (other.sum(axis=1) > 0) & ((pooled > 0).sum(axis=1) > 1)
        if not telling.any():
            return None
        occurs = pooled[telling].sum(axis=0) > 0
        return cls(one[telling][:, occurs], pooled[telling][:, occurs])

    def p_value(self, random: np.random.Generator, n_draws: int) -> float:
        """Return the rank of the observed table among so many draws and itself, as a share."""
        chunk = max(1, AT_ONCE // self.pooled.size)
        sizes = (min(chunk, n_draws - begin) for begin in range(0, n_draws, chunk))
        drawn = (self.statistics(exchanged(self.pooled, self.size, n, random)) for n in sizes)
        found = np.concatenate([self.statistics(self.one[None]), *drawn])
        if len(self.one) == 1:  # the statistics are the same but for their scale
            return float(_ranks(found[:, 0])[0])
        ranks = np.stack([_ranks(column) for column in found.T], axis=1)
        scores = np.tan(
            np.maximum(0.5 - ranks, 0) * np.pi
        )  # a statistic that sees nothing shall not outweigh the others
        return float(_ranks(scores @ WEIGHTS)[0])

    def statistics(self, counts: Counts) -> Array:
        """Return the four statistics of tables, (tables, 4), from their counts, (tables, configurations, states)."""
        off = counts - self.expected
        squares = off**2
        by_configuration = (squares * self._by_share).sum(axis=2)
        near_normal = (np.cbrt(by_configuration / self._degrees) - self._off) / self._scale  # Wilson and Hilferty, 1931
        shift = off.sum(axis=1)
        return np.stack(
            [
                by_configuration.sum(axis=1),
                squares.sum(axis=1) @ self._by_state,
                ((shift @ self._inverse) * shift).sum(axis=1),
                near_normal.max(axis=1),
            ],
            axis=1,
        )


def exchanged(pooled: Counts, sizes: Counts, n: int, random: np.random.Generator) -> Counts:
    """Return counts of the first table where rows of both change places within configurations.

    Parameters
    ----------
    pooled : (configurations, states)
        Of both tables.
    sizes : (configurations,)
        How many rows of the first table each configuration has.
    n : int
    random : numpy.random.Generator

    Returns
    -------
    (n, configurations, states)
    """
    shape = (n, len(pooled))
    left, to_draw = np.broadcast_to(pooled.sum(axis=1), shape), np.broadcast_to(sizes, shape).copy()
    found = np.empty((*shape, pooled.shape[1]), dtype=np.int64)
    for state, here in enumerate(pooled.T[:-1]):
        left = left - here
        found[:, :, state] = random.hypergeometric(np.broadcast_to(here, shape), left, to_draw)
        to_draw -= found[:, :, state]
    found[:, :, -1] = to_draw
    return found


def _ranks(values: Array) -> Array:
    """Return the share of values that are at least as large as each."""
    rounded = np.round(values, DIGITS)
    order = np.sort(rounded)
    return np.asarray((len(order) - np.searchsorted(order, rounded, side="left")) / len(order))


# -------------------------------------------------------------------------------------------- without draws


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
