"""From columns of labels to variables with codes, or numbers.

Without a schema numbers stay numbers, in a continuous column, unless they are few and whole; any other column is
categorical, and its states are the labels that occur in it, sorted, or those it declares. A column of numbers may be
cut into bins. With a schema the labels are looked up in the states of the given variables, and nothing is guessed.
Missing cells are dealt with first, so ``missing="drop"`` gives what a source without those rows would.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base.errors import FishernetWarning, MissingValueError, SchemaError
from fishernet.base.names import are, counted, listed, several
from fishernet.base.remedies import Remedy
from fishernet.data.arrays import Codes, Weights
from fishernet.data.encoding.bins import bins_of_many, bounds_of, cuts_of, in_bins
from fishernet.data.encoding.cells import Block, Cells, Columns, NumberCells, SourceColumn, joined
from fishernet.data.encoding.labels import MOST_STATES, is_numeric, sorted_states, value_of
from fishernet.data.encoding.recode import UNKNOWN, looked_up, refuse_unknown
from fishernet.data.options import Options
from fishernet.data.variable import Column, Continuous, Variable, fresh_missing_state, label_array

Coding = tuple[Variable, npt.NDArray[np.int64]]  # a variable, and the code of each label of a column

MOST_TEXTS = 256  # different ones, which a column of text may have and not be taken for an identifier
LEAST_ROWS = 100  # from which on more different texts than half of the rows make an identifier, too
MOST_SPOILING = 5  # labels that are no numbers, in a column of text that is otherwise one of numbers
WRITTEN = (
    (re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?"), Remedy({"thousands": ","}, "read them")),
    (re.compile(r"[+-]?[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+"), Remedy({"thousands": ".", "decimal": ","}, "read them")),
    (re.compile(r"[+-]?[0-9]+,[0-9]+"), Remedy({"decimal": ","}, "read them")),
)
DROP = Remedy({"missing": "drop"}, "leave out their rows")
WAYS = (
    Remedy({"missing": "keep"}, "keep them and sum them out"),
    DROP,
    Remedy({"missing": "state"}, "treat missing as a state"),
)


@dataclass(frozen=True)
class Decision:
    """What was made of a column, why, and which keywords would make something else of it."""

    name: str
    why: str
    overrule: tuple[str, ...] = ()
    left_out: bool = False


@dataclass(frozen=True)
class Encoded:
    """What a `Table` is made of."""

    variables: list[Column]
    columns: list[npt.NDArray[Any]]
    weights: Weights | None
    n_rows: int
    decisions: tuple[Decision, ...] = ()
    kept: npt.NDArray[np.bool_] | None = None  # which rows of the source these are; None for all


@dataclass(frozen=True)
class Rows:
    """The columns of the variables, once it is known which rows stay.

    Attributes
    ----------
    cells : list of Cells and NumberCells
    weights : (n_rows,) array, or None
    n_rows : int
    missing : dict
        The number of missing cells that each column had, by name.
    kept : (n_source_rows,) array of bool, or None
        Which rows of the source these are; None for all.
    """

    cells: list[SourceColumn]
    weights: Weights | None
    n_rows: int
    missing: dict[str, int]
    kept: npt.NDArray[np.bool_] | None = None


Made = Iterable[npt.NDArray[Any]]  # blocks of a column, one after the other
Keep = Callable[[Column, Made, int], npt.NDArray[Any]]


def in_memory(variable: Column, column: Made, n_rows: int) -> npt.NDArray[Any]:
    """Keep a column in one piece."""
    return joined(column, n_rows, np.dtype(variable.dtype))


def encode(source: Columns, options: Options, keep: Keep = in_memory) -> Encoded:
    """Encode the columns of a source; each goes through `keep` while it is made, and what comes out is kept."""
    cells, weights = split_weights(source, options)
    decisions: list[Decision] = []
    rows = _without_incomplete(chosen_columns(cells, options, decisions), weights, source.n_rows, options)
    if options.schema is None:
        return _with_found_states(rows, options, decisions, keep)
    encoded = _with_schema(rows, options.schema, options, keep)
    if options.missing == "drop" and options.unknown == "missing":
        encoded = _without_missing(encoded)
    return encoded


def chosen_columns(cells: Sequence[SourceColumn], options: Options, decisions: list[Decision]) -> list[SourceColumn]:
    """Return the columns that become variables, text that is dates as such; what is left out joins the decisions."""
    states = {v.name for v in options.schema or () if not v.is_continuous and v.cuts is None} | {*options.categorical}
    dated = [column if column.name in states else column.as_dates() for column in cells]
    if options.schema is not None:
        return dated
    return _without_identifiers(_without_empty(dated, options, decisions), options, decisions)


# ------------------------------------------------------------------------------------------------------ weights


def split_weights(source: Columns, options: Options) -> tuple[list[SourceColumn], Weights | None]:
    """Take the column of weights out of the others."""
    names = [options.weights] if options.weights is not None else [c.name for c in source.cells if c.is_weights][:1]
    cells = [column for column in source.cells if column.name not in names]
    found = [_weights(column.coded) for column in source.cells if column.name in names]
    return cells, found[0] if found else None


def _weights(column: Cells) -> Weights:
    found = [_weight(label) for label in column.labels.tolist()] + [-1]
    counts: npt.NDArray[Any] = np.array(found, dtype=np.int64 if all(isinstance(n, int) for n in found) else np.float64)
    weights: Weights = column.spread(counts)
    if (weights < 0).any():
        row = int(np.argmax(weights < 0))
        position = int(column.positions()[row])
        held = f"is {column.labels.tolist()[position]!r}" if position < len(column.labels) else "is missing"
        raise SchemaError(
            f"column {column.name!r}, row {row}: a weight must be a number, 0 or more; this one {held}",
            parameter="weights",
        )
    return weights


def _weight(label: Any) -> int | float:
    """Return the weight that a label is, an int where it is whole; -1 where it is none."""
    value = value_of(label) if isinstance(label, str) else label
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**62:
        return -1
    return int(value) if value == int(value) else float(value)


# ------------------------------------------------------------------------------------------------ missing cells


def _without_incomplete(cells: list[SourceColumn], weights: Weights | None, n_rows: int, options: Options) -> Rows:
    """Count missing cells, and drop or refuse them where that is asked."""
    missing = missing_cells(cells, n_rows, options)
    if not missing or options.missing != "drop":
        return Rows(cells, weights, n_rows, missing)
    kept = complete_rows(cells, n_rows)
    weights = None if weights is None else weights[kept]
    return Rows([column.kept(kept) for column in cells], weights, int(np.count_nonzero(kept)), missing, kept)


def complete_rows(cells: Sequence[SourceColumn], n_rows: int) -> npt.NDArray[np.bool_]:
    """Return which rows have no missing cell, (n_rows,)."""
    complete = np.ones(n_rows, dtype=bool)
    for column in cells:
        if (absent := column.missing()) is not None:
            complete &= ~absent
    return complete


def missing_cells(cells: Sequence[SourceColumn], n_rows: int, options: Options) -> dict[str, int]:
    """Return the number of missing cells of each column that has some; refuse them where that is asked."""
    missing = {column.name: count for column in cells if (count := column.n_missing)}
    stateless = [column.name for column in cells if not (column.declared and column.has_values)]
    empty = [name for name in stateless if missing.get(name) == n_rows and name not in options.continuous]
    if empty and options.schema is None:
        raise SchemaError(
            f"there are only missing cells in {listed(empty)}, so no states can be found; declare its states, or leave "
            "it out",
            parameter="exclude",
        )
    if missing and options.missing == "error":
        fact = f"there are missing cells in {counted(missing)}"
        raise MissingValueError(fact, counts=missing, parameter="missing", remedies=WAYS)
    return missing


def _without_missing(encoded: Encoded) -> Encoded:
    """Drop the rows with a missing cell."""
    known = np.ones(encoded.n_rows, dtype=bool)
    for variable, column in zip(encoded.variables, encoded.columns, strict=True):
        known &= ~variable.missing(column)
    weights = None if encoded.weights is None else encoded.weights[known]
    columns = [column[known] for column in encoded.columns]
    kept = known
    if encoded.kept is not None:
        kept = encoded.kept.copy()
        kept[kept] = known
    return Encoded(encoded.variables, columns, weights, int(np.count_nonzero(known)), kept=kept)


# ------------------------------------------------------------------------------------------ kinds and states found


def _without_empty(cells: list[SourceColumn], options: Options, decisions: list[Decision]) -> list[SourceColumn]:
    """Leave out columns in which every cell is missing, with a warning; not where no other column is there."""
    said = options.said_of
    empty = [c.name for c in cells if not c.has_values and c.name not in said and c.n_rows and not c.declared]
    if not empty or len(empty) == len(cells):
        return cells
    decisions.extend(Decision(name, "only missing cells", ("continuous",), True) for name in empty)
    message = f"{are(empty, 'column')} left out: there are only missing cells"
    warnings.warn(FishernetWarning(message, parameter="exclude"), stacklevel=5)
    return [column for column in cells if column.name not in empty]


def _without_identifiers(cells: list[SourceColumn], options: Options, decisions: list[Decision]) -> list[SourceColumn]:
    """Leave out columns of text that tell rows apart, as ids, names and titles do, with a warning."""
    kept = []
    found: list[Decision] = []
    said = options.said_of
    for column in cells:
        n_labels = 0 if column.name in said else column.n_texts
        if n_labels > MOST_STATES:
            _warn_of_spoiled_numbers(column.coded)
        n_known = column.n_rows - column.n_missing if n_labels else 0
        if n_labels > MOST_TEXTS or (n_known >= LEAST_ROWS and 2 * n_labels > n_known):
            texts = several(n_labels, "different text")
            why = f"{'' if column.coded.holds_all else 'at least '}{texts} in {several(n_known, 'row')}"
            found.append(Decision(column.name, f"{why}: an identifier", ("categorical",), True))
        else:
            kept.append(column)
    decisions.extend(found)
    if found:
        names = [decision.name for decision in found]
        texts, them = found[0].why.partition(":")[0], "it" if len(names) == 1 else "them"
        what = (
            f"{names[0]!r} is an identifier and is" if len(names) == 1 else f"{listed(names)} are identifiers and are"
        )
        of_first = "" if len(names) == 1 else f"{names[0]!r} holds "
        warnings.warn(
            FishernetWarning(
                f"{what} left out: {of_first}{texts}",
                parameter="categorical",
                remedies=(
                    Remedy({"categorical": names}, f"keep {them}"),
                    Remedy({"exclude": names}, "silence this warning"),
                ),
            ),
            stacklevel=5,
        )
    return kept


def _warn_of_spoiled_numbers(cells: Cells) -> None:
    """Warn where a column of text would be one of numbers but for a few labels, or but for how they are written."""
    strange = np.isnan(cells.label_numbers)
    labels = [label for label, flag in zip(cells.labels.tolist(), strange, strict=True) if flag]
    name = cells.name
    fact = f"its numbers are written as {(labels or cells.labels.tolist() or [''])[0]!r}"
    if written := next((how for form, how in WRITTEN if labels and all(map(form.fullmatch, labels))), None):
        remedies = [written]
    elif not labels and all(label.endswith("%") for label in cells.labels.tolist()):
        remedies = [Remedy({"continuous": [name]}, "read them")]
    elif not 0 < len(labels) <= MOST_SPOILING or cells.n_texts - len(labels) <= MOST_STATES:
        return
    else:
        fact = f"it holds numbers, and {listed(labels)} in {cells.n_marked(strange):,} of its cells"
        remedies = [
            Remedy({"na_values": labels}, f"read {'it' if len(labels) == 1 else 'them'} as missing"),
            Remedy({"categorical": [name]}, "keep the column as text without this warning"),
        ]
    message = f"column {name!r} is taken for text; {fact}"
    warnings.warn(FishernetWarning(message, parameter="na_values", remedies=remedies), stacklevel=6)


def _decision(column: SourceColumn, variable: Column, options: Options) -> Decision:
    """Return why a column is of its kind."""
    name = column.name
    if name in options.categorical or name in options.continuous:
        return Decision(name, "as asked")
    if variable.cuts is not None and not column.declared:
        return Decision(name, "cut into bins, as asked")
    if variable.is_continuous:
        if variable.unit is None and column.n_rows >= LEAST_ROWS and column.is_plain_number and column.counts_rows():
            return Decision(name, "numbers that count the rows: an id?", ("exclude", "bins"))
        kind = "numbers" if variable.unit is None else f"dates, in {variable.unit} since 1970"
        return Decision(name, kind, ("bins", "categorical"))
    if column.declared:
        return Decision(name, "states that the data declare")
    if column.is_plain_number:
        return Decision(name, several(variable.cardinality, "whole number"), ("continuous",))
    kind = "truth values" if all(isinstance(state, bool) for state in variable.states) else "text"
    return Decision(name, kind, ("exclude",))


def _with_found_states(rows: Rows, options: Options, decisions: list[Decision], keep: Keep) -> Encoded:
    dropped = rows.kept is not None
    found = found_columns(rows.cells, rows.weights, rows.missing, options, decisions, dropped=dropped)
    columns: list[npt.NDArray[Any]] = []
    for column, one in zip(rows.cells, found, strict=True):
        if one.variable.is_continuous:
            made: Made = column.number_blocks(kept=rows.kept)
        elif one.codes is None:
            made = _binned(column, one.variable, one.fill)
        else:
            made = _spread(column.coded, one.codes, one.fill, one.variable)
        columns.append(keep(one.variable, made, rows.n_rows))
    return Encoded([one.variable for one in found], columns, rows.weights, rows.n_rows, tuple(decisions), rows.kept)


@dataclass(frozen=True)
class Found:
    """What a column is: its variable, each label's code, and that of missing cells.

    No label has a code where numbers stay so, or go into bins as they come.
    """

    variable: Any
    codes: npt.NDArray[np.int64] | None = None
    fill: int = 0


def found_columns(
    cells: Sequence[SourceColumn],
    weights: Weights | None,
    missing: dict[str, int],
    options: Options,
    decisions: list[Decision],
    *,
    dropped: bool,
) -> list[Found]:
    """Return what columns are, why joins the decisions; `missing` cells they had, `dropped` if with their rows."""
    found = []
    for column in cells:
        if not column.has_values and column.name not in options.continuous:
            left = "row without a missing cell" if dropped else "row"
            raise SchemaError(
                f"there is no {left}, so the states of column {column.name!r} are unknown unless they are declared",
                parameter="schema",
            )
        found.append(_found_column(column, weights, missing, options))
        decisions.append(_decision(column, found[-1].variable, options))
    _refuse_stateless([one.variable for one in found], missing, options)
    return found


def _found_column(column: SourceColumn, weights: Weights | None, missing: dict[str, int], options: Options) -> Found:
    if stays_continuous(column, options):
        return Found(Continuous(column.name, column.unit))
    codes: npt.NDArray[np.int64] | None = None
    variable = None if options.bins is None else bins_of_many(column, weights, options)
    if variable is None:
        variable, codes = found_states(column.coded, weights, options)
    fill = variable.cardinality
    if options.missing == "state" and column.name in missing:
        states = (*variable.states, fresh_missing_state(variable.states))
        variable = Variable(variable.name, states, variable.cuts, variable.bounds, variable.unit)
    return Found(variable, codes, fill)


def stays_continuous(column: SourceColumn, options: Options) -> bool:
    """Return whether a column's cells stay numbers: they are many or no whole numbers, and nothing else is asked."""
    if column.name in options.categorical:
        return False
    asked = column.name in options.continuous
    if options.bins is not None and options.cut(column.name) is not None and (asked or column.is_plain_number):
        return False
    return asked or column.looks_continuous()


