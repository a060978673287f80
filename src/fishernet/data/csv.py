"""CSV and TSV files, read by Arrow in one pass.

Every column is read as text and dictionary-encoded on the way, so its labels are few and their types are settled
later. A quoted cell is text and never a missing cell (``"NA"`` is a label, ``NA`` is not), and may hold delimiters and
line ends. Arrow is fastest when it may cut a file at any line end, so that is tried first; where a label then holds a
line end, or a row is broken, a file with quotes is read again with care.

Opening text files, and saying where they are broken.

The fast readers say that something is wrong, seldom where. When one of them gives up, the file is gone through again,
slowly, until the first bad byte or row is found.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import mmap
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.csv as pa_csv

from fishernet.base.errors import FileFormatError
from fishernet.data.arrow import cells_of
from fishernet.data.cells import Columns
from fishernet.data.options import Options

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
    """Return an error that says where a delimited file is broken."""
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


TEXT = pa.dictionary(pa.int32(), pa.utf8())
DELIMITERS = (",", ";", "\t", "|")  # what tables are cut by elsewhere
BLOCKS = (1 << 22, 1 << 26, 2**31 - 1)  # bytes; a row must fit into one, so larger ones are tried when it does not


def delimited_columns(file: TextFile, options: Options, delimiter: str) -> Columns:
    """Read the columns of a delimited file that the options ask for."""
    names = _header(file, delimiter)
    chosen = options.choose(names)
    layout = Layout(file, delimiter, len(names), file.gzipped or _holds_quotes(file), options.na_values)
    if not layout.quoted:
        return _columns(layout.parsed(chosen, line_ends=False, blocks=BLOCKS), chosen, options.na_values)
    if chosen == names:
        hasty = _hasty(layout, chosen)
        if hasty is not None:
            return hasty
    return _careful(layout, chosen, names[-1])


def _hasty(layout: Layout, names: list[str]) -> Columns | None:
    """Read a file with quotes as if no quoted cell held a line end; None when one does."""
    try:
        table = layout.read(names, line_ends=False, blocks=BLOCKS)
    except pa.ArrowInvalid:
        return None
    columns = _columns(table, names, frozenset())
    if _any_label_holds(columns, "\n") or _any_label_holds(columns, "\r"):
        return None
    _refuse_open_quote(layout, table.column(names[-1]))
    return columns


def _careful(layout: Layout, names: list[str], last: str) -> Columns:
    """Read a file whose quoted cells may hold line ends.

    The last column tells whether a quote is still open at the end. Where a block ends between a carriage return and
    a line feed, Arrow leaves the line feed out, even in a quoted cell; a file of such cells is read as one block.
    """
    read = list(dict.fromkeys([*names, last]))
    for blocks in (BLOCKS, BLOCKS[-1:]):
        table = layout.parsed(read, line_ends=True, blocks=blocks)
        columns = _columns(table, names, frozenset())
        if table.column(last).num_chunks <= 1 or not _any_label_holds(columns, "\r"):
            _refuse_open_quote(layout, table.column(last))
            return columns
    raise FileFormatError(layout.file.path, "holds carriage returns in cells and is too large to be one block")


def _any_label_holds(columns: Columns, character: str) -> bool:
    return any(character in label for column in columns.cells for label in column.coded.labels.tolist())


def _columns(table: pa.Table, names: list[str], na_values: frozenset[str]) -> Columns:
    return Columns([cells_of(name, table.column(name), na_values, text=True) for name in names], table.num_rows)


def _header(file: TextFile, delimiter: str) -> list[str]:
    try:
        rows = records(file, delimiter)
        for record in rows:
            _refuse_other_delimiter(file, delimiter, record, rows)
            return record.cells
    except UnicodeDecodeError:
        raise explain(file, delimiter, 0, "no header") from None
    except csv.Error as error:
        raise FileFormatError(file.path, f"the header cannot be read ({error})", line=1) from None
    raise FileFormatError(file.path, "is empty; a table needs a header")


def _refuse_other_delimiter(file: TextFile, delimiter: str, header: Record, rows: Iterator[Record]) -> None:
    """Raise when the header and the first row are one cell each, and another delimiter cuts them evenly."""
    if len(header.cells) != 1 or '"' in header.text:
        return
    try:
        first = next(rows, None)
    except (UnicodeDecodeError, csv.Error):  # said better by what reads the rows
        return
    if first is None or len(first.cells) != 1 or '"' in first.text:
        return
    for other in DELIMITERS:
        if other != delimiter and header.text.count(other) == first.text.count(other) > 0:
            raise FileFormatError(
                file.path,
                f"the cells seem to be separated by {other!r}; a .csv file takes commas, a .tsv file tabs",
                line=1,
            )


def _holds_quotes(file: TextFile) -> bool:
    with file.binary() as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(b'"') >= 0


@dataclass(frozen=True)
class Layout:
    """How a delimited file is laid out.

    Attributes
    ----------
    file : TextFile
    delimiter : str
    n_columns : int
    quoted : bool
        Whether there may be quotes; Arrow then tells missing cells from quoted text.
    na_values : frozenset of str
    """

    file: TextFile
    delimiter: str
    n_columns: int
    quoted: bool
    na_values: frozenset[str]

    def parsed(self, names: list[str], *, line_ends: bool, blocks: Sequence[int]) -> pa.Table:
        """Return the named columns, dictionary-encoded; an error says where the file is broken."""
        try:
            return self.read(names, line_ends=line_ends, blocks=blocks)
        except pa.ArrowInvalid as error:
            raise explain(self.file, self.delimiter, self.n_columns, str(error).partition("\n")[0]) from None

    def read(self, names: list[str], *, line_ends: bool, blocks: Sequence[int]) -> pa.Table:
        """Return the named columns, dictionary-encoded."""
        for block in blocks:
            try:
                return self._read(names, line_ends, block)
            except pa.ArrowInvalid as error:
                if "Empty CSV" in str(error):  # a header without a line end
                    return pa.table({name: pa.array([], TEXT) for name in names})
                if "straddl" not in str(error) or block == blocks[-1]:
                    raise
        raise AssertionError("the last block raises")

    def _read(self, names: list[str], line_ends: bool, block: int) -> pa.Table:
        convert = pa_csv.ConvertOptions(
            column_types=dict.fromkeys(names, TEXT),
            include_columns=names,
            strings_can_be_null=self.quoted,
            quoted_strings_can_be_null=False,
            null_values=sorted(self.na_values),
        )
        try:
            with pa.input_stream(str(self.file.path), compression="gzip" if self.file.gzipped else None) as stream:
                return pa_csv.read_csv(
                    stream,
                    read_options=pa_csv.ReadOptions(block_size=block),
                    parse_options=pa_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=line_ends),
                    convert_options=convert,
                )
        except pa.ArrowKeyError as error:
            raise FileFormatError(self.file.path, f"the header cannot be read ({error.args[0]})", line=1) from None


def _refuse_open_quote(layout: Layout, last: pa.ChunkedArray) -> None:
    """Raise when the last cell runs on to the end of the file, as it does after a quote that is never closed."""
    text = last[len(last) - 1].as_py() if len(last) else None
    if text is not None and ("\n" in text or "\r" in text or opens_quote(layout.file, layout.delimiter)):
        line = unclosed_quote(layout.file, layout.delimiter)
        if line is not None:
            raise FileFormatError(layout.file.path, "a quote in this row is never closed", line=line)
