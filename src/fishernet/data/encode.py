"""Two passes from columns to codes and numbers: summaries add, a summary decides, the decision encodes.

Where the rows lie does not matter: in memory there is one part, a stream has its batches, a cluster its partitions.
The first pass adds the summaries of all parts (and those of complete rows where others are dropped), `decide` makes
variables of the sum, and the second pass looks the cells of each part up in them, as it does for a schema that a caller
gives. Numbers are cut into bins afterwards, from the numbers themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import MissingValueError, SchemaError
from fishernet.base.names import counted, positions
from fishernet.data.arrays import Weights
from fishernet.data.column_summary import TableSummary, summarized
from fishernet.data.decide import (
    WAYS,
    Decided,
    Decision,
    decide_all,
    decide_complete,
    refuse_where_asked,
    with_missing_state,
)
from fishernet.data.encoding.alike import places_of, with_cuts
from fishernet.data.encoding.bins import cut_here
from fishernet.data.encoding.cells import Cells, Columns, NumberCells, SourceColumn, joined, no_labels_error
from fishernet.data.encoding.labels import numbers_of, plain_number, value_of
from fishernet.data.encoding.readings import Reading, are_absent, reading_of
from fishernet.data.encoding.recode import UNKNOWN, looked_up, refuse_unknown
from fishernet.data.encoding.scales import Scale, chosen_scale, rounding_unit
from fishernet.data.meeting import Met, met_by, renamed, strangers
from fishernet.data.options import Options
from fishernet.data.variable import Column, Variable, label_array

Scales = str | Mapping[str, str | Scale | None]
Blocks = Iterable[npt.NDArray[Any]]


@dataclass(frozen=True)
class Encoded:
    """What a `Table` is made of."""

    variables: tuple[Column, ...]
    columns: list[npt.NDArray[Any]]
    weights: Weights | None
    n_rows: int
    decisions: tuple[Decision, ...] = ()
    kept: npt.NDArray[np.bool_] | None = None  # which rows of the source these are; None for all
    missing: dict[str, int] = field(default_factory=dict)  # missing cells by column, before rows are dropped
    unknown: dict[str, npt.NDArray[np.bool_]] = field(default_factory=dict)  # labels that are taken as missing


def encoded(source: Columns, options: Options) -> Encoded:
    """Return the columns of a source that lies in memory, encoded."""
    if options.schema is not None:
        return encode(source, options)
    found = encode(source, options, decided_by(lambda kept: summary_of_part(source, options, kept), options))
    columns = with_bins_and_states(found.variables, found.columns, found.weights, options, found.missing)
    variables = [variable for variable, _ in columns]
    held = [joined(blocks, found.n_rows, np.dtype(variable.dtype)) for variable, blocks in columns]
    decisions = told_of_bins(found.decisions, variables)
    return replace(found, variables=tuple(variables), columns=held, decisions=decisions)


# ------------------------------------------------------------------------------------------------- the first pass


Kept = dict[str, Decision]  # of the columns that stay, by their names


def decided_by(summary: Callable[[Kept | None], TableSummary], options: Options) -> Decided:
    """Return what columns are, by the sum of the summaries of all rows, or of the complete ones of columns kept."""
    decided = decide_all(summary(None), options)
    if options.missing != "drop" or not decided.missing:
        return decided
    kept = {decision.name: decision for decision in decided.decisions if decision.variable is not None}
    return decide_complete(decided, summary(kept), options)


def summary_of_part(source: Columns, options: Options, kept: Kept | None = None) -> TableSummary:
    """Return the summary of a part's rows: of all, or of those that are complete in the columns kept."""
    cells, weights = split_weights(source, options)
    if kept is None:
        return summarized(cells, weights, source.n_rows, options)
    cells = [_read(column, kept[column.name]) for column in cells if column.name in kept]
    rows = complete_rows(cells, source.n_rows)
    weights = None if weights is None else weights[rows]
    return summarized([column.kept(rows) for column in cells], weights, int(np.count_nonzero(rows)), options)


def _read(column: SourceColumn, decision: Decision) -> SourceColumn:
    """Return a column with its text read as was decided: as numbers, or as states without words for missing cells."""
    reading, variable = decision.reading, decision.variable
    if reading is None or variable is None or column.holds_numbers or column.declared:
        return column
    cells = column.coded
    labels = cells.labels.tolist()
    if variable.is_continuous:
        return cells.of_numbers(reading.numbers(labels), reading.unit)
    absent = reading.are_absent(labels)
    return cells.without(absent) if absent.any() else cells


