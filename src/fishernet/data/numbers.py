"""Numbers as tests of independence and models of numbers take them: checked, and each column a stretch of memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import are
from fishernet.data.arrays import row_blocks

Columns = npt.NDArray[np.float64]

LARGEST = 1e150  # squares and differences stay finite


def points(values: npt.ArrayLike, what: str, remedy: str = "") -> Columns:
    """Return points, (n,) or (n, d), as (d, n) columns; the remedy is what else to do about what is no number."""
    array = check.array(values, what)
    if array.ndim not in (1, 2):
        raise SchemaError(f"{what} must have the shape (n,) or (n, d), got {array.shape}")
    table = array[:, None] if array.ndim == 1 else array
    labels = [what] if table.shape[1] == 1 else [f"{what}[:, {c}]" for c in range(table.shape[1])]
    columns = [as_float(label, table[:, c], remedy) for c, label in enumerate(labels)]
    for label, column in zip(labels, columns, strict=True):
        require_finite(label, column)
    return np.array(columns, dtype=np.float64, order="C").reshape(len(columns), table.shape[0])


def as_float(name: str, column: npt.NDArray[Any], remedy: str = "") -> Columns:
    """Return a column of an array as float64, a copy; raise SchemaError when it is not of numbers."""
    if column.ndim != 1:
        raise SchemaError(f"column {name!r} must have one axis, got shape {column.shape}")
    if column.dtype == object:  # numbers that may be None
        try:
            return np.array([np.nan if value is None else value for value in column.tolist()], dtype=np.float64)
        except (TypeError, ValueError):
            pass
    if column.dtype.kind not in "iuf":
        raise SchemaError(
            f"column {name!r} is not of numbers ({column.dtype}); leave it out, or make a Table of states of the data"
            + (f"; {remedy}" if remedy else "")
        )
    return column.astype(np.float64)


def require_finite(name: str, column: Columns, *, missing: bool = False) -> None:
    """Raise SchemaError, naming column and row, when a number is infinite or too large to be squared, or none.

    `missing` says that NaN is a missing number, which there may be.
    """
    first, n_bad = 0, 0
    for at in row_blocks(len(column)):
        numbers = column[at]
        bad = np.flatnonzero(~((np.abs(numbers) <= LARGEST) | (np.isnan(numbers) if missing else False)))
        if len(bad) and not n_bad:
            first = at.start + int(bad[0])
        n_bad += len(bad)
    if n_bad:
        more = f" (and {n_bad - 1} more)" if n_bad > 1 else ""
        raise SchemaError(
            f"column {name!r}, row {first}{more}: {column[first]} cannot be used; leave these rows out, or fill them in"
        )


def require_varying(names: Sequence[str], values: Columns) -> None:
    """Raise SchemaError, naming them, when columns hold one value only."""
    constant = [name for name, column in zip(names, values, strict=True) if len(column) and (column == column[0]).all()]
    if constant:
        raise SchemaError(f"{are(constant, 'column')} constant; leave out what does not vary")