def _refuse_stateless(variables: Sequence[Column], missing: dict[str, int], options: Options) -> None:
    """Raise MissingValueError when missing cells of continuous columns should become a state."""
    numbers = {v.name: missing[v.name] for v in variables if v.is_continuous and v.name in missing}
    if numbers and options.missing == "state":
        raise MissingValueError(
            f"there are missing cells in {counted(numbers)}; a continuous column has no states, so cut it into bins",
            counts=numbers,
            parameter="missing",
            remedies=[DROP],
        )


def _spread(column: Cells, codes: npt.NDArray[np.int64], fill: int, variable: Variable) -> Iterator[Codes]:
    """Yield each cell's code, from that of each label and that of missing cells."""
    return column.spread_blocks(np.append(codes, fill).astype(variable.dtype))


def _binned(column: SourceColumn, variable: Variable, fill: int) -> Iterator[Codes]:
    """Yield each cell's code, from the bin that its number is in, and that of missing cells."""
    for numbers in column.number_blocks():
        codes = variable.bin(numbers)
        codes[codes == variable.cardinality] = fill
        yield codes.astype(variable.dtype)


def found_states(column: Cells, weights: Weights | None, options: Options) -> Coding:
    """Return the variable that a column's labels make, and each label's code."""
    labels = column.typed_labels
    cut = None if options.bins is None else options.asked_cut(column.name, numbers=column.is_plain_number)
    if cut is not None:
        if not is_numeric(labels):
            column.refuse_marked(np.isnan(column.label_numbers), None, "bins are cut from numbers")
        cuts = cuts_of(column, weights, cut, options.binning)
        if cuts is not None:
            variable = in_bins(column, cuts, bounds_of([column.label_numbers]))
            return variable, variable.bin(column.label_numbers)
    if column.declared:
        variable = Variable(column.name, labels.tolist(), column.cuts, column.bounds, column.unit)
        return variable, np.arange(len(labels))
    states, codes = sorted_states(labels)
    return Variable(column.name, states), codes