# ------------------------------------------------------------------------------------------------- the second pass


def encode(source: Columns, options: Options, decided: Decided | None = None) -> Encoded:
    """Return the columns of a source as the variables that were decided on have them, or those of a schema."""
    met = met_by(strangers(source, options), options) if decided is None else None
    return encode_part(source, options, decided, met, is_whole=True)


def encode_part(
    source: Columns,
    options: Options,
    decided: Decided | None = None,
    met: Met | None = None,
    *,
    first_row: int = 0,
    is_whole: bool = False,
) -> Encoded:
    """Return the columns of some rows, as `encode`; of parts, missing cells are counted for `refuse_missing`.

    Where there is a schema, `met` says how its columns are written in all parts together.
    """
    variables = decided.variables if decided is not None else options.schema or ()
    met = met or Met()
    wanted = {variable.name: variable if decided is not None else with_cuts(variable) for variable in variables}
    cells, weights = split_weights(source, options, first_row)
    if decided is not None and weights is not None and decided.weight_factor != 1:
        weights = weights.astype(np.float64) * decided.weight_factor
    if decided is None:
        cells = [_with_labels(column) for column in renamed(cells, options) if column.name in wanted]
        cells = [_as_known(c, wanted[c.name], met.readings.get(c.name)) for c in cells]
    else:
        of = {decision.name: decision for decision in decided.decisions}
        cells = [_read(c, of[c.name]) for c in cells if c.name in wanted]
    found = {c.name: _as_written(c, wanted[c.name], options) for c in cells}
    n_rows, kept = source.n_rows, None
    missing = {name: count for name, column in found.items() if (count := column.n_missing)}
    if is_whole:
        refuse_missing(missing, variables, options)
    if options.missing == "drop" and (decided is None or decided.missing):
        kept = complete_rows(list(found.values()), n_rows)
        if kept.all():
            kept = None
        else:
            found = {name: column.kept(kept) for name, column in found.items()}
            weights, n_rows = None if weights is None else weights[kept], int(np.count_nonzero(kept))
    look_up = partial(_blocks, options=options, met=met, kept=kept, first_row=first_row, given=decided is None)
    columns = [  # what is not found is hidden
        joined(look_up(found[v.name], wanted[v.name]), n_rows, np.dtype(v.dtype))
        if v.name in found
        else v.missing_column(n_rows)
        for v in variables
    ]
    columns = [_in_places(column, wanted[v.name], v) for v, column in zip(variables, columns, strict=True)]
    decisions = () if decided is None else decided.decisions
    unknown = _taken_as_missing(found, variables, columns) if decided is None and options.unknown == "missing" else {}
    encoded_rows = Encoded(tuple(variables), columns, weights, n_rows, decisions, kept, missing, unknown)
    if decided is None and options.missing == "drop" and options.unknown == "missing":
        return _without_missing(encoded_rows)
    return encoded_rows


def _taken_as_missing(
    source: Mapping[str, SourceColumn], variables: Sequence[Column], columns: Sequence[npt.NDArray[Any]]
) -> dict[str, npt.NDArray[np.bool_]]:
    """Return which cells are missing though their source has labels there, of the columns with such."""
    found = {}
    for variable, column in zip(variables, columns, strict=True):
        if variable.name not in source:
            continue
        gone = variable.missing(column)
        if np.count_nonzero(gone) > source[variable.name].n_missing:
            absent = source[variable.name].missing()
            found[variable.name] = gone if absent is None else gone & ~absent
    return found


def _in_places(column: npt.NDArray[Any], cut: Column, variable: Column) -> npt.NDArray[Any]:
    """Return codes of a variable with the cuts that its states say as those of the variable itself."""
    if cut is variable or cut.is_continuous or variable.is_continuous or cut.states == variable.states:
        return column
    places: npt.NDArray[Any] = np.array(places_of(cut, variable), dtype=variable.dtype)
    found: npt.NDArray[Any] = places[column]
    return found


