"""Checking the rows from which a search starts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fishernet.errors import FishernetError


def checked_rows(rows: npt.ArrayLike, n_rows: int) -> npt.NDArray[np.int64]:
    """Return positions of rows as int64.

    Raises
    ------
    FishernetError
        When they are no integers, one is out of range, or one comes twice.
    """
    array = np.asarray(rows)
    if array.ndim != 1 or (array.size and not np.issubdtype(array.dtype, np.integer)):
        raise FishernetError(f"rows must be a one-dimensional array of integers, got {array.dtype} {array.shape}")
    positions = array.astype(np.int64)
    outside = (positions < 0) | (positions >= n_rows)
    if outside.any():
        raise FishernetError(f"row {positions[outside][0]} is not in the table, which has {n_rows:,} rows")
    values, counts = np.unique(positions, return_counts=True)
    if (counts > 1).any():
        raise FishernetError(f"row {values[counts > 1][0]} comes more than once; a row can be chosen only once")
    return positions


def checked_start(start: npt.ArrayLike, k: int, n_rows: int) -> npt.NDArray[np.int64]:
    """Return the rows of a start, of which there must be k."""
    rows = checked_rows(start, n_rows)
    if len(rows) != k:
        raise FishernetError(f"the start must have k = {k} rows, got {len(rows)}")
    return rows
