"""Text files: opening them, decompressed and as UTF-8, their rows one by one, and saying where they are broken.

The fast readers say that something is wrong, seldom where. When one of them gives up, the file is gone through again,
slowly, until the first bad byte or row is found.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
import sys
import zipfile
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from fishernet.base.errors import FileFormatError
from fishernet.base.io import UTF16_MARKS
from fishernet.base.machine import memory_limit
from fishernet.base.names import listed, several

PIECE = 1 << 20  # bytes
MOST_STREAMED = 1 << 33  # bytes
GZIP_MAGIC = b"\x1f\x8b"
MOST_RATIO = 1032  # bytes of text in a byte of gzip data
SHARE = 4  # of the memory, which the text of a compressed file may take: as columns it takes up to four times as much
MOST_UNPACKED = 2**26  # bytes of text, up to which a compressed file is read once for all


def only_in_zip(path: Path) -> str:
    """Return the name of the one file in a zip archive; raise FileFormatError where there are more, or none."""
    with zipfile.ZipFile(path) as archive:
        names = _names_in(archive)
        if len(names) != 1:
            which = f" ({listed(names)})" if names else ""
            raise FileFormatError(path, f"is a zip archive of {several(len(names), 'file')}{which}; unpack it")
        try:
            archive.open(names[0]).close()
        except RuntimeError as error:  # a password, or a way of packing that Python does not know
            raise FileFormatError(path, f"is a zip archive that cannot be opened ({error}); unpack it") from None
    return names[0]


def _names_in(archive: zipfile.ZipFile) -> list[str]:
    """Return the names of the files of an archive, without what macOS adds to them."""
    return [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]


def _from_zip(packed: IO[bytes]) -> IO[bytes]:
    archive = zipfile.ZipFile(packed)
    return archive.open(_names_in(archive)[0])


PACKED: dict[str, Callable[[IO[bytes]], Any]] = {  # what unpacks the text of a file, by the end of its name
    ".gz": lambda packed: gzip.GzipFile(fileobj=packed),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
    ".zip": _from_zip,
}


@dataclass(frozen=True)
class TextFile:
    """A text file that may be compressed; `content` is its text in UTF-8, where it is not so in the file itself."""

    path: Path
    gzipped: bool
    content: bytes | None = None

    @classmethod
    def of(cls, path: Path, packing: str, encoding: str) -> TextFile:
        """Return a file as UTF-8, read whole where it is not so itself, or packed: by gzip where it is small."""
        if packing not in ("", ".gz"):
            with _Bounded(path, path.open("rb"), "unpack it to a file first", packing) as text:
                file = cls(path, False, text.read())
        else:
            file = cls(path, packing == ".gz")._unpacked()
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

    def _unpacked(self) -> TextFile:
        """Return a small file of packed text as its text, which then is looked at as that of others is."""
        most = min(MOST_UNPACKED, memory_limit() // SHARE)
        if not self.gzipped or self.size > most:
            return self
        with self.binary() as stream:
            text = stream.read(most + 1)
        return self if len(text) > most else TextFile(self.path, False, text)

    @property
    def size(self) -> int:
        """Its number of bytes, as it is stored."""
        return self.path.stat().st_size if self.content is None else len(self.content)

    def input_stream(self) -> pa.NativeFile:
        """Open its bytes for Arrow, decompressed."""
        if self.content is not None:
            # Arrow's threads let go of what they read when they come to it; of bytes of Python's, as the process ends,
            # they then wait for an interpreter that is no more, and abort it
            own = pa.BufferOutputStream()
            own.write(self.content)
            return pa.BufferReader(own.getvalue())
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

    def end(self, n_bytes: int) -> bytes:
        """Return the last bytes of a file that is not compressed."""
        with self.binary() as stream:
            stream.seek(max(0, self.size - n_bytes))
            return stream.read()

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
    """The text of packed data, which must not be more than there is room for in memory: a few kB may unpack to GB."""

    def __init__(self, path: Path, packed: IO[bytes], otherwise: str, packing: str = ".gz") -> None:
        self._path, self._packed, self._otherwise = path, packed, otherwise
        self._text: Any = PACKED[packing](packed)
        self._most = self._left = memory_limit() // SHARE

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        n: int = self._text.readinto(room)
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


def explain(file: TextFile, delimiter: str, n_columns: int, why: str, first_line: int = 1) -> FileFormatError:
    """Return an error that says where a delimited file is broken, from the first line of its rows on."""
    found = file.undecodable()
    if found is not None:
        return found
    try:
        for record in records(file, delimiter):
            if len(record.cells) != n_columns and record.line >= first_line:
                count = f"the header has {several(n_columns, 'cell')}, this row {len(record.cells)}"
                hint = "; a quote may not be closed" if record.text.count("\n") > 1 else ""
                return FileFormatError(file.path, count + hint, line=record.line)
    except _LongCell as error:
        return FileFormatError(file.path, str(error), line=error.line)
    except csv.Error:
        pass
    return FileFormatError(file.path, f"cannot be read as a table ({why})")


def unclosed_quote(file: TextFile, delimiter: str) -> int | None:
    """Return the line of the row whose quote is still open at the end of the file; None if all are closed."""
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
    last = file.end(PIECE).decode(errors="replace").rpartition("\n")[2]
    return _is_open(last, delimiter)


def _is_open(text: str, delimiter: str) -> bool:
    try:
        list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        return "unexpected end" in str(error)
    return False
