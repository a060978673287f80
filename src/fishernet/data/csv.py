"""CSV and TSV files, read by Arrow in one pass.

Every column is read as text and dictionary-encoded on the way, so its labels are few and their types are settled
later. A quoted cell is text and never a missing cell (``"NA"`` is a label, ``NA`` is not), and may hold delimiters and
line ends: where a file holds a quote, Arrow is told so, and looks for the ends of rows before it cuts the file.

Opening text files, and saying where they are broken.

The fast readers say that something is wrong, seldom where. When one of them gives up, the file is gone through again,
slowly, until the first bad byte or row is found.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import mmap
import sys
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from fishernet.base.errors import FileFormatError, warn
from fishernet.base.machine import memory_limit
from fishernet.base.names import several, unused_name
from fishernet.data.arrow import cells_of
from fishernet.data.encoding.cells import Cells, Columns, Contents, SourceColumn
from fishernet.data.options import Options
from fishernet.data.originals import frame_of_text

PIECE = 1 << 20  # bytes
MOST_STREAMED = 1 << 33  # bytes
GZIP_MAGIC = b"\x1f\x8b"
MOST_RATIO = 1032  # bytes of text in a byte of gzip data
SHARE = 4  # of the memory, which the text of a compressed file may take: as columns it takes up to four times as much
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class TextFile:
    """A text file that may be compressed; `content` is its text in UTF-8, where it is not so in the file itself."""

    path: Path
    gzipped: bool
    content: bytes | None = None

    @classmethod
    def of(cls, path: Path, gzipped: bool, encoding: str) -> TextFile:
        """Return a file as UTF-8, read whole where it is not so itself."""
        file = cls(path, gzipped)
        if encoding == "utf-8":
            return file
        with file.whole("write it as UTF-8 first") as stream:
            return cls(path, False, _in_utf_8(path, stream.read(), encoding))

    @classmethod
    def of_stream(cls, path: Path, encoding: str) -> TextFile:
        """Return what comes through a pipe, or (for the path "-") through standard input, read to its end."""
        if str(path) == "-":
            found = sys.stdin.buffer.read(MOST_STREAMED + 1)
        else:
            with path.open("rb") as stream:
                found = stream.read(MOST_STREAMED + 1)
        if len(found) > MOST_STREAMED:
            raise FileFormatError(
                path, f"more than {MOST_STREAMED:,} bytes come through it; write them to a file first"
            )
        if found.startswith(GZIP_MAGIC):
            with _Bounded(path, io.BytesIO(found), "unpack it to a file first") as unpacked:
                found = unpacked.read()
        if not found:
            raise FileFormatError(path, "is empty; a table needs a header")
        return cls(path, False, found if encoding == "utf-8" else _in_utf_8(path, found, encoding))

    @property
    def size(self) -> int:
        """Its number of bytes, as it is stored."""
        return self.path.stat().st_size if self.content is None else len(self.content)

    def input_stream(self) -> pa.NativeFile:
        """Open its bytes for Arrow, decompressed."""
        if self.content is not None:
            return pa.BufferReader(self.content)
        return pa.input_stream(str(self.path), compression="gzip" if self.gzipped else None)

    def binary(self) -> IO[bytes]:
        """Open its bytes, decompressed."""
        if self.content is not None:
            return io.BytesIO(self.content)
        return gzip.open(self.path, "rb") if self.gzipped else self.path.open("rb")  # type: ignore[return-value]

    def whole(self, otherwise: str = "read it as a stream, with fn.scan (option --scan)") -> Any:
        """Open its bytes, all of which are read into memory: of a compressed file no more than there is room for.

        What to do `otherwise` is said where there is more.
        """
        if self.content is not None or not self.gzipped or MOST_RATIO * self.size <= memory_limit() // SHARE:
            return self.input_stream()
        return _Bounded(self.path, self.path.open("rb"), otherwise)

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
                    return FileFormatError(
                        self.path, "is UTF-16 text; encoding='utf-16' reads it", parameter="encoding"
                    )
                try:
                    decoder.decode(piece, final=not piece)
                except UnicodeDecodeError as error:
                    line += error.object[: error.start].count(b"\n")
                    byte = error.object[error.start]
                    return FileFormatError(
                        self.path,
                        f"the byte 0x{byte:02x} is not UTF-8; encoding='latin-1' (or 'cp1252') reads such files",
                        line=line,
                        parameter="encoding",
                    )
                if not piece:
                    return None
                line += piece.count(b"\n")


class _Bounded(io.RawIOBase):
    """The text of gzip data, which must not be more than there is room for in memory: a few kB may unpack to GB."""

    def __init__(self, path: Path, packed: IO[bytes], otherwise: str) -> None:
        self._path, self._packed, self._otherwise = path, packed, otherwise
        self._text = gzip.GzipFile(fileobj=packed)
        self._most = self._left = memory_limit() // SHARE

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        n = self._text.readinto(room)
        self._left -= n
        if self._left < 0:
            raise FileFormatError(
                self._path,
                f"is compressed and holds more than {self._most / 1e9:,.1f} GB of text, too much for the memory of "
                f"this machine; {self._otherwise}",
            )
        return n

    def close(self) -> None:
        self._packed.close()
        super().close()


def _in_utf_8(path: Path, content: bytes, encoding: str) -> bytes:
    try:
        return content.decode(encoding).encode()
    except (UnicodeDecodeError, UnicodeError) as error:
        line = content[: getattr(error, "start", 0)].count(b"\n") + 1
        raise FileFormatError(path, f"is not {encoding} text", line=line, parameter="encoding") from None


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
        rows = csv.reader(feed(text), delimiter=delimiter)
        while True:
            try:
                cells = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                if "field larger" not in str(error):
                    raise
                raise _LongCell(number) from None
            if cells:
                yield Record(cells, number, "".join(lines))
            number += len(lines)
            lines.clear()


class _LongCell(csv.Error):
    """The row that begins in a line has a cell longer than Python reads, as where a quote is never closed."""

    def __init__(self, line: int) -> None:
        self.line = line
        super().__init__(
            f"a cell of this row has over {csv.field_size_limit():,} characters; a quote may not be closed"
        )


def explain(file: TextFile, delimiter: str, n_columns: int, why: str) -> FileFormatError:
    """Return an error that says where a delimited file is broken."""
    found = file.undecodable()
    if found is not None:
        return found
    try:
        for record in records(file, delimiter):
            if len(record.cells) != n_columns:
                count = f"the header has {several(n_columns, 'cell')}, this row {len(record.cells)}"
                hint = "; a quote may not be closed" if record.text.count("\n") > 1 else ""
                return FileFormatError(file.path, count + hint, line=record.line)
    except _LongCell as error:
        return FileFormatError(file.path, str(error), line=error.line)
    except csv.Error:
        pass
    return FileFormatError(file.path, f"cannot be read as a table ({why})")


def unclosed_quote(file: TextFile, delimiter: str) -> int | None:
    """Return the line of the row whose quote is still open where the file ends; None when there is none."""
    try:
        last = deque(records(file, delimiter), maxlen=1).pop()
    except _LongCell as error:
        with file.binary() as stream:
            return (
                error.line if sum(piece.count(b'"') for piece in iter(partial(stream.read, PIECE), b"")) % 2 else None
            )
    return last.line if _is_open(last.text, delimiter) else None


def opens_quote(file: TextFile, delimiter: str) -> bool:
    """Return whether the last line of an uncompressed file, if it does not end, may hold a quote that is not closed."""
    if file.gzipped:
        return False
    with file.binary() as stream:
        stream.seek(max(0, file.size - PIECE))
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


def delimited_columns(file: TextFile, options: Options, delimiter: str | None = None) -> Columns:
    """Read the columns of a delimited file that the options ask for.

    `delimiter` is what the ending of its name says. A file whose names all follow a space is one of ``a, b, c``: spaces
    before cells are no part of them.
    """
    layout, names = _opened(file, options, delimiter)
    hidden = _has_index(names)
    if hidden and options.schema is None:
        message = "the first column has no name, as the index that pandas writes; it is left out"
        warn(f"{file.path}: {message}")
    wanted = set(options.choose(names[hidden:]))
    chosen = [raw for raw, name in zip(layout.header, names, strict=True) if name in wanted]
    found = _read_columns(layout, chosen)
    return Columns(_meant(found.cells, layout, names), found.n_rows)


def text_batches(file: TextFile, options: Options, delimiter: str | None = None) -> Iterator[Columns]:
    """Read the columns of a delimited file, some rows at a time; raises as `delimited_columns`."""
    layout, names = _opened(file, options, delimiter)
    hidden = _has_index(names)
    wanted = set(options.choose(names[hidden:]))
    chosen = [raw for raw, name in zip(layout.header, names, strict=True) if name in wanted]
    line_ends, last = layout.quoted, layout.header[-1]
    read = list(dict.fromkeys([*chosen, last])) if line_ends else chosen
    end = None
    for table in layout.batches(read, line_ends=line_ends):
        found = _columns(table, chosen, frozenset() if line_ends else layout.na_values)
        yield Columns(_meant(found.cells, layout, names), found.n_rows)
        end = table.column(last) if line_ends and table.num_rows else end
    if end is not None:
        _refuse_open_quote(layout, end)


def text_frames(file: TextFile, options: Options, delimiter: str | None = None) -> Iterator[pa.Table]:
    """Read all columns of a delimited file as they are written, some rows at a time; raises as `delimited_columns`."""
    layout, names = _opened(file, options, delimiter)
    for table in layout.batches(layout.header, line_ends=layout.quoted):
        found = _columns(table, layout.header, frozenset() if layout.quoted else layout.na_values)
        yield _as_written(_named(found.cells, layout, names), layout, names)


def _as_written(cells: Sequence[SourceColumn], layout: Layout, names: list[str]) -> pa.Table:
    known = [unused_name("index", names), *names[1:]] if _has_index(names) else names
    coded = [_unspaced(c.coded, layout.na_values) if layout.spaced else c.coded for c in cells]
    return frame_of_text(coded, known)


def delimited_contents(file: TextFile, options: Options, delimiter: str | None = None) -> Contents:
    """Read all columns of a delimited file, an index without a name too; raises as `delimited_columns`."""
    layout, names = _opened(file, options, delimiter)
    hidden = _has_index(names)
    options.choose(names[hidden:])
    found = _read_columns(layout, layout.header)
    cells = _named(found.cells, layout, names)
    shown = dict(zip(layout.header, names, strict=True))

    def columns(wanted: Options) -> Columns:
        chosen = set(wanted.choose(names[hidden:]))
        return Columns(_meant([c for c in found.cells if shown[c.name] in chosen], layout, names), found.n_rows)

    return Contents(_as_written(cells, layout, names), columns)


def _has_index(names: Sequence[str]) -> bool:
    """Whether the first of several columns has no name, as the index that pandas writes."""
    return len(names) > 1 and not names[0]


def _unspaced(column: Cells, na_values: frozenset[str]) -> Cells:
    """Return a column of text without the spaces before its labels."""
    labels = [label.lstrip(" ") for label in column.labels.tolist()]
    return column.relabelled([None if label in na_values else label for label in labels])


def delimiter_of(file: TextFile, options: Options, delimiter: str | None = None) -> str:
    """Return what stands between the cells of a file; raise FileFormatError where that is something else than said."""
    return _opened(file, options, delimiter)[0].delimiter


def _opened(file: TextFile, options: Options, delimiter: str | None) -> tuple[Layout, list[str]]:
    """Return how a file is laid out, and the names of its columns, the first of them empty where it has none."""
    delimiter = options.text.delimiter or delimiter or _found_delimiter(file)
    first = _header(file, delimiter)
    header = first.cells
    spaced = len(header) > 1 and '"' not in first.text and all(name.startswith(" ") for name in header[1:])
    quoted = file.gzipped or _holds_quotes(file)
    names = [name.strip() for name in header] if spaced else header
    return Layout(file, delimiter, header, spaced, quoted, options.na_values), names


def _named(cells: Sequence[SourceColumn], layout: Layout, names: list[str]) -> list[SourceColumn]:
    """Return columns by their names as they are meant."""
    if len(set(names)) < len(names):
        return list(cells)
    shown = dict(zip(layout.header, names, strict=True))
    return [replace(column, name=shown[column.name]) for column in cells]


def _meant(cells: Sequence[SourceColumn], layout: Layout, names: list[str]) -> list[SourceColumn]:
    """Return columns by their names and without the spaces that follow delimiters."""
    named = _named(cells, layout, names)
    return [_unspaced(column.coded, layout.na_values) for column in named] if layout.spaced else named


def _read_columns(layout: Layout, chosen: list[str]) -> Columns:
    if not layout.quoted:
        return _columns(layout.parsed(chosen, line_ends=False, blocks=BLOCKS), chosen, layout.na_values)
    return _careful(layout, chosen, layout.header[-1])


def _found_delimiter(file: TextFile) -> str:
    """Return the delimiter that cuts the header and the first row into equally many cells, most of them."""
    best, most = "", 1
    for delimiter in DELIMITERS:
        try:
            first = [len(record.cells) for record in itertools.islice(records(file, delimiter), 2)]
        except UnicodeDecodeError:
            raise explain(file, delimiter, 0, "no header") from None
        except csv.Error:
            continue
        if first and len(set(first)) == 1 and first[0] > most:
            best, most = delimiter, first[0]
    return best or ","


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
    raise layout.too_large_for_returns()


def _any_label_holds(columns: Columns, characters: str) -> bool:
    texts = ["".join(column.coded.labels.tolist()) for column in columns.cells]
    return any(character in text for text in texts for character in characters)


def _columns(table: pa.Table, names: list[str], na_values: frozenset[str]) -> Columns:
    return Columns([cells_of(name, table.column(name), na_values, text=True) for name in names], table.num_rows)


def _header(file: TextFile, delimiter: str) -> Record:
    try:
        rows = records(file, delimiter)
        for record in rows:
            _refuse_other_delimiter(file, delimiter, record, rows)
            return record
    except UnicodeDecodeError:
        raise explain(file, delimiter, 0, "no header") from None
    except csv.Error as error:
        raise FileFormatError(file.path, f"the header cannot be read ({error})", line=1) from None
    raise FileFormatError(file.path, "is empty; a table needs a header")


def _refuse_other_delimiter(file: TextFile, delimiter: str, header: Record, rows: Iterator[Record]) -> None:
    """Raise when the header is one cell, and another delimiter cuts it and the first row evenly."""
    if len(header.cells) != 1 or '"' in header.text:
        return
    try:
        first = next(rows, None)
    except (UnicodeDecodeError, csv.Error):  # said better by what reads the rows
        return
    if first is None or '"' in first.text:
        return
    for other in DELIMITERS:
        if other != delimiter and header.text.count(other) == first.text.count(other) > 0:
            raise FileFormatError(
                file.path,
                f"the cells seem to be separated by {other!r}; delimiter={other!r} reads them",
                line=1,
                parameter="delimiter",
            )


def _holds_quotes(file: TextFile) -> bool:
    if file.content is not None:
        return b'"' in file.content
    with file.binary() as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(b'"') >= 0


@dataclass(frozen=True)
class Layout:
    """How a delimited file is laid out.

    Attributes
    ----------
    file : TextFile
    delimiter : str
    header : list of str
        The names of the columns, as they are written.
    spaced : bool
        Whether a space follows each delimiter.
    quoted : bool
        Whether there may be quotes; Arrow then tells missing cells from quoted text.
    na_values : frozenset of str
    """

    file: TextFile
    delimiter: str
    header: list[str]
    spaced: bool
    quoted: bool
    na_values: frozenset[str]

    def parsed(self, names: list[str], *, line_ends: bool, blocks: Sequence[int]) -> pa.Table:
        """Return the named columns, dictionary-encoded; an error says where the file is broken."""
        try:
            return self.read(names, line_ends=line_ends, blocks=blocks)
        except pa.ArrowInvalid as error:
            raise explain(self.file, self.delimiter, len(self.header), str(error).partition("\n")[0]) from None

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
        try:
            with self.file.whole() as stream:
                return pa_csv.read_csv(stream, **self._options(names, line_ends, block))
        except pa.ArrowKeyError as error:
            raise FileFormatError(self.file.path, f"the header cannot be read ({error.args[0]})", line=1) from None

    def batches(self, names: list[str], *, line_ends: bool) -> Iterator[pa.Table]:
        """Yield the named columns, some rows at a time; an error says where the file is broken.

        As `read`, it tries larger blocks where one is too small, or may have cut a carriage return from its line feed.
        """
        done = 0  # rows
        try:
            for block in BLOCKS:
                found = self._stream(names, line_ends, block)
                try:
                    before, returns = 0, False
                    for table in found:
                        returns = returns or (line_ends and _holds_carriage_return(table))
                        if returns and block != BLOCKS[-1]:
                            break
                        if returns and before:
                            raise self.too_large_for_returns()
                        if before + table.num_rows > done or not before:
                            yield table.slice(max(0, done - before))
                        before += table.num_rows
                        done = max(done, before)
                    else:
                        return
                except pa.ArrowInvalid as error:
                    if "straddl" not in str(error) or block == BLOCKS[-1]:
                        raise
                finally:
                    found.close()
        except pa.ArrowKeyError as error:
            raise FileFormatError(self.file.path, f"the header cannot be read ({error.args[0]})", line=1) from None
        except pa.ArrowInvalid as error:
            if "Empty CSV" in str(error):  # a header without a line end
                yield pa.table({name: pa.array([], TEXT) for name in names})
                return
            raise explain(self.file, self.delimiter, len(self.header), str(error).partition("\n")[0]) from None

    def too_large_for_returns(self) -> FileFormatError:
        """Return the error for cells of which Arrow may lose a line feed at the border of a block."""
        told = "holds carriage returns in cells and is too large to be one block"
        return FileFormatError(self.file.path, told)

    def _stream(self, names: list[str], line_ends: bool, block: int) -> Generator[pa.Table]:
        with (
            self.file.input_stream() as stream,
            pa_csv.open_csv(stream, **self._options(names, line_ends, block)) as reader,
        ):
            yield reader.schema.empty_table()  # a header without rows has no batch
            for batch in reader:
                yield pa.Table.from_batches([batch])

    def _options(self, names: list[str], line_ends: bool, block: int) -> dict[str, Any]:
        convert = pa_csv.ConvertOptions(
            column_types=dict.fromkeys(names, TEXT),
            include_columns=names,
            strings_can_be_null=self.quoted,
            quoted_strings_can_be_null=False,
            null_values=sorted(self.na_values),
        )
        return {
            "read_options": pa_csv.ReadOptions(block_size=block),
            "parse_options": pa_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=line_ends),
            "convert_options": convert,
        }


def _holds_carriage_return(table: pa.Table) -> bool:
    chunks = (chunk for column in table.columns for chunk in column.chunks)
    return any(pc.any(pc.match_substring(chunk.dictionary, "\r")).as_py() for chunk in chunks)


def _refuse_open_quote(layout: Layout, last: pa.ChunkedArray) -> None:
    """Raise when the last cell runs on to the end of the file, as it does after a quote that is never closed."""
    text = last[len(last) - 1].as_py() if len(last) else None
    if text is not None and ("\n" in text or "\r" in text or opens_quote(layout.file, layout.delimiter)):
        line = unclosed_quote(layout.file, layout.delimiter)
        if line is not None:
            raise FileFormatError(layout.file.path, "a quote in this row is never closed", line=line)
