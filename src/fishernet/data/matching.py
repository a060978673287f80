"""How data meet a model or a learner: columns by name and labels by value, a bare array by position.

A `Table` or a data frame of any library is matched by its columns' names and the labels in them, in any order, never by
its shape or type. Only a bare array is read by position: whole numbers as codes of categorical variables, numbers as
they are of continuous ones.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.errors import SchemaError, UnknownStateError
from fishernet.base.names import a, are, check_names, listed, require_str, several, shown
from fishernet.base.vocabulary import UnknownName
from fishernet.data.arrays import as_integers, checked_codes
from fishernet.data.arrow import frame_columns, streamed
from fishernet.data.encoding.cells import SourceColumn
from fishernet.data.numbers import LARGEST, as_float, require_finite
from fishernet.data.options import Options
from fishernet.data.table import Table
from fishernet.data.variable import Column, Continuous, checked_variables, require_continuous

Data = Any  # a Table, a data frame, a mapping from names to columns, or an array
Rows = npt.NDArray[np.float64]

IN_MEMORY = ("iloc", "get_column")  # what frames of pandas and of polars have; their columns are looked at one by one
NAMES = ("column_names", "columns")  # what frames call the names of their columns


def as_table(
    data: Data,
    variables: Sequence[Column],
    *,
    without: Collection[str] = (),
    unknown: UnknownName | None = None,
    complete_for: str | None = None,
) -> Table:
    """Return data as a table of a model's variables.

    Parameters
    ----------
    data : Table, data frame, mapping from names to columns, or (n_rows, n_variables) array
        Columns are found by name and labels by value, in any order; other columns are passed over. What is not found
        so may be there in other signs (``fishernet.data.encoding.alike``), which is told. The columns of an
        array are the variables in their order: codes of categorical ones, numbers of continuous ones.
    variables : sequence of Variable and Continuous
        The model's.
    without : collection of str
        Variables that are not needed: the result lacks them, and so may the data; not so an array, whose column is not
        looked at.
    unknown : {"error", "missing"}, optional
        What a label becomes that a variable does not have; None, an error, where the caller has no such argument.
    complete_for : str, optional
        What needs rows without missing cells, as the message begins; without it cells may be missing.

    Raises
    ------
    SchemaError
        When a column lacks, an array has another shape, or a number is infinite or too large to be squared.
    UnknownStateError
        When a variable does not have a label, naming column, label and first row.
    MissingValueError
        When cells are missing that must not be.
    """
    variables = checked_variables(variables)
    left_out = check.items(without, "without")
    needed = [variable for variable in variables if variable.name not in left_out] if left_out else variables
    try:
        table = _as_needed(data, variables, needed, left_out, "error" if unknown is None else unknown)
    except UnknownStateError as error:
        if unknown is not None:
            raise
        read = "data.conform(model.variables" if is_table(data) else "Table.from_frame(data, schema=model.variables"
        raise UnknownStateError(
            f"{error.fact}; {read}, unknown='missing') is a table in which such cells are missing",
            variable=error.variable,
            label=error.label,
            row=error.row,
        ) from None
    if complete_for is not None:
        table.require_complete(complete_for)
    for variable, column in zip(table.variables, table.codes, strict=True):
        if variable.is_continuous:
            require_finite(variable.name, column, missing=True)
    return table


def _as_needed(
    data: Data,
    variables: tuple[Column, ...],
    needed: Sequence[Column],
    left_out: Collection[str],
    unknown: UnknownName,
) -> Table:
    if is_table(data):
        table = data
        if left_out and not set(table.names).issuperset([variable.name for variable in needed]):
            table = table.select([name for name in table.names if name not in left_out])  # these stand for no other
        return table.conform(needed, unknown=unknown)
    if is_frame(data):
        options = replace(Options.of_frame(schema=needed, unknown=unknown), besides=frozenset(left_out))
        return Table.of_columns(frame_columns(data, options), options)
    _require_array(data)
    return _array_table(data, variables, needed)


def as_rows(data: Data, names: Sequence[str], purpose: str) -> Rows:
    """Return the rows of a model's continuous variables, (n_rows, len(names)) float64, C-contiguous."""
    if is_table(data) or is_frame(data):
        plain = None if is_table(data) else _plain_columns(data, names)
        if plain is not None and _are_finite(plain):
            return np.ascontiguousarray(plain.T)
        return np.ascontiguousarray(
            as_table(data, [Continuous(name) for name in names], complete_for=purpose).numbers.T
        )
    array = _rows_of_array(data, len(names))
    rows = np.array(array, dtype=np.float64, order="C") if array.dtype.kind in "iuf" else None
    if rows is None or not _are_finite(rows):
        rows = np.ascontiguousarray(_number_table(array, names, purpose).numbers.T)
    return rows


