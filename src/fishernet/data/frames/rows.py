"""Rows of whatever was given: how many there are, and some of them in the kind of data that was given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import Table as ArrowTable

from fishernet.base.errors import SchemaError
from fishernet.base.names import a, shown, unused_name
from fishernet.data.arrays import Weights
from fishernet.data.arrow import NO_ARROW_TYPE, streamed
from fishernet.data.matching import Data, as_data, is_column, is_table, listed_items

Positions = npt.NDArray[np.int64]


def held(data: Data) -> Data:
    """Return data that can be looked at more than once, and of which rows can be taken.

    A stream, a dataset and a relation become a pyarrow Table, and what is gone through once a list; all else is
    returned as it is.
    """
    if isinstance(data, type):
        raise SchemaError(
            f"a Table, a data frame or an array is needed, not the class {data.__name__}", parameter="table"
        )
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if is_table(data) or isinstance(data, Mapping | str | bytes | np.ndarray) or _is_eager(data):
        return data
    table = streamed(data)
    if table is not None:
        return table
    if hasattr(data, "__len__") and hasattr(data, "__getitem__"):
        return data
    return list(data) if isinstance(data, Iterable) else data


def n_rows_of(data: Data, purpose: str) -> int:
    """Return the number of rows of what `held` returned."""
    if isinstance(data, Mapping):
        return max((_length(name, column) for name, column in data.items()), default=0)
    if hasattr(data, "__len__") and not isinstance(data, str | bytes):
        return len(data)
    return as_data(data, purpose).n_rows


def _length(name: object, column: Any) -> int:
    try:
        return len(column)
    except TypeError:  # a number, or an array of no axis
        kind = a(type(column).__name__)
        raise SchemaError(f"column {shown(name)} must be a sequence of cells, not {kind}", parameter="table") from None


def weights_of(data: Data) -> Weights | None:
    """Return how much each row counts; None where each counts once, as in all but a table."""
    return data.weights if is_table(data) else None


def taken(data: Data, positions: Positions) -> Data:
    """Return some rows of what `held` returned, in its kind; those of pandas keep their index."""
    if is_table(data) or isinstance(data, np.ndarray):
        return data[positions]
    if isinstance(data, Mapping):
        return {name: taken(column, positions) for name, column in data.items()}
    if hasattr(data, "iloc"):
        return data.iloc[positions]
    if isinstance(data, ArrowTable | pa.Array | pa.ChunkedArray):
        return data.take(pa.array(positions))
    if _is_eager(data):
        return _narwhals(data)[positions].to_native()
    return [data[position] for position in positions.tolist()]


def arrow_rows(data: Data, positions: Positions, columns: Mapping[str, npt.NDArray[Any]]) -> pa.Table:
    """Return rows as a pyarrow Table: their positions and other columns before them, by names that are not taken."""
    frame = _arrow(taken(data, positions))
    for name, values in reversed({"row": positions, **columns}.items()):
        frame = frame.add_column(0, unused_name(name, frame.column_names), pa.array(values))
    return frame


def _arrow(rows: Data) -> pa.Table:
    """Return rows of any kind as a pyarrow Table: what is no table has one column, and an array one a column."""
    if is_table(rows):
        return type(rows).adopt(rows.variables, rows.codes, n_rows=rows.n_rows).to_frame()
    if isinstance(rows, ArrowTable):
        return rows
    if isinstance(rows, np.ndarray) and rows.ndim == 2:
        return pa.table({f"v{place}": np.ascontiguousarray(column) for place, column in enumerate(rows.T)})
    if not isinstance(rows, Mapping) and (is_column(rows) or not _is_eager(rows)):
        return pa.table({"item": _items(rows)})
    try:
        return pa.table(rows) if isinstance(rows, Mapping) else _narwhals(rows).to_arrow()
    except NO_ARROW_TYPE:  # a column of several types
        return as_data(rows, "a frame of rows").to_frame()


def _items(rows: Data) -> pa.Array:
    items = [item.tolist() if isinstance(item, np.ndarray) else item for item in listed_items(rows)]
    try:
        return pa.array(items)
    except NO_ARROW_TYPE:
        return pa.array([repr(item) for item in items])


def _is_eager(data: Data) -> bool:
    """Whether data are a frame or a column of a library of data frames, in memory."""
    return isinstance(data, pa.Array) or _narwhals(data) is not data


def _narwhals(data: Data) -> Any:
    import narwhals.stable.v2 as nw

    try:
        return nw.from_native(data, eager_only=True, allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError:
        raise SchemaError("names of columns appear more than once; names must be unique") from None
