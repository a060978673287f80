"""The distance between two tables under random splits of their rows, for every kind of kernel.

A split gives as many of all rows to a first part as the first table has. The kernel of a network's tables counts the
cells of the first part's rows in the core, some rows at a time and for many splits at once; a kernel with other
features adds them; any other kernel's matrix is gone through once, some rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base.errors import ZeroProbabilityError
from fishernet.base.progress import Reporter
from fishernet.data.matching import is_table
from fishernet.data.pooling import stacked
from fishernet.kernels import has_features
from fishernet.kernels.features import is_sparse, side_by_side
from fishernet.kernels.sets import BLOCK

Array = npt.NDArray[np.float64]

MOST_SPLITS = 10**6  # permutations, drawn tables and resamples
MOST_SPLIT_CELLS = 2**27  # numbers that are kept of all configurations and splits: 1 GB


@dataclass(frozen=True, eq=False)
class Distances:
    """|mean feature of a part - mean feature of the rest|^2 for splits, of which the first is the observed one."""

    total: Array
    """(1 + splits,)."""
    by_variable: Array | None
    """(1 + splits, n_variables), where the kernel is a sum over variables."""
    by_group: Array | None
    """(1 + splits, configurations), where it is a sum over these too, and they are not too many."""


def split_distances(kernel: Any, first: Any, second: Any, n_splits: int, key: int, reporter: Reporter) -> Distances:
    """Return the distances of the observed split and of others; rows are as the kernel takes them."""
    try:
        return _distances(kernel, first, second, n_splits, key, reporter)
    except ZeroProbabilityError:
        for rows in (first, second):
            kernel.diag(rows)  # names an impossible row by its place in its own table
        raise


def _distances(kernel: Any, first: Any, second: Any, n_splits: int, key: int, reporter: Reporter) -> Distances:
    rule = getattr(kernel, "rule", None)
    if hasattr(rule, "split_distances"):
        return _by_counts(rule, first, second, n_splits, key)
    if has_features(kernel):
        return _by_features(kernel, first, second, n_splits, key, reporter)
    return Distances(_by_matrix(kernel, first, second, n_splits, key, reporter), None, None)


def _by_counts(rule: Any, first: Any, second: Any, n_splits: int, key: int) -> Distances:
    few = (1 + n_splits) * len(rule.feature_parts.variable_of_group) <= MOST_SPLIT_CELLS
    by_variable, by_group = rule.split_distances([first, second], key=key, n_splits=1 + n_splits, by_group=few)
    return Distances(by_variable.sum(axis=1), by_variable, by_group if few else None)


def drawn_splits(n_first: int, n_second: int, n_splits: int, key: int) -> Iterator[tuple[slice, Array]]:
    """Yield which splits come next, and which rows their first part takes, (rows, splits) of 0 and 1."""
    for begin in range(0, 1 + n_splits, _core.SPLIT_LANES):
        count = min(_core.SPLIT_LANES, 1 + n_splits - begin)
        taken = _core.splits(n_first + n_second, n_first, key, begin, count)
        yield slice(begin, begin + count), taken.astype(np.float64)


def _by_features(kernel: Any, first: Any, second: Any, n_splits: int, key: int, reporter: Reporter) -> Distances:
    """Add the features of the first part's rows."""
    n, m = len(first), len(second)
    features = kernel.features(stacked([first, second])) if is_table(first) else _both(kernel, first, second)
    center = np.asarray(features.mean(axis=0)).ravel()
    parts: Any = getattr(kernel, "feature_parts", None)
    total = np.empty(1 + n_splits)
    by_variable = None if parts is None else np.empty((1 + n_splits, len(parts.names)))
    n_groups = 0 if parts is None or parts.group_of is None else len(parts.variable_of_group)
    few = n_groups > 0 and (1 + n_splits) * n_groups <= MOST_SPLIT_CELLS
    by_group = np.empty((1 + n_splits, n_groups)) if few else None
    for at, taken in drawn_splits(n, m, n_splits, key):
        sums = np.asarray(features.T @ taken) - n * center[:, None]
        squares = (sums * (1 / n + 1 / m)) ** 2
        total[at] = squares.sum(axis=0)
        if by_variable is not None:
            by_variable[at] = _summed(squares, parts.variable_of, len(parts.names))
        if by_group is not None:
            by_group[at] = _summed(squares, parts.group_of, n_groups)
        reporter.step(at.stop, 1 + n_splits)
    return Distances(total, by_variable, by_group)


def _both(kernel: Any, first: Any, second: Any) -> Any:
    parts = [kernel.features(first), kernel.features(second)]
    return side_by_side([part.T for part in parts]).T.tocsr() if is_sparse(parts[0]) else np.vstack(parts)


def _summed(squares: Array, of: npt.NDArray[np.int64], n: int) -> Array:
    """Return the sums of rows by what they belong to, (columns, n)."""
    sums = np.zeros((n, squares.shape[1]))
    np.add.at(sums, of, squares)
    return sums.T


def _by_matrix(kernel: Any, first: Any, second: Any, n_splits: int, key: int, reporter: Reporter) -> Array:
    """Go through the kernel's matrix once: with z the part's indicator, the distance is a quadratic form of it."""
    n, m = len(first), len(second)
    taken = np.concatenate([block for _, block in drawn_splits(n, m, n_splits, key)], axis=1)
    inside = np.zeros(1 + n_splits)  # z' K z
    across = np.zeros(1 + n_splits)  # z' K 1
    whole, done = 0.0, 0
    for rows in (first, second):
        for begin in range(0, len(rows), BLOCK):
            part = rows[begin : begin + BLOCK]
            matrix = np.hstack([kernel(part, first), kernel(part, second)])
            at = slice(done, done + len(part))
            inside += np.einsum("ij,ij->j", taken[at], matrix @ taken)
            sums = matrix.sum(axis=1)
            across += sums @ taken[at]
            whole += float(sums.sum())
            done += len(part)
            reporter.step(done, n + m)
    both = 1 / n + 1 / m
    return np.asarray(inside * both**2 - 2 * across * both / m + whole / m**2)