def as_numbers(
    data: Data, names: Iterable[str] | None = None, *, purpose: str, remedy: str = "", gaps: bool = False
) -> Table:
    """Return data as a table of continuous columns, without a hole, for a learner of numbers.

    Any column of numbers of a frame is taken; a Table's columns must be continuous. `names` are those of an array's
    columns (otherwise v0, v1, ...), or the columns of others to take, in this order. Messages begin with the purpose,
    and the remedy is what else to do about columns of states. With `gaps`, numbers of a table or a frame may be
    missing; those of a bare array never.
    """
    chosen = _checked_names(names)
    if is_table(data):
        table = data if chosen is None else data.select(chosen)
        require_continuous(table.variables, purpose, remedy)
    elif is_frame(data):
        table = _frame_numbers(data, chosen, purpose, remedy)
    else:
        table = _named_array(check.array(data, "data"), chosen, purpose)
    if not table.variables:
        raise SchemaError("the data have no columns")
    if gaps and table.has_missing:
        for variable, column in zip(table.variables, table.numbers, strict=True):
            require_finite(variable.name, column, missing=True)
        return table
    table.require_complete(purpose)
    _finite(table)
    return table


def as_data(data: Data, purpose: str) -> Table:
    """Return a Table as it is, and a data frame as `Table.from_frame` reads it."""
    if is_table(data):
        return data
    if is_frame(data):
        return Table.from_frame(data)
    raise SchemaError(
        f"{purpose} needs a Table or a data frame, not {type(data).__name__}; fn.read_table reads a file, "
        "fn.Table.from_codes takes an array of codes"
    )


def is_table(data: Data) -> TypeGuard[Table]:
    """Whether data are a table of ours already: all else is looked at column by column."""
    return isinstance(data, Table)


def is_frame(data: Data) -> bool:
    """Whether data are columns with names: a mapping, or a frame of some library."""
    marks = (*NAMES, "__arrow_c_stream__", "to_table")
    # of the class: of a lazy frame they are costly, and a frame's attributes may be its columns
    return isinstance(data, Mapping) or (not is_column(data) and any(hasattr(type(data), mark) for mark in marks))


def is_column(data: Data) -> bool:
    """Whether data are one column: a series of pandas or polars, an Arrow array, or an array with one axis."""
    if isinstance(data, np.ndarray):
        return data.ndim == 1
    return isinstance(data, pa.Array | pa.ChunkedArray) or hasattr(type(data), "dtype")


def listed_items(data: Data) -> list[Any]:
    """Return the items of a list, an array or one column of a frame; SchemaError for a frame or no such thing."""
    if isinstance(data, str | bytes):
        raise SchemaError("a list of strings is needed, not one string; write [string]")
    if is_table(data) or is_frame(data):
        raise SchemaError("a list of strings or one column of a frame is needed, not a frame; write frame[name]")
    if isinstance(data, pa.Array | pa.ChunkedArray):
        return list(data.to_pylist())
    if isinstance(data, np.ndarray) and data.ndim == 1:
        return list(data.tolist())
    if not isinstance(data, Iterable) or getattr(data, "ndim", 1) == 0:
        raise SchemaError(f"a list of strings is needed, not {a(type(data).__name__)}")
    return list(data)


def frame_names(data: Data) -> tuple[str, ...]:
    """Return the names of the columns of a data frame that has some, besides its rows."""
    if isinstance(data, Mapping):
        return tuple(data)
    if hasattr(type(data), "collect_schema"):  # of polars, which warns where a lazy frame is asked otherwise
        return tuple(data.collect_schema().names())
    return tuple(data.column_names if hasattr(type(data), "column_names") else data.columns)


# -------------------------------------------------------------------------------------------------------- arrays


def _require_array(data: Data) -> None:
    """Refuse what is no array at all: nothing, a number, or the path of a file."""
    if data is None or isinstance(data, str | bytes | os.PathLike | int | float):
        raise SchemaError(
            f"a Table, a data frame or an array is needed, not {type(data).__name__}; fn.read_table reads a file"
        )


def _array_table(data: Data, variables: Sequence[Column], needed: Sequence[Column]) -> Table:
    """Return an array of all variables as a table of those that are needed."""
    if not any(variable.is_continuous for variable in variables):
        return _coded(data, variables, needed)
    array = _rows_of_array(data, len(variables))
    at = {variable.name: position for position, variable in enumerate(variables)}
    columns: list[npt.NDArray[Any]] = []
    for variable in needed:
        column = array[:, at[variable.name]]
        if variable.is_continuous:
            columns.append(as_float(variable.name, column))
        else:
            columns.append(checked_codes(as_integers(column, f"codes of {variable.name!r}"), variable))
    return Table.adopt(needed, columns, n_rows=len(array))


def _coded(data: Data, variables: Sequence[Any], needed: Sequence[Column]) -> Table:
    """Return an array of codes as a table; the columns that are not needed may hold anything."""
    if len(needed) == len(variables):
        return Table.from_codes(data, variables)
    codes = np.array(check.array(data, "data"))
    if codes.ndim == 2 and codes.shape[1] == len(variables):
        kept = {variable.name for variable in needed}
        codes[:, [variable.name not in kept for variable in variables]] = 0
    return Table.from_codes(codes, variables).select([variable.name for variable in needed])


