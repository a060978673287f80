"""Rows as kernels work with them: of a known number, and taken in parts, whatever kind of data they come in.

A kernel that knows what its rows are says so in `rows`: a network's are a table of its variables. For any other a frame
is read as a table, and a list of strings, or a column of a frame, is an array of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol, TypeGuard

import numpy as np
import numpy.typing as npt

from fishernet.base.check import is_number
from fishernet.data import Table
from fishernet.data.frames.rows import held
from fishernet.data.matching import as_data, is_frame, is_table, listed_items

Rows = Any  # a Table, an array, or `PartRows`


class TakesRows(Protocol):
    """A kernel that knows what its rows are."""

    def rows(self, X: Any, /) -> Rows:
        """Return data as rows that the kernel takes."""
        ...


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
        self.rows_by_part: tuple[Rows, ...] = tuple(parts)

    def __len__(self) -> int:
        return len(self.rows_by_part[0])

    def __getitem__(self, rows: Any) -> PartRows:
        return PartRows([part[rows] for part in self.rows_by_part])


def has_parts(rows: Rows) -> TypeGuard[PartRows]:
    """Return whether rows are those of each part of a kernel."""
    return isinstance(rows, PartRows)


def rows_of_parts(kernels: Sequence[TakesRows], X: Any) -> Rows:
    """Return data as rows of a kernel of several parts, each of which may take other columns of a frame."""
    if has_parts(X) or is_table(X) or isinstance(X, np.ndarray):
        return X
    data = held(X)
    return PartRows([kernel.rows(data) for kernel in kernels])


def split_rows(rows: Rows, n_parts: int) -> Sequence[Rows]:
    """Return the rows of each part."""
    return rows.rows_by_part if has_parts(rows) else (rows,) * n_parts


def reweighted(rows: Rows, times: npt.NDArray[np.int64] | None = None) -> Rows:
    """Return rows of which each counts once, whatever its weight, or so many times as is said of it."""
    if has_parts(rows):
        return PartRows([reweighted(part, times) for part in rows.rows_by_part])
    return rows.adopt(rows.variables, rows.codes, weights=times, n_rows=rows.n_rows) if is_table(rows) else rows


def distinct_rows(table: Table) -> tuple[Table, npt.NDArray[np.int64]]:
    """Return the distinct rows of a table, in the order in which they first occur, and which one each row equals."""
    keys = _row_keys(table)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return table[first[order]], rank[inverse.ravel()].astype(np.int64)


def _row_keys(table: Table) -> npt.NDArray[np.generic]:
    """Return one comparable key a row: a number where the codes fit into one, else its bytes."""
    sizes = [r + 1 for r in table.cardinalities]
    if math.prod(sizes) < 2**62:
        keys = np.zeros(table.n_rows, dtype=np.int64)
        for codes, size in zip(table.codes, sizes, strict=True):
            keys = keys * size + codes
        return keys
    rows = np.ascontiguousarray(np.stack([codes.astype(np.uint32) for codes in table.codes], axis=1))
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
