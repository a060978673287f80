"""Whether a variable's conditional is the same in two tables, or in more groups of rows: an exact test of its counts.

Within one configuration of the parents, rows of one table could stand in the other if the conditional is the same in
both: given the states that occur there and how many rows each table has there, the counts of one table are a draw from
a multivariate hypergeometric distribution. The configurations and their sizes are held as they are, so that a change
upstream, however large, and tables of unequal size cannot accuse a variable whose conditional did not change. Taken in
an order in which parents come first, each p-value is at most t with probability t at most, given all that came before
it; so those of variables whose conditionals did not change join as independent ones do (`corrections.holm_sidak`).

No statistic sees all changes. Four are joined: the squared deviations of all cells relative to what is expected
(chi-square), the same with the large cells in front, a shift of the same direction in all configurations (Mantel,
1963), and the configuration that deviates most. Each is ranked among the observed table and the draws, the ranks are
summed as Cauchy variables (Liu and Xie, 2020), cut off below, and the sum is ranked again; so the joined test is exact
as well.

A test by draws has no p-value below one in so many. `log_evidence` needs none: given the states and the sizes of a
configuration, the count of each state in the later table, one state after the other, is hypergeometric if the
conditional did not change. The likelihood ratio of a uniform distribution over all counts that are possible to the
hypergeometric one has the expected value 1, and so has the product of ``1 - w + w * ratio`` over the configurations: an
e-value, whose inverse is a p-value (Markov's inequality).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

WEIGHTS = np.array([3.0, 1.0, 1.0, 1.0]) / 6  # of the statistics, in the order above
PROMISING = 30  # draws that reach the observed statistic, up to which others decide
GROWTH = 7
FIRST_DRAWS = 299
MANY_TIMES = 10  # so many more draws than were asked for, at least, where the first speak of a change
LEAST_LEVEL = 1e-4  # that draws are made for
IN_CONFIGURATION = 0.2  # the weight of a change in one configuration, in the evidence without draws
AT_ONCE = 2**20  # cells that are drawn at once
MOST_CELLS = 10**8  # that are drawn for one conditional; there is one draw at least for each first one
MOST_SHIFTED = 256  # deviations summed over configurations, whose covariance is inverted
DIGITS = 9  # of statistics and ranks that are compared: a draw that is the observed table ties with it


def numbers_of_draws(asked: int, n_tests: int, level: float) -> tuple[int, int]:
    """Return how many draws a test makes at first, and at most: enough for the first step of Holm's method."""
    return min(asked, FIRST_DRAWS), max(MANY_TIMES * asked, int(2 * n_tests / max(level, LEAST_LEVEL)))


