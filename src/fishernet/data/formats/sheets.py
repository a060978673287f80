"""Sheets of Excel and LibreOffice files: ``.xlsx``, ``.xlsm``, ``.xlsb``, ``.xls`` and ``.ods``.

A sheet becomes the text that its program would export, with dates as in ISO 8601, and is read as such text is: titles,
headers and units are found in one place. It needs python-calamine, of the extra ``excel``.
"""

from __future__ import annotations

import csv
import datetime
import io
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from fishernet.base.errors import FileFormatError, FishernetError, SchemaError
from fishernet.base.names import listed, several
from fishernet.base.remedies import Remedy
from fishernet.data.formats.contents import Contents, Note
from fishernet.data.formats.csv import delimited_contents
from fishernet.data.formats.far_cells import refuse_far_cells
from fishernet.data.formats.text_file import TextFile
from fishernet.data.options import Options

SHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
INSTALL = 'pip install "fishernet[excel]"'
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")  # what holds a workbook with a password
MIDNIGHT = datetime.time()
MOST_ROWS = 2**20 - 1  # of a sheet, but for its header
MOST_EMPTY = 1000  # rows, behind which what follows is no part of a table
ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")  # in the XML of a sheet

Rows = list[list[Any]]


def sheet_contents(path: Path, options: Options) -> Contents:
    """Return what a sheet of a file holds: the one that is asked for, or the first that has rows."""
    name, rows, notes = _sheet(path, options.text.sheet)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(_texts, rows))
    file = TextFile(path, False, text.getvalue().encode("utf-8", "replace"))
    found = delimited_contents(file, options, ",")
    return Contents(f"{path}, sheet {name!r}", "sheet", found.schema, found.frames, (*notes, *found.notes))


def _sheet(path: Path, asked: str | None) -> tuple[str, Rows, list[Note]]:
    """Return the name of a sheet, its rows, and what is not taken from the file."""
    calamine = _library(path)
    try:
        with path.open("rb") as file, calamine.CalamineWorkbook.from_filelike(file) as book:
            sheets = book.sheets_metadata
            names = [s.name for s in sheets if s.typ == calamine.SheetTypeEnum.WorkSheet]
            shown = [s.name for s in sheets if s.name in names and s.visible == calamine.SheetVisibleEnum.Visible]
            if asked is not None and asked not in names:
                fact = f"has no sheet {asked!r} of cells; there are {listed(names)}"
                raise FileFormatError(path, fact, parameter="sheet")
            for name in [asked] if asked is not None else (shown or names):
                sheet = _opened(path, book, name)
                rows, far = _together(_rows(sheet))
                if rows:
                    others = [other for other in shown if other != name] if asked is None else []
                    return name, rows, [*_note_of_others(name, others), *_note_of_merged(sheet), *far]
            hidden = [name for name in names if name not in shown and _together(_rows(_opened(path, book, name)))[0]]
    except calamine.CalamineError as error:
        found = _reason(calamine, path) or error
        if isinstance(found, calamine.PasswordError) or ENCRYPTED in path.read_bytes():
            raise FileFormatError(path, "is protected by a password; save it without one") from None
        why = str(found).partition("\n")[0]
        raise FileFormatError(path, f"is no sheet, or a broken one ({why}); save the sheet as CSV") from None
    if asked is not None:
        raise FileFormatError(path, f"the sheet {asked!r} holds no cells")
    if not hidden:
        raise FileFormatError(path, "holds no sheet with cells")
    fact = f"of the sheets that are shown none holds cells; sheet={hidden[0]!r} reads a hidden one"
    raise FileFormatError(path, fact, parameter="sheet")


def _reason(calamine: Any, path: Path) -> Exception | None:
    """Return why a file cannot be opened by the ending of its name; without one it "cannot be detected"."""
    try:
        calamine.CalamineWorkbook.from_path(path).close()
    except calamine.CalamineError as error:
        return cast(Exception, error)
    return None


def _library(path: Path) -> Any:
    try:
        import python_calamine
    except ImportError:
        raise FileFormatError(path, f"sheets need python-calamine: {INSTALL}, or save the sheet as CSV") from None
    return python_calamine


def _opened(path: Path, book: Any, name: str) -> Any:
    """Return a sheet; the library makes room for all cells between the first one and the last."""
    refuse_far_cells(path, name)
    return book.get_sheet_by_name(name)


def _rows(sheet: Any) -> Rows:
    """Return the rows of a sheet; what merged cells hold stands in each of their rows."""
    rows: Rows = sheet.to_python(skip_empty_area=False)
    for (top, left), (bottom, _) in sheet.merged_cell_ranges or ():
        for row in range(top + 1, min(bottom + 1, len(rows))):
            if left < len(rows[row]):
                rows[row][left] = rows[top][left]
    return rows


def _together(rows: Rows) -> tuple[Rows, list[Note]]:
    """Return rows as far as there are cells, up to a long gap, and what stands behind it."""
    end, far = 0, []
    for place, row in enumerate(rows):
        if any(cell != "" for cell in row):
            if end > 1 and place - end > MOST_EMPTY:
                fact = f"row {place + 1:,} stands {place - end:,} empty rows below the others"
                far = [Note(f"{fact}, and is left out, with all below")]
                break
            end = place + 1
    width = max((place + 1 for row in rows[:end] for place, cell in enumerate(row) if cell != ""), default=0)
    return [row[:width] for row in rows[:end]], far


def _note_of_others(name: str, others: Sequence[str]) -> list[Note]:
    if not others:
        return []
    fact = f"the file has {several(len(others), 'other sheet')} ({listed(others, 3)}), of which nothing is read"
    return [Note(fact, "sheet", (Remedy({"sheet": name}, "silence this warning"),))]


def _note_of_merged(sheet: Any) -> Iterator[Note]:
    n = sum(bottom > top for (top, _), (bottom, _) in sheet.merged_cell_ranges or ())
    if n:
        yield Note(f"{several(n, 'group')} of merged cells {'is' if n == 1 else 'are'} read as equal cells in each row")


def _texts(row: Sequence[Any]) -> list[str]:
    return [cell if isinstance(cell, str) else _text(cell) for cell in row]


def _text(cell: Any) -> str:
    """Return a cell that is no text as it is exported."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else repr(cell)
    if isinstance(cell, datetime.datetime):
        return str(cell.date() if cell.time() == MIDNIGHT else cell)
    if isinstance(cell, datetime.timedelta):
        return repr(cell.total_seconds())
    return str(cell)


def write_sheet(names: Sequence[str], columns: Sequence[Sequence[Any]], file: Any) -> None:
    """Write columns of cells as a sheet of an Excel file; needs openpyxl, of the extra ``excel``."""
    try:
        from openpyxl import Workbook
        from openpyxl.cell import WriteOnlyCell
    except ImportError:
        raise FishernetError(f"sheets are written by openpyxl: {INSTALL}, or write .csv") from None
    n = max(map(len, columns), default=0)
    if n > MOST_ROWS:
        raise SchemaError(f"a sheet holds {MOST_ROWS:,} rows at most, and there are {n:,}; write .parquet")
    book = Workbook(write_only=True)
    sheet = book.create_sheet("table")

    def cell(value: Any) -> Any:
        if isinstance(value, float) and math.isinf(value):  # a sheet has no number for it
            value = str(value)
        if not isinstance(value, str):
            return value
        found = WriteOnlyCell(sheet, ILLEGAL.sub("", value))
        found.data_type = "s"  # and no formula
        return found

    sheet.append([cell(name) for name in names])
    for row in zip(*columns, strict=True):
        sheet.append([cell(value) for value in row])
    book.save(file)
