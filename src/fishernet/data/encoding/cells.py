"""Columns as their sources give them, before it is known what they mean.

Every source (a text file, a Parquet file, a data frame) is brought into one of two forms without a copy of what Arrow
read: distinct labels and which of them each cell holds (`Cells`), or numbers of one type (`NumberCells` of
`fishernet.data.arrow`). Encoding then decides what is categorical, what the states are, and turns labels into codes
with one small look-up a block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from fishernet import _core
from fishernet.base.errors import SchemaError
from fishernet.base.remedies import Remedy
from fishernet.data.arrays import BLOCK_ROWS, row_blocks
from fishernet.data.encoding.dates import SECONDS_A_DAY, Unit
from fishernet.data.encoding.labels import Labels, is_numeric, numbers_of, typed
from fishernet.data.variable import Bounds, code_dtype, label_array

SMALL_RANGE = 2**12  # of integers that are told apart by subtraction; it fits into the indices' type
SAMPLE = 4096  # cells that mostly tell what a column of numbers is
MOST_KEPT = 2**22  # cells of a column of numbers, up to which they are kept by their distinct numbers, too
LEAST_STATES = 64  # of a column that is counted once; of fewer the core would first make the form for many counts

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True)
class Block:
    """Consecutive cells of a column, with a numbering of labels of their own.

    Attributes
    ----------
    indices : (n,) integers
        Each cell's label, from 0 to k - 1 in the block's numbering; k in a missing cell.
    positions : (k + 1,) int64
        The position of the block's labels among the column's; the number of those for a missing cell, and so last.
    has_nulls : bool
        Whether some of the indices are k.
    """

    indices: npt.NDArray[np.integer[Any]]
    positions: npt.NDArray[np.int64]
    has_nulls: bool


@dataclass(frozen=True)
class Cells:
    """A column before it is encoded.

    Attributes
    ----------
    name : str
        Its name.
    labels : (n_labels,) array
        Its distinct labels.
    blocks : sequence of Block
        Its cells.
    declared : bool
        Whether the labels are declared states, in their order, whether they occur or not.
    text : bool
        Whether the labels are text whose type is not known yet.
    cuts : tuple of float, optional
        The cuts, where the declared states are bins.
    is_weights : bool
        Whether the source marks the column as the table's weights.
    unit : str, optional
        What the numbers of a column of dates or times count.
    bounds : pair of numbers, optional
        The least and the largest number, where the declared states are bins.
    unusable : str
        What the cells are that are no labels, as lists, which are then all taken as missing; empty where they are some.
    """

    name: str
    labels: Labels
    blocks: Sequence[Block]
    declared: bool = False
    text: bool = False
    cuts: tuple[float, ...] | None = None
    is_weights: bool = False
    unit: Unit | None = None
    bounds: Bounds | None = None
    unusable: str = ""

    holds_numbers: ClassVar[bool] = False
    """Whether the cells are numbers, and not positions among labels."""

    @classmethod
    def of_no_labels(cls, name: str, n_rows: int, unusable: str) -> Cells:
        """Return a column of cells that are no labels."""
        missing = Block(np.zeros(n_rows, dtype=np.int64), np.zeros(1, dtype=np.int64), has_nulls=True)
        return cls(name, label_array([]), [missing], unusable=unusable)

    @cached_property
    def typed_labels(self) -> Labels:
        """The labels, in the type that all of them have."""
        return typed(self.labels.tolist()) if self.text else self.labels

    @property
    def n_rows(self) -> int:
        """The number of cells."""
        return sum(len(block.indices) for block in self.blocks)

    @property
    def coded(self) -> Cells:
        """The column by its labels: itself."""
        return self

    @cached_property
    def is_plain_number(self) -> bool:
        """Whether the labels are numbers that are no declared states."""
        return not self.declared and is_numeric(self.typed_labels)

    @cached_property
    def label_numbers(self) -> npt.NDArray[np.float64]:
        """The number that each label is, (n_labels,); NaN for one that is none."""
        return numbers_of(self.typed_labels if is_numeric(self.typed_labels) else self.labels)

    def numbers(self, *, others: str = "error", kept: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.float64]:
        """Return the column as numbers, (n_rows,); NaN in missing cells."""
        return joined(self.number_blocks(others=others, kept=kept), self.n_rows, np.dtype(np.float64))

    def number_blocks(
        self, *, others: str = "error", kept: npt.NDArray[np.bool_] | None = None
    ) -> Iterator[npt.NDArray[np.float64]]:
        """Yield the column as numbers, so many at a time."""
        strange = np.isnan(self.label_numbers)
        if others == "error" and strange.any():
            self.refuse_marked(strange, kept, "a continuous column holds numbers")
        yield from self.spread_blocks(np.append(self.label_numbers, np.nan))

    def as_continuous(self) -> NumberCells:
        """Return the column as one that is declared to hold numbers; raises as `numbers`."""
        return NumberCells(self.name, pa.chunked_array([pa.array(self.numbers())]), declared=True)

    def refuse_marked(
        self, labels: npt.NDArray[np.bool_], kept: npt.NDArray[np.bool_] | None, why: str, first_row: int = 0
    ) -> None:
        """Raise SchemaError, naming the first row, when a cell holds a marked label, which is no number."""
        hits = self.marked(labels)
        if hits.any():
            row, label = self.first(hits, kept)
            raise SchemaError(
                f"column {self.name!r}, row {first_row + row}: {why}, and {label!r} is none; if it means a missing "
                "cell, write NA, or declare it as one",
                parameter="na_values",
            )

    def first(self, hits: npt.NDArray[np.bool_], kept: npt.NDArray[np.bool_] | None) -> tuple[int, Any]:
        """Return the row of the source and the label of the first marked cell."""
        row = int(np.argmax(hits))
        label = self.labels.tolist()[int(self.positions()[row])]
        return (row if kept is None else int(np.flatnonzero(kept)[row])), label

    def spread(self, values: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
        """Return the value of each cell.

        Parameters
        ----------
        values : (n_labels + 1,) array
            One value a label, and last the one for missing cells.

        Returns
        -------
        (n_rows,) array of the same type
        """
        return joined(self.spread_blocks(values), self.n_rows, values.dtype)

    def spread_blocks(self, values: npt.NDArray[Scalar]) -> Iterator[npt.NDArray[Scalar]]:
        """Yield the value of each cell, as `spread`, so many at a time."""
        for block in self.blocks:
            of = values[block.positions]
            for begin in range(0, len(block.indices), BLOCK_ROWS):
                indices = block.indices[begin : begin + BLOCK_ROWS]
                cells = np.empty(len(indices), dtype=values.dtype)
                _core.look_up(indices, of, cells)
                yield cells

    def positions(self) -> npt.NDArray[np.intp]:
        """Return the position of each cell's label, (n_rows,); the number of labels in a missing cell."""
        return self.spread(np.arange(len(self.labels) + 1))

    def marked(self, labels: npt.NDArray[np.bool_], *, missing: bool = False) -> npt.NDArray[np.bool_]:
        """Return which cells hold one of the marked labels (or are missing), (n_rows,) bool."""
        return self.spread(np.append(labels, missing))

    def missing(self) -> npt.NDArray[np.bool_] | None:
        """Return which cells are missing, (n_rows,) bool, or None where none can be."""
        n_labels = len(self.labels)
        if not any(block.has_nulls or n_labels in block.positions[:-1] for block in self.blocks):
            return None
        return self.marked(np.zeros(n_labels, dtype=bool), missing=True)

    @property
    def n_missing(self) -> int:
        """The number of missing cells."""
        absent = self.missing()
        return 0 if absent is None else int(np.count_nonzero(absent))

    def counts(self, weights: npt.NDArray[np.int64] | None = None) -> npt.NDArray[np.int64]:
        """Return how many rows (or what sum of weights) hold each label, (n_labels,) int64."""
        sums = np.zeros(len(self.labels) + 1, dtype=np.int64)
        start = 0
        for block in self.blocks:
            if weights is None:
                np.add.at(sums, block.positions, _times(block.indices, len(block.positions)))
                continue
            for at in row_blocks(len(block.indices)):
                of = np.empty(at.stop - at.start, dtype=np.intp)
                _core.look_up(block.indices[at], block.positions.astype(np.intp, copy=False), of)
                np.add.at(sums, of, weights[start + at.start : start + at.stop])
            start += len(block.indices)
        return sums[:-1]

    def without(self, labels: npt.NDArray[np.bool_]) -> Cells:
        """Return the column with some of its labels turned into missing cells."""
        numbering = np.append(np.cumsum(~labels) - 1, np.count_nonzero(~labels))
        numbering[:-1][labels] = numbering[-1]
        blocks = [replace(block, positions=numbering[block.positions]) for block in self.blocks]
        return replace(self, labels=self.labels[~labels], blocks=blocks)

    def narrow(self) -> Cells:
        """Return the column with indices that take no more bytes than they need."""
        blocks = []
        for block in self.blocks:
            kind = code_dtype(len(block.positions) - 1)
            is_wide = block.indices.dtype.itemsize > kind.itemsize
            blocks.append(replace(block, indices=block.indices.astype(kind)) if is_wide else block)
        return replace(self, blocks=blocks)

    def of_numbers(self, numbers: npt.NDArray[np.float64], unit: Unit | None) -> NumberCells:
        """Return the column with a number, or what a unit counts, in place of each label; NaN makes cells missing."""
        cells = self.spread(np.append(numbers, np.nan))
        return NumberCells(self.name, pa.chunked_array([pa.array(cells)]), declared=True, unit=unit)

    def in_unit(self, unit: Unit | None) -> Cells:  # noqa: ARG002
        """Return the column as it is: its labels are no dates."""
        return self

    def relabelled(self, labels: Sequence[str | None]) -> Cells:
        """Return the column with other labels, equal ones taken for one; None makes cells missing."""
        known: dict[str, int] = {}
        found = [-1 if label is None else known.setdefault(label, len(known)) for label in labels]
        numbering = np.array([len(known) if place < 0 else place for place in [*found, -1]], dtype=np.int64)
        blocks = [replace(block, positions=numbering[block.positions]) for block in self.blocks]
        return replace(self, labels=label_array(list(known)), blocks=blocks)

    def kept(self, rows: npt.NDArray[np.bool_]) -> Cells:
        """Return the column with some of its rows only, as if the others had never been there."""
        blocks, start = [], 0
        for block in self.blocks:
            stop = start + len(block.indices)
            blocks.append(replace(block, indices=block.indices[rows[start:stop]]))
            start = stop
        column = replace(self, blocks=blocks)
        return column if self.declared else column.without(column.counts() == 0)


