"""Rows as they stand in their file: every column, with the text of its cells.

A frame of them is an Arrow table. The columns of a text file are dictionary-encoded text, marked as such, so that a
text file holds again what was read (``007``, ``1.50``), and a Parquet or Arrow file numbers, dates and truth values
where a column is of these. Missing cells are null, but for words that a text file has for them (``NA``, ``?``): these
stay, and the column's mark says which they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from fishernet.base.names import unused_name
from fishernet.data.encoding.dates import in_arrow, parsed
from fishernet.data.encoding.labels import as_text, typed
from fishernet.data.variable import Column

Codes = npt.NDArray[np.unsignedinteger[Any]]

TEXT = b"fishernet.text"
INDEX = b"fishernet.index"
WORDS = b"fishernet.missing"
Written = Literal["cells", "told", "nominal", "numeric", "string"]
"""What the text of a column is: cells of any type, such whose missing ones are null, or what an ARFF file declares."""


def written_field(name: str, how: Written, *, is_index: bool = False) -> pa.Field:
    """Return the field of a column of text as it is written, marked as such, and as an index where it is one."""
    marks = {TEXT: how.encode(), **({INDEX: b"true"} if is_index else {})}
    return pa.field(name, pa.dictionary(pa.int32(), pa.utf8()), metadata=marks)


def written_as(field: pa.Field) -> Written | None:
    """Return what the text of a column is; None of a column that is not of a text file."""
    mark = (field.metadata or {}).get(TEXT)
    return None if mark is None else mark.decode()


def is_index(field: pa.Field) -> bool:
    """Whether a column only numbers the rows."""
    return INDEX in (field.metadata or {})


def marked(frame: pa.Table, na_values: frozenset[str]) -> pa.Table:
    """Return a frame in which the words of text files for missing cells are marked as such, and empty cells null.

    The words stay as they are written, so that a text file holds them again; `with_nulls` takes them out.
    """
    for place, field in enumerate(frame.schema):
        if written_as(field) == "cells" and na_values:
            column = _without(frame.column(place), frozenset([""]) & na_values)
            frame = frame.set_column(place, _with_words(field, na_values - {""}), column)
    return frame


def spelled(frame: pa.Table, told: pa.Table) -> pa.Table:
    """Return a frame with the words for missing cells that a file with quotes has, from its columns as they are told.

    A word that is also a label, in quotes, is not put in: the cell stays null.
    """
    for name in told.column_names:
        place = frame.column_names.index(name)
        column, texts = frame.column(place), told.column(name)
        words = pc.unique(texts_of(texts).filter(column.is_null()))
        words = frozenset(words.to_pylist()) - {None, ""} - set(pc.unique(texts_of(column)).to_pylist())
        if words:
            plain = texts_of(texts)
            put = pc.and_(column.is_null(), pc.is_in(plain, pa.array(sorted(words), plain.type)))
            whole = pc.if_else(put, plain, texts_of(column)).dictionary_encode()
            frame = frame.set_column(place, _with_words(frame.schema.field(place), words).with_type(whole.type), whole)
    return frame


def missing_words(field: pa.Field) -> frozenset[str]:
    """Return the words that mean a missing cell in a column of text."""
    return frozenset(json.loads((field.metadata or {}).get(WORDS, b"[]")))


def with_nulls(frame: pa.Table) -> pa.Table:
    """Return a frame in which the cells with words for missing ones are null."""
    for place, field in enumerate(frame.schema):
        if words := missing_words(field):
            frame = frame.set_column(place, _with_words(field, frozenset()), _without(frame.column(place), words))
    return frame


def _with_words(field: pa.Field, words: frozenset[str]) -> pa.Field:
    others = {key: value for key, value in (field.metadata or {}).items() if key != WORDS}
    return field.with_metadata(others | ({WORDS: json.dumps(sorted(words)).encode()} if words else {}))


def _without(column: pa.ChunkedArray, words: frozenset[str]) -> pa.ChunkedArray:
    """Return a dictionary-encoded column in which some words are null."""
    if not words:
        return column
    among = pa.array(sorted(words), column.type.value_type)
    chunks = [
        pa.DictionaryArray.from_arrays(
            pc.if_else(pc.fill_null(pc.is_in(chunk.indices, _where(chunk, among)), False), None, chunk.indices),
            chunk.dictionary,
        )
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, column.type)


def _where(chunk: pa.DictionaryArray, words: pa.Array) -> pa.Array:
    """Return the indices of some words in the dictionary of a column."""
    return pc.indices_nonzero(pc.is_in(chunk.dictionary, words)).cast(chunk.indices.type)


def typed_frame(frame: pa.Table) -> pa.Table:
    """Return a frame with the text of text files as what it means: numbers, truth values, dates, or text."""
    frame = with_nulls(frame)
    for place, field in enumerate(frame.schema):
        if written_as(field):
            column = (
                texts_of(frame.column(place)).dictionary_encode().unify_dictionaries()
            )  # without texts that no cell has
            texts = column.chunk(0).dictionary if column.num_chunks else pa.array([], pa.large_string())
            values = _typed_array(texts.to_pylist())
            chunks = [values.take(chunk.indices) for chunk in column.chunks]
            frame = frame.set_column(place, field.name, pa.chunked_array(chunks, values.type))
    return frame


def sheet_columns(frame: pa.Table) -> list[list[Any]]:
    """Return a frame's columns as cells of a sheet, each of its own type, and with the words for missing ones.

    A column of numbers in which some cells hold words has numbers and words, as in a sheet.
    """
    found = []
    for field, column, typed_column in zip(frame.schema, frame.columns, typed_frame(frame).columns, strict=True):
        as_text = pa.types.is_nested(field.type) or are_bytes(field.type)  # of which a sheet has no cells
        cells = (texts_of(column) if as_text else typed_column).to_pylist()
        if written_as(field):
            if pa.types.is_string(typed_column.type) or pa.types.is_large_string(typed_column.type):
                cells = _numbers_beside_words(cells)
            if missing_words(field):
                texts = texts_of(column).to_pylist()
                cells = [text if cell is None else cell for cell, text in zip(cells, texts, strict=True)]
        found.append(cells)
    return found


def _numbers_beside_words(texts: list[str | None]) -> list[Any]:
    """Return texts, with numbers for those that are numbers where each of the others is a word without a digit."""
    words = {text for text in texts if text is not None}
    numbers = {text: number for text in words if (number := _number(text)) is not None}
    if any(character.isdigit() for text in words - numbers.keys() for character in text):
        return list(texts)  # codes
    return [numbers.get(text, text) if text is not None else None for text in texts]


def _number(text: str) -> int | float | None:
    """Return the number that a text is written as; None of any other, such as one with zeros before it."""
    try:
        number = float(text)
    except ValueError:
        return None
    whole: int | float = int(number) if number.is_integer() and abs(number) < 2**53 else number
    return whole if str(whole) == text else None


def _typed_array(texts: list[str]) -> pa.Array:
    dates = parsed(texts) if texts else None
    if dates is not None:
        return in_arrow(*dates)
    try:
        return pa.array(typed(texts).tolist() if texts else texts, None if texts else pa.large_string())
    except (pa.ArrowInvalid, OverflowError):  # integers of any size
        return pa.array(texts, pa.large_string())


_as_json = partial(json.dumps, ensure_ascii=False, default=str)


def _each(column: pa.ChunkedArray, write: Callable[[Any], str]) -> pa.ChunkedArray:
    texts = [None if cell is None else write(cell) for cell in column.to_pylist()]
    return pa.chunked_array([pa.array(texts, pa.large_string())])


def are_bytes(kind: pa.DataType) -> bool:
    """Return whether cells of a type are bytes."""
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind))


def texts_of(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column as text, lists and records as JSON, bytes that are no UTF-8 as hexadecimal digits; null stays."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    if pa.types.is_nested(kind):
        return _each(column, _as_json)
    if are_bytes(kind):
        try:
            return pc.cast(column, pa.large_binary()).cast(pa.large_string())
        except pa.ArrowInvalid:
            return _each(column, bytes.hex)
    return column if pa.types.is_large_string(column.type) else pc.cast(column, pa.large_string())


def shown_cells(frame: pa.Table, row: int) -> dict[str, str | None]:
    """Return the cells of one row as text, by column; None where one is missing, or is of a type that text lacks."""
    found: dict[str, str | None] = {}
    frame = with_nulls(frame.slice(row, 1))
    for name in frame.column_names:
        try:
            found[name] = texts_of(frame.column(name))[0].as_py()
        except pa.ArrowNotImplementedError:
            found[name] = None
    return found


def filled(
    frame: pa.Table, variable: Column, cells: npt.NDArray[Any], missing: npt.NDArray[np.bool_], name: str | None = None
) -> pa.Table:
    """Return a frame in which some cells of a variable's column are filled, by codes or numbers; the others stay.

    The column has the variable's name, or that which is given.

    The column keeps its type where that can hold what is filled in: whole numbers become numbers with fractions, and
    numbers or dates among which bins come become text.
    """
    place = frame.column_names.index(name or variable.name)
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
    if written_as(field):
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
