"""A table larger than memory, mapped from an encoded copy on the disk.

A `Stream` is a `Table` whose columns are mapped files: whatever takes a table takes it, by the same code, so results
are the same to the last bit; only pages that are being read take memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import FishernetError
from fishernet.base.vocabulary import BinningName, UnknownName
from fishernet.data.arrays import BLOCK_ROWS, row_blocks, row_positions
from fishernet.data.encode import told_of_bins
from fishernet.data.encoding.bins import cut_here
from fishernet.data.encoding.recode import recode
from fishernet.data.options import Bins, Options
from fishernet.data.statistics.counting import native_columns
from fishernet.data.streams import packing
from fishernet.data.streams.folders import checked_folder
from fishernet.data.streams.store import Head, Stored, new_store, opened, verify
from fishernet.data.table import Rows, Table
from fishernet.data.variable import Column, checked_variables

MOST_COPIED = 2**27  # bytes of rows that are picked or recoded, which lie in memory; more of them on the disk
Result = TypeVar("Result")


class Stream(Table):
    """A table whose rows lie on a disk; immutable, and a `Table` in all that it does.

    Made by `scan`. Its columns are mapped files of an encoded store, so it takes little memory however long it is.
    Parts of it are plain tables while they are short; long ones (128 MB of picked rows, or 4 million rows) are streams,
    too, with a temporary store where rows had to be copied. A temporary store goes with its stream.

    Attributes
    ----------
    folder : Path or None
        Where the store lies; None in memory, and of a part that looks at the store of another stream.

    Examples
    --------
    >>> import fishernet as fn
    >>> stream = fn.scan(fn.datasets.load("nursery").to_frame(), columns=["form", "children", "class"])
    >>> stream
    Stream(12,960 rows, 3 variables)
    >>> [len(block) for block in stream.blocks(5000)]
    [5000, 5000, 2960]
    >>> fn.learn.dag(stream) == fn.learn.dag(fn.datasets.load("nursery").select(stream.names))
    True
    """

    __slots__ = ("_stored",)

    _stored: Stored | None  # None of a part that looks at the store of another stream

    @classmethod
    def adopt(
        cls,
        variables: Sequence[Column],
        columns: Sequence[npt.NDArray[Any]],
        *,
        weights: npt.NDArray[Any] | None = None,
        n_rows: int | None = None,
    ) -> Self:
        """Make a table of given arrays, parts of a stream's; see `Table.adopt`. A short one is a plain table."""
        plain = Table.adopt(variables, columns, weights=weights, n_rows=n_rows)
        if plain.n_rows < packing.LEAST_ROWS:
            return plain  # type: ignore[return-value]
        stream = cls._of_table(plain)
        stream._stored = None
        return stream

    @classmethod
    def of_stored(cls, stored: Stored) -> Self:
        """Make the stream of what lies in a store, or in memory."""
        head = stored.head
        stream = cls._of_table(Table.adopt(head.variables, stored.columns, weights=stored.weights, n_rows=head.n_rows))
        stream._decisions, stream._numbers, stream._stored = head.decisions, stored.numbers, stored
        return stream

    @classmethod
    def _of_folder(cls, folder: Path, identity: str) -> Self:
        """Make the stream of the store in a folder, which must be the one of this identity."""
        return cls.of_stored(opened(folder, identity))

    @classmethod
    def _of_table(cls, plain: Table) -> Self:
        stream = cls.__new__(cls)
        for name in Table.__slots__:
            if name != "__weakref__":
                setattr(stream, name, getattr(plain, name))
        return stream

    @classmethod
    def _written(
        cls,
        columns: Iterable[tuple[Column, Iterable[npt.NDArray[Any]]]],
        weights: Iterable[npt.NDArray[Any]] | None,
        n_rows: int,
        folder: Path | None = None,
        head: Head | None = None,
    ) -> Self:
        """Make a stream of columns that come in blocks, with a temporary store, or as a copy of one in a folder."""
        with new_store(folder) as made:
            told = (head.decisions, head.made_of) if head else ()
            made.write(list(columns), weights, n_rows, *told)
        return cls.of_stored(made.opened)

    @property
    def folder(self) -> Path | None:
        """Where the encoded store lies; None in memory."""
        return None if self._stored is None else self._stored.folder

    @property
    def native(self) -> _core.Columns:
        """The columns as the core counts them; of many rows on the disk, in the form that it counts fastest."""
        if self._native is None:  # two threads may both make them; neither sees those of the other half made
            columns = native_columns(self._variables, self._columns, self._n_rows, self.weights_in_units[0])
            if self._n_rows >= packing.LEAST_ROWS and self._weights is None and not self._is_in_memory:
                packed = (self._stored and self._stored.packed) or packing.aside(columns)
                if packed is not None:
                    columns.take_packed(*packed)
            self._native = columns
        return self._native

    @property
    def _is_in_memory(self) -> bool:
        return self._stored is not None and self._stored.folder is None

    @overload
    def __getitem__(self, rows: str) -> npt.NDArray[Any]: ...
    @overload
    def __getitem__(self, rows: Rows) -> Self: ...
    def __getitem__(self, rows: Rows | str) -> Self | npt.NDArray[Any]:
        """Return some rows, or a column by its name; see `Table`. Many rows that are picked are written to the disk."""
        if self._is_in_memory or isinstance(rows, str) or (isinstance(rows, slice) and rows.step in (None, 1)):
            return super().__getitem__(rows)
        picked = _Picked.of(rows, self._n_rows)
        if self._is_short(picked.n_rows, self._variables):
            return super().__getitem__(rows)
        weights = None if self._weights is None else picked.blocks(self._weights)
        columns = zip(self._variables, map(picked.blocks, self._columns), strict=True)
        made = self._written(columns, weights, picked.n_rows)
        made._decisions = self._decisions
        return made

    def conform(self, variables: Sequence[Column], *, unknown: UnknownName = "error") -> Self:
        """Return the table with exactly these variables; see `Table`. Long columns that change go to the disk."""
        variables = checked_variables(variables)
        held = set(self._variables)
        if self._is_in_memory or held.issuperset(variables) or self._is_short(self._n_rows, variables):
            return super().conform(variables, unknown=unknown)
        columns = (
            (want, self._recoded(have, column, want, unknown)) for have, column, want in self._matched(variables)
        )
        return self._written(columns, self._own_weights(), self._n_rows)

    def _recoded(
        self, have: Column, column: npt.NDArray[Any], want: Column, unknown: UnknownName
    ) -> Iterator[npt.NDArray[Any]]:
        for at in row_blocks(self._n_rows):
            yield recode(column[at], have, want, unknown=unknown, first_row=at.start)

    def discretize(self, bins: Bins, *, binning: BinningName = "quantile") -> Self:
        """Cut columns of numbers into bins; see `Table`. Long columns go to the disk."""
        if self._is_in_memory or self._is_short(self._n_rows, self._variables):
            return super().discretize(bins, binning=binning)
        options = Options.checked(bins=bins, binning=binning)
        options.choose(self.names)
        pairs = zip(self._variables, self._columns, strict=True)
        cut = (cut_here(variable, column, self._weights, options) for variable, column in pairs)
        made = self._written(cut, self._own_weights(), self._n_rows)
        made._decisions = told_of_bins(self._decisions, made._variables)
        return made

    @property
    def on_disk(self) -> bool:
        """True: its columns are mapped files of a store."""
        return True

    def _own_weights(self) -> Iterator[npt.NDArray[Any]] | None:
        return None if self._weights is None else _blocks(self._weights)

    def _is_short(self, n_rows: int, variables: Sequence[Column]) -> bool:
        """Whether a copy of so many rows may lie in memory."""
        return n_rows * _row_bytes(variables, weighted=self._weights is not None) < MOST_COPIED

    def blocks(self, n_rows: int = BLOCK_ROWS) -> Iterator[Table]:
        """Yield the rows in their order, so many at a time, as tables that look at the store."""
        size = check.integer(n_rows, "n_rows", least=1)
        for begin in range(0, self._n_rows, size):
            yield self[begin : begin + size]

    def each(self, function: Callable[[Table], Result], n_rows: int = BLOCK_ROWS) -> Iterator[Result]:
        """Yield what a function says of each block of rows, in their order, as `net.log_prob` of a long table.

        Examples
        --------
        >>> import fishernet as fn
        >>> net = fn.datasets.load("asia")
        >>> stream = fn.scan(net.sample(1000, seed=1).to_frame())
        >>> [logs.shape for logs in stream.each(net.log_prob, 400)]
        [(400,), (400,), (200,)]
        """
        for block in self.blocks(n_rows):
            yield function(block)

    def cache(self, folder: str | os.PathLike[str]) -> Self:
        """Keep the encoded store in a folder, and return the stream of it; `scan` of the same source finds it there.

        Raises
        ------
        FishernetError
            When the folder holds other things, or the disk is full.
        """
        target = checked_folder(folder)
        if self._stored is None or self._stored.folder is None:
            raise FishernetError("the stream is in memory; scan the source with cache=folder", parameter="cache")
        columns = zip(self._variables, map(_blocks, self._columns), strict=True)
        return self._written(columns, self._own_weights(), self._n_rows, target, self._stored.head)

    def verify(self) -> None:
        """Read all files of the store and raise FileFormatError where one is not as it was written for this stream."""
        if self._stored is not None and self._stored.folder is not None:
            verify(self._stored.folder, self._stored.identity)

    def __repr__(self) -> str:
        return super().__repr__().replace("Table", "Stream", 1)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._stored is None or self._stored.folder is None:
            return super().__reduce__()
        return type(self)._of_folder, (self._stored.folder, self._stored.identity)

    def __copy__(self) -> Self:
        """Return the stream itself, which never changes."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return the stream itself, which never changes."""
        return self


def _blocks(column: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    return (column[at] for at in row_blocks(len(column)))


def _row_bytes(variables: Sequence[Column], *, weighted: bool) -> int:
    return sum(variable.dtype.itemsize for variable in variables) + 8 * weighted


@dataclass(frozen=True)
class _Picked:
    """Rows of a table: their positions from the start, or a mask."""

    rows: npt.NDArray[Any]
    n_rows: int

    @classmethod
    def of(cls, rows: Any, n_rows: int) -> _Picked:
        """Return the rows that a subscript stands for."""
        if isinstance(rows, slice):
            rows = np.arange(n_rows)[rows]
        array = check.array(rows, "rows")
        if array.dtype.kind == "b" and array.shape == (n_rows,):
            return cls(array, int(np.count_nonzero(array)))
        positions = row_positions(array, n_rows)
        return cls(positions, len(positions))

    def blocks(self, column: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
        """Yield the picked cells of a column."""
        for at in row_blocks(len(self.rows)):
            yield column[at][self.rows[at]] if self.rows.dtype.kind == "b" else column[self.rows[at]]
