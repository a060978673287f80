"""p-values of statistics beside those of permutations, and what becomes of them when many are looked at."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

MOST_SPLITS = 10**6  # permutations, drawn tables and resamples
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


def holm_sidak(p_values: Array) -> Array:
    """Return p-values such that the chance of any false one is at most the level, where tests are independent.

    Those that are NaN are of tests that can tell nothing: they do not count, and stay. It suffices that, in some order,
    each p-value is at most t with probability t at most given what came before (Holm, 1979, with Sidak's bound, 1967).
    """
    found = np.array(p_values, dtype=np.float64)
    known = np.flatnonzero(~np.isnan(found))
    order = known[np.argsort(found[known], kind="stable")]
    left = np.arange(len(order), 0, -1)
    with np.errstate(divide="ignore"):  # the logarithm of 0, where a p-value is 1
        found[order] = np.maximum.accumulate(-np.expm1(left * np.log1p(-found[order])))
    return found
