"""Writing a text file whole or not at all, compressed or not.

What is written goes to a new file in the same folder, which takes the place of the old one when it is complete
(`fishernet.table.writing.replacing`). Whatever comes before (an error, a full disk, Ctrl-C) removes the new file and
leaves the old one alone.
"""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TextIO

from fishernet.table.writing import replacing


@contextmanager
def replacing_text(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    r"""Open a text file that takes the place of another one when all is written.

    Parameters
    ----------
    path : path
        The file to write; a name that ends in ``.gz`` is compressed (without a time stamp: equal texts give equal
        files). A symbolic link stays one, and an existing file's permissions stay. What is no file on a disk (a pipe,
        a device) is written directly.

    Yields
    ------
    text file
        UTF-8 with ``\n`` line ends.

    Raises
    ------
    FileFormatError
        When the file cannot be written; it names the path that was given.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from fishernet.files.writing import replacing_text
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing_text(Path(folder, "note.txt")) as file:
    ...         _ = file.write("whole")
    ...     Path(folder, "note.txt").read_text()
    'whole'
    """
    target = Path(path)
    with replacing(target) as raw:
        if target.suffix.lower() == ".gz":
            with gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as packed, _text(packed) as text:
                yield text
        else:
            with _text(raw) as text:
                yield text


def _text(raw: IO[bytes] | gzip.GzipFile) -> io.TextIOWrapper:
    return io.TextIOWrapper(raw, encoding="utf-8", newline="\n")
