"""Answers about data: with labels, and in the kind of frame that the question came in.

Asked with a pandas frame, a column of answers is a Series with the frame's index, and several are a DataFrame; asked
with polars or pyarrow, they are these. A `Table`, a mapping and an array are answered with NumPy arrays.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base.names import unused_name
from fishernet.data.arrow import dictionary_array
from fishernet.data.encoding.dates import in_arrow
from fishernet.data.encoding.labels import as_text
from fishernet.data.variable import Column, State, Variable

Values = npt.NDArray[Any]

KINDS = {"pandas": ("DataFrame",), "polars": ("DataFrame",), "pyarrow": ("Table", "RecordBatch")}


def in_kind(data: Any, variable: Column, column: Values) -> Any:
    """Return a column of codes or numbers as labels, numbers or dates, in the kind of the data asked about.

    Parameters
    ----------
    data : data frame, Table, mapping or array
        What was asked about; the answer has its rows.
    variable : Variable or Continuous
        What the column means; it gives it its name.
    column : (n_rows,) array

    Returns
    -------
    pandas.Series with the frame's index, polars.Series, pyarrow.Array, or (n_rows,) array
    """
    library = library_of(data)
    if library == "pandas":
        return sys.modules["pandas"].Series(variable.labels(column), index=data.index, name=variable.name)
    if library is None:
        return variable.labels(column)
    array = arrow_labels(variable, column)
    return sys.modules["polars"].Series(variable.name, array) if library == "polars" else array


def columns_in_kind(data: Any, labels: Sequence[State], values: Values) -> Any:
    """Return numbers under labels, in the kind of the data asked about.

    Parameters
    ----------
    data : data frame, Table, mapping or array
    labels : sequence of k labels
        The names of the columns, as they are in pandas, as text elsewhere.
    values : (n_rows, k) float64

    Returns
    -------
    pandas.DataFrame with the frame's index, polars.DataFrame, pyarrow.Table, or the array itself
    """
    library = library_of(data)
    if library is None:
        return values
    if library == "pandas":
        pandas = sys.modules["pandas"]
        # an Index of objects keeps truth values and numbers what they are
        columns = pandas.Index(list(labels), dtype=None if len(set(map(type, labels))) == 1 else object)
        return pandas.DataFrame(values, index=data.index, columns=columns)
    named: dict[str, Values] = {}
    for label, column in zip(labels, values.T, strict=True):
        named[unused_name(as_text(label), named)] = np.ascontiguousarray(column)
    return sys.modules["polars"].DataFrame(named) if library == "polars" else pa.table(named)


def arrow_labels(variable: Column, column: Values) -> pa.Array:
    """Return a column of codes or numbers as an Arrow array of labels, numbers or dates; missing cells are null."""
    if not variable.is_continuous:
        return dictionary_array(variable, column).dictionary_decode()
    return in_arrow(column, variable.unit)


def cells_frame(variables: Sequence[Variable], **values: npt.NDArray[np.float64]) -> pa.Table:
    """Return a joint table with labels: one row per cell, the last variable fastest, and columns of values.

    `values` are arrays with one axis per variable; their names get underscores where a variable has them.
    """
    shape = [variable.cardinality for variable in variables]
    codes = np.indices(shape, sparse=True)
    columns: dict[str, Any] = {}
    for variable, own in zip(variables, codes, strict=True):
        columns[variable.name] = arrow_labels(variable, np.broadcast_to(own, shape).ravel())
    for name, array in values.items():
        columns[unused_name(name, columns)] = pa.array(np.ravel(array))
    return pa.table(columns)


def library_of(data: Any) -> str | None:
    """Return the library of a frame that answers come in; None for all else, which NumPy answers."""
    for library, kinds in KINDS.items():
        loaded = sys.modules.get(library)
        if loaded is not None and isinstance(data, tuple(getattr(loaded, kind) for kind in kinds)):
            return library
    return None
