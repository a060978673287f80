"""From columns of labels to variables and codes.

Without a schema a column's states are the labels that occur in it, sorted, or those it declares; a numeric column may
be cut into bins. With a schema the labels are looked up in the states of the given variables, and nothing is guessed.
Missing cells are dealt with first, so ``missing="drop"`` gives what a source without those rows would.

Integers as codes, weights and rows: what a caller passes, checked and in the types that a table stores.

The types of labels, their order, and how they are written.

A text file says nothing of types, so the distinct labels of a column are looked at together:

- all of them integers as Python would write them (``007`` is not, so codes with leading zeros stay text): int;
- otherwise all decimal numbers, as in ``2.50``, ``.5`` or ``1e-3``: float;
- otherwise ``true`` and ``false``, or ``True`` and ``False``: bool (``TRUE`` and ``FALSE``, the labels of many
  networks, stay text);
- otherwise str.

States are sorted, numbers by value, text by code point, truth values before numbers before text where a column mixes
them. So they depend neither on the order of the rows nor on how a file was cut into blocks.

Columns as their sources give them: distinct labels, and which of them each cell holds.

Every source (a text file, a Parquet file, a data frame) is brought into this one form, block by block and without a
copy of what Arrow read. Encoding then decides what the states are, and turns labels into codes with one small look-up
a block.

Looking the labels of one variable up in the states of another.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import MissingValueError, SchemaError, UnknownStateError
from fishernet.base.names import counted, listed
from fishernet.data.options import BINNINGS, Options, interval_labels
from fishernet.data.variable import State, Variable, code_dtype, fresh_missing_state

Codes = npt.NDArray[np.unsignedinteger[Any]]

MOST_GUESSED = 2**24  # states that are made up for one column of codes


def guessed_variable(name: str, column: npt.NDArray[np.integer[Any]]) -> Variable:
    """Return the variable that a column of codes makes: its states are 0 up to the largest code."""
    highest = int(column.max(initial=0))
    if highest >= MOST_GUESSED:
        raise SchemaError(
            f"column {name!r} holds {highest:,}, which would make {highest + 1:,} states; give variables, or labels "
            "through Table.from_frame"
        )
    return Variable(name, range(highest + 1))


def as_integers(values: npt.ArrayLike, what: str) -> npt.NDArray[np.integer[Any]]:
    """Return an array of integers; integer-valued floats are taken too.

    Parameters
    ----------
    values : array
    what : str
        What it holds, as messages begin.

    Raises
    ------
    SchemaError
        When it holds anything else, or its rows have different lengths.
    """
    try:
        array = np.asarray(values)
    except ValueError:
        raise SchemaError(f"{what} must be an array of integers; its rows have different lengths") from None
    if array.dtype.kind in "biu":
        return array.astype(np.uint8) if array.dtype.kind == "b" else array
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind != "f":
        raise SchemaError(f"{what} must be integers, not {array.dtype}; labels go through Table.from_frame")
    whole = array.astype(np.int64) if (np.abs(array) < 2.0**62).all() else None
    if whole is None or not np.array_equal(whole, array):
        raise SchemaError(f"{what} must be integers; there are fractions, infinities or NaN among them")
    return whole


def checked_codes(column: npt.NDArray[np.integer[Any]], variable: Variable) -> Codes:
    """Return one column of codes in the type that its variable needs, as a copy."""
    check_range(column, variable)
    return np.array(column, dtype=code_dtype(variable.cardinality), order="C")


def check_range(column: npt.NDArray[np.integer[Any]], variable: Variable) -> None:
    """Raise SchemaError, naming the first row, when a code is neither a state's nor that of a missing cell."""
    if column.size and (column.min() < 0 or column.max() > variable.cardinality):
        row = int(np.flatnonzero((column < 0) | (column > variable.cardinality))[0])
        raise SchemaError(
            f"column {variable.name!r}, row {row}: the code {column[row]} is not from 0 to {variable.cardinality - 1} "
            f"({variable.cardinality} would mean missing)"
        )


def own_column(variable: Variable, column: Codes, n_rows: int) -> Codes:
    """Return a caller's column as a table keeps it: checked, and a copy that nobody else can write to."""
    copy = np.array(column, order="C")  # first, so that what is checked is what is kept
    codes = checked_column(variable, copy, n_rows)
    check_range(codes, variable)
    return codes


