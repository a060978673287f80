"""Reading a table from a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Unpack

from fishernet.base import check
from fishernet.base.io import naming_unreadable
from fishernet.data.encoding.cells import Columns
from fishernet.data.formats.contents import read_columns
from fishernet.data.formats.opening import opened
from fishernet.data.options import FileKeywords, Options, shows_keywords
from fishernet.data.table import Table


@shows_keywords(FileKeywords)
def read_table(path: str | os.PathLike[str], **keywords: Unpack[FileKeywords]) -> Table:
    r"""Read a table from a file.

    Parameters
    ----------
    path : path
        A ``.csv``, ``.tsv``, ``.txt``, ``.dat``, ``.data`` or ``.arff`` file (each also packed, as ``.csv.gz`` or
        ``.zip``), or a ``.parquet``, ``.arrow`` or ``.feather`` one; a sheet of Excel or LibreOffice
        (``.xlsx``, ``.xls``, ``.xlsb``, ``.ods``; extra ``excel``); a file of Stata, SPSS or SAS (``.dta``, ``.sav``,
        ``.por``, ``.sas7bdat``, ``.xpt``; extra ``stats``), whose labels of values are states in the order of the
        values; a data frame of R (``.rds``, ``.rda``; extra ``stats``), whose factors declare their levels; JSON
        (``.json``, ``.jsonl``): records, of which those within others are columns of their own, or columns; ``"-"`` is
        the text that comes through standard input. A quoted cell is a label, even ``"NA"``, unless all cells are in
        quotes. A first column without a name, as pandas writes its index, is left out with a warning.
    columns, exclude, categorical, continuous, order, bins, binning, schema, missing, unknown, weights, na_values
        As in `Table.from_frame`. In a text file the labels of a column are integers if all of them are (``007`` is
        not), else floats, else truth values (``true``, ``False``), else text; so the table depends neither on the
        order of the rows nor on the number of threads. With a schema, ``1`` and ``1.0`` are the same number.
    delimiter : str, optional
        What stands between the cells of a text file: a character, several (``"::"``), or "tab". Without it a comma in
        ``.csv`` and a tab in ``.tsv`` files where these cut it, else the one of comma, semicolon, tab, bar, two colons,
        two bars and blanks that cuts the first rows into equally many cells.
    decimal : {".", ","}
        What stands before the fraction of a number.
    thousands : str, optional
        What stands between the thousands of a number, as the comma in ``18,000``.
    dates : {"day-first", "month-first"}, optional
        How dates as 3/4/2023 are meant; without it one date in which only one order is possible decides for its column.
    encoding : str
        Of a text file, as "latin-1" or "cp1252". Text that is not UTF-8 is read as what it may be, with a warning.
    skip_rows : int, optional
        How many lines of a text file stand above its header. Without it titles and comments are found, and told.
    header_rows : int, optional
        How many rows of a text file are its header: 0 for a file without names, 2 or more if questions or units stand
        below the names. Without it that is found, and told where it is not 1.
    sheet : str, optional
        Which sheet of a file of sheets is read, or which data frame of one of R; the first that shows cells without it.

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
    return Table.of_columns(columns_of_file(check.path(path), options), options)


def columns_of_file(path: Path, options: Options) -> Columns:
    """Return the columns of a file that the options ask for; raises as `read_table`."""
    contents = opened(path, options)
    contents.tell()
    with naming_unreadable(path):
        [columns] = read_columns(contents, options, whole=True)
    return columns
