"""How far the cells of an Excel sheet reach: its readers make room for every cell up to the last one.

A single cell in the last column of the last row (XFD1048576) makes a table of 17 billion cells.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from fishernet.base.errors import FileFormatError

PIECE = 2**22  # bytes
LONGEST = 64  # bytes of a cell's name and what stands before it
MOST_CELLS = 2**27  # that room is made for: 3 GB
ROW = re.compile(rb' r="[A-Z]*([0-9]+)"')
FAR_ROW = re.compile(rb' r="[A-Z]*([0-9]{6,})"')  # which, in a file that is broken, need not be the last
WIDE = re.compile(rb' r="([A-Z]{2,})[0-9]')  # 26 columns are never too many
ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def refuse_far_cells(path: Path, sheet: str) -> None:
    """Raise FileFormatError where a sheet of an ``.xlsx`` file reaches too far; other files are not looked at."""
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        part = _parts(archive).get(sheet)
        if part is None:
            return
        with archive.open(part) as file:
            column, row = _reach(file)
    if _number(column) * row > MOST_CELLS:
        raise FileFormatError(
            path,
            f"the sheet {sheet!r} has cells in column {column.decode()} and in row {row:,}, too far apart for a table; "
            "delete what stands far from the table, or save the table alone",
        )


def _parts(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return the file of each sheet in an archive, by the sheet's name."""
    from xml.etree import ElementTree  # of use for sheets alone

    try:
        book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
        links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    except (LookupError, ElementTree.ParseError):  # of another program, or broken: what reads it says so
        return {}
    targets = {link.get("Id"): link.get("Target", "") for link in links}
    named = {sheet.get("name", ""): targets.get(sheet.get(ID)) for sheet in book.iter() if ID in sheet.attrib}
    inside = set(archive.namelist())
    paths = {name: to.lstrip("/") if to.startswith("/") else f"xl/{to}" for name, to in named.items() if to}
    return {name: part for name, part in paths.items() if part in inside}


def _reach(file: IO[bytes]) -> tuple[bytes, int]:
    """Return the last column that has a cell, as letters, and the last row."""
    widest, last = b"Z", 1
    for piece in _pieces(file):
        widest = max({widest, *WIDE.findall(piece)}, key=_number)
        rows = ROW.findall(piece, max(0, piece.rfind(b' r="'))) + FAR_ROW.findall(piece)
        last = max([last, *map(int, rows)])
    return widest, last


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the text of a file in pieces that overlap, so that each name is whole in one."""
    end = b""
    while piece := file.read(PIECE):
        yield end + piece
        end = piece[-LONGEST:]


def _number(column: bytes) -> int:
    """Return the place of a column, counted from 1: 27 of AA."""
    place = 0
    for letter in column:
        place = 26 * place + letter - ord("A") + 1
    return place
