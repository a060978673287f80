"""Writing a table to a file."""

from __future__ import annotations

import gzip
import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, Protocol, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from fishernet.base import check
from fishernet.base.errors import FileFormatError, SchemaError, warn
from fishernet.base.io import replacing
from fishernet.base.names import listed
from fishernet.data.arrow import is_text
from fishernet.data.column_summary import summary_of
from fishernet.data.decide import decide
from fishernet.data.encoding.cells import Block, Cells, NumberCells
from fishernet.data.encoding.dates import in_arrow
from fishernet.data.encoding.labels import as_text, typed
from fishernet.data.encoding.recode import looked_up
from fishernet.data.formats.layout import DELIMITERS
from fishernet.data.formats.sheets import write_sheet
from fishernet.data.options import DEFAULT_NA, Options
from fishernet.data.originals import are_bytes, missing_words, sheet_columns, texts_of, typed_frame, written_as
from fishernet.data.table import Table
from fishernet.data.variable import Column, State, Variable, label_array

ROWS = 1 << 16  # rows that are put together at a time
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a formula of a spreadsheet begins with
LEVEL = 6  # of gzip: 9, its default here, takes up to 24 times as long for files that are 9 % smaller


class Sink(Protocol):
    """What bytes are written to."""

    def write(self, data: bytes, /) -> int:
        """Write some."""


def write_table(
    table: Table, path: str | os.PathLike[str], *, weights: str = "weights", escape_formulas: bool = False
) -> None:
    """Write a table's labels and numbers to a file.

    The file is written beside and renamed, so that a failure or Ctrl-C leaves what was there. Missing cells are empty
    (``NA`` in a text file of one column, and first in a row without a cell, where an empty line would be no row).

    A Parquet or Arrow file carries the variables, and `read_table` gives the same table again. A text file carries
    labels and numbers only, the latter with as many digits as make them the same again:
    ``read_table(path, schema=table.variables)`` gives the same table, provided that no text in `na_values` was added to
    the default ones; without the schema, kinds and states are found anew, and a warning says which columns would be
    something else. Text that could be taken for a number, a truth value or a missing cell is quoted.

    Parameters
    ----------
    table : Table
    path : path
        Ends in ``.csv``, ``.tsv`` (each also with ``.gz``), ``.parquet``, ``.arrow``, ``.feather`` or ``.xlsx``.
    weights : str
        The name of the column that the weights go to, where the table has some.
    escape_formulas : bool
        In a text file, write an apostrophe before names and labels that a spreadsheet could take for a formula: text
        that is no number and begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return. Cells are written as
        they are by default, since only then does reading the file give the same table; use this for files with labels
        of strangers that somebody opens in a spreadsheet. Other formats hold no formulas and are as without it.

    Raises
    ------
    SchemaError
        When the file could not be read back: states that look the same as text, names that are empty or taken.
    FileFormatError
        When the path has another ending or cannot be written to.

    Warns
    -----
    FishernetWarning
        When labels in a text file would be read with another type, or numbers as states, without a schema.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import fishernet as fn
    >>> from fishernet.data import write_table
    >>> table = fn.Table.from_frame({"dose": [1, 2, None], "cough": ["no", "yes, dry", "no"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "patients.csv"
    ...     write_table(table, path)
    ...     print(path.read_text())
    ...     fn.read_table(path, schema=table.variables) == table
    dose,cough
    1,no
    2,"yes, dry"
    ,no
    <BLANKLINE>
    True
    """
    target = check.path(path)
    write = FORMATS[format_of(target)]
    if not table.variables:
        raise SchemaError("a table without columns cannot be written")
    with replacing(target) as file, opened(target, file) as sink:
        write(table, sink, weights, check.flag(escape_formulas, "escape_formulas"))


def write_frame(frame: pa.Table, path: str | os.PathLike[str], *, escape_formulas: bool = False) -> None:
    """Write rows as they are, a frame of `fishernet.data.originals`, to a file as `write_table` does."""
    target = Path(path)
    ending = format_of(target)
    with replacing(target) as file, opened(target, file) as sink:
        FRAME_FORMATS[ending](frame, sink, escape_formulas)


def format_of(path: Path) -> str:
    """Return the ending that says how rows are written, without the ``.gz`` behind it."""
    name = path.name.lower()
    suffix = Path(name.removesuffix(".gz")).suffix
    if suffix not in FORMATS or (name.endswith(".gz") and suffix not in (".csv", ".tsv")):
        raise FileFormatError(
            path, f"a table is written to {', '.join(FORMATS)}, .csv.gz or .tsv.gz, by the path's ending"
        )
    return suffix


@contextmanager
def opened(path: Path, file: IO[bytes]) -> Iterator[IO[bytes]]:
    """Hand out what to write to: the file itself, or what compresses into it, by the path's ending."""
    if not path.name.lower().endswith(".gz"):
        yield file
        return
    with gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=LEVEL, mtime=0) as packed:
        yield cast(IO[bytes], packed)


