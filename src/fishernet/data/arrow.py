"""Tables as Arrow holds them: columns of states dictionary-encoded, their states the dictionary; numbers as float64.

Arrow dictionaries have one type, Parquet keeps them for text only, and neither knows cuts. So each field of a frame
that we make also carries its variable as JSON, under `VARIABLE`; where a field has it, it is what the column means.
Through other libraries (pandas, polars) it is lost, and the dictionary alone speaks.

Data frames as cells: pandas, polars and pyarrow frames, and mappings from names to columns.

Frames come through narwhals, so none of these libraries is needed to be installed. Every column is brought to Arrow;
what Arrow has no type for (a column of both text and numbers) is read value by value.
"""

from __future__ import annotations

import datetime
import decimal
import json
import math
import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import Table as ArrowTable

from fishernet.base.errors import SchemaError, warn
from fishernet.base.fields import is_unicode
from fishernet.base.names import all_different, check_names, listed, require_str, several, told_of_renamed
from fishernet.data.encoding.cells import Block, Cells, Columns, NumberCells, SourceColumn, dictionary_cells
from fishernet.data.encoding.dates import PER_SECOND, counted, in_arrow, unit_of
from fishernet.data.encoding.labels import INTEGER, as_text, typed
from fishernet.data.encoding.scales import Scale
from fishernet.data.options import Options
from fishernet.data.originals import Written, are_bytes, is_index, written_as
from fishernet.data.variable import Column, Continuous, State, Variable, label_array

VARIABLE = b"fishernet.variable"
WEIGHTS = b"fishernet.weights"

# ----------------------------------------------------------------------------------------------- Arrow to cells


def chosen_names(schema: pa.Schema, options: Options) -> list[str]:
    """Return which columns are needed: those that the options ask for, and one that is marked as the weights.

    Columns that hold the index of a pandas frame, or of a text file, are left out.
    """
    hidden = pandas_index(schema) | {field.name for field in schema if is_index(field)}
    chosen = set(options.choose([name for name in schema.names if name not in hidden]))
    return [field.name for field in schema if field.name in chosen or _is_weights(field, options)]


def pandas_index(schema: pa.Schema) -> set[str]:
    """Return the columns that hold the index of a pandas frame."""
    try:
        written = schema.pandas_metadata
        index = [] if written is None else written.get("index_columns", [])
        return {name for name in index if isinstance(name, str)}
    except (ValueError, TypeError, AttributeError, RecursionError):  # no JSON, or JSON of another form
        raise SchemaError("the metadata that pandas wrote, under 'pandas', are damaged") from None


def _is_weights(field: pa.Field, options: Options) -> bool:
    return WEIGHTS in (field.metadata or {}) and options.takes_marked_weights(field.name)


def columns_of(table: pa.Table, options: Options, undeclared: frozenset[str] = frozenset()) -> Columns:
    """Return the columns of an Arrow table that the options ask for."""
    cells: list[SourceColumn] = []
    for name in chosen_names(table.schema, options):
        field = table.schema.field(name)
        how = written_as(field)
        if how is not None:
            cells.append(_written_cells(name, table.column(name), how, options))
            continue
        column = cells_of(name, table.column(name), options.na_values, declared=False if name in undeclared else None)
        if _is_weights(field, options):
            cells.append(replace(column, is_weights=True))
        else:
            cells.append(_with_variable(column, field.metadata or {}))
    return Columns(cells, table.num_rows)


def _written_cells(name: str, column: pa.ChunkedArray, how: Written, options: Options) -> Cells:
    """Return a column of text as it is written in a text file, whose types are mostly not known yet.

    An empty cell in quotes, as R writes empty text, is a missing one, unless a caller says that it is a state.
    """
    cells = cells_of(name, column, options.na_values if how == "cells" else frozenset(), text=True).coded
    if how in ("cells", "told"):
        empty = cells.labels == ""
        return (
            cells.without(empty)
            if empty.any() and "" in options.na_values and not options.is_state(name, "")
            else cells
        )
    texts = cells.labels.tolist()
    return replace(cells, labels=_declared_labels(texts, how), declared=how == "nominal", text=False)


