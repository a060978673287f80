"""Data frames as cells: pandas, polars and pyarrow frames, and mappings from names to columns.

Frames come through narwhals, so none of these libraries is needed to be installed. Every column is brought to Arrow;
what Arrow has no type for (a column of both text and numbers) is read value by value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from fishernet.errors import SchemaError
from fishernet.table.encoding.cells import Block, Cells, Columns
from fishernet.table.encoding.labels import label_array
from fishernet.table.encoding.options import Options
from fishernet.table.sources.arrow import cells_of, columns_of
from fishernet.table.variable import State, check_names

NO_ARROW_TYPE = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, UnicodeEncodeError)


def frame_columns(frame: Any, options: Options) -> Columns:
    """Return the columns of a data frame that the options ask for.

    Parameters
    ----------
    frame : pandas, polars or pyarrow frame, or mapping from names to columns
    options : Options

    Raises
    ------
    SchemaError
        When it is none of these, a column is missing, doubled or has no name, or holds what cannot be a label.
    """
    if isinstance(frame, pa.RecordBatch):
        return columns_of(pa.Table.from_batches([frame]), options)
    if isinstance(frame, pa.Table):
        return columns_of(frame, options)
    if isinstance(frame, Mapping):
        return _mapping_columns(frame, options)
    return _narwhals_columns(frame, options)


# ------------------------------------------------------------------------------------------- pandas, polars, ...


def _narwhals_columns(frame: Any, options: Options) -> Columns:
    import narwhals.stable.v2 as nw

    try:
        eager = nw.from_native(frame, eager_only=True)
    except TypeError:
        name = type(frame).__name__
        remedy = "collect it first" if "Lazy" in name or "Relation" in name else "codes go through Table.from_codes"
        raise SchemaError(
            f"a frame must be a pandas, polars or pyarrow frame or a mapping of columns, not {name}; {remedy}"
        ) from None
    except nw.exceptions.DuplicateError:
        check_names([str(name) for name in frame.columns])
        raise
    chosen = options.choose(eager.columns)
    return Columns([_series_cells(name, eager[name], options) for name in chosen], eager.shape[0])


def _series_cells(name: str, series: Any, options: Options) -> Cells:
    """Return a narwhals series as cells."""
    import narwhals.stable.v2 as nw

    is_categorical = series.dtype in (nw.Categorical, nw.Enum)
    # a polars Categorical declares no states: which ones it knows depends on the other frames of the process
    declared = is_categorical and (series.dtype == nw.Enum or not series.implementation.is_polars())
    if series.dtype != nw.Object:
        try:
            array = series.to_arrow()
            column = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
            return cells_of(name, column, options.na_values, declared=declared)
        except NO_ARROW_TYPE:
            pass
    categories = series.cat.get_categories().to_list() if declared else None
    return object_cells(name, series.to_list(), options.na_values, categories)


# -------------------------------------------------------------------------------------------- mappings of columns


def _mapping_columns(frame: Mapping[str, Any], options: Options) -> Columns:
    chosen = options.choose(list(frame))
    cells = [_column_cells(name, frame[name], options) for name in chosen]
    lengths = {column.name: sum(len(block.indices) for block in column.blocks) for column in cells}
    n_rows = next(iter(lengths.values()), 0)
    for name, length in lengths.items():
        if length != n_rows:
            raise SchemaError(f"column {name!r} has {length} rows, and column {chosen[0]!r} has {n_rows}")
    return Columns(cells, n_rows)


def _column_cells(name: str, values: Any, options: Options) -> Cells:
    if isinstance(values, pa.ChunkedArray | pa.Array):
        column = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
        return cells_of(name, column, options.na_values)
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise SchemaError(f"column {name!r} must have one axis, got shape {values.shape}")
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise SchemaError(f"column {name!r} must be a list or an array of labels, not {type(values).__name__}")
    if isinstance(values, list | tuple | range | np.ndarray):
        return _sequence_cells(name, values, options)
    import narwhals.stable.v2 as nw

    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return _series_cells(name, series, options)
    categories = getattr(values, "categories", None)  # of a pandas Categorical outside a frame
    if categories is not None:
        return object_cells(name, list(values), options.na_values, list(categories))
    return _sequence_cells(name, list(values), options)


def _sequence_cells(name: str, values: Any, options: Options) -> Cells:
    if not _mixes_truth(values):
        try:
            return cells_of(name, pa.chunked_array([pa.array(values, from_pandas=True)]), options.na_values)
        except NO_ARROW_TYPE:
            pass
    return object_cells(name, list(values), options.na_values)


def _mixes_truth(values: Any) -> bool:
    """Whether a list holds truth values beside others, which Arrow would make numbers."""
    if not isinstance(values, list | tuple):
        return False
    kinds = set(map(type, values)) - {type(None)}
    return bool in kinds and len(kinds) > 1


# ----------------------------------------------------------------------------------------------- value by value


def object_cells(
    name: str, values: Sequence[Any], na_values: frozenset[str], categories: Sequence[Any] | None = None
) -> Cells:
    """Return a column of values of any types as cells.

    Parameters
    ----------
    name : str
    values : sequence
        None, NaN and their like are missing cells.
    na_values : frozenset of str
        Text that means a missing cell.
    categories : sequence, optional
        The declared states, in their order.

    Raises
    ------
    SchemaError
        When a value is no str, int, float or bool, naming its row, or equal values differ in type.
    """
    known: dict[tuple[bool, State], int] = {}
    for category in categories or ():
        value = _plain(name, -1, category)
        known.setdefault((isinstance(value, bool), value), len(known))
    indices = np.empty(len(values), dtype=np.int64)
    absent = frozenset() if categories is not None else na_values
    for row, cell in enumerate(values):
        value = _plain(name, row, cell)
        missing = value is None or (isinstance(value, str) and value in absent)
        indices[row] = -1 if missing else known.setdefault((isinstance(value, bool), value), len(known))
    n_labels = len(known)
    has_nulls = bool((indices < 0).any())
    indices[indices < 0] = n_labels
    labels = label_array([value for _, value in known])
    return Cells(name, labels, [Block(indices, np.arange(n_labels + 1), has_nulls)], declared=categories is not None)


def _plain(name: str, row: int, cell: Any) -> Any:
    """Return a cell as a str, int, float or bool; None for a missing one."""
    value = cell.item() if isinstance(cell, np.generic) else cell
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, float) and math.isnan(value):
        return None
    if not isinstance(value, str | int | float):
        where = f"row {row}" if row >= 0 else "among its categories"
        raise SchemaError(
            f"column {name!r}, {where}: a label must be a str, int, float or bool, not {type(value).__name__}"
        )
    return value
