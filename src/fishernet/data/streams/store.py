"""The encoded copy of a long source: a folder with a file a column, which are mapped into memory.

Codes lie there in the narrowest type that holds them, all numbers in one file, column by column, and beside them the
form of the columns that the core counts fastest (its bits by state). The file ``store.json`` is written last, so a
folder that has one is complete; it says what the columns are, what they were made of, and how long each file is with
its checksum.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import secrets
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import FileFormatError, FishernetError
from fishernet.base.io import replacing_text
from fishernet.data.arrow import variable_fields, variable_from
from fishernet.data.encoding.encode import Decision
from fishernet.data.variable import Column

VERSION = 1
HEAD = "store.json"
FIELDS = {"version", "n_rows", "variables", "decisions", "files", "made_of"}  # of the head
NUMBERS = "numbers.bin"
WEIGHTS = "weights.bin"
PACKED = ("planes.bin", "masks.bin")
PREFIX = "fishernet-"  # of the names of temporary folders
PIECE = 1 << 24  # bytes that a checksum takes at once


@dataclass(frozen=True)
class Stored:
    """What a store holds.

    Attributes
    ----------
    variables, columns
        As of a `Table`; the columns are mapped files.
    numbers : (number of continuous columns, n_rows) float64
        Those of the columns that are continuous, in one piece.
    weights : (n_rows,) array, or None
    n_rows : int
    decisions : tuple of Decision
    made_of : dict
        What it was made of and how, to tell whether it is stale.
    """

    variables: tuple[Column, ...]
    columns: tuple[npt.NDArray[Any], ...]
    numbers: npt.NDArray[np.float64]
    weights: npt.NDArray[Any] | None
    n_rows: int
    decisions: tuple[Decision, ...]
    made_of: dict[str, Any]


class Writer:
    """Writes a store into a folder, a column at a time; the next is made while a thread writes the last."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, dict[str, Any]] = {}
        self._thread = ThreadPoolExecutor(1)
        self._written: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown()

    def column(self, variable: Column, blocks: Iterable[npt.NDArray[Any]], n_rows: int) -> npt.NDArray[Any]:  # noqa: ARG002
        """Write a column, block by block, and return what stands for it meanwhile: its type, without rows."""
        kind = np.dtype(variable.dtype)
        self._begin(_file_of(variable), np.zeros(0, dtype=kind))  # a column without rows has a file, too
        for block in blocks:
            self._begin(_file_of(variable), block.astype(kind, copy=False))
        return np.zeros(0, dtype=kind)

    def weights(self, weights: npt.NDArray[Any] | None) -> None:
        """Write the rows' weights."""
        if weights is not None:
            self._begin(WEIGHTS, weights)

    def _begin(self, name: str, array: npt.NDArray[Any]) -> None:
        """Have an array written when the one before it is, so that there are two in memory at most."""
        self._wait()
        self._written = self._thread.submit(self._append, name, array)

    def _wait(self) -> None:
        if self._written is not None:
            self._written.result()

    def _append(self, name: str, array: npt.NDArray[Any]) -> None:
        path = self._folder / name
        data = np.ascontiguousarray(array).view(np.uint8).data
        entry = self._files.setdefault(name, {"bytes": 0, "crc32": 0, "type": array.dtype.str})
        with path.open("ab") as file:
            for begin in range(0, len(data), PIECE):
                piece = data[begin : begin + PIECE]
                file.write(piece)
                entry["crc32"] = zlib.crc32(piece, entry["crc32"])
        entry["bytes"] += len(data)

    def finish(
        self, variables: Sequence[Column], n_rows: int, decisions: Sequence[Decision], made_of: dict[str, Any]
    ) -> None:
        """Write the head, which makes the store complete."""
        self._wait()
        head = {
            "format": "fishernet store",
            "version": VERSION,
            "n_rows": n_rows,
            "variables": [{"name": variable.name, **variable_fields(variable)} for variable in variables],
            "decisions": [[d.name, d.why, list(d.overrule), d.left_out] for d in decisions],
            "files": self._files,
            "made_of": made_of,
        }
        with replacing_text(self._folder / HEAD) as text:
            json.dump(head, text)


def opened(folder: Path) -> Stored:
    """Open a store; raise FileFormatError when it is none, is damaged, or was written by another version."""
    head = _head(folder)
    files, n_rows = head["files"], head["n_rows"]
    for name, entry in files.items():
        path = folder / name
        if not path.is_file() or path.stat().st_size != entry["bytes"]:
            raise FileFormatError(path, "a file of the store is missing or cut off; delete the folder and read again")
    variables = tuple(variable_from(item["name"], json.dumps(item)) for item in head["variables"])
    held = {name: _mapped(folder / name, entry) for name, entry in files.items()}
    counts = dict.fromkeys(held, 0)
    columns = []
    for variable in variables:
        name = _file_of(variable)
        columns.append(held[name][counts[name] * n_rows : (counts[name] + 1) * n_rows])
        counts[name] += 1
    numbers = held[NUMBERS].reshape(counts[NUMBERS], n_rows) if NUMBERS in held else np.zeros((0, n_rows))
    weights = held.get(WEIGHTS)
    decisions = tuple(Decision(name, why, tuple(words), out) for name, why, words, out in head["decisions"])
    return Stored(variables, tuple(columns), numbers, weights, n_rows, decisions, head["made_of"])


