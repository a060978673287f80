"""Two-sample tests without permutations: for many rows, where the distribution of the statistic is known."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FishernetError, FishernetWarning
from fishernet.base.random import generator
from fishernet.compare.chi_squared import LEAST_EXPECTED, satterthwaite, smallest_expected
from fishernet.kernels.sets import mmd

Array = npt.NDArray[np.float64]

MOST_ROWS = 4096  # of both tables, between which the kernel is looked at


def weighted_chi_square(kernel: Any, first: Any, second: Any, seed: int) -> tuple[float, float]:
    """Return the squared MMD of two samples, and its p-value by the moments that it has over splits of many rows.

    With K the centered kernel matrix of both, nm / (n + m) times the statistic has the mean ``mean K_ii`` and the
    variance ``2 mean K_ij^2`` over pairs of different rows, which are those of up to `MOST_ROWS` drawn rows.
    """
    n, m = len(first), len(second)
    statistic = max(mmd(kernel, first, second), 0.0)
    random = generator(seed)
    shares = [min(1.0, MOST_ROWS / (n + m)) * size for size in (n, m)]
    drawn = [
        rows[np.sort(random.permutation(len(rows))[: max(1, round(share))])]
        for rows, share in zip((first, second), shares, strict=True)
    ]
    matrix = np.block([[kernel(a, b) for b in drawn] for a in drawn])
    means = matrix.mean(axis=0)
    matrix -= means + means[:, None] - means.mean()
    k = len(matrix)
    own = np.diag(matrix)
    trace = float(own.sum()) / max(k - 1, 1)
    squares = (float((matrix**2).sum()) - float((own**2).sum())) / max(k * (k - 1), 1)
    _warn_of_small_cells(kernel, min(n, m))
    return statistic, satterthwaite(statistic * n * m / (n + m), trace, squares)


def _warn_of_small_cells(kernel: Any, n_rows: int) -> None:
    least = smallest_expected(kernel, n_rows)
    if least < LEAST_EXPECTED:
        warnings.warn(
            FishernetWarning(
                f"the smaller table is expected to have {least:.2g} rows in some cell, and a chi-squared distribution "
                "needs 5; method='permutation' is exact",
                parameter="method",
            ),
            stacklevel=4,
        )


def block_test(kernel: Any, first: Any, second: Any, size: int | None, seed: int) -> tuple[float, float]:
    """Return the mean of unbiased squared MMDs in blocks of rows, and its p-value (Zaremba et al., 2013)."""
    n = min(len(first), len(second))
    size = max(2, math.isqrt(n)) if size is None else size
    n_blocks = n // size
    if n_blocks < 2:
        raise FishernetError(
            f"the test by blocks needs two blocks of {size} rows of each table, and the smaller has {n}; make "
            "block_size smaller, or use method='permutation'",
            parameter="block_size",
        )
    random = generator(seed)
    orders = [random.permutation(len(rows)) for rows in (first, second)]
    estimates = np.empty(n_blocks)
    for block in range(n_blocks):
        at = slice(block * size, (block + 1) * size)
        x, y = first[orders[0][at]], second[orders[1][at]]
        estimates[block] = _unbiased(kernel, x, y, size)
    spread = float(estimates.std(ddof=1))
    mean = float(estimates.mean())
    if spread == 0:
        return mean, 0.0 if mean > 0 else 1.0
    z = mean * math.sqrt(n_blocks) / spread
    return mean, float(_student_tail(z, n_blocks - 1))


def _unbiased(kernel: Any, x: Any, y: Any, size: int) -> float:
    """Return the squared MMD without the pairs of a row with itself."""
    within = sum(float(k.sum() - np.trace(k)) for k in (kernel(x), kernel(y))) / (size * (size - 1))
    return within - 2 * float(kernel(x, y).mean())


def _student_tail(t: float, degrees: int) -> float:
    from scipy.special import stdtr  # slow to import, and needed by few calls

    return float(stdtr(degrees, -t))
