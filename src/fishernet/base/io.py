"""Files written whole or not at all, and text files read, compressed or not.

What is written goes to a new file in the same folder, which takes the place of the old one when it is complete.
Whatever comes before (an error, a full disk, Ctrl-C) removes the new file and leaves the old one alone.
"""

from __future__ import annotations

import codecs
import gzip
import io
import lzma
import os
import secrets
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TextIO

from fishernet.base import check
from fishernet.base.errors import FileFormatError

GZIP = b"\x1f\x8b"
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
MOST_BYTES = 2**31  # of a file's text: devices such as /dev/zero, and gzip bombs, have no end
MOST_RATIO = 100  # of what gzip data unpack to, to their size; texts of tables and models reach 20
LEAST_UNPACKED = 2**24  # bytes that are read whatever the ratio is
UNREADABLE = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)  # what reading a file may raise
PIECE = 2**20  # bytes read at once


def read_text(path: str | os.PathLike[str], *, encoding: Callable[[bytes], str] = lambda _: "utf-8-sig") -> str:
    """Return the text of a file; what begins as gzip data is unpacked, whatever the file is called.

    `encoding` says by the file's bytes what they are encoded in, or raises LookupError; a mark of UTF-16 comes first.
    FileFormatError says why a file cannot be read: damaged gzip data, more than 2 GiB, no text in that encoding.
    """
    file_path = check.path(path)
    if not _exists(path, file_path):
        raise FileFormatError(path, "there is no such file")
    try:
        with file_path.open("rb") as file:
            data = _bounded(path, file)
    except OSError as error:
        raise FileFormatError(path, f"the file cannot be read ({error.strerror})") from error
    if data.startswith(GZIP):
        try:
            with gzip.open(io.BytesIO(data)) as unpacked:
                data = _bounded(path, unpacked, most=max(LEAST_UNPACKED, MOST_RATIO * len(data)))
        except UNREADABLE as error:
            raise FileFormatError(path, f"the gzip data is damaged or ends early ({error})") from error
    name = "utf-8-sig"
    try:
        name = "utf-16" if data.startswith(UTF16_MARKS) else encoding(data)
        text = data.decode(name)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        called = "UTF-8" if name == "utf-8-sig" else name
        raise FileFormatError(path, f"the file is not text in {called}", line=line) from error
    except LookupError as error:
        raise FileFormatError(path, str(error.args[0]), line=1) from error
    if "\0" in text:
        raise FileFormatError(path, "the file is not text (it has zero bytes)", line=_line(text, text.index("\0")))
    return text


def _exists(given: str | os.PathLike[str], path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:  # a name too long, a folder that may not be looked into
        raise FileFormatError(given, f"the file cannot be read ({error.strerror})") from error


def _bounded(path: str | os.PathLike[str], file: IO[bytes] | gzip.GzipFile, most: int = MOST_BYTES) -> bytes:
    """Return what a file holds, at most `MOST_BYTES`; up to the first zero byte, which no text has.

    Packed data may hold `most` bytes: a file that unpacks to more is made to fill the memory.
    """
    pieces: list[bytes] = []
    size = 0
    while piece := file.read(PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > min(most, MOST_BYTES):
            if most < MOST_BYTES:
                what = f"the file is not read: it unpacks to more than {MOST_RATIO} times its size"
                raise FileFormatError(path, f"{what}; if that is meant, unpack it and read what comes out")
            raise FileFormatError(path, f"the file is not read: it holds more than {MOST_BYTES:,} bytes, or has no end")
        if b"\0" in piece and not pieces[0].startswith((GZIP, *UTF16_MARKS)):
            pieces[-1] = piece[: piece.index(b"\0") + 1]
            break
    return b"".join(pieces)


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


@contextmanager
def naming_unreadable(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn the errors of reading a file, packed or not, into FileFormatError, which names it."""
    try:
        yield
    except UNREADABLE as error:
        why = str(error).partition("\n")[0]
        raise FileFormatError(path, f"cannot be read ({why})") from None
    except UnicodeEncodeError:  # Arrow takes no such paths
        raise FileFormatError(path, "the file's name is no valid Unicode; rename the file") from None


def check_writable(path: Path) -> None:
    """Raise FileFormatError, before any work, when a file could not be written."""
    folder = Path(os.path.realpath(path)).parent
    if path.is_dir():
        raise FileFormatError(path, "cannot be written; it is a directory")
    if not folder.is_dir():
        raise FileFormatError(path, f"cannot be written; there is no directory {str(folder)!r}")
    if not os.access(folder, os.W_OK):
        raise FileFormatError(path, "cannot be written; its directory does not allow it")


@contextmanager
def replacing_text(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    r"""Open a text file (UTF-8 with ``\n`` line ends) that takes the place of another one when all is written.

    A name that ends in ``.gz`` is compressed, without a time stamp: equal texts give equal files.
    """
    target = check.path(path)
    with replacing(target) as raw:
        if target.suffix.lower() == ".gz":
            with gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as packed, _text(packed) as text:
                yield text
        else:
            with _text(raw) as text:
                yield text


def _text(raw: IO[bytes] | gzip.GzipFile) -> io.TextIOWrapper:
    return io.TextIOWrapper(raw, encoding="utf-8", newline="\n")


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file beside the path that takes its place when all went well, and vanishes when not.

    A symbolic link stays one, and an existing file's permissions stay. What is no file on a disk (a pipe, a device) is
    written directly.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as file:
                yield file
            return
        with _beside(target) as file:
            yield file
    except OSError as error:
        raise FileFormatError(path, f"cannot be written ({error.strerror or error})") from error


@contextmanager
def _beside(target: Path) -> Iterator[IO[bytes]]:
    new = target.with_name(f".fishernet-{secrets.token_hex(6)}")
    try:
        with new.open("xb") as file:
            if target.exists():
                shutil.copymode(target, new)
            yield file
        new.replace(target)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