def conditional_p_value(counts: Array, random: np.random.Generator, first: int, most: int) -> float:
    """Return the p-value of "all groups of rows have the same conditional"; NaN where the counts can tell nothing.

    Parameters
    ----------
    counts : (groups, configurations, states)
        How many rows of each group have a state in a configuration of the parents. The groups are two tables, or the
        states of a variable that shall be independent of the child given its parents.
    random : numpy.random.Generator
    first, most : int
        How many draws to make at first, and at most. As long as the p-value is small for so many draws, others are
        made, `GROWTH` times as many, whose p-value alone counts then: so the probability of a p-value up to t stays at
        most t (after Besag and Clifford, 1991).
    """
    test = _Test.of(counts)
    if test is None:
        return math.nan
    most = max(first, min(most, MOST_CELLS // test.counts.size))
    draws = first
    while True:
        p = test.p_value(random, draws)
        if draws >= most or p * draws > PROMISING:
            return p
        draws = min(GROWTH * draws, most)


def rough_p_value(counts: Array) -> float:
    """Return a p-value as `conditional_p_value`, by distributions that the statistics have for many rows.

    It is that of the chi-squared statistic, of the common shift and of the configuration that deviates most, whichever
    is smallest, times three.
    """
    test = _Test.of(counts)
    return math.nan if test is None else min(1.0, 3 * test.rough_p_value())


def largest_deviations(counts: Array, random: np.random.Generator, draws: int) -> tuple[npt.NDArray[np.intp], Array]:
    """Return how much each configuration deviates, as a normal score, of what is observed and of draws.

    Parameters
    ----------
    counts : (groups, configurations, states)
    random : numpy.random.Generator
    draws : int

    Returns
    -------
    (told,), (1 + draws, told)
        The places of the configurations that tell something, and their deviations, the observed ones in the first row.
    """
    test = _Test.of(counts)
    if test is None:
        return np.empty(0, dtype=np.intp), np.empty((1 + draws, 0))
    return np.flatnonzero(_telling(counts)), test.deviations(random, draws)


class _Test:
    """The four statistics of a conditional, of the configurations that tell something.

    Those tell nothing that one group alone has, or in which one state alone occurs. Of two groups the first is looked
    at, for the other deviates as much the other way.
    """

    def __init__(self, counts: Counts) -> None:
        self.counts = counts
        self._pooled, self._sizes = counts.sum(axis=0), counts.sum(axis=2)
        total = self._sizes.sum(axis=0)
        share = self._pooled / total[:, None]
        seen = 1 if len(counts) == 2 else len(counts)
        self._expected = (self._sizes[:, :, None] * share)[:seen]
        spread = self._sizes * (total - self._sizes) / np.maximum(total - 1, 1)  # of a state that half of the rows have
        per_row = np.where(self._sizes > 0, 1 / np.maximum(self._sizes, 1), 0.0)
        per_row = per_row.sum(axis=0)[None] if seen == 1 else per_row
        by_state = np.where(self._pooled > 0, (total - 1)[:, None] / np.maximum(self._pooled, 1), 0.0)
        self._by_cell = per_row[:, :, None] * by_state
        overall = (spread[:seen] @ share)[:, None]
        self._by_state = overall.sum() / np.where(overall > 0, overall, np.inf)
        self._degrees = ((self._sizes > 0).sum(axis=0) - 1) * ((self._pooled > 0).sum(axis=1) - 1)
        self._off, self._scale = 1 - 2 / (9 * self._degrees), np.sqrt(2 / (9 * self._degrees))
        self._of_shift = self._inverse_of_shift(share, total)

    @classmethod
    def of(cls, counts: Array) -> _Test | None:
        told = np.rint(counts).astype(np.int64)[:, _telling(counts)]
        if told.shape[1] == 0:
            return None
        occurs, takes_part = told.sum(axis=(0, 1)) > 0, told.sum(axis=(1, 2)) > 0
        return cls(told[takes_part][:, :, occurs])

    def _inverse_of_shift(self, share: Array, total: Counts) -> Array | None:
        """Return the inverse covariance of the deviations summed over configurations; None where it is too large."""
        n_groups, n_states = len(self._sizes) - 1, share.shape[1]
        if n_groups * n_states > MOST_SHIFTED:
            return None
        of_groups = np.einsum("gj,gh->jgh", self._sizes[:-1], np.eye(n_groups))
        of_groups = of_groups - np.einsum("gj,hj->jgh", self._sizes[:-1], self._sizes[:-1]) / total[:, None, None]
        of_states = np.einsum("jk,kl->jkl", share, np.eye(n_states)) - np.einsum("jk,jl->jkl", share, share)
        scaled = of_groups * (total / np.maximum(total - 1, 1))[:, None, None]
        covariance = np.einsum("jgh,jkl->gkhl", scaled, of_states)
        return np.linalg.pinv(covariance.reshape(n_groups * n_states, -1), hermitian=True)

    def p_value(self, random: np.random.Generator, n_draws: int) -> float:
        """Return the rank of the observed counts among so many draws and themselves, as a share."""
        found = np.concatenate([self.statistics(counts) for counts in self._each(random, n_draws)])
        if len(self._degrees) == 1:  # the statistics say the same
            return float(_ranks(found[:, 0])[0])
        ranks = np.stack([_ranks(column) for column in found.T], axis=1)
        scores = np.tan(np.maximum(0.5 - ranks, -0.25) * np.pi)  # what sees nothing shall not outweigh the others
        return float(_ranks(scores @ WEIGHTS)[0])

    def deviations(self, random: np.random.Generator, n_draws: int) -> Array:
        """Return how much each configuration deviates, (1 + n_draws, configurations), the observed ones first."""
        return np.concatenate([self._near_normal(self._squares(c)) for c in self._each(random, n_draws)])

    def _each(self, random: np.random.Generator, n_draws: int) -> Iterator[Counts]:
        """Yield the observed counts, and draws, some at a time: (some, groups, configurations, states)."""
        yield self.counts[None]
        chunk = max(1, AT_ONCE // self.counts.size)
        for begin in range(0, n_draws, chunk):
            yield self._drawn(min(chunk, n_draws - begin), random)

    def rough_p_value(self) -> float:
        """Return the least of the p-values of three statistics by the distributions that they have for many rows."""
        from scipy.special import gammaincc, ndtr  # slow to import, and needed by few calls

        total, _, of_shift, largest = self.statistics(self.counts[None])[0]
        by_total = gammaincc(self._degrees.sum() / 2, total / 2)
        degrees = (len(self._sizes) - 1) * (self._pooled.shape[1] - 1)
        by_shift = gammaincc(degrees / 2, of_shift / 2)
        return float(min(by_total, by_shift, 1 - ndtr(largest) ** len(self._degrees)))

    def _drawn(self, n: int, random: np.random.Generator) -> Counts:
        """Return counts of all groups but the last where all have the same conditional."""
        left, found = self._pooled, []
        for sizes in self._sizes[:-1]:
            found.append(exchanged(left, sizes, n, random))
            left = left - found[-1]
        return np.stack(found, axis=1)

    def statistics(self, counts: Counts) -> Array:
        """Return the four statistics of tables, (tables, 4), from (tables, groups, configurations, states).

        The last group may be left out, for it has the rows that the others do not have.
        """
        squares = self._squares(counts)
        by_configuration = (squares * self._by_cell).sum(axis=(1, 3))
        shift = self._off_expected(counts).sum(axis=2).reshape(len(counts), -1)
        of_shift = np.zeros(len(counts)) if self._of_shift is None else ((shift @ self._of_shift) * shift).sum(axis=1)
        large = (squares.sum(axis=2) * self._by_state[:, 0]).sum(axis=(1, 2))
        largest = self._near_normal(squares).max(axis=1)
        return np.stack([by_configuration.sum(axis=1), large, of_shift, largest], axis=1)

    def _off_expected(self, counts: Counts) -> Array:
        first = counts[:, : len(self._sizes) - 1]
        return np.asarray(first - self._expected[: first.shape[1]])

    def _squares(self, counts: Counts) -> Array:
        """Return squared deviations, (tables, groups, configurations, states): of the first of two groups alone."""
        off = self._off_expected(counts)
        if len(self._expected) > 1:
            off = np.concatenate([off, -off.sum(axis=1, keepdims=True)], axis=1)
        return np.asarray(off**2)

    def _near_normal(self, squares: Array) -> Array:
        """Return the chi-squared statistics of configurations as normal scores (Wilson and Hilferty, 1931)."""
        by_configuration = (squares * self._by_cell).sum(axis=(1, 3))
        return np.asarray((np.cbrt(by_configuration / self._degrees) - self._off) / self._scale)


def _telling(counts: Array) -> npt.NDArray[np.bool_]:
    """Return the configurations that more than one group has, and more than one state."""
    return np.asarray(((counts.sum(axis=2) > 0).sum(axis=0) > 1) & ((counts.sum(axis=0) > 0).sum(axis=1) > 1))


def exchanged(pooled: Counts, sizes: Counts, n: int, random: np.random.Generator) -> Counts:
    """Return counts of one group where rows of all change places within configurations.

    Parameters
    ----------
    pooled : (configurations, states) or (n, configurations, states)
        Of all groups.
    sizes : (configurations,)
        How many rows of the group each configuration has.
    n : int
    random : numpy.random.Generator

    Returns
    -------
    (n, configurations, states)
    """
    shape = (n, len(sizes))
    left, to_draw = np.broadcast_to(pooled.sum(axis=-1), shape), np.broadcast_to(sizes, shape).copy()
    found = np.empty((*shape, pooled.shape[-1]), dtype=np.int64)
    for state in range(pooled.shape[-1] - 1):
        here = pooled[..., state]
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


def _log_ratio(count: Counts, having: Counts, drawn: Counts, size: Counts) -> Array:
    """Return the log likelihood ratio of a uniform to a hypergeometric distribution.

    A group of `size` rows has `having` rows of a state; `drawn` of its rows are drawn, of which `count` have the state.
    """
    possible = np.minimum(having, drawn) - np.maximum(0, having + drawn - size) + 1
    log_chance = _log_choose(having, count) + _log_choose(size - having, drawn - count) - _log_choose(size, drawn)
    return np.asarray(-np.log(possible) - log_chance)


def _log_choose(n: Counts, k: Counts) -> Array:
    from scipy.special import gammaln  # slow to import, and needed by few calls

    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