# ------------------------------------------------------------------------------------------- Parquet and Arrow


def _write_parquet(frame: pa.Table, file: Sink) -> None:
    import pyarrow.parquet as pq

    pq.write_table(frame, file)


def _write_arrow(frame: pa.Table, file: Sink) -> None:
    with pa.ipc.new_file(file, frame.schema) as writer:
        writer.write_table(frame)


# --------------------------------------------------------------------------------------------------------- text


def _write_delimited(table: Table, file: Sink, weights: str, escape_formulas: bool, delimiter: str) -> None:
    names = list(table.names) + ([] if table.weights is None else [weights])
    _check_header(names)
    gap = "NA" if len(names) == 1 else ""
    cell = _harmless if escape_formulas else _cell
    texts = [_texts(variable, gap, cell) for variable in table.variables]
    _warn_of_types(table)

    def cells(rows: slice) -> list[pa.Array]:
        columns = [text(column[rows]) for text, column in zip(texts, table.codes, strict=True)]
        weight = [] if table.weights is None else [pa.array(table.weights[rows]).cast(pa.string())]
        return columns + weight

    _write_lines([cell(name) for name in names], cells, table.n_rows, file, delimiter)


def _write_frame_lines(frame: pa.Table, file: Sink, escape_formulas: bool, delimiter: str) -> None:
    names = frame.column_names
    _check_header(names)
    gap = "NA" if len(names) == 1 else ""
    pairs = zip(frame.schema, frame.columns, strict=True)
    columns = [_written(field, column, gap, escape_formulas) for field, column in pairs]

    def cells(rows: slice) -> list[pa.Array]:
        return [column.slice(rows.start, ROWS).combine_chunks().cast(pa.string()) for column in columns]

    cell = _harmless if escape_formulas else _cell
    _write_lines([cell(name) for name in names], cells, frame.num_rows, file, delimiter)


def _written(field: pa.Field, column: pa.ChunkedArray, gap: str, escape_formulas: bool) -> pa.ChunkedArray:
    """Return a column of a frame as cells of a text file."""
    try:
        texts = texts_of(column)
    except pa.ArrowNotImplementedError:
        raise SchemaError(
            f"column {field.name!r} is of type {field.type}, which a text file cannot hold; write .parquet or .arrow"
        ) from None
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if is_text(kind) or are_bytes(kind) or pa.types.is_nested(kind):  # text, whatever it may hold
        texts = texts.dictionary_encode()
        quoted = partial(_spelled, words=missing_words(field)) if written_as(field) else _cell
        formulas: set[str] = set()  # words for missing cells that a spreadsheet could take for some
        if escape_formulas:
            formulas = {word for word in missing_words(field) if word.startswith(FORMULA)}
            quoted = partial(_harmless, written=quoted)
        chunks = [
            pa.array(
                [None if text in formulas else quoted(text) for text in chunk.dictionary.to_pylist()], pa.large_string()
            ).take(chunk.indices)
            for chunk in texts.chunks
        ]
        texts = pa.chunked_array(chunks, pa.large_string())
    return pc.fill_null(texts, gap)


def _check_header(names: Sequence[str]) -> None:
    if "" in names or len(set(names)) < len(names):
        raise SchemaError(f"a text file needs a different name for each column, and none empty; got {listed(names)}")


def _write_lines(
    names: Sequence[str], cells: Callable[[slice], list[pa.Array]], n_rows: int, file: Sink, delimiter: str
) -> None:
    """Write a header of cells, and rows whose cells a function gives, by columns, a part of the rows at a time."""
    header = delimiter.join(names)
    file.write(f"{header}\n".encode())
    for start in range(0, n_rows, ROWS):
        columns = cells(slice(start, start + ROWS))
        columns[-1] = pc.binary_join_element_wise(columns[-1], "\n", "")
        lines = pc.binary_join_element_wise(*columns, delimiter).cast(pa.large_string())
        if len(columns) > 1 and pc.any(blank := pc.equal(lines, f"{delimiter * (len(columns) - 1)}\n")).as_py():
            lines = pc.if_else(blank, f"NA{delimiter * (len(columns) - 1)}\n", lines)  # no row for those who read it
        _, offsets, text = lines.buffers()  # Arrow holds the lines one after the other: this is the text
        end = np.frombuffer(offsets, dtype=np.int64)[len(lines)]
        file.write(text.slice(0, int(end)))


def _texts(variable: Column, gap: str, cell: Callable[[Any], str]) -> Callable[[npt.NDArray[Any]], pa.Array]:
    """Return what makes text of cells of a column, `gap` being a missing one."""
    if variable.is_continuous:
        if variable.unit is not None:
            unit = variable.unit
            return lambda cells: pc.fill_null(in_arrow(cells, unit).cast(pa.string()), gap)
        return lambda cells: pc.fill_null(pa.array(cells, from_pandas=True).cast(pa.string()), gap)
    _refuse_ambiguous(variable)
    states = pa.array([*(cell(state) for state in variable.states), gap])
    return lambda cells: states.take(pa.array(cells))