def _declared_labels(texts: list[str], how: Written) -> npt.NDArray[Any]:
    """Return the labels of an ARFF file in their type."""
    if how == "numeric" and not all(map(INTEGER.fullmatch, texts)):
        return np.array([float(text) + 0.0 for text in texts])
    if how == "string":
        return label_array(texts)
    labels = typed(texts)
    return labels if len(np.unique(labels)) == len(texts) else label_array(texts)


class Damaged(pa.ArrowInvalid):  # type: ignore[misc]
    """A column contradicts itself."""


NO_LABELS = {  # what values of Python's types are, as those of Arrow's
    **dict.fromkeys(("list", "tuple", "set", "ndarray", "Series"), "lists"),
    "dict": "records",
    "bytes": "bytes",
    "complex": "complex numbers",
}


class _NoLabelsError(Exception):
    """Values are neither text nor numbers nor truth values; which they are instead is the message."""


def cells_of(
    name: str, column: pa.ChunkedArray, na_values: frozenset[str], *, declared: bool | None = None, text: bool = False
) -> SourceColumn:
    """Return an Arrow column as cells.

    Raises
    ------
    Damaged
        When what the column says of itself is wrong: an index beyond its dictionary, text that is no UTF-8. Reading it
        unchecked would read memory that is not the column's.
    """
    try:
        _validate(column)
    except pa.ArrowInvalid as error:
        raise Damaged(f"column {name!r} is damaged: {str(error).partition(chr(10))[0]}") from None
    try:
        return _cells_of(name, column, na_values, declared=declared, text=text)
    except _NoLabelsError as error:
        return Cells.of_no_labels(name, len(column), str(error))


def _cells_of(
    name: str, column: pa.ChunkedArray, na_values: frozenset[str], *, declared: bool | None, text: bool
) -> SourceColumn:
    is_dictionary = pa.types.is_dictionary(column.type)
    kind = column.type.value_type if is_dictionary else column.type
    if is_dictionary and unit_of(kind) is not None:
        column, is_dictionary = column.cast(kind), False
    if not is_dictionary:
        unit = unit_of(kind)
        if unit is not None:
            times = NumberCells(name, counted(column), declared=True, unit=unit)
            return times.in_unit("days") if unit == "seconds" and kind.tz is None and times.are_days() else times
        column = _encodable(column, kind)
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            return NumberCells(name, column)
        column = column.dictionary_encode()
    is_declared = (is_dictionary and not text) if declared is None else declared
    cells = dictionary_cells(name, _with_known_labels(column), declared=is_declared, text=text)
    absent = _absent(cells.labels, frozenset() if is_declared else na_values)
    return cells.without(absent) if absent.any() else cells


def _validate(column: pa.ChunkedArray) -> None:
    """Raise ArrowInvalid where a column contradicts itself; of many indices of few labels faster than Arrow does."""
    if not pa.types.is_dictionary(column.type):
        column.validate(full=True)
        return
    column.validate()
    for chunk in column.chunks:
        chunk.dictionary.validate(full=True)
        low, high = pc.min_max(chunk.indices).as_py().values()
        if low is not None and not 0 <= low <= high < len(chunk.dictionary):
            raise pa.ArrowInvalid(f"an index of {low if low < 0 else high} into {len(chunk.dictionary)} labels")


