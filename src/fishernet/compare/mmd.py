"""The maximum mean discrepancy of two tables."""

from __future__ import annotations

from typing import Any

from fishernet.kernels import Kernel, squared_mmd


def mmd(kernel: Kernel, X: Any, Y: Any) -> float:
    """Return the squared distance of two tables under a kernel (P1, Eq. 10).

    Parameters
    ----------
    kernel : Kernel
    X, Y : Table, or whatever the kernel takes
        A table's rows count by their weights.

    Returns
    -------
    float
        `fishernet.kernels.squared_mmd`: not negative, and 0 for equal tables.

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
    return squared_mmd(kernel, X, Y)
