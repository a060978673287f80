"""Kernels and distances between whole tables (Leppä-aho et al., 2020, section 6)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fishernet.base import check
from fishernet.kernels.features import Matrix, checked_length, shares_of
from fishernet.kernels.kernel import Kernel, has_features
from fishernet.kernels.rows import Rows, rows_of

BLOCK = 1024  # rows of a kernel matrix held at once


def set_kernel(kernel: Kernel, X: Any, Y: Any) -> float:
    """Return the mean of the kernel over all pairs of rows of two tables.

    Parameters
    ----------
    kernel : Kernel
    X, Y : Table, or whatever the kernel takes
        A table's rows count by their weights.

    Returns
    -------
    float
        Of a kernel with features it is the inner product of the tables' mean features, in time linear in their rows
        (Leppä-aho et al., 2020, section 6.2); the Fisher kernel takes the counts of the families. Other kernels are
        summed block by block.

    Raises
    ------
    SchemaError
        When a table has no row of positive weight.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> k = fn.kernels.FisherKernel(asia)
    >>> rows = asia.sample(200, seed=1)
    >>> bool(abs(fn.kernels.set_kernel(k, rows, rows) - k(rows).mean()) < 1e-9)
    True
    """
    X, Y = _both(kernel, X, Y)
    if has_features(kernel):
        return float(kernel.mean_features(X) @ kernel.mean_features(Y))
    return float(shares_of(X, checked_length(X, "X")) @ mean_to(kernel, X, Y))


def mmd(kernel: Kernel, X: Any, Y: Any) -> float:
    """Return the squared maximum mean discrepancy of two tables under a kernel (Leppä-aho et al., 2020, Eq. 10).

    It is biased, so that equal tables have 0.

    Parameters
    ----------
    kernel : Kernel
    X, Y : Table, or whatever the kernel takes
        A table's rows count by their weights.

    Returns
    -------
    float
        Not negative.

    Raises
    ------
    SchemaError
        When a table has no row of positive weight.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> k = fn.kernels.FisherKernel(asia)
    >>> near = fn.compare.mmd(k, asia.sample(500, seed=1), asia.sample(500, seed=2))
    >>> smokers = fn.infer.intervene(asia, {"smoke": "yes"})
    >>> bool(fn.compare.mmd(k, asia.sample(500, seed=1), smokers.sample(500, seed=2)) > 5 * near)
    True
    """
    X, Y = _both(kernel, X, Y)
    if has_features(kernel):
        difference = kernel.mean_features(X) - kernel.mean_features(Y)
        return float(difference @ difference)
    of_x, of_y = shares_of(X, checked_length(X, "X")), shares_of(Y, checked_length(Y, "Y"))
    within = of_x @ mean_to(kernel, X, X) + of_y @ mean_to(kernel, Y, Y)
    return max(float(within - 2 * of_x @ mean_to(kernel, X, Y)), 0.0)


def _both(kernel: Kernel, X: Any, Y: Any) -> tuple[Rows, Rows]:
    """Return both as rows that the kernel takes; what can be gone through once may be given twice."""
    rows = rows_of(kernel, X)
    return rows, rows if Y is X else rows_of(kernel, Y)


def mean_to(kernel: Kernel, X: Any, Y: Any) -> Matrix:
    """Return the mean of the kernel of each row of X with the rows of Y, as `rows_of` gives both, (n,), by blocks."""
    check.made(kernel, "kernel", "a kernel", "__call__", "diag")
    shares = shares_of(Y, len(Y))
    blocks: list[Matrix] = [kernel(X[first : first + BLOCK], Y) @ shares for first in range(0, len(X), BLOCK)]
    return np.concatenate(blocks) if blocks else np.zeros(0)