def checked_column(variable: Variable, column: Codes, n_rows: int) -> Codes:
    """Return a column that has the type and length of a table's, contiguous and read-only, without a copy."""
    if column.shape != (n_rows,):
        raise SchemaError(f"column {variable.name!r} has shape {column.shape}, expected ({n_rows},)")
    if column.dtype != code_dtype(variable.cardinality):
        raise SchemaError(
            f"column {variable.name!r} has type {column.dtype}, expected {code_dtype(variable.cardinality)}"
        )
    if not column.flags.c_contiguous:
        column = np.ascontiguousarray(column)
    if column.flags.writeable:
        column = column.view()
        column.flags.writeable = False
    return column


def own_weights(weights: npt.ArrayLike | None) -> npt.NDArray[np.integer[Any]] | None:
    """Return a copy of a caller's weights that nobody else can write to."""
    return None if weights is None else np.array(as_integers(weights, "weights"))


def checked_weights(weights: npt.ArrayLike, n_rows: int) -> npt.NDArray[np.int64]:
    """Return weights as read-only int64, without a copy where they are that already.

    Raises
    ------
    SchemaError
        When they are no counts, not one a row, or so large that their sum could not be held.
    """
    array = as_integers(weights, "weights")
    if array.shape != (n_rows,):
        raise SchemaError(f"weights have shape {array.shape}, expected ({n_rows},)")
    if array.size and array.min() < 0:
        row = int(np.flatnonzero(array < 0)[0])
        raise SchemaError(f"weights must not be negative; row {row} has {array[row]}")
    if array.size and float(array.sum(dtype=np.float64)) >= 2.0**53:
        raise SchemaError("weights sum to 2**53 or more, too many rows to be counted one by one")
    kept = np.ascontiguousarray(array, dtype=np.int64).view()
    kept.flags.writeable = False
    return kept


def row_positions(rows: Any, n_rows: int) -> npt.NDArray[np.intp]:
    """Return the positions, counted from the start, of rows given as an int, integers or a mask.

    Raises
    ------
    SchemaError
        When it is none of these, or a mask of another length.
    IndexError
        When a row lies outside the table.
    """
    array = np.asarray(rows)
    if array.ndim == 0 and array.dtype.kind in "iu":
        array = array.reshape(1)
    if array.size == 0 and array.ndim == 1 and array.dtype.kind != "b":
        array = array.astype(np.intp)
    if array.ndim != 1 or array.dtype.kind not in "biu":
        raise SchemaError(f"rows must be a slice, an int, or one axis of integers or of bool, not {rows!r}")
    if array.dtype.kind == "b":
        if len(array) != n_rows:
            raise SchemaError(f"a mask of {len(array)} rows does not fit a table of {n_rows} rows")
        return np.flatnonzero(array)
    outside = (array < -n_rows) | (array >= n_rows)
    if outside.any():
        raise IndexError(f"row {array[outside][0]} of a table of {n_rows} rows")
    positions: npt.NDArray[np.intp] = np.arange(n_rows)[array]
    return positions


Labels = npt.NDArray[Any]  # distinct labels: integers, float64, bool, or objects (str, large integers, a mixture)

INTEGER = re.compile(r"0|-?[1-9][0-9]{0,999}")
DECIMAL = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
TRUTH_PAIRS = (("true", "false"), ("True", "False"))  # taken for truth values without being asked
TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


def label_array(labels: Sequence[State]) -> Labels:
    """Return labels as an array: of numbers or truth values where all are of that type, else of objects."""
    kinds = set(map(type, labels))
    if kinds == {int} and min(labels) >= -(2**63) and max(labels) < 2**63:  # type: ignore[operator]
        return np.array(labels, dtype=np.int64)
    if kinds in ({float}, {bool}):
        return np.array(labels)
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def typed(texts: Sequence[str]) -> Labels:
    """Return text labels in the type that all of them have.

    Parameters
    ----------
    texts : sequence of str
        Distinct; the result may hold equal numbers for different texts (``1.0`` and ``1.00``).

    Returns
    -------
    (n_labels,) array of int64, float64, bool or object (str, or integers beyond 64 bits)
    """
    if all(map(INTEGER.fullmatch, texts)):
        return label_array([int(text) for text in texts])
    numbers = _decimals(texts)
    if numbers is not None:
        return numbers
    if texts and any(all(text in pair for text in texts) for pair in TRUTH_PAIRS):
        return np.array([TRUTH[text] for text in texts], dtype=bool)
    return label_array(texts)