def _rows_of_array(data: Data, n_columns: int) -> npt.NDArray[Any]:
    try:
        array = np.asarray(data)
    except (TypeError, ValueError, RecursionError):
        raise SchemaError(f"the rows are no array: {shown(data, 80)}") from None
    if array.shape == (0,):
        array = np.empty((0, n_columns))
    if array.ndim != 2 or array.shape[1] != n_columns:
        raise SchemaError(f"an array of rows must have shape (n, {n_columns}) here, got {array.shape}")
    return array


def _named_array(array: npt.NDArray[Any], names: list[str] | None, purpose: str) -> Table:
    if array.ndim != 2:
        raise SchemaError(f"data must have two axes (rows, columns), got shape {array.shape}")
    of = [f"v{c}" for c in range(array.shape[1])] if names is None else names
    if len(of) != array.shape[1]:
        raise SchemaError(f"{several(len(of), 'name')} for {several(array.shape[1], 'column')}")
    return _number_table(array, of, purpose)


def _number_table(array: npt.NDArray[Any], names: Sequence[str], purpose: str) -> Table:
    """Return an array of numbers as a table, without missing cells."""
    if array.dtype.kind in "iuf":
        values = np.array(array.T, dtype=np.float64, order="C")
    else:
        values = np.array([as_float(name, array[:, c]) for c, name in enumerate(names)]).reshape(len(names), len(array))
    table = _stacked(names, values)
    table.require_complete(purpose)
    _finite(table)
    return table


def _stacked(names: Sequence[str], values: Rows) -> Table:
    """Return a table of continuous columns of which nobody else holds the array, (len(names), n_rows)."""
    values.flags.writeable = False
    return Table.adopt([Continuous(name) for name in names], list(values), n_rows=values.shape[1])


def _are_finite(numbers: Rows) -> bool:
    """Whether all numbers can be squared; NaN cannot."""
    return not numbers.size or bool(numbers.min() >= -LARGEST and numbers.max() <= LARGEST)


def _finite(table: Table) -> Rows:
    """Return the numbers of a table; raise SchemaError when one cannot be squared."""
    numbers = table.numbers
    if not _are_finite(numbers):
        for variable, column in zip(table.variables, numbers, strict=True):
            require_finite(variable.name, column)
    return numbers


# -------------------------------------------------------------------------------------------------------- frames


def _frame_numbers(data: Data, names: list[str] | None, purpose: str, remedy: str) -> Table:
    """Return columns of numbers of a data frame as a table."""
    if not isinstance(data, Mapping) and not any(hasattr(type(data), mark) for mark in NAMES):
        data = streamed(data)
    there = frame_names(data)
    require_str(there)
    absent = [name for name in names or () if name not in there]
    if absent:
        raise SchemaError(f"the frame lacks the column {listed(absent)}; it has {listed(there)}")
    plain = _plain_columns(data, there if names is None else names)
    if plain is not None and len(set(there)) == len(there):
        return _stacked(there if names is None else names, plain)
    columns = {column.name: column for column in frame_columns(data, Options.checked(columns=names)).cells}
    wanted = list(columns) if names is None else names
    _require_numbers([columns[name] for name in wanted], purpose, remedy)
    n_rows = columns[wanted[0]].n_rows if wanted else 0
    values = np.array([columns[name].numbers() for name in wanted], dtype=np.float64).reshape(len(wanted), n_rows)
    return _stacked(wanted, values)


def _plain_columns(data: Data, names: Sequence[str]) -> Rows | None:
    """Return columns of a frame, (len(names), n_rows), by the shortest way; None where one is no plain numbers."""
    if not names or not (isinstance(data, Mapping) or any(hasattr(type(data), mark) for mark in IN_MEMORY)):
        return None
    found: list[npt.NDArray[Any]] = []
    for name in names:
        if name not in data:
            return None
        column = data[name]
        if getattr(getattr(column, "dtype", None), "kind", "f") not in "iuf":  # of pandas; a category is none
            return None
        array = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
        if array.ndim != 1 or array.dtype.kind not in "iuf" or (found and len(array) != len(found[0])):
            return None
        found.append(array)
    return np.array(found, dtype=np.float64, order="C")


def _require_numbers(columns: Sequence[SourceColumn], purpose: str, remedy: str) -> None:
    others = [column.name for column in columns if not column.is_plain_number]
    if others:
        them = "it" if len(others) == 1 else "them"
        raise SchemaError(
            f"{purpose} is for columns of numbers: {are(others, 'column')} not of numbers; leave {them} out, or make "
            "a Table of states of the data" + (f"; {remedy}" if remedy else ""),
            parameter="columns",
        )


def _checked_names(names: Iterable[str] | None) -> list[str] | None:
    if names is None:
        return None
    chosen = list(check.items(names, "names"))
    check_names(chosen)
    if not chosen:
        raise SchemaError("the data have no columns")
    return chosen
