"""Rows as kernels work with them: of a known number, and taken in parts, whatever kind of data they come in.

A kernel that knows what its rows are says so in `rows`: a network's are a table of its variables. For any other a frame
is read as a table, and a list of strings, or a column of a frame, is an array of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

import numpy as np

from fishernet.base import check
from fishernet.base.check import is_number
from fishernet.data.frames.rows import held
from fishernet.data.matching import as_data, is_frame, is_table, listed_items

Rows = Any  # a Table, an array, or `PartRows`


def rows_of(kernel: Any, X: Any) -> Rows:
    """Return data as rows that the kernel takes, with a length, and with slices and positions for parts of them."""
    check.made(kernel, "kernel", "a kernel", "__call__")
    own: Callable[[Any], Rows] = getattr(kernel, "rows", plain_rows)
    return own(X)


def plain_rows(X: Any) -> Rows:
    """Return a table or an array as it is, a frame as a table, and a list or a column as an array of its items."""
    if is_table(X) or has_parts(X) or isinstance(X, str | bytes) or (isinstance(X, np.ndarray) and X.ndim != 1):
        return X
    if is_frame(X):
        return as_data(X, "a kernel")
    if isinstance(X, np.ndarray) and X.dtype.kind not in "US":
        return X
    items = X.tolist() if isinstance(X, np.ndarray) else listed_items(X)
    if items and all(map(is_number, items)):
        return np.array(items)
    array = np.empty(len(items), dtype=object)  # NumPy would make a matrix of lists of one length
    array[:] = items
    return array


class PartRows:
    """The rows of one frame as each part of a kernel takes them."""

    def __init__(self, parts: Sequence[Rows]) -> None:
        self.rows_by_part = tuple(parts)

    def __len__(self) -> int:
        return len(self.rows_by_part[0])

    def __getitem__(self, rows: Any) -> PartRows:
        return PartRows([part[rows] for part in self.rows_by_part])


def has_parts(rows: Rows) -> TypeGuard[PartRows]:
    """Return whether rows are those of each part of a kernel."""
    return hasattr(rows, "rows_by_part")


def rows_of_parts(kernels: Sequence[Any], X: Any) -> Rows:
    """Return data as rows of a kernel of several parts, each of which may take other columns of a frame."""
    if has_parts(X) or is_table(X) or isinstance(X, np.ndarray):
        return X
    data = held(X)
    return PartRows([rows_of(kernel, data) for kernel in kernels])


def split_rows(rows: Rows, n_parts: int) -> Sequence[Rows]:
    """Return the rows of each part."""
    return rows.rows_by_part if has_parts(rows) else (rows,) * n_parts


def counted_once(rows: Rows) -> Rows:
    """Return rows of which each counts once, whatever its weight."""
    if has_parts(rows):
        return PartRows([counted_once(part) for part in rows.rows_by_part])
    return rows.adopt(rows.variables, rows.codes, n_rows=rows.n_rows) if is_table(rows) else rows