def made_of(folder: Path) -> dict[str, Any] | None:
    """Return what the store in a folder was made of; None where there is none that is complete."""
    if not (folder / HEAD).exists():
        return None
    found: dict[str, Any] = _head(folder)["made_of"]
    return found


def verify(folder: Path) -> None:
    """Raise FileFormatError when a file of a store has not the checksum that it was written with."""
    for name, entry in _head(folder)["files"].items():
        found = 0
        try:
            with (folder / name).open("rb") as file:
                while piece := file.read(PIECE):
                    found = zlib.crc32(piece, found)
        except OSError as error:
            raise FileFormatError(folder / name, f"the file cannot be read ({error.strerror})") from None
        if found != entry["crc32"]:
            raise FileFormatError(folder / name, "the file's checksum is wrong: delete the folder and read again")


def _head(folder: Path) -> dict[str, Any]:
    path = folder / HEAD
    try:
        head = json.loads(path.read_text("utf-8"))
        known = head["format"] == "fishernet store" and head.keys() >= FIELDS and isinstance(head["files"], dict)
    except (OSError, ValueError, KeyError, TypeError):
        known, head = False, {}
    if not known:
        raise FileFormatError(
            path, "the folder holds no encoded store, or a damaged one; delete the folder and read again"
        )
    if head["version"] != VERSION:
        raise FileFormatError(path, f"the store has version {head['version']}, and this library reads {VERSION}")
    return dict(head)


def _file_of(variable: Column) -> str:
    """Return the file that holds the columns of a variable's type, one after the other."""
    return NUMBERS if variable.is_continuous else f"codes-{variable.dtype.itemsize}.bin"


def _mapped(path: Path, entry: dict[str, Any]) -> npt.NDArray[Any]:
    kind = np.dtype(entry["type"])
    if not entry["bytes"]:
        return np.zeros(0, dtype=kind)
    with path.open("rb") as file:
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), kind)


def pack(columns: _core.Columns, folder: Path) -> None:
    """Give the core's columns the form that it counts fastest from files of the store, making these when they lack.

    Raises
    ------
    FishernetError
        When the disk is full, with what is needed.
    """
    sizes = [8 * columns.packed_words[0], 4 * columns.packed_words[1]]
    paths = [folder / name for name in PACKED]
    filled = all(path.is_file() and path.stat().st_size == size for path, size in zip(paths, sizes, strict=True))
    new = paths if filled else [path.with_suffix(".new") for path in paths]
    with telling_need(folder, lambda: sum(sizes)):
        maps = [_room(path, size, filled) for path, size in zip(new, sizes, strict=True)]
    planes, masks = (np.frombuffer(room, kind) for room, kind in zip(maps, (np.uint64, np.uint32), strict=True))
    columns.pack_into(planes, masks, filled)
    if not filled:
        for path, target in zip(new, paths, strict=True):
            path.replace(target)


def _room(path: Path, size: int, filled: bool) -> mmap.mmap | bytearray:
    """Map a file of so many bytes, all of which the disk has: what is written later cannot fail."""
    if not size:
        path.touch()
        return bytearray()
    with path.open("r+b" if filled else "w+b") as file:
        if not filled and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        elif not filled:
            file.truncate(size)
        return mmap.mmap(file.fileno(), size)


@contextmanager
def telling_need(folder: Path, needed: Callable[[], int | None]) -> Iterator[None]:
    """Turn the error of a full disk into one that says what is needed, in bytes, where that is known."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise FileFormatError(folder, f"the encoded copy cannot be written ({error.strerror})") from None
        size = needed()
        room = "" if size is None else f"; about {size / 2**30:,.2f} GiB are needed there"
        raise FishernetError(
            f"the disk of {str(folder)!r} is full{room}; cache= or TMPDIR names a folder on another disk",
            parameter="cache",
        ) from None


def checked_folder(folder: str | os.PathLike[str]) -> Path:
    """Return a folder that is new, is empty or holds a store; raise FishernetError for any other."""
    path = check.path(folder)
    if path.exists() and not path.is_dir():
        raise FishernetError(f"cache must be a folder, and {str(path)!r} is a file", parameter="cache")
    if path.is_dir() and any(path.iterdir()) and made_of(path) is None:
        raise FishernetError(
            f"the folder {str(path)!r} holds other things; cache takes one of its own", parameter="cache"
        )
    return path


def temporary_name() -> Path:
    """Return a folder for a store that goes with its stream; it is not made yet."""
    return Path(tempfile.gettempdir()) / f"{PREFIX}{secrets.token_hex(8)}"


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Give a folder beside another one, which takes its place when all went well, and vanishes when not."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(prefix=f".{PREFIX}", dir=folder.parent))
    except OSError as error:
        raise FishernetError(
            f"the folder {str(folder)!r} cannot be made ({error.strerror})", parameter="cache"
        ) from None
    try:
        yield new
        if folder.exists():
            shutil.rmtree(folder)
        new.replace(folder)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
