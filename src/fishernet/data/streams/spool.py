"""Columns of a long source put aside batch by batch, so that one pass is enough to learn what they are.

What a column is (states, numbers, an identifier) is known when its last cell was seen. Until then its cells lie in a
file a column, in the narrowest type that holds them; only its labels are in memory. Columns of many labels would not
fit there: those whose labels are all numbers are kept as numbers from then on, and texts that nobody asked for, more
than any column of states has, are not kept at all (`fishernet.data.encoding.encode` leaves them out as identifiers).
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from fishernet import _core
from fishernet.base.errors import SchemaError
from fishernet.data.csv import plain_number
from fishernet.data.encoding.cells import Block, Cells, Columns, NumberCells, SourceColumn
from fishernet.data.encoding.dates import parsed
from fishernet.data.encoding.labels import DECIMAL
from fishernet.data.options import Options
from fishernet.data.variable import code_dtype, label_array

MOST_LABELS = 4096  # of a column of text; one of more is of numbers or dates, was asked for, or identifies rows
LEAST_MAPPED = 2**20  # bytes; each mapped file keeps one of the few that a process may have open
MOST_STRANGE = 100  # labels that are no numbers, remembered of a column of numbers


class Room(Protocol):
    """Where arrays are put aside, in order under a name, until they are looked at all together."""

    def add(self, name: str, array: npt.NDArray[Any]) -> None:
        """Put an array behind those that have this name."""
        ...

    def bytes_of(self, name: str) -> memoryview:
        """Return all that was put aside under a name."""
        ...


class FileRoom:
    """A file a name, in a folder; what was written is mapped, not read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, name: str, array: npt.NDArray[Any]) -> None:
        """Put an array behind those that have this name."""
        with (self._folder / name).open("ab") as file:
            file.write(np.ascontiguousarray(array).data)

    def bytes_of(self, name: str) -> memoryview:
        """Return all that was put aside under a name."""
        path = self._folder / name
        if not path.exists() or not path.stat().st_size:
            return memoryview(b"")
        if path.stat().st_size < LEAST_MAPPED:
            return memoryview(path.read_bytes())
        with path.open("rb") as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


class MemoryRoom:
    """The same in memory."""

    def __init__(self) -> None:
        self._held: dict[str, bytearray] = {}

    def add(self, name: str, array: npt.NDArray[Any]) -> None:
        """Put an array behind those that have this name."""
        self._held.setdefault(name, bytearray()).extend(np.ascontiguousarray(array).data)

    def bytes_of(self, name: str) -> memoryview:
        """Return all that was put aside under a name."""
        return memoryview(self._held.get(name, b""))


@dataclass
class _Piece:
    """Consecutive cells of a column of labels: where they lie, and what their indices mean."""

    begin: int  # bytes
    n: int
    dtype: np.dtype[Any]
    has_nulls: bool


class Spool:
    """All columns of a source.

    Parameters
    ----------
    room : Room
    options : Options
        What is asked of columns by name.

    Attributes
    ----------
    n_rows : int
        How many rows were put aside.
    """

    def __init__(self, room: Room, options: Options) -> None:
        self._room, self._options = room, options
        self._columns: list[_Labels | _Numbers] = []
        self.n_rows = 0

    def add(self, batch: Columns, where: str) -> None:
        """Put the columns of a batch aside; `where` says in messages where it comes from."""
        if not self._columns:
            self._columns = [self._begun(i, column) for i, column in enumerate(batch.cells)]
        names = [column.first.name for column in self._columns]
        if [column.name for column in batch.cells] != names:
            found = [column.name for column in batch.cells]
            raise SchemaError(f"{where}: the columns are {found}, and those before it {names}")
        for i, (held, column) in enumerate(zip(self._columns, batch.cells, strict=True)):
            self._columns[i] = held.add(column, where)
        self.n_rows += batch.n_rows

    def _begun(self, i: int, column: SourceColumn) -> _Labels | _Numbers:
        kind = _Numbers if column.holds_numbers else _Labels
        return kind(f"column-{i}", column, self._room, self._options)  # type: ignore[arg-type]

    def columns(self) -> Columns:
        """Return the columns of the whole source; their cells stay where they were put."""
        if not self._columns:
            raise SchemaError("the source has no batches, so its columns are unknown")
        return Columns([column.whole() for column in self._columns], self.n_rows)


