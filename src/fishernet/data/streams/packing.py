"""The form of a long store's columns that the core counts fastest (`core/base/packed.hpp`): planes and masks.

They are two files of the store, made when it is written. Where the disk has no room for them, and of parts of a long
stream, they lie in temporary files without a name, and where no disk has room, in memory.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import tempfile
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from fishernet import _core

LEAST_ROWS = 2**22  # from which on columns are packed on a disk
NAMES = ("planes.npy", "masks.npy")
MOST_BYTES = 2**26  # of a stretch of rows while it is made
STRETCH = 8192  # rows, of which a stretch is a multiple

Packed = tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]


def shapes(columns: _core.Columns) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the shapes of the planes and of the masks."""
    lanes, words, groups = columns.packed_shape
    return (lanes, words), (groups, columns.n_rows)


def write(columns: _core.Columns, folder: Path) -> bool:
    """Write both files into a folder; say so where its disk has no room, and leave nothing there."""
    paths = [folder / name for name in NAMES]
    try:
        _refuse_full(columns, folder)
        with paths[0].open("xb") as planes, paths[1].open("xb") as masks:
            _write(columns, planes, masks)
    except OSError:
        for path in paths:
            path.unlink(missing_ok=True)
        return False
    return True


def aside(columns: _core.Columns) -> Packed | None:
    """Return the columns' packed form in temporary files; None where no disk has room."""
    try:
        _refuse_full(columns, Path(tempfile.gettempdir()))
        with tempfile.TemporaryFile() as planes, tempfile.TemporaryFile() as masks:
            begins = _write(columns, planes, masks)
            maps = [mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) for file in (planes, masks)]
    except OSError:
        return None
    return np.frombuffer(maps[0], "u8", offset=begins[0]), np.frombuffer(maps[1], "u4", offset=begins[1])


def _refuse_full(columns: _core.Columns, where: Path) -> None:
    (lanes, words), (groups, n_rows) = shapes(columns)
    if shutil.disk_usage(where).free < 8 * lanes * words + 4 * groups * n_rows + 2**20:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _write(columns: _core.Columns, *files: IO[bytes]) -> list[int]:
    """Write the arrays to two files, stretch by stretch of their rows, and return at which byte each begins."""
    begins = []
    for file, shape, kind in zip(files, shapes(columns), ("<u8", "<u4"), strict=True):
        np.lib.format.write_array_header_1_0(file, {"descr": kind, "fortran_order": False, "shape": shape})
        begins.append(file.tell())
        file.truncate(begins[-1] + int(kind[2]) * shape[0] * shape[1])
    (lanes, words), (groups, n_rows) = shapes(columns)
    step = max(1, MOST_BYTES // (STRETCH * (lanes // 8 + 4 * groups + 1))) * STRETCH
    for begin in range(0, n_rows, step):
        n = min(step, n_rows - begin)
        planes, masks = np.zeros((lanes, -(-n // 512) * 8), np.uint64), np.zeros((groups, n), np.uint32)
        columns.pack_rows(begin, planes, masks)
        _write_beside(files[0], planes, begins[0] + begin // 8, 8 * words)
        _write_beside(files[1], masks, begins[1] + 4 * begin, 4 * n_rows)
    for file in files:
        file.flush()
    return begins


def _write_beside(file: IO[bytes], rows: npt.NDArray[Any], first: int, stride: int) -> None:
    for i, row in enumerate(rows):
        file.seek(first + i * stride)
        file.write(row.data)
