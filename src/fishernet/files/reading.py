"""Reading a text file, compressed or not."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path

from fishernet.errors import FileFormatError

GZIP = b"\x1f\x8b"


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a file; what begins as gzip data is unpacked, whatever the file is called.

    Raises
    ------
    FileFormatError
        When there is no such file, it cannot be read, its gzip data is damaged or ends early, or it is not UTF-8 text.
    """
    if not Path(path).exists():
        raise FileFormatError(path, "there is no such file")
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise FileFormatError(path, f"the file cannot be read ({error.strerror})") from error
    if data.startswith(GZIP):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise FileFormatError(path, f"the gzip data is damaged or ends early ({error})") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileFormatError(path, "the file is not text in UTF-8", line=line) from error
    if "\0" in text:
        raise FileFormatError(path, "the file is not text (it has zero bytes)", line=_line(text, text.index("\0")))
    return text


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
