"""The column that says what rows weigh, apart from the others."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError
from fishernet.data.arrays import Weights
from fishernet.data.encoding.cells import Cells, Columns, NumberCells, SourceColumn
from fishernet.data.encoding.labels import numbers_of, value_of
from fishernet.data.options import Options
from fishernet.data.variable import label_array


def split_weights(source: Columns, options: Options, first_row: int = 0) -> tuple[list[SourceColumn], Weights | None]:
    """Take the column of weights out of the others, in which the words that mean a missing cell are such."""
    names = [options.weights] if options.weights is not None else [c.name for c in source.cells if c.is_weights][:1]
    cells = [_without_named(column, options) for column in source.cells if column.name not in names]
    found = [_weights(column.coded, first_row) for column in source.cells if column.name in names]
    return cells, found[0] if found else None


def _without_named(column: SourceColumn, options: Options) -> SourceColumn:
    """Return a column without the labels that `na_values` names for it; numbers are the same by their value."""
    words = options.missing_words(column.name)
    if not words:
        return column
    meant = numbers_of(label_array([word for word in words if "%" not in word]))
    if column.holds_numbers:
        return cast(NumberCells, column).without_numbers(meant)
    cells = column.coded
    labels = cells.labels.tolist()
    plain = np.array([not isinstance(label, str) or "%" not in label for label in labels], dtype=bool)
    absent = np.isin(numbers_of(cells.labels), meant[~np.isnan(meant)]) & plain
    absent |= np.array([label in words for label in labels], dtype=bool)
    return cells.without(absent) if absent.any() else cells


def _weights(column: Cells, first_row: int) -> Weights:
    found = [_weight(label) for label in column.labels.tolist()] + [-1]
    counts: npt.NDArray[Any] = np.array(found, dtype=np.int64 if all(isinstance(n, int) for n in found) else np.float64)
    weights: Weights = column.spread(counts)
    if (weights < 0).any():
        row = int(np.argmax(weights < 0))
        position = int(column.positions()[row])
        held = f"is {column.labels.tolist()[position]!r}" if position < len(column.labels) else "is missing"
        raise SchemaError(
            f"column {column.name!r}, row {first_row + row}: a weight must be a number, 0 or more; this one {held}",
            parameter="weights",
        )
    return weights


def _weight(label: Any) -> int | float:
    """Return the weight that a label is, an int where it is whole; -1 where it is none."""
    value = value_of(label) if isinstance(label, str) else label
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**62:
        return -1
    return int(value) if value == int(value) else float(value)