def _cell(state: State) -> str:
    """Return a state as a cell; text is quoted where it could be taken for something else."""
    text = as_text(state)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise SchemaError(f"{text!r} is no valid Unicode text and cannot be written") from None
    if isinstance(state, str) and typed([text]).tolist() != [text]:
        return _quoted(text)
    return _as_it_is(text) if isinstance(state, str) else text


def _harmless(state: State, written: Callable[[Any], str] = _cell) -> str:
    """Return a state as a cell that no spreadsheet takes for a formula."""
    if isinstance(state, str) and state.startswith(FORMULA) and not _is_number(state):
        state = f"'{state}"
    return written(state)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _as_it_is(text: str) -> str:
    """Return the text of a cell that is not missing, quoted where a reader would take it for something else."""
    cut = any(other in text for other in DELIMITERS)
    special = (
        cut
        or '"' in text
        or text.startswith("#")
        or "\ufeff" in text
        or text != text.strip()
        or len(text.splitlines()) > 1
    )
    return _quoted(text) if special or text in DEFAULT_NA else text


def _spelled(text: str, words: frozenset[str]) -> str:
    """Return the text of a cell as it was read: the words for missing ones without quotes."""
    return text if text in words and not any(other in text for other in (*DELIMITERS, '"')) else _as_it_is(text)


def _quoted(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _refuse_ambiguous(variable: Variable) -> None:
    """Raise when a state would not be found again by its text."""
    texts = label_array([as_text(state) for state in variable.states])
    codes = looked_up(Cells(variable.name, texts, [], text=True), variable)
    wrong = np.flatnonzero(codes != np.arange(variable.cardinality))
    if wrong.size:
        state = variable.states[wrong[0]]
        raise SchemaError(
            f"variable {variable.name!r}: the state {state!r} could not be told from others in a text file; "
            "write .parquet or .arrow"
        )


def _warn_of_types(table: Table) -> None:
    """Warn of labels that `read_table` would give another type without a schema."""
    pairs = zip(table.variables, table.codes, strict=True)
    changed = [variable.name for variable, column in pairs if _would_change(variable, column)]
    if changed:
        warn(
            f"read without the variables of this table, the labels of column {listed(changed)} will have another type, "
            "be numbers or states, or be left out; a .parquet or .arrow file keeps them"
        )


def _would_change(variable: Column, column: npt.NDArray[Any]) -> bool:
    """Whether `read_table` would make something else of a column without a schema."""
    options = Options.checked()
    if variable.is_continuous:
        numbers = NumberCells(variable.name, pa.chunked_array([pa.array(column, from_pandas=True)]))
        read = decide(summary_of(numbers, options), options).variable
        return variable.unit is None and (read is None or not read.is_continuous)
    texts = label_array([as_text(state) for state in variable.states])
    if "" in variable.states:  # which is read as missing
        return True
    block = Block(column, np.arange(variable.cardinality + 1), has_nulls=True)
    read = decide(summary_of(Cells(variable.name, texts, [block], text=True), options).as_read(), options).variable
    occurs = np.bincount(column, minlength=variable.cardinality)[: variable.cardinality] > 0
    states = [state for state, there in zip(variable.states, occurs.tolist(), strict=True) if there]
    return read is None or {(type(s), s) for s in read.states} != {(type(s), s) for s in states}


def _write_sheet(frame: pa.Table, sink: Sink) -> None:
    write_sheet(frame.column_names, sheet_columns(frame), sink)


FRAME_FORMATS: dict[str, Callable[[pa.Table, Sink, bool], None]] = {
    ".csv": partial(_write_frame_lines, delimiter=","),
    ".tsv": partial(_write_frame_lines, delimiter="\t"),
    ".parquet": lambda frame, file, _: _write_parquet(typed_frame(frame), file),
    ".arrow": lambda frame, file, _: _write_arrow(typed_frame(frame), file),
    ".feather": lambda frame, file, _: _write_arrow(typed_frame(frame), file),
    ".xlsx": lambda frame, file, _: _write_sheet(frame, file),
}
FORMATS: dict[str, Callable[[Table, Sink, str, bool], None]] = {
    ".csv": partial(_write_delimited, delimiter=","),
    ".tsv": partial(_write_delimited, delimiter="\t"),
    ".parquet": lambda table, file, weights, _: _write_parquet(table.to_frame(weights=weights), file),
    ".arrow": lambda table, file, weights, _: _write_arrow(table.to_frame(weights=weights), file),
    ".feather": lambda table, file, weights, _: _write_arrow(table.to_frame(weights=weights), file),
    ".xlsx": lambda table, file, weights, _: _write_sheet(table.to_frame(weights=weights), file),
}