def _with_known_labels(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a dictionary-encoded column whose labels are of one of the types that we take."""
    kind = column.type.value_type
    known = _encodable(pa.array([], kind), kind).type
    if known == kind:
        return column
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices, _encodable(chunk.dictionary, kind)) for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, type=pa.dictionary(column.type.index_type, known))


def _encodable(values: Any, kind: pa.DataType) -> Any:
    """Return values in one of the types whose labels we take; bytes are text if they are UTF-8."""
    types = pa.types
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_string(kind) or types.is_large_string(kind):
        return values
    if types.is_floating(kind):
        return values.cast(pa.float64())
    if types.is_decimal(kind):
        return values.cast(pa.float64())
    if types.is_duration(kind):
        return pc.divide(values.cast(pa.duration("us")).cast(pa.int64()).cast(pa.float64()), float(PER_SECOND))
    if types.is_null(kind) or types.is_string_view(kind):
        return values.cast(pa.large_string())
    if are_bytes(kind):
        with suppress(pa.ArrowInvalid):
            return values.cast(pa.large_binary()).cast(pa.large_string())
        raise _NoLabelsError("bytes")
    if types.is_nested(kind):
        raise _NoLabelsError("records" if types.is_struct(kind) else "lists")
    raise _NoLabelsError(f"values of type {kind}")


def _absent(labels: npt.NDArray[Any], na_values: frozenset[str]) -> npt.NDArray[np.bool_]:
    if labels.dtype.kind == "f":
        absent: npt.NDArray[np.bool_] = np.isnan(labels)
        return absent
    if labels.dtype.kind == "O" and na_values:
        return np.array([label in na_values for label in labels], dtype=bool)
    return np.zeros(len(labels), dtype=bool)


def _with_variable(column: SourceColumn, metadata: dict[bytes, bytes]) -> SourceColumn:
    """Return the cells as the variable says that the field carries, if it does."""
    if VARIABLE not in metadata:
        return column
    variable = variable_from(column.name, metadata[VARIABLE])
    if variable.is_continuous:
        return column.as_continuous().in_unit(variable.unit)
    cells = column.coded
    codes = {value: code for code, value in enumerate(_dictionary(variable))}
    n_states = variable.cardinality
    found = [codes.get(label) for label in cells.labels.tolist()]
    strange = np.array([code is None for code in found], dtype=bool)
    if strange.any() and cells.marked(strange).any():
        label = cells.labels.tolist()[int(cells.positions()[int(np.argmax(cells.marked(strange)))])]
        raise SchemaError(
            f"column {cells.name!r} holds {label!r}, and its metadata declare the states {listed(variable.states)}; "
            "if the column was changed, remove the field's metadata"
        )
    numbering = np.array([n_states if code is None else code for code in found] + [n_states], dtype=np.int64)
    blocks = [Block(block.indices, numbering[block.positions], block.has_nulls) for block in cells.blocks]
    more: dict[str, Any] = {"cuts": variable.cuts, "bounds": variable.bounds, "unit": variable.unit}
    return Cells(cells.name, label_array(variable.states), blocks, declared=True, **more)


_NO_VARIABLE = f"its metadata {VARIABLE.decode()!r} describe no variable"


def variable_from(name: str, text: str | bytes) -> Column:
    """Return the variable that JSON metadata describe."""
    try:
        content = json.loads(text)
        if content.get("continuous") is True:
            scale = content.get("scale")
            of = None if scale is None else Scale(scale[0], tuple(scale[1:]))
            return Continuous(name, content.get("unit"), of, content.get("resolution"))
        states, cuts, bounds = content["states"], content.get("cuts"), content.get("bounds")
        if not isinstance(states, list) or not isinstance(cuts, list | None):
            raise TypeError
        return Variable(name, states, cuts, bounds, content.get("unit"))
    except SchemaError as error:
        raise SchemaError(f"column {name!r}: {_NO_VARIABLE} ({error})") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise SchemaError(f"column {name!r}: {_NO_VARIABLE}") from None


# ----------------------------------------------------------------------------------------------- codes to Arrow


def table_of(
    variables: Sequence[Column],
    columns: Sequence[npt.NDArray[Any]],
    n_rows: int,
    weights: npt.NDArray[np.int64] | npt.NDArray[np.float64] | None,
    weights_name: str,
) -> pa.Table:
    """Return columns as an Arrow table: codes dictionary-encoded, numbers float64, missing cells null."""
    require_text(variable.name for variable in variables)
    fields, arrays = [], []
    for variable, column in zip(variables, columns, strict=True):
        content, array = _described(variable, column)
        fields.append(pa.field(variable.name, array.type, metadata={VARIABLE: json.dumps(content).encode()}))
        arrays.append(array)
    if weights is not None:
        name = free_name(weights_name, [variable.name for variable in variables])
        arrays.append(pa.array(weights))
        fields.append(pa.field(name, arrays[-1].type, nullable=False, metadata={WEIGHTS: b"true"}))
    if not fields:
        return pa.table({"row": pa.nulls(n_rows)}).select([])  # keeps the number of rows
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def require_text(names: Iterable[str]) -> None:
    """Raise SchemaError when a column's name is no Unicode text, which neither Arrow nor pandas nor polars takes."""
    for name in names:
        if not name.isascii() and not is_unicode(name):
            raise SchemaError(f"the column name {name!r} is no valid Unicode text; rename the column")


def free_name(weights: str, names: Sequence[str]) -> str:
    """Return the name of the weights' column; SchemaError when a variable has it."""
    if weights in names:
        raise SchemaError(f"there is a variable {weights!r}; give the weights another name", parameter="weights")
    return weights


def _described(variable: Column, column: npt.NDArray[Any]) -> tuple[dict[str, Any], pa.Array]:
    """Return what a column's metadata say, and the column."""
    content = variable_fields(variable)
    if not variable.is_continuous:
        return content, dictionary_array(variable, column)
    return content, in_arrow(column, variable.unit)


def variable_fields(variable: Column) -> dict[str, Any]:
    """Return what a variable is, but for its name, as JSON holds it; `variable_from` reads it."""
    found: dict[str, Any] = {"unit": variable.unit}
    if variable.is_continuous:
        scale = None if variable.scale is None else [variable.scale.kind, *variable.scale.parameters]
        found = {"continuous": True, **found, "scale": scale, "resolution": variable.resolution}
    else:
        found = {"states": variable.states, "cuts": variable.cuts, "bounds": variable.bounds, **found}
    return {word: value for word, value in found.items() if value is not None}


def dictionary_array(variable: Variable, column: npt.NDArray[np.unsignedinteger[Any]]) -> pa.DictionaryArray:
    """Return one column of codes as an Arrow dictionary array; missing cells are null."""
    mask = column == variable.cardinality
    kind = np.min_scalar_type(-variable.cardinality - 1)
    indices = pa.array(column.astype(kind), mask=mask if mask.any() else None)
    try:
        dictionary = pa.array(_dictionary(variable))
    except UnicodeEncodeError:
        raise SchemaError(f"variable {variable.name!r} has a state that is no valid Unicode text") from None
    return pa.DictionaryArray.from_arrays(indices, dictionary)


def _dictionary(variable: Variable) -> Sequence[State]:
    """Return the states in one type: as they are, as floats where they mix with integers, else as text."""
    states = variable.states
    kinds = {type(state) for state in states}
    if kinds in ({str}, {bool}, {float}) or (kinds == {int} and max(map(abs, states)) < 2**63):  # type: ignore[arg-type]
        return states
    if kinds == {int, float} and all(abs(state) <= 2**53 for state in states):  # type: ignore[arg-type]
        return [float(state) for state in states]
    texts = [as_text(state) for state in states]
    codes = {text: code for code, text in enumerate(texts)}
    for code, text in enumerate(texts):
        if codes[text] != code:
            raise SchemaError(
                f"variable {variable.name!r}: the states {states[code]!r} and {states[codes[text]]!r} look the "
                "same as text, and a column has one type; rename one"
            )
    return texts


def is_text(kind: pa.DataType) -> bool:
    """Whether an Arrow type is text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


NO_ARROW_TYPE = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, UnicodeEncodeError)


def frame_columns(frame: Any, options: Options) -> Columns:
    """Return the columns of a data frame that the options ask for."""
    if isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    try:
        if isinstance(frame, ArrowTable):
            return columns_of(frame, options)
        return _mapping_columns(frame, options) if isinstance(frame, Mapping) else _narwhals_columns(frame, options)
    except Damaged as error:
        raise SchemaError(str(error)) from None


# ------------------------------------------------------------------------------------------- pandas, polars, ...


def _narwhals_columns(frame: Any, options: Options) -> Columns:
    import narwhals.stable.v2 as nw

    if hasattr(frame, "set_axis") and hasattr(frame, "columns"):  # pandas takes any names, and one several times
        names = list(frame.columns)
        if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            called = [_text_name(name) for name in names]
            require_str(called)
            found, changed = all_different(called)
            if changed:
                warn(told_of_renamed(changed), parameter="exclude")
            frame = frame.set_axis(found, axis=1)
    try:
        eager = nw.from_native(frame, eager_only=True)
    except TypeError:
        table = streamed(frame)
        if table is not None:
            return columns_of(table, options)
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


def streamed(frame: Any) -> pa.Table | None:
    """Return a dataset, or what speaks Arrow's interface for streams, as a table; None where it is neither."""
    try:
        if hasattr(frame, "__arrow_c_stream__"):
            return pa.table(frame)
        return frame.to_table() if hasattr(frame, "to_table") else None
    except pa.ArrowInvalid:  # a series
        return None


def _series_cells(name: str, series: Any, options: Options) -> SourceColumn:
    """Return a narwhals series as cells."""
    import narwhals.stable.v2 as nw

    is_categorical = series.dtype in (nw.Categorical, nw.Enum)
    # a polars Categorical declares no states: which ones it knows depends on the other frames of the process
    declared = is_categorical and (series.dtype == nw.Enum or not series.implementation.is_polars())
    if series.dtype != nw.Object:
        try:
            array = series.to_arrow()
            column = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
            if isinstance(getattr(column.type, "value_type", column.type), pa.ExtensionType):
                raise pa.ArrowTypeError  # a type of pandas' own, as of intervals
            cells = cells_of(name, column, options.na_values, declared=declared)
            if is_categorical and not declared:  # older versions of polars hand over more labels than occur
                return cells.coded.without(cells.coded.counts() == 0)
            return cells
        except Damaged:  # which its library cannot read either
            raise
        except NO_ARROW_TYPE:
            pass
    if declared:
        return object_cells(name, series.to_list(), options.na_values, series.cat.get_categories().to_list())
    values = series.to_list()
    known = next((value for value in values if value is not None), None)
    if isinstance(known, datetime.date | datetime.time | decimal.Decimal):  # which pandas keeps as objects
        return _sequence_cells(name, values, options)
    return object_cells(name, values, options.na_values)


# -------------------------------------------------------------------------------------------- mappings of columns


def _text_name(name: Any) -> Any:
    """Return a number, a date or several levels that name a column as text; other names as they are."""
    if isinstance(name, tuple):
        return "_".join(str(_text_name(level)) for level in name if level != "")
    is_named = isinstance(name, int | float | np.number | datetime.date) and name == name
    return str(name) if is_named and not isinstance(name, bool) else name


def _mapping_columns(frame: Mapping[Any, Any], options: Options) -> Columns:
    names = [_text_name(name) for name in frame]
    chosen = options.choose(names)
    frame = dict(zip(names, frame.values(), strict=True))
    cells = [_column_cells(name, frame[name], options) for name in chosen]
    lengths = {column.name: column.n_rows for column in cells}
    n_rows = next(iter(lengths.values()), 0)
    for name, length in lengths.items():
        if length != n_rows:
            raise SchemaError(f"column {name!r} has {several(length, 'row')}, and column {chosen[0]!r} has {n_rows:,}")
    return Columns(cells, n_rows)


def _column_cells(name: str, values: Any, options: Options) -> SourceColumn:
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


def _sequence_cells(name: str, values: Any, options: Options) -> SourceColumn:
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
    """Return a column of values of any types as cells."""
    known: dict[tuple[bool, State], int] = {}
    absent = frozenset() if categories is not None else na_values
    try:
        for category in categories or ():
            value = _plain(category)
            known.setdefault((isinstance(value, bool), value), len(known))
        plain = [_plain(cell) for cell in values]
    except _NoLabelsError as error:
        return Cells.of_no_labels(name, len(values), str(error))
    indices = np.empty(len(values), dtype=np.int64)
    for row, value in enumerate(plain):
        missing = value is None or (isinstance(value, str) and value in absent)
        indices[row] = -1 if missing else known.setdefault((isinstance(value, bool), value), len(known))
    n_labels = len(known)
    has_nulls = bool((indices < 0).any())
    indices[indices < 0] = n_labels
    labels = label_array([value for _, value in known])
    return Cells(name, labels, [Block(indices, np.arange(n_labels + 1), has_nulls)], declared=categories is not None)


def _plain(cell: Any) -> Any:
    """Return a cell as a str, int, float or bool; None for a missing one."""
    value = cell.item() if isinstance(cell, np.generic) else cell
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, float) and math.isnan(value):
        return None
    if type(value).__name__ in ("Interval", "Period"):  # of pandas
        return str(value)
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, bytes):
        with suppress(UnicodeDecodeError):
            return value.decode()
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta | uuid.UUID):
        return str(value)
    if not isinstance(value, str | int | float):
        name = type(value).__name__
        raise _NoLabelsError(NO_LABELS.get(name, f"values of type {name}"))
    return value
