"""The form of a long store's columns that the core counts fastest, in two files beside them.

``planes.bin`` and ``masks.bin`` (`core/base/packed.hpp`) say at their beginning which store they were made of, how long
they are and what their checksum is. One process makes them, in a work folder, and they are put into place when they are
complete; everybody maps them for reading alone. Files that do not fit (another store's, cut off, damaged) are made
anew. Where the store's folder takes none (it is read-only, its disk is full, the store is gone), they lie in temporary
files without a name, and where no disk has room, in memory.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base.errors import FileFormatError, FishernetError
from fishernet.data.streams.checksums import checksum_of
from fishernet.data.streams.folders import DERIVED, PACKING, locked, work_folder

BEGIN = 4096  # bytes before the content
FORM = struct.Struct("<16sQ32sQ32s")  # what it is, version, identity of the store, bytes of content, their checksum
VERSION = 1
KINDS = (b"fishernet planes", b"fishernet masks\0")
MOST_BYTES = 2**26  # of a stretch of rows while it is made
STRETCH = 8192  # rows, of which a stretch is a multiple

Packed = tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]


def pack(columns: _core.Columns, folder: Path | None, identity: str, is_still: Callable[[], bool]) -> None:
    """Give the core's columns the form that it counts fastest.

    Parameters
    ----------
    columns : Columns
        Before anybody counts them.
    folder : Path or None
        Of their store; None of parts of one.
    identity : str
        Of the store.
    is_still : function
        Whether the folder holds the store of this identity now.
    """
    found = None if folder is None else _found(columns, folder, identity)
    if found is None and folder is not None:
        try:
            with locked(folder, PACKING, alone=True):  # one makes the files, and the others find them
                found = _found(columns, folder, identity) or _made_in(columns, folder, identity, is_still)
        except (OSError, FishernetError):
            found = None
    if found is None:
        try:
            found = _made_aside(columns, identity)
        except OSError:
            return
    columns.take_packed(*found)


def verify_derived(folder: Path, identity: str) -> None:
    """Raise FileFormatError when a derived file is not of this store, or is not as it was written."""
    for name, kind in zip(DERIVED, KINDS, strict=True):
        path = folder / name
        if not path.exists():
            continue
        try:
            with path.open("rb") as file:
                is_whole = _is_of(file, kind, identity, os.fstat(file.fileno()).st_size - BEGIN, anew=True)
        except OSError as error:
            raise FileFormatError(path, f"the file cannot be read ({error.strerror})") from None
        if not is_whole:
            raise FileFormatError(path, "the file is damaged or belongs to another store; delete it: it is made anew")


def _sizes(columns: _core.Columns) -> tuple[int, int]:
    lanes, words, groups = columns.packed_shape
    return 8 * lanes * words, 4 * groups * columns.n_rows


def _found(columns: _core.Columns, folder: Path, identity: str) -> Packed | None:
    """Return the content of the files of a store; None where one lacks or does not fit."""
    maps = []
    for name, kind, size in zip(DERIVED, KINDS, _sizes(columns), strict=True):
        try:
            with (folder / name).open("rb") as file:
                if not _is_of(file, kind, identity, size):
                    return None
                maps.append(_mapped(file))
        except OSError:
            return None
    return _content(maps)


def _is_of(file: IO[bytes], kind: bytes, identity: str, size: int, *, anew: bool = False) -> bool:
    head = file.read(FORM.size)
    if len(head) < FORM.size or os.fstat(file.fileno()).st_size != BEGIN + size:
        return False
    *what, checksum = FORM.unpack(head)
    expected = [kind, VERSION, bytes.fromhex(identity), size]
    return what == expected and checksum_of(file, BEGIN, anew=anew) == checksum.hex()


def _mapped(file: IO[bytes]) -> mmap.mmap:
    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _content(maps: list[mmap.mmap]) -> Packed:
    planes, masks = (np.frombuffer(m, kind, offset=BEGIN) for m, kind in zip(maps, ("u8", "u4"), strict=True))
    return planes, masks


def _made_in(columns: _core.Columns, folder: Path, identity: str, is_still: Callable[[], bool]) -> Packed:
    """Make the files and put them beside those of the store; as long as it lies there."""
    with work_folder(folder) as work:
        paths = [work / name for name in DERIVED]
        with paths[0].open("xb+") as planes, paths[1].open("xb+") as masks:
            maps = _written(columns, (planes, masks), identity, work)
        if is_still():
            for path in paths:
                path.replace(folder / path.name)
    return _content(maps)


def _made_aside(columns: _core.Columns, identity: str) -> Packed:
    with tempfile.TemporaryFile() as planes, tempfile.TemporaryFile() as masks:
        return _content(_written(columns, (planes, masks), identity, Path(tempfile.gettempdir())))


def _written(columns: _core.Columns, files: tuple[IO[bytes], IO[bytes]], identity: str, where: Path) -> list[mmap.mmap]:
    """Write the files and return them mapped."""
    sizes = _sizes(columns)
    if shutil.disk_usage(where).free < sum(sizes) + 2 * BEGIN:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    _write_content(columns, *files)
    for file, kind, size in zip(files, KINDS, sizes, strict=True):
        file.truncate(BEGIN + size)  # also without rows
        file.flush()
        checksum = bytes.fromhex(checksum_of(file, BEGIN))
        file.seek(0)
        file.write(FORM.pack(kind, VERSION, bytes.fromhex(identity), size, checksum))
        file.flush()
    return [_mapped(file) for file in files]


def _write_content(columns: _core.Columns, planes: IO[bytes], masks: IO[bytes]) -> None:
    (lanes, words, groups), n_rows = columns.packed_shape, columns.n_rows
    step = max(1, MOST_BYTES // (STRETCH * (lanes // 8 + 4 * groups + 1))) * STRETCH
    for begin in range(0, n_rows, step):
        n = min(step, n_rows - begin)
        here = np.zeros((lanes, -(-n // 512) * 8), np.uint64), np.zeros((groups, n), np.uint32)
        columns.pack_rows(begin, *here)
        _write_beside(planes, here[0], BEGIN + begin // 8, 8 * words)
        _write_beside(masks, here[1], BEGIN + 4 * begin, 4 * n_rows)


def _write_beside(file: IO[bytes], rows: npt.NDArray[Any], first: int, stride: int) -> None:
    for i, row in enumerate(rows):
        file.seek(first + i * stride)
        file.write(row.data)