class _Labels:
    """A column of labels, numbered as they come; the code of a missing cell is the largest of its type."""

    def __init__(self, name: str, first: Cells, room: Room, options: Options) -> None:
        self.first, self._name, self._room, self._options = first, name, room, options
        self._known: dict[tuple[type, Any], int] = {}
        self._pieces: list[_Piece] = []
        self._bytes = 0
        asked = first.name in options.categorical or first.name in {v.name for v in options.schema or ()}
        self._keeps_all = asked or first.declared
        self._is_identifier = False

    def add(self, column: SourceColumn, where: str) -> _Labels | _Numbers:
        """Put the cells of a batch aside, and return what the column is kept as from now on."""
        if column.holds_numbers or column.declared != self.first.declared:
            raise _other_type(where, column.name)
        cells = column.coded
        for block in cells.blocks:
            self._add(cells, block)
        if len(self._known) <= MOST_LABELS or self._keeps_all or self._is_identifier:
            return self
        return self._of_many()

    def _add(self, column: Cells, block: Block) -> None:
        n = len(block.indices)
        if self._is_identifier:
            block = Block(np.zeros(n, np.uint8), np.array([0, 0]), has_nulls=False)
            column = replace(self.first, labels=self._labels()[:1])
        known = self._known
        places = [known.setdefault((type(label), label), len(known)) for label in column.labels.tolist()]
        kind = code_dtype(len(known))
        absent = np.iinfo(kind).max
        codes = np.empty(n, dtype=kind)
        _core.look_up(block.indices, np.array([*places, absent], dtype=kind)[block.positions], codes)
        self._room.add(self._name, codes)
        has_nulls = block.has_nulls or len(places) in block.positions[:-1]
        last = self._pieces[-1] if self._pieces else None
        if last is not None and last.dtype == kind:
            last.n += n
            last.has_nulls |= has_nulls
        else:
            self._pieces.append(_Piece(self._bytes, n, kind, has_nulls))
        self._bytes += codes.nbytes

    def _labels(self) -> npt.NDArray[Any]:
        return label_array([label for _, label in self._known])

    def _of_many(self) -> _Labels | _Numbers:
        """Return what a column of more labels than states may have is kept as."""
        labels = [label for _, label in self._known]
        texts = [label for label in labels if isinstance(label, str)]
        if len(texts) < len(labels) or parsed(texts[:1]) is not None:
            self._keeps_all = True
        elif _as_numbers(texts, self._options) is not None:
            return _Numbers.of_labels(f"{self._name}-numbers", self.whole(), self._room, self._options)
        elif self.first.name in self._options.continuous or self._options.cuts_by_name(self.first.name):
            self._keeps_all = True
        else:
            self._is_identifier = True
        return self

    def whole(self) -> Cells:
        """Return the column as it is known now."""
        labels = self._labels()
        data = self._room.bytes_of(self._name)
        blocks = []
        for piece in self._pieces:
            codes = np.frombuffer(data, piece.dtype, piece.n, piece.begin) if piece.n else np.zeros(0, piece.dtype)
            n_places = np.iinfo(piece.dtype).max + 1 if piece.has_nulls else len(labels) + 1
            positions = np.minimum(np.arange(n_places), len(labels))
            blocks.append(Block(codes, positions, piece.has_nulls))
        return replace(self.first, labels=labels, blocks=blocks)