@dataclass(frozen=True)
class NumberCells:
    """A column of numbers of one type, before it is known whether they stay numbers or become states.

    Attributes
    ----------
    name : str
        Its name.
    column : pyarrow.ChunkedArray
        Of integers or float64; null and NaN are missing cells.
    declared : bool
        Whether the source says that it is continuous.
    is_weights : bool
        Whether the source marks the column as the table's weights.
    """

    name: str
    column: pa.ChunkedArray
    declared: bool = False
    is_weights: bool = False
    unit: Unit | None = None
    _kept_coded: Cells | None = field(default=None, init=False, repr=False, compare=False)

    holds_numbers: ClassVar[bool] = True
    is_plain_number: ClassVar[bool] = True
    text: ClassVar[bool] = False

    def blocks(self) -> Iterator[npt.NDArray[np.float64]]:
        """Yield the numbers, so many at a time; NaN in missing cells."""
        for at in row_blocks(self.n_rows):
            yield self.column.slice(at.start, at.stop - at.start).to_numpy().astype(np.float64, copy=False)

    @property
    def n_rows(self) -> int:
        """The number of cells."""
        return len(self.column)

    @property
    def coded(self) -> Cells:
        """The column by its distinct numbers; of many rows it is not kept, since it is as long as the column."""
        if self.n_rows >= MOST_KEPT:
            return self._coded()
        if self._kept_coded is None:
            object.__setattr__(self, "_kept_coded", self._coded())
        assert self._kept_coded is not None
        return self._kept_coded

    def _coded(self) -> Cells:
        few = _of_small_range(self.name, self.column)
        if few is not None:
            return replace(few, unit=self.unit)
        cells = dictionary_cells(self.name, self.column.dictionary_encode())
        absent = np.isnan(cells.labels) if cells.labels.dtype.kind == "f" else np.zeros(len(cells.labels), dtype=bool)
        return replace(cells.without(absent) if absent.any() else cells, unit=self.unit)

    def missing(self) -> npt.NDArray[np.bool_] | None:
        """Return which cells are missing, (n_rows,) bool, or None where none is."""
        if not self.column.null_count and not pa.types.is_floating(self.column.type):
            return None
        absent = np.concatenate([np.zeros(0, dtype=bool), *map(np.isnan, self.blocks())])
        return absent if absent.any() else None

    @property
    def n_missing(self) -> int:
        """The number of missing cells."""
        if not pa.types.is_floating(self.column.type):
            return int(self.column.null_count)
        return sum(int(np.count_nonzero(np.isnan(numbers))) for numbers in self.blocks())

    def kept(self, rows: npt.NDArray[np.bool_]) -> NumberCells:
        """Return the column with some of its rows only, as if the others had never been there."""
        return replace(self, column=self.column.filter(pa.array(rows)))

    def numbers(self, *, others: str = "error", kept: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.float64]:  # noqa: ARG002
        """Return the numbers, (n_rows,) in an array of their own; NaN in missing cells."""
        return joined(self.blocks(), self.n_rows, np.dtype(np.float64))

    def number_blocks(
        self,
        *,
        others: str = "error",  # noqa: ARG002
        kept: npt.NDArray[np.bool_] | None = None,  # noqa: ARG002
    ) -> Iterator[npt.NDArray[np.float64]]:
        """Yield the numbers, so many at a time."""
        return self.blocks()

    def without_numbers(self, numbers: npt.NDArray[np.float64]) -> NumberCells:
        """Return the column with some numbers turned into missing cells."""
        cells = self.column.to_numpy()
        absent = np.isin(cells, numbers[~np.isnan(numbers)])
        if not absent.any():
            return self
        return replace(self, column=pc.if_else(pa.array(absent), pa.scalar(None, self.column.type), self.column))

    def as_continuous(self) -> NumberCells:
        """Return the column as one that is declared to hold numbers."""
        return replace(self, declared=True)

    def are_days(self) -> bool:
        """Whether all times are midnight, as where a program knows no dates without a time."""
        return all(bool((np.isnan(x) | (x % SECONDS_A_DAY == 0)).all()) for x in self.blocks())

    def in_unit(self, unit: Unit | None) -> NumberCells:
        """Return a column of dates in another unit."""
        if unit is None or self.unit is None or unit == self.unit or "time" in (unit, self.unit):
            return self
        factor = SECONDS_A_DAY if unit == "seconds" else 1 / SECONDS_A_DAY
        return replace(self, column=pc.multiply(self.column, factor), unit=unit)


