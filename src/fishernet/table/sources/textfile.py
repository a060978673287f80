"""Opening text files, and saying where they are broken.

The fast readers say that something is wrong, seldom where. When one of them gives up, the file is gone through again,
slowly, until the first bad byte or row is found.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fishernet.errors import FileFormatError

PIECE = 1 << 20  # bytes
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class TextFile:
    """A text file, in UTF-8, that may be compressed.

    Attributes
    ----------
    path : Path
    gzipped : bool
    """

    path: Path
    gzipped: bool

    def binary(self) -> IO[bytes]:
        """Open its bytes, decompressed."""
        return gzip.open(self.path, "rb") if self.gzipped else self.path.open("rb")  # type: ignore[return-value]

    def text(self) -> io.TextIOWrapper:
        """Open its text, without a byte order mark, line ends as they are."""
        return io.TextIOWrapper(self.binary(), encoding="utf-8-sig", newline="")

    def undecodable(self) -> FileFormatError | None:
        """Return an error that says where the file is no UTF-8; None when it is."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        line = 1
        with self.binary() as file:
            while True:
                piece = file.read(PIECE)
                if line == 1 and piece.startswith(UTF16_MARKS):
                    return FileFormatError(self.path, "is UTF-16 text; save it as UTF-8")
                try:
                    decoder.decode(piece, final=not piece)
                except UnicodeDecodeError as error:
                    line += error.object[: error.start].count(b"\n")
                    byte = error.object[error.start]
                    return FileFormatError(
                        self.path, f"the byte 0x{byte:02x} is not UTF-8; save the file as UTF-8", line=line
                    )
                if not piece:
                    return None
                line += piece.count(b"\n")


@dataclass(frozen=True)
class Record:
    """One row of a delimited file.

    Attributes
    ----------
    cells : list of str
    line : int
        The line it begins in, counted from 1.
    text : str
        It as it is written.
    """

    cells: list[str]
    line: int
    text: str


def records(file: TextFile, delimiter: str) -> Iterator[Record]:
    """Go through the rows of a delimited file, empty lines left out."""
    lines: list[str] = []

    def feed(text: io.TextIOWrapper) -> Iterator[str]:
        for line in text:
            lines.append(line)
            yield line

    with file.text() as text:
        number = 1
        for cells in csv.reader(feed(text), delimiter=delimiter):
            if cells:
                yield Record(cells, number, "".join(lines))
            number += len(lines)
            lines.clear()


def explain(file: TextFile, delimiter: str, n_columns: int, why: str) -> FileFormatError:
    """Return an error that says where a delimited file is broken.

    Parameters
    ----------
    file : TextFile
    delimiter : str
    n_columns : int
        The cells that every row should have.
    why : str
        What the reader said, for want of something better.
    """
    found = file.undecodable()
    if found is not None:
        return found
    try:
        for record in records(file, delimiter):
            if len(record.cells) != n_columns:
                count = f"the header has {n_columns} cells, this row {len(record.cells)}"
                hint = "; a quote may not be closed" if record.text.count("\n") > 1 else ""
                return FileFormatError(file.path, count + hint, line=record.line)
    except csv.Error:
        pass
    return FileFormatError(file.path, f"cannot be read as a table ({why})")


def unclosed_quote(file: TextFile, delimiter: str) -> int | None:
    """Return the line of the row whose quote is still open where the file ends; None when there is none."""
    last = deque(records(file, delimiter), maxlen=1).pop()
    return last.line if _is_open(last.text, delimiter) else None


def opens_quote(file: TextFile, delimiter: str) -> bool:
    """Return whether the last line of an uncompressed file, if it does not end, may hold a quote that is not closed."""
    if file.gzipped:
        return False
    with file.binary() as stream:
        stream.seek(max(0, file.path.stat().st_size - PIECE))
        last = stream.read().decode(errors="replace").rpartition("\n")[2]
    return _is_open(last, delimiter)


def _is_open(text: str, delimiter: str) -> bool:
    try:
        list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        return "unexpected end" in str(error)
    return False