class _Numbers:
    """A column of numbers of one type, one after the other; which of them are missing lies beside them."""

    def __init__(self, name: str, first: NumberCells, room: Room, options: Options) -> None:
        self.first, self._name, self._room, self._options = first, name, room, options
        self._n = 0
        self._any_missing = False
        self._is_text = False
        self._strange: list[tuple[int, str]] = []

    @classmethod
    def of_labels(cls, name: str, column: Cells, room: Room, options: Options) -> _Numbers:
        """Go on with a column of text, all of whose labels are numbers."""
        empty = pa.chunked_array([], pa.float64())
        made = cls(name, NumberCells(column.name, empty, is_weights=column.is_weights), room, options)
        made._is_text = True
        made._add_labels(column)
        return made

    def add(self, column: SourceColumn, where: str) -> _Numbers:
        """Put the cells of a batch aside."""
        if self._is_text and not column.holds_numbers:
            self._add_labels(column.coded)
            return self
        numbers = cast(NumberCells, column)
        if not column.holds_numbers or (numbers.column.type, column.declared) != (
            self.first.column.type,
            self.first.declared,
        ):
            raise _other_type(where, column.name)
        for chunk in numbers.column.chunks:
            missing = chunk.null_count > 0
            plain = chunk.fill_null(0) if missing else chunk
            self._add(
                plain.to_numpy(zero_copy_only=False),
                chunk.is_null().to_numpy(zero_copy_only=False) if missing else None,
            )
        return self

    def _add(self, numbers: npt.NDArray[Any], missing: npt.NDArray[np.bool_] | None) -> None:
        if missing is not None and not self._any_missing:
            self._any_missing = True
            self._room.add(f"{self._name}-missing", np.zeros(self._n, dtype=bool))
        if self._any_missing:
            self._room.add(f"{self._name}-missing", np.zeros(len(numbers), bool) if missing is None else missing)
        self._room.add(self._name, numbers)
        self._n += len(numbers)

    def _add_labels(self, column: Cells) -> None:
        texts = column.labels.tolist()
        found = _as_numbers(texts, self._options)
        if found is None:
            found = np.array([np.nan if (one := _as_numbers([t], self._options)) is None else one[0] for t in texts])
            strange = column.marked(np.isnan(found))
            rows = np.flatnonzero(strange)[: MOST_STRANGE - len(self._strange)]
            of = column.positions()[rows] if len(rows) else ()
            self._strange += [(self._n + int(row), texts[int(at)]) for row, at in zip(rows, of, strict=True)]
        for block in column.blocks:
            self._add(np.append(found, np.nan)[block.positions][block.indices], None)

    def whole(self) -> SourceColumn:
        """Return the column as it is known now."""
        if self._strange:
            return self._spoiled()
        kind = self.first.column.type
        data = pa.py_buffer(self._room.bytes_of(self._name))
        validity = None
        if self._any_missing:
            missing = np.frombuffer(self._room.bytes_of(f"{self._name}-missing"), dtype=bool)
            validity = pa.py_buffer(np.packbits(~missing, bitorder="little"))
        array = pa.Array.from_buffers(kind, self._n, [validity, data])
        return replace(self.first, column=pa.chunked_array([array]))

    def _spoiled(self) -> Cells:
        """Return a column of numbers of which some are none, as one of text; the texts of the others are forgotten."""
        numbers = np.frombuffer(self._room.bytes_of(self._name), dtype=np.float64)
        known = np.unique(numbers[: 4 * MOST_LABELS][~np.isnan(numbers[: 4 * MOST_LABELS])])[:MOST_LABELS]
        strange = list(dict.fromkeys(label for _, label in self._strange))
        labels = [repr(number) for number in known.tolist()] + strange
        places = {label: place for place, label in enumerate(labels)}
        indices = np.zeros(self._n, dtype=np.uint16)
        for row, label in self._strange:
            indices[row] = places[label]
        block = Block(indices, np.arange(len(labels) + 1), has_nulls=False)
        return Cells(self.first.name, label_array(labels), [block])


def _as_numbers(texts: Sequence[str], options: Options) -> npt.NDArray[np.float64] | None:
    """Return texts as the numbers that a text file's column of them is; None where one of them is none."""
    if not options.text.is_plain or any(" " in text for text in texts):
        found = [plain_number(text, options.text) for text in texts]
        if any(text is None for text in found):
            return None
        texts = [text for text in found if text is not None]
    array = pa.array(texts, pa.string())
    if not pc.all(pc.match_substring_regex(array, f"^(?:{DECIMAL.pattern})$"), min_count=0).as_py():
        return None
    numbers = pc.cast(pc.utf8_ltrim(array, "+"), pa.float64()).to_numpy(zero_copy_only=False)
    return numbers + 0.0 if np.isfinite(numbers).all() else None


def _other_type(where: str, name: str) -> SchemaError:
    return SchemaError(
        f"{where}: column {name!r} has another type there than before; write the files with one schema, or read the "
        "column as text"
    )
