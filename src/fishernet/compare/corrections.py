"""p-values of statistics beside those of permutations, and what becomes of them when many are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

MOST_SPLITS = 10**6  # permutations, drawn tables and resamples
LARGE = 0.1  # p-values from which on it does not matter how few others are possible
ROUNDING = 1e-9  # statistics that differ by less of their size are equal: a permutation that changes nothing ties


def permutation_p_values(statistics: Array) -> Array:
    """Return how often a statistic is at least as large as the observed one, which is in the first row.

    ``(1 + K) / (1 + B)`` for K of B others, (columns,) from (1 + B, columns): exact where the rows are exchangeable.
    """
    return np.asarray(_reaches(statistics, statistics[0]).mean(axis=0))


def max_t(statistics: Array) -> Array:
    """Return p-values such that the chance of any false one is at most the level (Westfall and Young, 1993).

    Every column is standardized by its mean and standard deviation over all rows, the observed one among them, and its
    first row compared with the largest of each row. (columns,) from (1 + B, columns).
    """
    spread = statistics.std(axis=0)
    known = spread > ROUNDING * np.abs(statistics).max(axis=0, initial=0.0)
    found = np.ones(statistics.shape[1])
    if known.any():
        t = (statistics[:, known] - statistics[:, known].mean(axis=0)) / spread[known]
        found[known] = _reaches(t.max(axis=1)[:, None], t[0]).mean(axis=0)
    return found


def _reaches(values: Array, observed: Array) -> npt.NDArray[np.bool_]:
    return np.asarray(values >= observed - ROUNDING * np.maximum(np.abs(observed), 1e-300))


def benjamini_hochberg(p_values: Array) -> Array:
    """Return p-values such that the expected share of false ones among those up to a level is at most it."""
    n = len(p_values)
    order = np.argsort(p_values)[::-1]
    scaled = p_values[order] * n / np.arange(n, 0, -1)
    found = np.empty(n)
    found[order] = np.minimum.accumulate(np.minimum(scaled, 1.0))
    return found


def holm(p_values: Array) -> Array:
    """Return p-values such that the chance of any false one is at most the level, whatever joins them (Holm, 1979)."""
    n = len(p_values)
    order = np.argsort(p_values)
    found = np.empty(n)
    found[order] = np.maximum.accumulate(np.minimum(p_values[order] * np.arange(n, 0, -1), 1.0))
    return found


@dataclass(frozen=True, eq=False, slots=True)
class Outcome:
    """What a test says, and how likely it was to say so by chance."""

    p_value: float
    possible: Array | None = None
    """The p-values that the draws could have given, ascending; None where any may occur."""
    low: float = 0.0
    """Up to which p-value other draws would have been made, which alone count then."""
    high: float = 1.0
    """From which p-value on earlier draws have decided."""

    def chance(self, t: float) -> float:
        """Return how likely a p-value up to t is at most, if there is nothing to be found; t or less.

        Given the tables that were drawn and the observed one, each of them was as likely to be the observed one. Where
        few rows give few different tables, fewer of them than a share of t may reach it, or none.
        """
        if self.possible is None or t >= self.high:
            return t
        n_up_to = np.searchsorted(self.possible, max(t, self.low) + ROUNDING, side="right")
        return min(t, float(self.possible[n_up_to - 1])) if n_up_to else 0.0


def holm_sidak(tests: Sequence[Outcome]) -> Array:
    """Return p-values such that the chance of any false one is at most the level, where tests are independent.

    Those that are NaN are of tests that can tell nothing: they do not count, and stay. It suffices that, in some order,
    each p-value is at most t with at most its test's chance given what came before (Holm, 1979, with Sidak's bound,
    1967, and chances that may be less than t as by Tarone, 1990).
    """
    found = np.array([test.p_value for test in tests], dtype=np.float64)
    known = np.flatnonzero(~np.isnan(found))
    order = known[np.argsort(found[known], kind="stable")]
    corrected = np.empty(len(order))
    for k, t in enumerate(found[order].tolist()):
        chances = np.array([tests[i].chance(t) for i in order[k:]]) if t < LARGE else np.full(len(order) - k, t)
        with np.errstate(divide="ignore"):  # the logarithm of 0, where a p-value is 1
            corrected[k] = -np.expm1(np.log1p(-chances).sum())
    found[order] = np.maximum.accumulate(np.maximum(corrected, found[order]))
    return found
