"""Whether shares differ from state to state: the tests behind `fishernet.independence.missingness`, many at once.

A table of counts has a row for every state: how many rows have the mark (a missing cell), and how many do not. Two
states are compared exactly (the hypergeometric distribution, two-sided by doubling the lesser tail). Of more states,
where at least ten of both are expected in each, the test is the likelihood-ratio test

    G = 2 sum n log(n / expected) / q,     q = 1 + (N sum_i 1/n_i - 1) (N/m + N/(N - m) - 1) / (6 N (r - 1)),

with Williams' q [1]_, and chi-square with r - 1 degrees of freedom. Far out, where corrections for many tests look,
it stays near the exact distribution; Pearson's statistic takes a few more than were expected for far less probable
than they are. States in which fewer are expected are joined with their neighbours until they are not, and each of them
is also tested exactly against all others together. The p-value is then twice the smaller of two: that of the joined
states, and the smallest single one times the number of single tests (Bonferroni). So it is at most alpha with a
probability of at most alpha, exactly or (G) within some hundredths of alpha. Two states in which hundreds are expected
go by G too.

References
----------
.. [1] D. A. Williams, "Improved likelihood ratio tests for complete contingency tables", Biometrika 63, 1976.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fishernet import _core

Numbers = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

LEAST_EXPECTED = 10.0  # in each state of a test by G of three or more
LEAST_OF_TWO = 200.0  # in each of two states: counts of two are coarse, and exact ones are quick
LOG_TWO = float(np.log(2.0))


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """How the share of marked rows depends on the state, in each of k tables; NaN where there is nothing to compare."""

    log_p: Numbers
    """(k,): the logarithm of the p-value."""
    information: Numbers
    """(k,): the mutual information of mark and state in nats, as the counts have it."""
    state: Counts
    """(k,): the state that tells most; of two the one with the larger share."""
    share: Numbers
    """(k,): of marked rows in that state."""
    elsewhere: Numbers
    """(k,): of marked rows in all other states."""

    @classmethod
    def of_nothing(cls, k: int) -> Comparison:
        """Return that of tables in which there is nothing to compare."""
        lacking = np.full(k, np.nan)
        return cls(lacking, lacking.copy(), np.zeros(k, np.int64), lacking.copy(), lacking.copy())


def compared(marked: Counts, totals: Counts, unit: float = 1.0) -> Comparison:
    """Compare the shares of marked rows.

    Parameters
    ----------
    marked : (k, states) int64 array
        How many rows of each state are marked, in each table.
    totals : (states,) int64 array
        How many rows there are of each state.
    unit : float
        How many independent rows a count of one stands for.

    Returns
    -------
    Comparison
    """
    found = Comparison.of_nothing(len(marked))
    occurring = np.flatnonzero(totals)
    sums = marked.sum(axis=1)
    rows = np.flatnonzero((sums > 0) & (sums < totals.sum()))
    if len(occurring) < 2 or not len(rows):
        return found
    hits = np.multiply(marked[np.ix_(rows, occurring)], unit, dtype=np.float64)
    sizes = np.multiply(totals[occurring], unit, dtype=np.float64)
    all_rows, all_hits = sizes.sum(), hits.sum(axis=1, keepdims=True)
    share = all_hits / all_rows
    own = _deviances(hits, sizes, share)
    found.information[rows] = own.sum(axis=1) / (2 * all_rows)
    found.log_p[rows] = _log_p_values(hits, sizes)
    inside, outside = hits / sizes, (all_hits - hits) / (all_rows - sizes)
    telling = inside if len(sizes) == 2 else own + _deviances(all_hits - hits, all_rows - sizes, share)
    best = telling.argmax(axis=1)
    each = np.arange(len(rows))
    found.state[rows] = occurring[best]
    found.share[rows], found.elsewhere[rows] = inside[each, best], outside[each, best]
    return found


def _log_p_values(hits: Numbers, sizes: Numbers) -> Numbers:
    """Return log p of (k, states) marked rows among (states,) rows, all of which occur."""
    all_rows, all_hits = sizes.sum(), hits.sum(axis=1)
    rarer = np.minimum(all_hits, all_rows - all_hits) / all_rows
    expected = rarer[:, None] * sizes  # of the rarer of marked and not marked
    groups = _joined(expected)
    by_groups = _log_p_of_groups(hits, sizes, groups)
    sparse = expected < LEAST_EXPECTED
    exact = _log_p_of_states(hits, sizes, sparse)
    both = LOG_TWO + np.minimum(by_groups, exact)
    either = np.where(np.isnan(by_groups), exact, by_groups)
    log_p: Numbers = np.minimum(0.0, np.where(np.isnan(both), either, both))
    return log_p


def _joined(expected: Numbers) -> Counts:
    """Return the group of each state, (k, states): neighbours are joined until enough rows are expected."""
    k, n_states = expected.shape
    groups = np.zeros((k, n_states), dtype=np.int64)
    full, held = np.zeros(k, dtype=np.int64), np.zeros(k)
    for state in range(n_states):
        groups[:, state] = full
        held += expected[:, state]
        enough = held >= LEAST_EXPECTED
        full += enough
        held[enough] = 0.0
    joined: Counts = np.minimum(groups, np.maximum(full - 1, 0)[:, None])  # what is left over joins the last
    return joined


def _log_p_of_groups(hits: Numbers, sizes: Numbers, groups: Counts) -> Numbers:
    """Return log p of groups of states, NaN where there is one group."""
    k, width = hits.shape
    flat = (groups + np.arange(k)[:, None] * width).ravel()
    marked: Numbers = np.bincount(flat, hits.ravel(), k * width).reshape(k, width).astype(np.float64, copy=False)
    rows: Numbers = np.bincount(flat, np.tile(sizes, k), k * width).reshape(k, width).astype(np.float64, copy=False)
    n_groups = groups[:, -1] + 1
    log_p = _log_p_by_ratio(marked, rows, n_groups)
    share = marked.sum(axis=1) / sizes.sum()
    few = np.minimum(rows[:, 0], rows[:, min(1, width - 1)]) * np.minimum(share, 1 - share) < LEAST_OF_TWO
    two = np.flatnonzero((n_groups == 2) & few)
    log_p[two] = _log_p_exactly(marked[two, 0], rows[two, 0], marked[two].sum(axis=1), sizes.sum())
    return log_p


def _log_p_by_ratio(marked: Numbers, rows: Numbers, n_groups: Counts) -> Numbers:
    """Return log p of G for (k, groups) tables, those beyond the number of groups empty; NaN where it is one."""
    all_rows, all_marked = rows.sum(axis=1), marked.sum(axis=1)
    present = rows > 0
    held = np.where(present, rows, 1.0)
    parts = np.where(present, _deviances(marked, held, (all_marked / all_rows)[:, None]), 0.0)
    of_rows = all_rows * np.where(present, 1 / held, 0.0).sum(axis=1) - 1
    of_marks = all_rows / all_marked + all_rows / (all_rows - all_marked) - 1
    q = 1 + of_rows * of_marks / (6 * all_rows * np.maximum(n_groups - 1, 1))
    log_p = _core.log_chi_square_tails(parts.sum(axis=1) / q, n_groups - 1)
    log_p[n_groups == 1] = np.nan
    return log_p


def _log_p_of_states(hits: Numbers, sizes: Numbers, asked: npt.NDArray[np.bool_]) -> Numbers:
    """Return the least log p of single states against all others, times their number; NaN where none is asked for."""
    least = np.full(len(hits), np.nan)
    k, state = np.nonzero(asked)
    log_p = _log_p_exactly(hits[k, state], sizes[state], hits.sum(axis=1)[k], sizes.sum())
    n_asked = np.count_nonzero(asked, axis=1)[k] if len(sizes) > 2 else 1  # two states are compared with each other
    np.fmin.at(least, k, np.minimum(0.0, log_p + np.log(n_asked)))
    return least


def _log_p_exactly(hits: Numbers, sizes: Numbers, all_hits: Numbers, all_rows: float) -> Numbers:
    """Return the hypergeometric log p, two-sided, of one state against all others; counts are rounded."""
    total = np.full(len(hits), np.rint(all_rows)).astype(np.int64)
    marked = np.minimum(np.rint(sizes).astype(np.int64), total)
    drawn = np.minimum(np.rint(all_hits).astype(np.int64), total)
    found = np.clip(np.rint(hits).astype(np.int64), np.maximum(0, drawn + marked - total), np.minimum(drawn, marked))
    tails = np.minimum(*_core.log_hypergeometric_tails(total, marked, drawn, found))
    log_p: Numbers = np.minimum(0.0, LOG_TWO + tails)
    return log_p


def _deviances(hits: Numbers, sizes: Numbers, share: Numbers) -> Numbers:
    """Return 2 sum n log(n / expected) over marked and other rows, (k, states), where a (k, 1) share is expected."""
    misses = sizes - hits
    with np.errstate(divide="ignore", invalid="ignore"):
        marked = np.where(hits > 0, hits * np.log(hits / (sizes * share)), 0.0)
        others = np.where(misses > 0, misses * np.log(misses / (sizes * (1 - share))), 0.0)
    deviances: Numbers = np.maximum(2 * (marked + others), 0.0)
    return deviances


def holm(p: Numbers) -> Numbers:
    """Return p-values corrected for their number by Holm's method: at most alpha for any true hypothesis, together.

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).round(9).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return corrected
