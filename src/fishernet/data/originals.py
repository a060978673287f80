"""Rows as they stand in their file: every column, with the text of its cells.

A frame of them is an Arrow table. The columns of a text file are dictionary-encoded text, marked as such, so that a
text file holds again what was read (``007``, ``1.50``), and a Parquet or Arrow file numbers, dates and truth values
where a column is of these. Missing cells are null.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from fishernet.base.names import unused_name
from fishernet.data.encoding.cells import Cells
from fishernet.data.encoding.dates import in_arrow, parsed
from fishernet.data.encoding.labels import as_text, typed
from fishernet.data.variable import Column

Codes = npt.NDArray[np.unsignedinteger[Any]]

TEXT = b"fishernet.text"


def is_as_written(field: pa.Field) -> bool:
    """Whether a column holds the cells of a text file as they are written there."""
    return TEXT in (field.metadata or {})


def frame_of_text(columns: Sequence[Cells], names: Sequence[str]) -> pa.Table:
    """Return the columns of a text file as a frame, under these names."""
    arrays = [_dictionary(column) for column in columns]
    fields = [pa.field(name, array.type, metadata={TEXT: b"true"}) for name, array in zip(names, arrays, strict=True)]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _dictionary(column: Cells) -> pa.DictionaryArray:
    positions = column.positions()
    indices = pa.array(positions, mask=positions == len(column.labels))
    return pa.DictionaryArray.from_arrays(indices, pa.array(map(str, column.labels.tolist()), pa.large_string()))


def typed_frame(frame: pa.Table) -> pa.Table:
    """Return a frame with the text of text files as what it means: numbers, truth values, dates, or text."""
    for place, field in enumerate(frame.schema):
        if is_as_written(field):
            column = frame.column(place).unify_dictionaries()
            texts = column.chunk(0).dictionary if column.num_chunks else pa.array([], pa.large_string())
            values = _typed_array(texts.to_pylist())
            chunks = [values.take(chunk.indices) for chunk in column.chunks]
            frame = frame.set_column(place, field.name, pa.chunked_array(chunks, values.type))
    return frame


def _typed_array(texts: list[str]) -> pa.Array:
    dates = parsed(texts) if texts else None
    if dates is not None:
        return in_arrow(*dates)
    try:
        return pa.array(typed(texts).tolist() if texts else texts, None if texts else pa.large_string())
    except (pa.ArrowInvalid, OverflowError):  # integers of any size
        return pa.array(texts, pa.large_string())


def texts_of(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of any type that text can show as text; null stays null."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    return column if pa.types.is_large_string(column.type) else pc.cast(column, pa.large_string())


def shown_cells(frame: pa.Table, row: int) -> dict[str, str | None]:
    """Return the cells of one row as text, by column; None where one is missing, or is of a type that text lacks."""
    found: dict[str, str | None] = {}
    for name in frame.column_names:
        try:
            found[name] = texts_of(frame.column(name).slice(row, 1))[0].as_py()
        except pa.ArrowNotImplementedError:
            found[name] = None
    return found


def filled(frame: pa.Table, variable: Column, cells: npt.NDArray[Any], missing: npt.NDArray[np.bool_]) -> pa.Table:
    """Return a frame in which some cells of a variable's column are filled, by codes or numbers; the others stay.

    The column keeps its type where that can hold what is filled in: whole numbers become numbers with fractions, and
    numbers or dates among which bins come become text.
    """
    place = frame.column_names.index(variable.name)
    field, column = frame.schema.field(place), frame.column(place)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if variable.is_continuous:
        new = in_arrow(np.where(missing, cells, np.nan), variable.unit)
        column = column.cast(pa.float64()) if pa.types.is_integer(column.type) else column
    else:
        indices = pa.array(np.where(missing, cells, 0), mask=~missing)
        new = pa.array([as_text(state) for state in variable.states], pa.large_string()).take(indices)
    try:
        whole = pc.if_else(pa.array(missing), pc.cast(new, column.type), column)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        whole = pc.if_else(pa.array(missing), pc.cast(new, pa.large_string()), texts_of(column))
    if is_as_written(field):
        whole = whole.dictionary_encode()
    return frame.set_column(place, field.with_type(whole.type), whole)


def with_columns(frame: pa.Table, before: dict[str, object], after: dict[str, object]) -> pa.Table:
    """Return a frame with further columns at its ends, whose names get underscores where they are taken."""
    for place, columns in ((0, dict(reversed(before.items()))), (None, after)):
        for name, values in columns.items():
            array = values if isinstance(values, pa.Array) else pa.array(np.asarray(values))
            frame = frame.add_column(
                frame.num_columns if place is None else place, unused_name(name, frame.column_names), array
            )
    return frame
