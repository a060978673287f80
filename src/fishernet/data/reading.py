"""Reading a table from a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.errors import FileFormatError
from fishernet.base.io import naming_unreadable
from fishernet.data.arff import arff_columns, arff_contents
from fishernet.data.arrow import arrow_columns, arrow_contents, parquet_columns, parquet_contents
from fishernet.data.csv import TextFile, delimited_columns, delimited_contents
from fishernet.data.encode import encoded
from fishernet.data.encoding.cells import Columns, Contents
from fishernet.data.options import FileKeywords, FrameKeywords, Options, shows_keywords
from fishernet.data.table import Table

# what reads the columns that are asked for, and what reads all
TEXT_FORMATS: dict[str, tuple[Callable[[TextFile, Options], Columns], Callable[[TextFile, Options], Contents]]] = {
    ".csv": (partial(delimited_columns, delimiter=","), partial(delimited_contents, delimiter=",")),
    ".tsv": (partial(delimited_columns, delimiter="\t"), partial(delimited_contents, delimiter="\t")),
    ".txt": (delimited_columns, delimited_contents),
    ".arff": (arff_columns, arff_contents),
}
BINARY_FORMATS: dict[str, tuple[Callable[[Path, Options], Columns], Callable[[Path, Options], Contents]]] = {
    ".parquet": (parquet_columns, parquet_contents),
    ".arrow": (arrow_columns, arrow_contents),
    ".feather": (arrow_columns, arrow_contents),
}


@shows_keywords(FileKeywords)
def read_table(path: str | os.PathLike[str], **keywords: Unpack[FileKeywords]) -> Table:
    r"""Read a table from a file.

    Parameters
    ----------
    path : path
        A ``.csv``, ``.tsv``, ``.txt`` or ``.arff`` file (each also with ``.gz``), or a ``.parquet``, ``.arrow`` or
        ``.feather`` one; ``"-"`` is the text that comes through standard input. Text has a header; a quoted cell is a
        label, even ``"NA"``. A first column without a name, as pandas writes its index, is left out with a warning.
    columns, exclude, categorical, continuous, bins, binning, schema, missing, unknown, weights, na_values
        As in `Table.from_frame`. In a text file the labels of a column are integers if all of them are (``007`` is
        not), else floats, else truth values (``true``, ``False``), else text; so the table depends neither on the
        order of the rows nor on the number of threads. With a schema, ``1`` and ``1.0`` are the same number.
    delimiter : str, optional
        What stands between the cells of a text file: one character, or "tab". Without it a comma in ``.csv`` and a tab
        in ``.tsv`` files; in others the one of comma, semicolon, tab and bar that cuts the header and the first row
        into equally many cells.
    decimal : {".", ","}
        What stands before the fraction of a number.
    thousands : str, optional
        What stands between the thousands of a number, as the comma in ``18,000``.
    encoding : str
        Of a text file, as "latin-1" or "cp1252".

    Returns
    -------
    Table

    Raises
    ------
    FileFormatError
        When the file does not exist, is of no known format or is broken; with the line where one can be told.
    SchemaError
        When columns are missing, doubled, without a name or of a type without labels, or no states can be found.
    MissingValueError
        When cells are missing that must not be.
    UnknownStateError
        When a label is not among the states of the schema.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import fishernet as fn
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "patients.csv"
    ...     _ = path.write_text("smoke,cough,age\nyes,yes,61\nno,yes,35\nno,no,48\n")
    ...     table = fn.read_table(path, bins={"age": 2})
    >>> [variable.states for variable in table.variables]
    [('no', 'yes'), ('no', 'yes'), ('<= 48', '> 48')]
    """
    options = Options.checked(**keywords)
    return Table.of_columns(columns_of(check.path(path), options), options)


def columns_of(path: Path, options: Options) -> Columns:
    """Return the columns of a file that the options ask for; raises as `read_table`."""
    found: Columns = _read(path, options, 0)
    return found


def frame_of(path: Path, options: Options) -> pa.Table:
    """Return all rows of a file as they are; see `Originals`."""
    found: Contents = _read(path, options, 1)
    return found.frame


@dataclass(frozen=True)
class Rows:
    """A table, and the rows of its file that it was made of.

    Attributes
    ----------
    table : Table
    positions : (table.n_rows,) int64 array
        The position of each of its rows in the file, counted from 0.
    """

    table: Table
    positions: npt.NDArray[np.int64]


class Originals:
    """A file of rows, read once: as they are, and as tables of the variables that one asks for.

    Parameters
    ----------
    path : path
        As `read_table` takes it.
    na_values, delimiter, decimal, thousands, encoding
        As there.

    Attributes
    ----------
    frame : pyarrow.Table
        All columns with their cells as they are; see `fishernet.data.originals`.
    """

    def __init__(self, path: str | os.PathLike[str], **text: Unpack[FileKeywords]) -> None:
        self._text = text
        every: FileKeywords = {**text, "schema": ()}
        self._contents: Contents = _read(Path(path), Options.checked(**every), 1)
        self.frame = self._contents.frame

    def rows(self, **keywords: Unpack[FrameKeywords]) -> Rows:
        """Return the table that `read_table` makes with these keywords, and where its rows stand in the file."""
        asked: FileKeywords = {**self._text, **keywords}
        options = Options.checked(**asked)
        found = encoded(self._contents.columns(options), options)
        kept = np.arange(found.n_rows) if found.kept is None else np.flatnonzero(found.kept)
        table = Table.adopt(found.variables, found.columns, weights=found.weights, n_rows=found.n_rows)
        return Rows(table, kept)


def _read(path: Path, options: Options, which: int) -> Any:
    """Read a file by the first or second of the functions for its format."""
    name = path.name.lower()
    gzipped = name.endswith(".gz")
    suffix = Path(name.removesuffix(".gz")).suffix
    if name == "-" or path.is_fifo():
        return TEXT_FORMATS[".txt"][which](TextFile.of_stream(path, options.text.encoding), options)
    if not path.is_file():
        raise FileFormatError(path, "is a directory, not a file" if path.is_dir() else "there is no such file")
    if suffix not in TEXT_FORMATS and (gzipped or suffix not in BINARY_FORMATS):
        known = [*TEXT_FORMATS, *(f"{text}.gz" for text in TEXT_FORMATS), *BINARY_FORMATS]
        raise FileFormatError(path, f"the format of a table is told by its ending, one of {', '.join(known)}")
    if not path.stat().st_size:
        raise FileFormatError(path, "is empty")
    try:
        with naming_unreadable(path):
            if suffix in BINARY_FORMATS:
                options.text.refuse(path.name)
                return BINARY_FORMATS[suffix][which](path, options)
            return TEXT_FORMATS[suffix][which](TextFile.of(path, gzipped, options.text.encoding), options)
    except UnicodeEncodeError:  # Arrow takes no such paths
        raise FileFormatError(path, "the file's name is no valid Unicode; rename the file") from None
