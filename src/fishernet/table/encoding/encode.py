"""From columns of labels to variables and codes.

Without a schema a column's states are the labels that occur in it, sorted, or those it declares; a numeric column may
be cut into bins. With a schema the labels are looked up in the states of the given variables, and nothing is guessed.
Missing cells are dealt with first, so ``missing="drop"`` gives what a source without those rows would.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.errors import MissingValueError, SchemaError
from fishernet.table.encoding.bins import BINNINGS, interval_labels
from fishernet.table.encoding.cells import Cells, Columns
from fishernet.table.encoding.labels import is_numeric, numbers_of, sorted_states, value_of
from fishernet.table.encoding.options import Options
from fishernet.table.recode import unknown_state
from fishernet.table.variable import Variable, code_dtype, counted, fresh_missing_state, listed

Codes = npt.NDArray[np.unsignedinteger[Any]]
Weights = npt.NDArray[np.int64] | None
Coding = tuple[Variable, npt.NDArray[np.int64]]  # a variable, and the code of each label of a column

MOST_NUMBERS = 256  # distinct numbers that are taken for states without being asked
UNKNOWN = -1


@dataclass(frozen=True)
class Encoded:
    """What a `Table` is made of."""

    variables: list[Variable]
    columns: list[Codes]
    weights: Weights
    n_rows: int


@dataclass(frozen=True)
class Rows:
    """The columns of the variables, once it is known which rows stay.

    Attributes
    ----------
    cells : list of Cells
    weights : (n_rows,) int64, or None
    n_rows : int
    missing : dict
        The number of missing cells that each column had, by name.
    kept : (n_source_rows,) array of bool, or None
        Which rows of the source these are; None for all.
    """

    cells: list[Cells]
    weights: Weights
    n_rows: int
    missing: dict[str, int]
    kept: npt.NDArray[np.bool_] | None = None


def encode(source: Columns, options: Options) -> Encoded:
    """Encode the columns of a source.

    Parameters
    ----------
    source : Columns
        All columns that `Options.choose` asked for.
    options : Options

    Raises
    ------
    SchemaError
        When the states of a column cannot be found, or the weights are no counts.
    UnknownStateError
        When a cell holds a label that the schema's variable does not have.
    MissingValueError
        When a cell is missing that must not be.
    """
    cells, weights = _split_weights(source, options)
    rows = _without_incomplete(cells, weights, source.n_rows, options)
    if options.schema is None:
        return _with_found_states(rows, options)
    encoded = _with_schema(rows, options.schema, options)
    if options.missing == "drop" and options.unknown == "missing":
        return _without_missing(encoded)
    return encoded


# ------------------------------------------------------------------------------------------------------ weights


def _split_weights(source: Columns, options: Options) -> tuple[list[Cells], Weights]:
    """Take the column of weights out of the others."""
    names = [options.weights] if options.weights is not None else [c.name for c in source.cells if c.is_weights][:1]
    cells = [column for column in source.cells if column.name not in names]
    found = [_weights(column) for column in source.cells if column.name in names]
    return cells, found[0] if found else None


def _weights(column: Cells) -> npt.NDArray[np.int64]:
    counts = np.array([_count(label) for label in column.labels.tolist()] + [-1], dtype=np.int64)
    weights = column.spread(counts)
    if (weights < 0).any():
        row = int(np.argmax(weights < 0))
        position = int(column.positions()[row])
        held = f"is {column.labels.tolist()[position]!r}" if position < len(column.labels) else "is missing"
        raise SchemaError(
            f"column {column.name!r}, row {row}: a weight must be a count (0, 1, 2, ...); this one {held}"
        )
    return weights


def _count(label: Any) -> int:
    """Return the count that a label is; -1 where it is none."""
    value = value_of(label) if isinstance(label, str) else label
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**62:
        return -1
    return int(value) if value == int(value) else -1


# ------------------------------------------------------------------------------------------------ missing cells


def _without_incomplete(cells: list[Cells], weights: Weights, n_rows: int, options: Options) -> Rows:
    """Count missing cells, and drop or refuse them where that is asked."""
    masks = {column.name: mask for column in cells if (mask := column.missing()) is not None}
    missing = {name: count for name, mask in masks.items() if (count := int(np.count_nonzero(mask)))}
    stateless = [column.name for column in cells if not column.declared or not len(column.labels)]
    empty = [name for name in stateless if missing.get(name) == n_rows]
    if empty and options.schema is None:
        raise SchemaError(
            f"column {listed(empty)} has only missing cells, so no states can be found; leave it out or give a schema"
        )
    if missing and options.missing == "error":
        raise _missing_error(missing, 'missing="drop", "state" or "keep" says what to do with them')
    if not missing or options.missing != "drop":
        return Rows(cells, weights, n_rows, missing)
    kept = ~np.logical_or.reduce([masks[name] for name in missing])
    weights = None if weights is None else weights[kept]
    return Rows([column.kept(kept) for column in cells], weights, int(np.count_nonzero(kept)), missing, kept)


def _without_missing(encoded: Encoded) -> Encoded:
    """Drop the rows with a missing cell."""
    known = np.ones(encoded.n_rows, dtype=bool)
    for variable, column in zip(encoded.variables, encoded.columns, strict=True):
        known &= column < variable.cardinality
    weights = None if encoded.weights is None else encoded.weights[known]
    columns = [column[known] for column in encoded.columns]
    return Encoded(encoded.variables, columns, weights, int(np.count_nonzero(known)))


def _missing_error(missing: dict[str, int], remedy: str) -> MissingValueError:
    return MissingValueError(f"there are missing cells in {counted(missing)}; {remedy}", counts=missing)


# ------------------------------------------------------------------------------------- states found in the labels


def _with_found_states(rows: Rows, options: Options) -> Encoded:
    _refuse_many_numbers(rows.cells, options)
    variables, columns = [], []
    for column in rows.cells:
        if not len(column.labels):
            left = "row without a missing cell" if rows.kept is not None else "row"
            raise SchemaError(f"there is no {left}, so the states of column {column.name!r} are unknown; give a schema")
        variable, codes = _found(column, rows.weights, options)
        fill = variable.cardinality
        if options.missing == "state" and column.name in rows.missing:
            states = (*variable.states, fresh_missing_state(variable.states))
            variable = Variable(variable.name, states, variable.cuts)
        variables.append(variable)
        columns.append(_spread(column, codes, fill, variable))
    return Encoded(variables, columns, rows.weights, rows.n_rows)


def _spread(column: Cells, codes: npt.NDArray[np.int64], fill: int, variable: Variable) -> Codes:
    """Return each cell's code, from that of each label and that of missing cells."""
    return column.spread(np.append(codes, fill).astype(code_dtype(variable.cardinality)))