def _with_labels(column: SourceColumn) -> SourceColumn:
    """Return a column that a schema asks for; SchemaError where its cells are no labels."""
    if not column.holds_numbers and (why := column.coded.unusable):
        raise no_labels_error(column.name, why)
    return column


def _as_written(column: SourceColumn, variable: Column, options: Options) -> SourceColumn:
    """Return a column with its numbers written as Python's, where the variable has such."""
    if not column.text or options.text.is_plain:
        return column
    if not (variable.is_continuous or variable.cuts is not None or any(map(_is_number, variable.states))):
        return column
    cells = column.coded
    return cells.relabelled([plain_number(label, options.text) or label for label in cells.labels.tolist()])


def _as_known(column: SourceColumn, variable: Column, reading: Reading | None) -> SourceColumn:
    """Return a column with its text read as numbers or dates where a variable that is known has such.

    How they are written is found anew: a model may meet its columns as other people write them.
    """
    numbers = variable.is_continuous or variable.cuts is not None
    if column.holds_numbers or column.declared:
        return column
    if not variable.is_continuous and variable.cuts is None and not _say_numbers(variable):
        return column
    cells = column.coded
    labels = cells.labels.tolist()
    if not all(isinstance(label, str) for label in labels):
        return column
    states = set(variable.states)
    absent = are_absent(labels) & np.array([label not in states for label in labels], dtype=bool)
    if absent.any():
        cells = cells.without(absent)
        labels = cells.labels.tolist()
    if not numbers or not labels or cells.is_plain_number:
        return cells
    return cells if reading is None else cells.of_numbers(reading.numbers(labels), reading.unit)


def _say_numbers(variable: Variable) -> bool:
    """Whether all states are numbers, or text that says some."""
    states = [state for state in variable.states if state != variable.missing_state]
    if not states or variable.are_numbers:
        return bool(states)
    texts = [state for state in states if isinstance(state, str)]
    return len(texts) == len(states) and reading_of(texts, np.ones(len(texts), dtype=np.int64), None) is not None


def _is_number(state: object) -> bool:
    return isinstance(state, int | float) and not isinstance(state, bool)


def _blocks(
    column: SourceColumn,
    variable: Column,
    *,
    options: Options,
    met: Met,
    kept: npt.NDArray[np.bool_] | None,
    first_row: int,
    given: bool,
) -> Iterator[npt.NDArray[Any]]:
    """Yield a column's cells as a variable has them, one of a schema that was given or one that was decided on."""
    column = column.in_unit(variable.unit)
    if variable.is_continuous:
        if not given and not column.is_plain_number:
            why = (
                "bins are cut from numbers"
                if options.cuts_by_name(variable.name)
                else "a continuous column holds numbers"
            )
            column.coded.refuse_marked(np.isnan(column.coded.label_numbers), kept, why, first_row)
        if options.unknown == "error" and not column.is_plain_number:
            cells = column.coded
            refuse_unknown(cells, variable, np.isnan(cells.label_numbers), kept, first_row)
        yield from column.number_blocks(others="missing")
        return
    fill = variable.cardinality
    if given and options.missing == "state" and variable.missing_state is not None:
        fill = variable.states.index(variable.missing_state)
    if column.holds_numbers and variable.cuts is not None:
        for numbers in column.number_blocks():
            codes = variable.bin(numbers)
            codes[codes == variable.cardinality] = fill
            yield codes.astype(variable.dtype)
        return
    cells = column.coded
    codes = looked_up(cells, variable, met.alike.get(variable.name))
    if options.unknown == "error":
        refuse_unknown(cells, variable, codes == UNKNOWN, kept, first_row)
    codes[codes == UNKNOWN] = fill
    yield from cells.spread_blocks(np.append(codes, fill).astype(variable.dtype))


# ------------------------------------------------------------------------------------------------------------- bins


def with_bins_and_states(
    variables: Sequence[Column],
    columns: Sequence[npt.NDArray[Any]],
    weights: Weights | None,
    options: Options,
    missing: dict[str, int],
) -> list[tuple[Column, Blocks]]:
    """Return columns cut into bins as the options ask, and with states for missing cells where they ask for these.

    `missing` are the numbers of missing cells that columns have, by name. The blocks are made as they are taken.
    """
    pairs = zip(variables, columns, strict=True)
    if options.schema is not None or (options.bins is None and options.missing != "state"):
        return [(variable, [column]) for variable, column in pairs]
    found: list[tuple[Column, Blocks]] = [cut_here(*pair, weights, options) for pair in pairs]
    if options.missing != "state":
        return found
    wider = with_missing_states([variable for variable, _ in found], missing)
    return [(want, _in_type(blocks, want)) for want, (_, blocks) in zip(wider, found, strict=True)]