def _decimals(texts: Sequence[str]) -> npt.NDArray[np.float64] | None:
    try:
        numbers = np.array([float(text) for text in texts], dtype=np.float64)
    except ValueError:
        return None
    if not np.isfinite(numbers).all() or not all(map(DECIMAL.fullmatch, texts)):
        return None
    return numbers + 0.0  # -0.0 becomes 0.0


def value_of(text: str) -> State | None:
    """Return the number or truth value that one text stands for, None where it is neither."""
    if INTEGER.fullmatch(text):
        return int(text)
    if DECIMAL.fullmatch(text):
        number = float(text) + 0.0
        return number if math.isfinite(number) else None
    return TRUTH.get(text)


def as_text(state: State) -> str:
    """Return a state as a text file holds it; numbers keep every digit."""
    if isinstance(state, bool):
        return "true" if state else "false"
    return state if isinstance(state, str) else repr(state)


def is_numeric(labels: Labels) -> bool:
    """Return whether all labels are numbers (truth values are not)."""
    if labels.dtype.kind == "O":
        return all(isinstance(label, int | float) and not isinstance(label, bool) for label in labels)
    return labels.dtype.kind in "iuf"


def numbers_of(labels: Labels) -> npt.NDArray[np.float64]:
    """Return the labels as numbers; NaN for one that is none (a truth value, or text that is no decimal number)."""
    if labels.dtype.kind in "iuf":
        return labels.astype(np.float64)
    return np.array([_number(label) for label in labels.tolist()], dtype=np.float64)


def _number(label: State) -> float:
    value = value_of(label) if isinstance(label, str) else label
    if value is None or isinstance(value, bool | str):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def sorted_states(labels: Labels) -> tuple[list[State], npt.NDArray[np.int64]]:
    """Return the distinct labels in their order, and each label's position among them."""
    if labels.dtype.kind == "O" and len(set(map(type, labels))) > 1:
        plain: list[State] = labels.tolist()
        order = sorted(range(len(plain)), key=lambda i: _rank(plain[i]))
        codes = np.empty(len(labels), dtype=np.int64)
        codes[order] = np.arange(len(labels))
        return [plain[i] for i in order], codes
    states, codes = np.unique(labels, return_inverse=True)
    return states.tolist(), codes.astype(np.int64)


def _rank(label: State) -> tuple[int, State]:
    return (0 if isinstance(label, bool) else 1 if isinstance(label, int | float) else 2, label)


Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True)
class Block:
    """Consecutive cells of a column, with a numbering of labels of their own.

    Attributes
    ----------
    indices : (n,) integers
        Each cell's label, from 0 to k - 1 in the block's numbering; k in a missing cell.
    positions : (k + 1,) int64
        The position of the block's labels among the column's; the number of those for a missing cell, and so last.
    has_nulls : bool
        Whether some of the indices are k.
    """

    indices: npt.NDArray[np.integer[Any]]
    positions: npt.NDArray[np.int64]
    has_nulls: bool


