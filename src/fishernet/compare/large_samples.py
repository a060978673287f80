"""Two-sample tests without permutations: for many rows, where the distribution of the statistic is known."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FishernetError, warn
from fishernet.base.random import generator
from fishernet.compare.chi_squared import LEAST_EXPECTED, satterthwaite
from fishernet.kernels import RowSums
from fishernet.kernels.kernel import BaseKernel

Array = npt.NDArray[np.float64]

MOST_ROWS = 4096  # of both tables, between which the kernel is looked at


def weighted_chi_square(kernel: BaseKernel, first: RowSums, second: RowSums, seed: int) -> tuple[float, float]:
    """Return the squared MMD of two samples, and its p-value by the moments that it has over splits of many rows.

    With K the centered kernel matrix of both, nm / (n + m) times the statistic has the mean ``mean K_ii`` and the
    variance ``2 mean K_ij^2`` over pairs of different rows, which are those of up to `MOST_ROWS` drawn rows.
    """
    n, m = first.n_rows, second.n_rows
    statistic = max(first.squared_distance(second), 0.0)
    random = generator(seed)
    drawn = []
    for sums in (first, second):
        share = min(1.0, MOST_ROWS / (n + m)) * sums.n_rows
        drawn.append((sums, np.sort(random.permutation(sums.n_rows)[: max(1, round(share))])))
    matrix = np.block([[one.matrix(rows, others, other) for other, others in drawn] for one, rows in drawn])
    means = matrix.mean(axis=0)
    matrix -= means + means[:, None] - means.mean()
    k = len(matrix)
    own = np.diag(matrix)
    trace = float(own.sum()) / max(k - 1, 1)
    squares = (float((matrix**2).sum()) - float((own**2).sum())) / max(k * (k - 1), 1)
    _warn_of_small_cells(kernel, min(n, m))
    return statistic, satterthwaite(statistic * n * m / (n + m), trace, squares)


def _warn_of_small_cells(kernel: BaseKernel, n_rows: int) -> None:
    least = None if kernel.standardized is None else kernel.standardized.smallest_expected(n_rows)
    if least is not None and least < LEAST_EXPECTED:
        warn(
            f"the smaller table is expected to have {least:.2g} rows in some cell, and a chi-squared distribution "
            "needs 5; method='permutation' is exact",
            parameter="method",
        )


def block_test(first: RowSums, second: RowSums, size: int | None, seed: int) -> tuple[float, float]:
    """Return the mean of unbiased squared MMDs in blocks of rows, and its p-value (Zaremba et al., 2013)."""
    n = min(first.n_rows, second.n_rows)
    size = max(2, math.isqrt(n)) if size is None else size
    n_blocks = n // size
    if n_blocks < 2:
        raise FishernetError(
            f"the test by blocks needs two blocks of {size} rows of each table, and the smaller has {n}; make "
            "block_size smaller, or use method='permutation'",
            parameter="block_size",
        )
    random = generator(seed)
    orders = [random.permutation(sums.n_rows) for sums in (first, second)]
    estimates = np.empty(n_blocks)
    for block in range(n_blocks):
        x, y = (order[block * size : (block + 1) * size] for order in orders)
        # without the pairs of a row with itself
        within = sum(float(k.sum() - np.trace(k)) for k in (first.matrix(x), second.matrix(y))) / (size * (size - 1))
        estimates[block] = within - 2 * float(first.matrix(x, y, second).mean())
    spread = float(estimates.std(ddof=1))
    mean = float(estimates.mean())
    if spread == 0:
        return mean, 0.0 if mean > 0 else 1.0
    z = mean * math.sqrt(n_blocks) / spread
    return mean, float(_student_tail(z, n_blocks - 1))


def _student_tail(t: float, degrees: int) -> float:
    from scipy.special import stdtr  # slow to import, and needed by few calls

    return float(stdtr(degrees, -t))
