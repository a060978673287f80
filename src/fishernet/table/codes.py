"""Integers as codes, weights and rows: what a caller passes, checked and in the types that a table stores."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.errors import SchemaError
from fishernet.table.variable import Variable, code_dtype

Codes = npt.NDArray[np.unsignedinteger[Any]]

MOST_GUESSED = 2**24  # states that are made up for one column of codes


def guessed_variable(name: str, column: npt.NDArray[np.integer[Any]]) -> Variable:
    """Return the variable that a column of codes makes: its states are 0 up to the largest code."""
    highest = int(column.max(initial=0))
    if highest >= MOST_GUESSED:
        raise SchemaError(
            f"column {name!r} holds {highest:,}, which would make {highest + 1:,} states; give variables, or labels "
            "through Table.from_frame"
        )
    return Variable(name, range(highest + 1))


def as_integers(values: npt.ArrayLike, what: str) -> npt.NDArray[np.integer[Any]]:
    """Return an array of integers; integer-valued floats are taken too.

    Parameters
    ----------
    values : array
    what : str
        What it holds, as messages begin.

    Raises
    ------
    SchemaError
        When it holds anything else, or its rows have different lengths.
    """
    try:
        array = np.asarray(values)
    except ValueError:
        raise SchemaError(f"{what} must be an array of integers; its rows have different lengths") from None
    if array.dtype.kind in "biu":
        return array.astype(np.uint8) if array.dtype.kind == "b" else array
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind != "f":
        raise SchemaError(f"{what} must be integers, not {array.dtype}; labels go through Table.from_frame")
    whole = array.astype(np.int64) if (np.abs(array) < 2.0**62).all() else None
    if whole is None or not np.array_equal(whole, array):
        raise SchemaError(f"{what} must be integers; there are fractions, infinities or NaN among them")
    return whole


def checked_codes(column: npt.NDArray[np.integer[Any]], variable: Variable) -> Codes:
    """Return one column of codes in the type that its variable needs, as a copy."""
    if column.size and (column.min() < 0 or column.max() > variable.cardinality):
        row = int(np.flatnonzero((column < 0) | (column > variable.cardinality))[0])
        raise SchemaError(
            f"column {variable.name!r}, row {row}: the code {column[row]} is not from 0 to {variable.cardinality - 1} "
            f"({variable.cardinality} would mean missing)"
        )
    return np.ascontiguousarray(column, dtype=code_dtype(variable.cardinality)).copy()


def checked_column(variable: Variable, column: Codes, n_rows: int) -> Codes:
    """Return a column that has the type and length of a table's, contiguous and read-only, without a copy."""
    if column.shape != (n_rows,):
        raise SchemaError(f"column {variable.name!r} has shape {column.shape}, expected ({n_rows},)")
    if column.dtype != code_dtype(variable.cardinality):
        raise SchemaError(
            f"column {variable.name!r} has type {column.dtype}, expected {code_dtype(variable.cardinality)}"
        )
    if not column.flags.c_contiguous:
        column = np.ascontiguousarray(column)
    if column.flags.writeable:
        column = column.view()
        column.flags.writeable = False
    return column


def checked_weights(weights: npt.ArrayLike, n_rows: int) -> npt.NDArray[np.int64]:
    """Return weights as read-only int64.

    Raises
    ------
    SchemaError
        When they are no counts, not one a row, or so large that their sum could not be held.
    """
    array = as_integers(weights, "weights")
    if array.shape != (n_rows,):
        raise SchemaError(f"weights have shape {array.shape}, expected ({n_rows},)")
    if array.size and array.min() < 0:
        row = int(np.flatnonzero(array < 0)[0])
        raise SchemaError(f"weights must not be negative; row {row} has {array[row]}")
    if array.size and float(array.sum(dtype=np.float64)) >= 2.0**53:
        raise SchemaError("weights sum to 2**53 or more, too many rows to be counted one by one")
    kept = np.ascontiguousarray(array, dtype=np.int64).view()
    kept.flags.writeable = False
    return kept


def row_positions(rows: Any, n_rows: int) -> npt.NDArray[np.intp]:
    """Return the positions, counted from the start, of rows given as an int, integers or a mask.

    Raises
    ------
    SchemaError
        When it is none of these, or a mask of another length.
    IndexError
        When a row lies outside the table.
    """
    array = np.asarray(rows)
    if array.ndim == 0 and array.dtype.kind in "iu":
        array = array.reshape(1)
    if array.size == 0 and array.ndim == 1 and array.dtype.kind != "b":
        array = array.astype(np.intp)
    if array.ndim != 1 or array.dtype.kind not in "biu":
        raise SchemaError(f"rows must be a slice, an int, or one axis of integers or of bool, not {rows!r}")
    if array.dtype.kind == "b":
        if len(array) != n_rows:
            raise SchemaError(f"a mask of {len(array)} rows does not fit a table of {n_rows} rows")
        return np.flatnonzero(array)
    outside = (array < -n_rows) | (array >= n_rows)
    if outside.any():
        raise IndexError(f"row {array[outside][0]} of a table of {n_rows} rows")
    positions: npt.NDArray[np.intp] = np.arange(n_rows)[array]
    return positions
