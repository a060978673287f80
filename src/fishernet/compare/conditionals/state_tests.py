"""Whether a variable's conditional is the same in two tables, or in more groups of rows: an exact test of its counts.

Within one configuration of the parents, rows of one table could stand in the other if the conditional is the same in
both: given the states that occur there and how many rows each table has there, the counts of one table are a draw from
a multivariate hypergeometric distribution. The configurations and their sizes are held as they are, so that a change
upstream, however large, and tables of unequal size cannot accuse a variable whose conditional did not change. Taken in
an order in which parents come first, each p-value is at most t with probability t at most, given all that came before
it; so those of variables whose conditionals did not change join as independent ones do (`corrections.holm_sidak`).

No statistic sees all changes. Four are joined: the likelihood ratio of all cells (G), which rare states disturb less
than they do chi-square, squared deviations with the large cells in front, a shift of the same direction in all
configurations (Mantel, 1963), and the configuration that deviates most. Where states come in an order, the trend is a
fifth: deviations summed over all configurations, by the mean ranks of the states (Landis, Heyman and Koch, 1978), so
that a small shift of many states is seen. Each is ranked among the observed table and the draws, the ranks are summed
as Cauchy variables (Liu and Xie, 2020), cut off below, and the sum is ranked again; so the joined test is exact as
well.

A test by draws has no p-value below one in so many. Where many tests ask for smaller ones, half of the tables are drawn
farther apart than chance draws them, each with the weight that makes up for it: the chance of the table over that of
drawing it. Given all tables, the observed one is each of them with a probability that is its share of the weights; so
the share of those that deviate as much is a p-value (Harrison, 2012). `log_evidence` needs no draws: given the states
and the sizes of a configuration, the count of each state in the later table, one state after the other, is
hypergeometric if the conditional did not change. The likelihood ratio of a uniform distribution over all counts that
are possible to the hypergeometric one has the expected value 1, and so has the product of ``1 - w + w * ratio`` over
the configurations: an e-value, whose inverse is a p-value (Markov's inequality).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base.random import stream_key
from fishernet.compare.corrections import LARGE, Outcome

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Ordered = tuple[bool, bool]  # whether the groups, and the states, come in an order

UNORDERED = (False, False)
PROMISING = 30  # draws that reach the observed statistic, up to which others decide
GROWTH = 7
FIRST_DRAWS = 299
FEW_POSSIBLE = 8  # small p-values, of which it pays to know how likely they are
MANY_TIMES = 10  # so many more draws than were asked for, at least, where the first speak of a change
LEAST_LEVEL = 1e-4  # that draws are made for
IN_CONFIGURATION = 0.2  # the weight of a change in one configuration, in the evidence without draws
MOST_CELLS = 10**8  # that are drawn for one conditional; there is one draw at least for each first one
MANY, DISPERSED = 10_000, 4_999  # where more draws than that may be needed, so many dispersed ones are made
HARDLY_LIGHTER = 5  # times the observed table's share of the weights (of each statistic a table as heavy may be first)


def numbers_of_draws(asked: int, n_tests: int, level: float) -> tuple[int, int]:
    """Return how many draws a test makes at first, and at most: enough for the first step of Holm's method."""
    return min(asked, FIRST_DRAWS), max(MANY_TIMES * asked, int(2 * n_tests / max(level, LEAST_LEVEL)))


