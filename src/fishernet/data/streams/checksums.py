"""Checksums of long files, fast enough to look at every byte of a file when a process first opens it.

A file's checksum is the SHA-256 of the CRC-32 of its pieces, which threads compute side by side: a flipped bit, like
any error within 32 bits, always changes it. A process looks at a file once, as long as nobody writes to it.
"""

from __future__ import annotations

import hashlib
import time
import zlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PIECE = 1 << 20  # bytes; part of what a checksum means
TOGETHER = 4  # pieces that a thread reads at once
THREADS = 4
SETTLED = 3 * 10**9  # ns; a file that was changed so lately may change again without a later time of change

_seen: dict[tuple[int, ...], str] = {}  # a file with its size and times -> its checksum


class Checksum:
    """The checksum of bytes that come in order, in lengths of any kind."""

    def __init__(self) -> None:
        self._pieces: list[int] = []
        self._open, self._room = 0, PIECE

    def update(self, data: memoryview) -> None:
        """Go on with further bytes."""
        while len(data):
            piece, data = data[: self._room], data[self._room :]
            self._open = zlib.crc32(piece, self._open)
            self._room -= len(piece)
            if not self._room:
                self._pieces.append(self._open)
                self._open, self._room = 0, PIECE

    def text(self) -> str:
        """Return the checksum of the bytes so far, in 64 hexadecimal digits."""
        return _joined(self._pieces + ([self._open] if self._room < PIECE else []))


def checksum_of(path: Path, *, anew: bool = False) -> str:
    """Return the checksum of a file; from memory where this process has seen it and nobody has written to it since."""
    state = path.stat()
    key = (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
    if not anew and key in _seen:
        return _seen[key]
    found = _computed(path, state.st_size)
    if time.time_ns() - state.st_ctime_ns > SETTLED:
        _seen[key] = found
    return found


def _computed(path: Path, size: int) -> str:
    def of_some(at: int) -> list[int]:
        with path.open("rb", buffering=0) as file:  # each thread's own
            file.seek(at)
            data = memoryview(file.read(TOGETHER * PIECE))
        return [zlib.crc32(data[i : i + PIECE]) for i in range(0, len(data), PIECE)]

    starts = range(0, size, TOGETHER * PIECE)
    if len(starts) < 2:
        return _joined(crc for at in starts for crc in of_some(at))
    with ThreadPoolExecutor(min(THREADS, len(starts))) as threads:
        return _joined(crc for some in threads.map(of_some, starts) for crc in some)


def _joined(pieces: Iterable[int]) -> str:
    return hashlib.sha256(b"".join(crc.to_bytes(4, "little") for crc in pieces)).hexdigest()