@dataclass(frozen=True)
class Cells:
    """A column before it is encoded.

    Attributes
    ----------
    name : str
        Its name.
    labels : (n_labels,) array
        Its distinct labels.
    blocks : sequence of Block
        Its cells.
    declared : bool
        Whether the labels are declared states, in their order, whether they occur or not.
    text : bool
        Whether the labels are text whose type is not known yet.
    cuts : tuple of float, optional
        The cuts, where the declared states are bins.
    is_weights : bool
        Whether the source marks the column as the table's weights.
    """

    name: str
    labels: Labels
    blocks: Sequence[Block]
    declared: bool = False
    text: bool = False
    cuts: tuple[float, ...] | None = None
    is_weights: bool = False

    @cached_property
    def typed_labels(self) -> Labels:
        """The labels, in the type that all of them have."""
        return typed(self.labels.tolist()) if self.text else self.labels

    def spread(self, values: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
        """Return the value of each cell.

        Parameters
        ----------
        values : (n_labels + 1,) array
            One value a label, and last the one for missing cells.

        Returns
        -------
        (n_rows,) array of the same type
        """
        cells = np.empty(sum(len(block.indices) for block in self.blocks), dtype=values.dtype)
        start = 0
        for block in self.blocks:
            stop = start + len(block.indices)
            values[block.positions].take(block.indices, out=cells[start:stop], mode="clip")
            start = stop
        return cells

    def positions(self) -> npt.NDArray[np.intp]:
        """Return the position of each cell's label, (n_rows,); the number of labels in a missing cell."""
        return self.spread(np.arange(len(self.labels) + 1))

    def marked(self, labels: npt.NDArray[np.bool_], *, missing: bool = False) -> npt.NDArray[np.bool_]:
        """Return which cells hold one of the marked labels (or are missing), (n_rows,) bool."""
        return self.spread(np.append(labels, missing))

    def missing(self) -> npt.NDArray[np.bool_] | None:
        """Return which cells are missing, (n_rows,) bool, or None where none can be."""
        n_labels = len(self.labels)
        if not any(block.has_nulls or n_labels in block.positions[:-1] for block in self.blocks):
            return None
        return self.marked(np.zeros(n_labels, dtype=bool), missing=True)

    def counts(self, weights: npt.NDArray[np.int64] | None = None) -> npt.NDArray[np.int64]:
        """Return how many rows (or what sum of weights) hold each label, (n_labels,) int64."""
        n_labels = len(self.labels)
        if weights is None:
            return np.bincount(self.positions(), minlength=n_labels + 1)[:n_labels]
        sums = np.zeros(n_labels + 1, dtype=np.int64)
        np.add.at(sums, self.positions(), weights)
        return sums[:n_labels]

    def without(self, labels: npt.NDArray[np.bool_]) -> Cells:
        """Return the column with some of its labels turned into missing cells."""
        numbering = np.append(np.cumsum(~labels) - 1, np.count_nonzero(~labels))
        numbering[:-1][labels] = numbering[-1]
        blocks = [replace(block, positions=numbering[block.positions]) for block in self.blocks]
        return replace(self, labels=self.labels[~labels], blocks=blocks)

    def kept(self, rows: npt.NDArray[np.bool_]) -> Cells:
        """Return the column with some of its rows only, as if the others had never been there."""
        positions = self.positions()[rows]
        n_labels = len(self.labels)
        column = replace(self, blocks=[Block(positions, np.arange(n_labels + 1), has_nulls=True)])
        if self.declared:
            return column
        return column.without(np.bincount(positions, minlength=n_labels + 1)[:n_labels] == 0)


@dataclass(frozen=True)
class Columns:
    """What a source holds: columns of equal length."""

    cells: Sequence[Cells]
    n_rows: int


def recode(
    column: npt.NDArray[np.unsignedinteger[Any]], have: Variable, want: Variable
) -> npt.NDArray[np.unsignedinteger[Any]]:
    """Return the codes of a column under another variable with the same labels.

    Parameters
    ----------
    column : (n_rows,) unsigned integers
        Codes of `have`; its cardinality marks a missing cell, which stays missing.
    have, want : Variable
        What the codes mean, and what they shall mean.

    Returns
    -------
    (n_rows,) unsigned integers of `want`'s own type; the same array where the states are equal.

    Raises
    ------
    UnknownStateError
        When a label that occurs is not among the wanted states, naming column, label and first row.
    """
    if have.states == want.states:
        return column
    unknown = want.cardinality + 1
    lookup = [want.code(state) for state in have.states]
    table = np.array([unknown if code is None else code for code in lookup] + [want.cardinality], dtype=np.int64)
    if None in lookup:
        strange = table[column] == unknown
        if strange.any():
            row = int(np.argmax(strange))
            raise unknown_state(want, have.states[column[row]], row)
        table[table == unknown] = 0  # labels that are declared and never occur
    codes: npt.NDArray[np.unsignedinteger[Any]] = table.astype(code_dtype(want.cardinality))[column]
    return codes


def unknown_state(variable: Variable, label: object, row: int, remedy: str = "") -> UnknownStateError:
    """Return the error that says that a variable does not have a label, found first in a row."""
    return UnknownStateError(
        f"column {variable.name!r}, row {row}: the label {label!r} is not among the states {listed(variable.states)}"
        + (_hint(label, variable) or remedy),
        variable=variable.name,
        label=label,
        row=row,
    )


def _hint(label: object, want: Variable) -> str:
    """Say so when the label differs from a state by its type only."""
    for state in want.states:
        if type(state) is not type(label) and str(state) == str(label):
            return (
                f"; there is {state!r} ({type(state).__name__}, not {type(label).__name__}): "
                f"read the table with schema=model.variables, or turn the column into {type(state).__name__}"
            )
    return ""


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