def _is_plain_number(column: Cells) -> bool:
    """Whether a column holds numbers that are no declared states."""
    return not column.declared and is_numeric(column.typed_labels)


def _refuse_many_numbers(cells: Sequence[Cells], options: Options) -> None:
    """Refuse columns of measurements: states must be few, or be asked for."""
    if isinstance(options.bins, int) and options.bins <= MOST_NUMBERS:
        return
    many = {}
    for column in cells:
        asked = isinstance(options.bins, int) or (isinstance(options.bins, dict) and column.name in options.bins)
        if not asked and len(column.labels) > MOST_NUMBERS and _is_plain_number(column):
            distinct = len(np.unique(column.typed_labels))
            if distinct > MOST_NUMBERS:
                many[column.name] = distinct
    if many:
        raise SchemaError(
            f"too many distinct numbers to be states in {counted(many)}; pass bins, as in bins=5 or bins={{column: 5}}"
        )


def _found(column: Cells, weights: Weights, options: Options) -> Coding:
    """Return the variable that a column's labels make, and each label's code."""
    labels = column.typed_labels
    cut = options.bins.get(column.name) if isinstance(options.bins, dict) else options.bins
    if isinstance(options.bins, dict) and cut is not None and not is_numeric(labels):
        raise _not_numeric(column)
    if cut is not None and (isinstance(options.bins, dict) or _is_plain_number(column)):
        cuts = _cuts(column, weights, cut, options.binning)
        if cuts is not None:
            variable = Variable(column.name, interval_labels(cuts), cuts)
            return variable, variable.bin(numbers_of(labels))
    if column.declared:
        return Variable(column.name, labels.tolist(), column.cuts), np.arange(len(labels))
    states, codes = sorted_states(labels)
    return Variable(column.name, states), codes


