"""Where the columns of a long source lie while they are made: in a file each, or in memory; and how it is read twice.

What a column is is known when its last cell was seen, so a source is read once to decide and once to encode. A short
one is kept in memory between the two, and what can be read once only, or slowly, is put aside in a file.
"""

from __future__ import annotations

import mmap
import pickle
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError
from fishernet.data.encoding.cells import Columns, NumberCells, SourceColumn
from fishernet.data.streams.batches import Batch, Batches, ReadAhead

LEAST_MAPPED = 2**20  # bytes; each mapped file keeps one of the few that a process may have open
MOST_KEPT = 2**26  # bytes of cells of a source that is kept in memory to be gone through again
MOST_ASIDE = 2**31  # bytes of cells of a source that can be read again, though slowly
ASIDE = "batches"


class Room(Protocol):
    """Where arrays are put aside, in order under a name, until they are looked at all together."""

    on_disk: bool

    def add(self, name: str, data: Any) -> None:
        """Put the bytes of an array behind those that have this name."""
        ...

    def bytes_of(self, name: str) -> memoryview:
        """Return all that was put aside under a name."""
        ...

    def drop(self, name: str) -> None:
        """Forget what was put aside under a name."""
        ...


class FileRoom:
    """A file a name, in a folder; what was written is mapped, not read."""

    on_disk = True

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, name: str, data: Any) -> None:
        """Put the bytes of an array behind those that have this name."""
        with (self._folder / name).open("ab") as file:
            file.write(data)

    def bytes_of(self, name: str) -> memoryview:
        """Return all that was put aside under a name."""
        path = self._folder / name
        if not path.exists() or not path.stat().st_size:
            return memoryview(b"")
        if path.stat().st_size < LEAST_MAPPED:
            return memoryview(path.read_bytes())
        with path.open("rb") as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

    def drop(self, name: str) -> None:
        """Forget what was put aside under a name."""
        (self._folder / name).unlink(missing_ok=True)


class MemoryRoom:
    """The same in memory."""

    on_disk = False

    def __init__(self) -> None:
        self._held: dict[str, bytearray] = {}

    def add(self, name: str, data: Any) -> None:
        """Put the bytes of an array behind those that have this name."""
        self._held.setdefault(name, bytearray()).extend(data)

    def bytes_of(self, name: str) -> memoryview:
        """Return all that was put aside under a name."""
        return memoryview(self._held.get(name, b""))

    def drop(self, name: str) -> None:
        """Forget what was put aside under a name."""
        self._held.pop(name, None)


def array_of(room: Room, name: str, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return all that was put aside under a name as an array."""
    return np.frombuffer(room.bytes_of(name), dtype)


class Rereadable:
    """The batches of a source, as often as one likes.

    Parameters
    ----------
    source : Batches
    room : Room
        Where they are put aside if the source can be read once only, or slowly and the room is on the disk.
    step : function
        Called with the number of rows that were read, when they are read first.
    """

    def __init__(self, source: Batches, room: Room, step: Callable[[int], None]) -> None:
        self._source, self._room, self._step = source, room, step
        self._kept: list[Batch] = []
        self._is_long = False
        self._is_aside = source.once or (source.slow and room.on_disk)
        self._was_read = False
        self._begun: tuple[list[Batch], Iterator[Batch]] | None = None

    def first(self) -> Batch:
        """Return the first batch that has rows; nothing is lost: to go through all begins with it."""
        begun: list[Batch] = []
        rest = iter(self)
        for batch in rest:
            begun.append(batch)
            if batch.columns.n_rows:
                break
        self._begun = begun, rest
        return begun[-1]

    def __iter__(self) -> Iterator[Batch]:
        if self._begun is not None:
            (begun, rest), self._begun = self._begun, None
            yield from begun
            yield from rest
        elif self._was_read and not self._is_long:
            yield from self._kept
        elif self._was_read and self._is_aside:
            data = self._room.bytes_of(ASIDE)
            while len(data):
                size = int.from_bytes(data[:8], "little")
                yield pickle.loads(data[8 : 8 + size])
                data = data[8 + size :]
        else:
            with closing(ReadAhead(self._source.read()).__iter__()) as batches:
                yield from batches if self._was_read else self._first(batches)

    def _first(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        kinds: list[tuple[str, Any]] = []
        n_bytes = n_rows = 0
        for batch in batches:
            here = [_kind(column) for column in batch.columns.cells]
            kinds = kinds or here
            _refuse_others(batch, here, kinds)
            n_bytes += _bytes_of(batch.columns)
            n_rows += batch.columns.n_rows
            self._kept.append(batch)
            self._is_long = n_bytes > MOST_KEPT
            if self._is_long:
                self._put_aside(n_bytes)
            yield batch
            self._step(n_rows)
        if not kinds:
            raise SchemaError("the source has no batches, so its columns are unknown")
        self._was_read = True

    def _put_aside(self, n_bytes: int) -> None:
        """Move what is kept in memory to the room, unless it is to be read again."""
        if n_bytes > MOST_ASIDE and not self._source.once:
            self._is_aside = False
            self._room.drop(ASIDE)
        if self._is_aside:
            for batch in self._kept:
                packed = pickle.dumps(batch)
                self._room.add(ASIDE, len(packed).to_bytes(8, "little") + packed)
        self._kept.clear()


def _kind(column: SourceColumn) -> tuple[str, Any]:
    form = str(cast(NumberCells, column).column.type) if column.holds_numbers else "labels"
    return column.name, (form, column.declared)


def _refuse_others(batch: Batch, here: list[tuple[str, Any]], kinds: list[tuple[str, Any]]) -> None:
    """Raise SchemaError when a batch has other columns than the first, or columns of other types."""
    names, first = [name for name, _ in here], [name for name, _ in kinds]
    if names != first:
        raise SchemaError(f"{batch.where}: the columns are {names}, and those before it {first}")
    for one, other in zip(here, kinds, strict=True):
        if one != other:
            raise SchemaError(
                f"{batch.where}: column {one[0]!r} has another type there than before; write the files with one "
                "schema, or read the column as text"
            )


def _bytes_of(columns: Columns) -> int:
    """Return about how many bytes the cells of a batch take."""
    numbers = sum(int(cast(NumberCells, column).column.nbytes) for column in columns.cells if column.holds_numbers)
    labels = [column.coded for column in columns.cells if not column.holds_numbers]
    indices = sum(block.indices.nbytes for column in labels for block in column.blocks)
    return numbers + indices + 64 * sum(len(column.labels) for column in labels)
