"""Kernels and distances between whole tables (Leppä-aho et al., 2020, section 6)."""

from __future__ import annotations

from typing import Any

from fishernet.kernels.features import checked_length
from fishernet.kernels.kernel import BaseKernel, Kernel, adapted
from fishernet.kernels.row_sums import RowSums


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
    first, second = _both(kernel, X, Y)
    return first.mean_with(second)


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
    first, second = _both(kernel, X, Y)
    return first.squared_distance(second)


def _both(kernel: Kernel, X: Any, Y: Any) -> tuple[RowSums, RowSums]:
    """Return the sums of both; what can be gone through once may be given twice."""
    known = adapted(kernel)
    sums = _sums_of(known, X, "X")
    return sums, sums if Y is X else _sums_of(known, Y, "Y")


def _sums_of(kernel: BaseKernel, data: Any, name: str) -> RowSums:
    rows = kernel.rows(data)
    checked_length(rows, name)
    return kernel.row_sums(rows)