def _cuts(column: Cells, weights: Weights, cut: int | tuple[float, ...], binning: str) -> Sequence[float] | None:
    """Return where to cut a numeric column, None where it has no more numbers than bins are wanted."""
    if isinstance(cut, tuple):
        return cut
    counts = column.counts(weights)
    if not counts.any():  # no weights but zero
        counts = column.counts()
    held = counts > 0
    values, inverse = np.unique(numbers_of(column.typed_labels)[held], return_inverse=True)
    if len(values) <= cut:
        return None
    if not np.isfinite(values).all():
        raise SchemaError(
            f"column {column.name!r} holds infinite numbers; give bins its cut points instead of a number"
        )
    sums = np.zeros(len(values), dtype=np.int64)
    np.add.at(sums, inverse, counts[held])
    return BINNINGS[binning](values, sums, cut)


def _not_numeric(column: Cells) -> SchemaError:
    values = numbers_of(column.labels)
    row = int(np.argmax(column.marked(np.isnan(values))))
    label = column.labels.tolist()[int(column.positions()[row])]
    return SchemaError(
        f"column {column.name!r}, row {row}: bins cuts numbers, and {label!r} "
        "is none; if it means a missing cell, add it to na_values"
    )


# ------------------------------------------------------------------------------------ states given by a schema


def _with_schema(rows: Rows, schema: Sequence[Variable], options: Options) -> Encoded:
    cells = {column.name: column for column in rows.cells}
    if options.missing == "state":
        stateless = {v.name: rows.missing[v.name] for v in schema if v.name in rows.missing and v.missing_state is None}
        if stateless:
            raise _missing_error(stateless, "these variables of the schema have no state for them")
    columns = []
    for variable in schema:
        column = cells[variable.name]
        codes = looked_up(column, variable)
        if options.unknown == "error":
            _refuse_unknown(column, variable, codes, rows.kept)
        fill = variable.cardinality
        if options.missing == "state" and variable.missing_state is not None:
            fill = variable.states.index(variable.missing_state)
        codes[codes == UNKNOWN] = fill
        columns.append(_spread(column, codes, fill, variable))
    return Encoded(list(schema), columns, rows.weights, rows.n_rows)


def looked_up(column: Cells, variable: Variable) -> npt.NDArray[np.int64]:
    """Return the code of each label, UNKNOWN for one that the variable does not have.

    Numbers are binned where the variable has cuts. Otherwise a label is looked up as it is, and text that is no state
    as the number or truth value it stands for.
    """
    if variable.cuts is not None and column.cuts is None:
        typed = column.typed_labels
        numbers = numbers_of(typed if is_numeric(typed) else column.labels)
        codes = variable.bin(numbers)
        rest = np.flatnonzero(np.isnan(numbers))
        codes[rest] = [_code(variable, label) for label in column.labels[rest].tolist()]
        return codes
    return np.array([_code(variable, label) for label in column.labels.tolist()], dtype=np.int64)


def _code(variable: Variable, label: Any) -> int:
    code = variable.code(label)
    if code is None and isinstance(label, str):
        value = value_of(label)
        code = None if value is None else variable.code(value)
    return UNKNOWN if code is None else code


def _refuse_unknown(
    column: Cells, variable: Variable, codes: npt.NDArray[np.int64], kept: npt.NDArray[np.bool_] | None
) -> None:
    strange = codes == UNKNOWN
    hits = column.marked(strange) if strange.any() else strange
    if hits.any():
        row = int(np.argmax(hits))
        label = column.labels.tolist()[int(column.positions()[row])]
        where = row if kept is None else int(np.flatnonzero(kept)[row])
        raise unknown_state(variable, label, where, '; unknown="missing" takes such cells for missing')