SourceColumn = Cells | NumberCells


def _times(indices: npt.NDArray[np.integer[Any]], n: int) -> npt.NDArray[np.int64]:
    """Return how often each of so many indices occurs."""
    n_states = max(n, LEAST_STATES)
    if indices.dtype.itemsize > 2 or n_states > np.iinfo(f"u{indices.dtype.itemsize}").max:
        found = np.zeros(n, dtype=np.int64)
        for at in row_blocks(len(indices)):
            found += np.bincount(indices[at], minlength=n)
        return found
    codes = np.ascontiguousarray(indices).view(f"u{indices.dtype.itemsize}")
    column = _core.Columns([codes], np.array([n_states]), len(codes), None)
    [(counts, _, _)] = _core.count(column, np.array([0, 1]), np.zeros(1, dtype=np.int32), n_states)
    return np.asarray(counts[:n])


def joined(blocks: Iterable[npt.NDArray[Scalar]], n_rows: int, dtype: np.dtype[Any]) -> npt.NDArray[Scalar]:
    """Return blocks one after the other, n rows in all."""
    found = np.empty(n_rows, dtype=dtype)
    begin = 0
    for block in blocks:
        if len(block) == n_rows and block.dtype == dtype and block.flags.owndata:  # and nobody else has it
            return block
        found[begin : begin + len(block)] = block
        begin += len(block)
    return found