def discretized(
    variable: Column, column: npt.NDArray[Any], weights: Weights | None, options: Options
) -> tuple[Column, Made]:
    """Return a column of a table cut into bins as the options ask: what it is then, and its blocks."""
    if options.cut(variable.name) is None:
        return variable, [column]
    if variable.is_continuous:
        numbers = NumberCells(variable.name, pa.chunked_array([pa.array(column)]), unit=variable.unit)
        found = bins_of_many(numbers, weights, options)
        if found is not None:
            return found, _binned(numbers, found, found.cardinality)
        cells = numbers.coded
    elif options.cuts_by_name(variable.name):
        labels = label_array(variable.states)
        cells = Cells(variable.name, labels, [Block(column, np.arange(len(labels) + 1), has_nulls=True)])
    else:
        return variable, [column]
    if not len(cells.labels):
        return variable, [column]
    found, codes = found_states(cells, weights, options)
    return found, _spread(cells, codes, found.cardinality, found)


# ------------------------------------------------------------------------------------ states given by a schema


def _with_schema(rows: Rows, schema: Sequence[Column], options: Options, keep: Keep) -> Encoded:
    cells = {column.name: column for column in rows.cells}
    if options.missing == "state":
        stateless = {v.name: rows.missing[v.name] for v in schema if v.name in rows.missing and v.missing_state is None}
        if stateless:
            fact = f"there are missing cells in {counted(stateless)}; these variables have no state for them"
            raise MissingValueError(fact, counts=stateless, parameter="missing")
    columns = [
        keep(variable, _as_wanted(cells[variable.name], variable, rows, options), rows.n_rows) for variable in schema
    ]
    return Encoded(list(schema), columns, rows.weights, rows.n_rows, kept=rows.kept)


def _as_wanted(column: SourceColumn, variable: Column, rows: Rows, options: Options) -> Made:
    """Return a column's cells as a variable has them."""
    column = column.in_unit(variable.unit)
    if variable.is_continuous:
        return _as_numbers(column, variable, rows, options)
    fill = variable.cardinality
    if options.missing == "state" and variable.missing_state is not None:
        fill = variable.states.index(variable.missing_state)
    if column.holds_numbers and variable.cuts is not None:
        return _binned(column, variable, fill)
    cells = column.coded
    codes = looked_up(cells, variable)
    if options.unknown == "error":
        refuse_unknown(cells, variable, codes == UNKNOWN, rows.kept)
    codes[codes == UNKNOWN] = fill
    return _spread(cells, codes, fill, variable)


def _as_numbers(column: SourceColumn, variable: Continuous, rows: Rows, options: Options) -> Made:
    if options.unknown == "error" and not column.is_plain_number:
        cells = column.coded
        refuse_unknown(cells, variable, np.isnan(cells.label_numbers), rows.kept)
    return column.number_blocks(others="missing")
