"""The kernel of all pairs of some items, in parts, so that long work says how far it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.progress import Progress, Reporter
from fishernet.kernels.features import Matrix, check_cells
from fishernet.kernels.kernel import Kernel, adapted

PARTS = 64  # that the pairs are cut into, at most


def gram_matrix(kernel: Kernel, X: Any, *, progress: Progress | None = None) -> Matrix:
    """Return the kernel of all pairs of strings or rows of numbers, telling how far it is.

    It is ``kernel(X)``; only pairs of different items are computed once.

    Parameters
    ----------
    kernel : Kernel
    X : list of n strings, or array of n rows
    progress : callable or True, optional
        True for a bar, or ``progress(what, done, total)``, in pairs.

    Returns
    -------
    (n, n) float64
        Exactly symmetric.

    Raises
    ------
    SchemaError
        When it is no kernel, or an item does not fit it.
    StateSpaceError
        When the matrix would not fit.

    Examples
    --------
    >>> import fishernet as fn
    >>> fn.kernels.gram_matrix(fn.kernels.SpectrumKernel(2), ["abab", "ba"])
    array([[5., 1.],
           [1., 1.]])
    """
    known = adapted(kernel, "gram_matrix", logs=True)
    if isinstance(X, str | bytes):
        raise SchemaError("a list of strings is needed, not one string; write [string]")
    items = X if hasattr(X, "__getitem__") and hasattr(X, "__len__") else list(check.items(X, "X", "rows or strings"))
    n = len(items)
    check_cells(n * n, "the kernel matrix")
    reporter = Reporter(progress, "comparing pairs")
    total = n * (n + 1) // 2
    reporter.step(0, total)
    if known.gives_features or n < 2:
        found: Matrix = np.asarray(kernel(items), np.float64)
        reporter.finish(total)
        return found
    matrix = np.empty((n, n))
    done, first = 0, 0
    while first < n:
        # about as many pairs a part; the first is of the first rows and all items, so that messages count from there
        after = min(n, first + max(1, round(total / PARTS / (n - first))))
        block = np.asarray(kernel(items[first:after], items[first:]), np.float64)
        matrix[first:after, first:] = block
        matrix[first:, first:after] = block.T
        done += sum(n - row for row in range(first, after))
        first = after
        if first < n:
            reporter.step(done, total)
    reporter.finish(total)
    upper = np.triu(matrix)
    symmetric: Matrix = upper + np.triu(matrix, 1).T
    return symmetric