def _of_small_range(name: str, column: pa.ChunkedArray) -> Cells | None:
    """Return integers near one another as cells by their distance to the least; None of others, which are hashed."""
    if not pa.types.is_integer(column.type) or column.null_count or not len(column):
        return None
    low, high = pc.min_max(column).as_py().values()
    if high - low >= SMALL_RANGE:
        return None
    values = column.to_numpy()
    indices = values.astype(np.uint16)  # their last bits, of which the differences are right, too
    indices -= np.uint16(low % 2**16)
    occurs = np.bincount(indices, minlength=high - low + 1) > 0
    labels = np.flatnonzero(occurs).astype(values.dtype) + values.dtype.type(low)
    positions = np.append(np.cumsum(occurs) - 1, len(labels))
    return Cells(name, labels, [Block(indices, positions, has_nulls=False)])


def dictionary_cells(name: str, column: pa.ChunkedArray, *, declared: bool = False, text: bool = False) -> Cells:
    """Return a dictionary-encoded Arrow column, whose labels are of a type that we take, as cells."""
    kind = column.type.value_type
    held = [chunk.dictionary for chunk in column.chunks if len(chunk.dictionary)]  # Arrow drops empty chunks
    encoded = pa.chunked_array(held, type=kind).dictionary_encode()
    known = encoded.chunk(0).dictionary if encoded.num_chunks else pa.array([], kind)  # the same of every chunk
    places = iter(encoded.chunks)
    nothing = pa.array([], pa.int32())
    blocks = [
        _block(chunk.indices, next(places).indices if len(chunk.dictionary) else nothing, len(known))
        for chunk in column.chunks
    ]
    return Cells(name, _labels(known), blocks, declared=declared, text=text)