def on_scales(variables: Sequence[Column], columns: Sequence[npt.NDArray[Any]], scales: Scales) -> list[Column]:
    """Return the variables of columns with the scales that are asked for; see `Table.rescale`."""
    every = {v.name: scales for v in variables if v.is_continuous} if isinstance(scales, str) else scales
    at = positions([variable.name for variable in variables], every, "column")
    found = list(variables)
    for place, asked in zip(at, every.values(), strict=True):
        variable = found[place]
        if not variable.is_continuous:
            raise SchemaError(f"{variable.name!r} has states; scales are of numbers", parameter="scales")
        scale = chosen_scale(columns[place], asked) if isinstance(asked, str) else asked
        found[place] = replace(variable, scale=scale, resolution=rounding_unit(columns[place]))
    return found


def with_missing_states(variables: Sequence[Column], missing: dict[str, int]) -> list[Column]:
    """Return variables with a state for missing cells, where columns lack some."""
    numbers = {v.name: missing[v.name] for v in variables if v.is_continuous and v.name in missing}
    if numbers:
        raise without_states(numbers)
    return [with_missing_state(v) if v.name in missing and not v.is_continuous else v for v in variables]


def _in_type(blocks: Blocks, variable: Column) -> Blocks:
    """Yield codes in the type of a variable whose last state is the code that missing cells had."""
    return (block.astype(variable.dtype, copy=False) for block in blocks)


def told_of_bins(decisions: Sequence[Decision], variables: Sequence[Column]) -> tuple[Decision, ...]:
    """Return decisions that say which columns were cut into bins."""
    of = {variable.name: variable for variable in variables}
    return tuple(
        [
            replace(d, why=_cut(d), overrule=(), variable=of[d.name])
            if d.variable is not None and d.variable.is_continuous and not of[d.name].is_continuous
            else d
            for d in decisions
        ]
    )


def _cut(decision: Decision) -> str:
    told = "" if decision.reading is None else decision.reading.told
    return ", ".join(filter(None, ["numbers, cut into bins", told]))


def without_states(counts: dict[str, int]) -> MissingValueError:
    """Return the error that says that missing numbers cannot become a state."""
    return MissingValueError(
        f"there are missing cells in {counted(counts)}; a continuous column has no states, so cut it into bins",
        counts=counts,
        parameter="missing",
        remedies=[WAYS[1]],
    )


# ------------------------------------------------------------------------------------------ weights and missing cells


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


def complete_rows(cells: Sequence[SourceColumn], n_rows: int) -> npt.NDArray[np.bool_]:
    """Return which rows have no missing cell, (n_rows,)."""
    complete = np.ones(n_rows, dtype=bool)
    for column in cells:
        if (absent := column.missing()) is not None:
            complete &= ~absent
    return complete


def refuse_missing(missing: dict[str, int], variables: Sequence[Column], options: Options) -> None:
    """Raise MissingValueError for missing cells where they are not allowed, or have no state of a schema."""
    refuse_where_asked(missing, options)
    if options.missing == "state" and options.schema is not None:
        stateless = {v.name: missing[v.name] for v in variables if v.name in missing and v.missing_state is None}
        if stateless:
            fact = f"there are missing cells in {counted(stateless)}; these variables have no state for them"
            raise MissingValueError(fact, counts=stateless, parameter="missing")


def _without_missing(found: Encoded) -> Encoded:
    """Drop the rows with a missing cell."""
    known = np.ones(found.n_rows, dtype=bool)
    for variable, column in zip(found.variables, found.columns, strict=True):
        known &= ~variable.missing(column)
    weights = None if found.weights is None else found.weights[known]
    kept = known
    if found.kept is not None:
        kept = found.kept.copy()
        kept[kept] = known
    columns = [column[known] for column in found.columns]
    return Encoded(found.variables, columns, weights, int(np.count_nonzero(known)), kept=kept, unknown=found.unknown)
