"""Arrays that a caller passes as codes, columns, weights or rows: checked, and in the types that a table stores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import several, shown
from fishernet.data.variable import Column, Variable

Codes = npt.NDArray[np.unsignedinteger[Any]]
Weights = npt.NDArray[np.int64] | npt.NDArray[np.float64]

BLOCK_ROWS = 2**20  # that are worked on at once where whole columns would not fit
MOST_GUESSED = 2**24  # states that are made up for one column of codes
SUM_BITS = 52  # of a sum of weights in units, so that doubles hold every count


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
    """Return an array of integers; integer-valued floats are taken too."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, RecursionError):
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
    variable.check(column)
    return np.array(column, dtype=variable.dtype, order="C")


def own_column(variable: Column, column: npt.NDArray[Any], n_rows: int) -> npt.NDArray[Any]:
    """Return a caller's column as a table keeps it: checked, and a copy that nobody else can write to."""
    copy = np.array(column, order="C")  # first, so that what is checked is what is kept
    kept = checked_column(variable, copy, n_rows)
    variable.check(kept)
    return kept


def checked_column(variable: Column, column: npt.NDArray[Any], n_rows: int) -> npt.NDArray[Any]:
    """Return a column that has the type and length of a table's, contiguous and read-only, without a copy."""
    if column.shape != (n_rows,):
        raise SchemaError(f"column {variable.name!r} has shape {column.shape}, expected ({n_rows},)")
    if column.dtype != variable.dtype:
        raise SchemaError(f"column {variable.name!r} has type {column.dtype}, expected {variable.dtype}")
    if not column.flags.c_contiguous:
        column = np.ascontiguousarray(column)
    return sealed(column)


def sealed(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a view of a contiguous array that ``setflags(write=True)`` cannot make writeable again."""
    base: Any = array.base
    above_read_only = isinstance(base, np.ndarray) and not base.flags.writeable
    if not array.flags.writeable and (above_read_only or isinstance(base, memoryview)):
        return array
    return np.frombuffer(memoryview(array).toreadonly(), array.dtype) if array.size else array  # type: ignore[arg-type]


def own_weights(weights: npt.ArrayLike | None) -> npt.NDArray[Any] | None:
    """Return a copy of a caller's weights that nobody else can write to."""
    return None if weights is None else np.array(_numbers(weights))


def checked_weights(weights: npt.ArrayLike, n_rows: int) -> Weights:
    """Return weights, read-only: int64 where all are whole numbers, float64 otherwise.

    They are not copied where they are of that type already.
    """
    array = _numbers(weights)
    if array.shape != (n_rows,):
        raise SchemaError(f"weights have shape {array.shape}, expected ({n_rows},)")
    if array.size and array.min() < 0:
        row = int(np.flatnonzero(array < 0)[0])
        raise SchemaError(f"weights must not be negative; row {row} has {array[row]}")
    with np.errstate(over="ignore"):
        total = float(array.sum(dtype=np.float64))
    if total >= 2.0**53:
        raise SchemaError("weights sum to 2**53 or more, too many rows to be counted one by one")
    whole = array.dtype.kind != "f" or np.array_equal(array, np.rint(array))
    held: npt.NDArray[Any] = np.ascontiguousarray(array).astype(np.int64 if whole else np.float64, copy=False)
    return sealed(held)


def _numbers(weights: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return weights as an array of integers or finite float64."""
    try:
        array = np.asarray(weights)
    except ValueError:
        raise SchemaError("weights must be an array of numbers; its rows have different lengths") from None
    if array.size and array.dtype.kind not in "biuf":
        raise SchemaError(f"weights must be numbers, not {'text' if array.dtype.kind in 'US' else array.dtype}")
    if array.dtype.kind != "f":
        return as_integers(array, "weights")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise SchemaError("weights must be finite; there are infinities or NaN among them")
    return array


def in_units(weights: Weights, unit: float | None = None) -> tuple[npt.NDArray[np.int64], float]:
    """Return weights as integers, and what one of them stands for; 1 where the weights are integers.

    Sums of integers are exact, in any order and on any number of threads. A weight is rounded to the unit: that of
    `weight_unit` where none is given.
    """
    if weights.dtype.kind != "f" and unit is None:
        return weights.astype(np.int64, copy=False), 1.0
    unit = weight_unit(float(weights.sum())) if unit is None else unit
    return np.rint(weights / unit).astype(np.int64), unit


def weight_unit(total: float) -> float:
    """Return the power of two of which a sum has 2**52 at most, so that sums of counts are exact as float64, too."""
    _, exponent = np.frexp(total)
    return max(float(np.ldexp(1.0, int(exponent) - SUM_BITS)), float(np.nextafter(0, 1)))


def total_weight(weights: Weights) -> int | float:
    """Return the sum of weights: exactly where they are whole, in their units otherwise."""
    units, unit = in_units(weights)
    total = int(units.sum())
    return total if weights.dtype.kind != "f" else total * unit


def row_positions(rows: Any, n_rows: int) -> npt.NDArray[np.intp]:
    """Return the positions, counted from the start, of rows given as an int, integers or a mask."""
    array = check.array(rows, "rows")
    if array.ndim == 0 and array.dtype.kind in "iu":
        array = array.reshape(1)
    if array.size == 0 and array.ndim == 1 and array.dtype.kind != "b":
        array = array.astype(np.intp)
    if array.ndim != 1 or array.dtype.kind not in "biu":
        raise SchemaError(f"rows must be a slice, an int, or one axis of integers or of bool, not {shown(rows)}")
    if array.dtype.kind == "b":
        if len(array) != n_rows:
            raise SchemaError(
                f"a mask of {several(len(array), 'row')} does not fit a table of {several(n_rows, 'row')}"
            )
        return np.flatnonzero(array)
    low, high = (int(array.min()), int(array.max())) if array.size else (0, -1)
    if low < -n_rows or high >= n_rows:
        outside = (array < -n_rows) | (array >= n_rows)
        raise IndexError(f"row {array[outside][0]} of a table of {several(n_rows, 'row')}")
    positions: npt.NDArray[np.intp] = array.astype(np.intp, copy=False)
    return np.where(positions < 0, positions + n_rows, positions) if low < 0 else positions


def row_blocks(n_rows: int, size: int = BLOCK_ROWS) -> Iterator[slice]:
    """Yield the rows from 0 to n - 1 in blocks of so many, the last of what is left."""
    for begin in range(0, n_rows, size):
        yield slice(begin, min(n_rows, begin + size))


def same_cells(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    """Whether columns of the same variable hold the same; NaN is NaN."""
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def stacked(rows: Sequence[npt.NDArray[Any]], n_columns: int) -> npt.NDArray[np.float64]:
    """Return columns of numbers as the rows of a read-only array; the one whose rows they are where there is one."""
    base: Any = rows[0].base if rows else None
    if not isinstance(base, np.ndarray) or not _is_stack(base, rows):
        base = np.array(rows, dtype=np.float64).reshape(len(rows), n_columns)
        base.flags.writeable = False
    stack: npt.NDArray[np.float64] = base
    return stack


def _is_stack(base: npt.NDArray[Any], rows: Sequence[npt.NDArray[Any]]) -> bool:
    """Whether some columns are the rows of an array, one after the other."""
    if base.shape != (len(rows), len(rows[0])) or not base.flags.c_contiguous:
        return False
    begin, step = _address(base), base.strides[0]
    return all(_address(row) == begin + place * step for place, row in enumerate(rows))


def _address(array: npt.NDArray[Any]) -> int:
    address: int = array.__array_interface__["data"][0]
    return address