def conditional_test(
    counts: Array, random: np.random.Generator, first: int, most: int, ordered: Ordered = UNORDERED
) -> Outcome:
    """Return the test of "all groups of rows have the same conditional"; NaN where the counts can tell nothing.

    Parameters
    ----------
    counts : (groups, configurations, states)
        How many rows of each group have a state in a configuration of the parents. The groups are two tables, or the
        states of a variable that shall be independent of the child given its parents.
    random : numpy.random.Generator
    first, most : int
        How many draws to make at first, and at most. As long as the p-value is small for so many draws, others are
        made, `GROWTH` times as many, whose p-value alone counts then: so the probability of a p-value up to t stays at
        most t (after Besag and Clifford, 1991). Where they may be more than `MANY`, the third are dispersed ones. Where
        few small p-values are possible, whichever table was observed, all draws are made at once.
    ordered : (bool, bool)
        Whether the groups, and the states, come in an order.
    """
    test = exact_test(counts, ordered)
    if not len(test.told):
        return Outcome(math.nan)
    most = max(first, min(most, MOST_CELLS // math.prod(test.shape)))
    return _by_draws(test, random, first, most, disperses=most > MANY)


def _by_draws(
    test: _core.ConditionalTest, random: np.random.Generator, first: int, most: int, disperses: bool
) -> Outcome:
    draws, high = first, 1.0
    while True:
        ranks = test.p_values(stream_key(random), draws)
        low = PROMISING / draws if draws < most else 0.0
        possible = np.unique(ranks[ranks <= max(low, LARGE)])
        if draws == first < most and 0 < len(possible) <= FEW_POSSIBLE:
            draws = most
        elif ranks[0] > low:
            return Outcome(float(ranks[0]), possible, low, high)
        elif disperses and draws > first:
            return Outcome(_far_out(test, random, GROWTH * draws, most))
        else:
            high, draws = low, min(GROWTH * draws, most)


def _far_out(test: _core.ConditionalTest, random: np.random.Generator, first: int, most: int) -> float:
    """Return the p-value by dispersed draws, or by plain ones where its own weight is most of it.

    A table that no dispersion makes likelier is as heavy as those drawn by chance: no smaller p-value would show. The
    smaller of both p-values is taken twice (Bonferroni), whether plain tables are drawn or not.
    """
    ranks = test.dispersed_p_values(stream_key(random), DISPERSED)
    found = float(ranks[0])
    own = found - float(ranks[ranks < found].max(initial=0.0))
    if 1 / most < found < HARDLY_LIGHTER * own:
        found = min(found, _by_draws(test, random, first, most, disperses=False).p_value)
    return min(2 * found, 1.0)


def rough_p_value(counts: Array, ordered: Ordered = UNORDERED) -> float:
    """Return a p-value as `conditional_test`, by distributions that the statistics have for many rows.

    It is that of the likelihood ratio, of the common shift, of the configuration that deviates most and of the trend,
    whichever is smallest, times how many there are.
    """
    from scipy.special import gammaincc, ndtr  # slow to import, and needed by few calls

    test = exact_test(counts, ordered)
    if not len(test.told):
        return math.nan
    n_groups, n_told, n_states = test.shape
    total, _, of_shift, largest, trend = test.statistics
    by_total = gammaincc(test.degrees.sum() / 2, total / 2)
    by_shift = gammaincc((n_groups - 1) * (n_states - 1) / 2, of_shift / 2)
    found = [by_total, by_shift, 1 - ndtr(largest) ** n_told]
    if test.trend_degrees:
        found.append(gammaincc(test.trend_degrees / 2, trend / 2))
    return float(min(1.0, len(found) * min(found)))


def largest_deviations(counts: Array, random: np.random.Generator, draws: int) -> tuple[Counts, Array]:
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
    test = exact_test(counts)
    if not len(test.told):
        return test.told, np.empty((1 + draws, 0))
    return test.told, test.deviations(stream_key(random), draws)


def exact_test(counts: Array, ordered: Ordered = UNORDERED) -> _core.ConditionalTest:
    """Return the test of counts (groups, configurations, states), which are rounded."""
    return _core.ConditionalTest(np.ascontiguousarray(np.rint(counts), dtype=np.int64), *ordered)


# -------------------------------------------------------------------------------------------- without draws


def log_evidence(before: Array, after: Array) -> float:
    """Return the logarithm of an e-value of "this conditional did not change".

    Parameters
    ----------
    before, after : (configurations, states)
        How many rows of each table have a state in a configuration of the parents.
    """
    return float(_log_evidence(*(np.rint(counts).astype(np.int64) for counts in (after, before + after))))


def bound_without_draws(counts: Array) -> float:
    """Return a p-value as `conditional_test`, as small as the dependence is strong: one over an e-value.

    That is the mean of the e-values of each group of rows against all others (`log_evidence`).

    Parameters
    ----------
    counts : (groups, configurations, states)
    """
    groups = np.rint(counts).astype(np.int64)
    logs = _log_evidence(groups, groups.sum(axis=0))
    return float(np.exp(min(0.0, math.log(len(logs)) - np.logaddexp.reduce(logs))))


def _log_evidence(group: Counts, every: Counts) -> Array:
    """Return the log e-value of a group of rows, or of each of several, among all, (..., configurations, states)."""
    drawn, size = (np.cumsum(counts[..., ::-1], axis=-1)[..., ::-1] for counts in (group, every))
    ratio = _log_ratio(group, every, drawn, size).sum(axis=-1)  # 0 where all rows of a configuration are of one table
    mixed: Array = np.logaddexp(math.log1p(-IN_CONFIGURATION), math.log(IN_CONFIGURATION) + ratio).sum(axis=-1)
    return mixed


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