def _block(indices: pa.Array, places: pa.Array, n_labels: int) -> Block:
    """Return a block whose dictionary holds, at each place, a label of the column's."""
    has_nulls = indices.null_count > 0
    if has_nulls:
        indices = pc.fill_null(indices.cast(pa.int64()), len(places))
    found = pc.fill_null(places, n_labels)
    positions = np.append(found.to_numpy(zero_copy_only=False).astype(np.int64), n_labels)
    return Block(indices.to_numpy(zero_copy_only=False), positions, has_nulls)


def _labels(values: pa.Array) -> npt.NDArray[Any]:
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type) or pa.types.is_boolean(values.type):
        labels: npt.NDArray[Any] = values.to_numpy(zero_copy_only=False)
        return labels
    array = np.empty(len(values), dtype=object)
    array[:] = values.to_pylist()
    return array


def no_labels_error(name: str, unusable: str) -> SchemaError:
    """Return the error of a column whose cells are no labels."""
    return SchemaError(
        f"column {name!r} holds {unusable}; labels are text, numbers or truth values, so turn it into one of these",
        parameter="exclude",
        remedies=(Remedy({"exclude": [name]}, "leave it out"),),
    )


@dataclass(frozen=True)
class Columns:
    """What a source holds: columns of equal length."""

    cells: Sequence[SourceColumn]
    n_rows: int

    def narrow(self) -> Columns:
        """Return the same columns with indices of labels that take no more bytes than they need."""
        cells = [column if column.holds_numbers else column.coded.narrow() for column in self.cells]
        return Columns(cells, self.n_rows)
