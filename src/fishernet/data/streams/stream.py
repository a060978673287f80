"""Tables larger than memory: read once, encoded to a folder, and mapped from there.

The first pass reads the source batch by batch and puts its cells aside (`spool`). Then `fishernet.data.encode`, which
makes every table, decides what the columns are, and each column is written to the store as it is made. From there on a
`Stream` is a `Table` whose columns are mapped files: whatever takes a table takes it, by the same code, so results
are the same to the last bit; only pages that are being read take memory.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import FileFormatError, FishernetError, FishernetWarning, SchemaError
from fishernet.base.progress import Progress, Reporter
from fishernet.base.vocabulary import BinningName, MissingName, UnknownName
from fishernet.data.arrays import BLOCK_ROWS, row_blocks, row_positions
from fishernet.data.arrow import variable_fields
from fishernet.data.cells import Columns
from fishernet.data.csv import tidied
from fishernet.data.encode import Encoded, Keep, Made, discretized, encode, in_memory, recode
from fishernet.data.options import DEFAULT_NA, Bins, Options
from fishernet.data.parts import is_dask, of_dask
from fishernet.data.streams.batches import Batches, ReadAhead, batches_of
from fishernet.data.streams.spool import FileRoom, MemoryRoom, Spool
from fishernet.data.streams.store import Stored, Writer, made_of, opened, pack, telling_need, verify
from fishernet.data.table import Rows, Table
from fishernet.data.variable import Column, checked_variables

PACKED_ON_DISK = 2**22  # rows, from which on the form that the core counts fastest is a file of the store, too
MOST_COPIED = 2**27  # bytes of rows that are picked or recoded, which lie in memory; more of them on the disk
PREFIX = "fishernet-"
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

    __slots__ = ("_folder", "_made_of", "_packs")

    _folder: Path | None
    _packs: Path | None  # where the form lies that the core counts fastest
    _made_of: dict[str, Any]

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
        if plain.n_rows < PACKED_ON_DISK:
            return plain  # type: ignore[return-value]
        stream = cls._of_table(plain)
        stream._folder, stream._made_of, stream._packs = None, {}, None
        return stream

    @classmethod
    def _of_stored(cls, stored: Stored, folder: Path | None) -> Self:
        """Make the stream of what lies in a store."""
        stream = cls._of_table(
            Table.adopt(stored.variables, stored.columns, weights=stored.weights, n_rows=stored.n_rows)
        )
        stream._decisions = stored.decisions
        stream._numbers = stored.numbers
        stream._folder, stream._made_of, stream._packs = folder, stored.made_of, folder
        return stream

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
    ) -> Self:
        """Make a stream with a temporary store of columns that come in blocks."""
        folder = _temporary_name()
        variables = []
        with _new_folder(folder) as new, telling_need(new, lambda: None), Writer(new) as writer:
            for variable, blocks in columns:
                variables.append(variable)
                writer.column(variable, blocks, n_rows)
            for block in () if weights is None else weights:
                writer.weights(block)
            writer.finish(variables, n_rows, (), {})
        return cls._of_temporary(folder)

    @classmethod
    def _of_temporary(cls, folder: Path) -> Self:
        """Make the stream of a store that goes with it."""
        stream = cls._of_stored(opened(folder), folder)
        weakref.finalize(stream, shutil.rmtree, folder, ignore_errors=True)
        return stream

    @property
    def folder(self) -> Path | None:
        """Where the encoded store lies; None in memory."""
        return self._folder

    @property
    def native(self) -> _core.Columns:
        """The columns as the core counts them; of many rows, the form that it counts fastest is kept in the store."""
        if self._native is None:
            columns = super().native
            if self._n_rows >= PACKED_ON_DISK and self._weights is None and (folder := self._packing_folder()):
                pack(columns, folder)
        return super().native

    def _packing_folder(self) -> Path | None:
        """Return where files beside the store may lie: its folder, or a temporary one of a part; None in memory."""
        if self._packs is None and not self._made_of:
            self._packs = Path(tempfile.mkdtemp(prefix=PREFIX))
            weakref.finalize(self, shutil.rmtree, self._packs, ignore_errors=True)
        return self._packs

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
        return self._written(columns, weights, picked.n_rows)

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
        cut = (discretized(variable, column, self._weights, options) for variable, column in pairs)
        return self._written(cut, self._own_weights(), self._n_rows)

    def _own_weights(self) -> Iterator[npt.NDArray[Any]] | None:
        weights = self._weights
        return None if weights is None else (weights[at] for at in row_blocks(self._n_rows))

    @property
    def _is_in_memory(self) -> bool:
        return self._folder is None and bool(self._made_of)

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
        target = _checked_folder(folder)
        if self._folder is None:
            raise FishernetError("the stream is in memory; scan the source with cache=folder", parameter="cache")
        source = self._folder
        with _new_folder(target) as new, telling_need(new, lambda: _size_of(source)):
            for path in source.iterdir():
                if path.suffix != ".new":
                    shutil.copyfile(path, new / path.name)
        return type(self)._of_stored(opened(target), target)

    def verify(self) -> None:
        """Read all files of the store and raise FileFormatError where one is not as it was written."""
        if self._folder is not None:
            verify(self._folder)

    def __repr__(self) -> str:
        return super().__repr__().replace("Table", "Stream", 1)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._folder is None:
            return super().__reduce__()
        return _reopened, (type(self), str(self._folder))


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


def _reopened(kind: type[Stream], folder: str) -> Stream:
    """Return the stream of a store, in another process."""
    return kind._of_stored(opened(Path(folder)), Path(folder))


def scan(
    source: Any,
    *,
    columns: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    categorical: Iterable[str] = (),
    continuous: Iterable[str] = (),
    bins: Bins | None = None,
    binning: BinningName = "quantile",
    schema: Iterable[Column] | None = None,
    missing: MissingName = "keep",
    unknown: UnknownName = "error",
    weights: str | None = None,
    na_values: Iterable[str] = DEFAULT_NA,
    delimiter: str | None = None,
    decimal: str = ".",
    thousands: str | None = None,
    encoding: str = "utf-8",
    filter: Any = None,  # noqa: A002 what Arrow calls it
    cache: str | os.PathLike[str] | None = None,
    client: Any = None,
    progress: Progress | None = None,
) -> Stream:
    """Read a table that need not fit into memory.

    One pass reads the source and writes an encoded copy: codes of one byte mostly, so about a tenth of the text. All
    that follows looks at the copy. Kinds, states, bins and all else are what `read_table` makes of the same rows, and
    so is whatever is learned, to the last bit.

    Parameters
    ----------
    source : path, sequence of paths, pyarrow Dataset, iterable of record batches, or data frame of Dask
        A Parquet, Arrow or text file (``.csv``, ``.tsv``, ``.txt``, also with ``.gz``); a folder of them, whose
        partitions (``year=2024/``) become columns, or a pattern (``"part-*.parquet"``), in the order of their names; a
        relation of DuckDB; whatever speaks Arrow's interface for streams; or data frames one after the other.
    columns, exclude, categorical, continuous, bins, binning, schema, missing, unknown, weights, na_values
        As in `Table.from_frame`. Columns that are not asked for are not read.
    delimiter, decimal, thousands, encoding
        As in `read_table`.
    filter : pyarrow.dataset.Expression, optional
        Which rows are read, as ``pyarrow.dataset.field("age") > 20``; Parquet skips what cannot hold any.
    cache : folder, or "memory"; optional
        Where the copy is kept. A folder keeps it for the next time: the same source and keywords are not read again, a
        source that has changed is, with a warning. Without it the copy lies in the folder for temporary files (of the
        environment variable TMPDIR) and goes with the stream.
    client : dask.distributed.Client, optional
        Of the cluster whose workers encode and keep a frame of Dask; without it the current one, and where there is
        none, Dask's threads in this process. `filter`, `cache` and `progress` are not for such frames.
    progress : callable or True, optional
        True for a bar, or ``progress("reading", rows, all rows or None)``; of text files it is guessed from the first
        lines how many rows there are. Then ``progress("encoding", columns, all columns or None)``.

    Returns
    -------
    Stream
        A `Table` on the disk. Of a frame of Dask `fishernet.data.Parts`: a source of statistics, whose rows stay with
        the workers.

    Raises
    ------
    FileFormatError
        When a file does not exist, is broken, has other columns or types than the first (which file, which column), or
        changes while it is read.
    FishernetError
        When the disk is full, with what is needed.
    SchemaError, MissingValueError, UnknownStateError
        As `read_table`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(5000, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for i, part in enumerate((table[:2000], table[2000:])):
    ...         fn.write_table(part, pathlib.Path(folder) / f"part-{i}.parquet")
    ...     stream = fn.scan(folder)
    >>> stream == table
    True
    >>> fn.learn.bayesian_network(stream) == fn.learn.bayesian_network(table)
    True
    """
    options = Options.checked(
        columns=columns,
        exclude=exclude,
        categorical=categorical,
        continuous=continuous,
        bins=bins,
        binning=binning,
        schema=schema,
        missing=missing,
        unknown=unknown,
        weights=weights,
        na_values=na_values,
        delimiter=delimiter,
        decimal=decimal,
        thousands=thousands,
        encoding=encoding,
    )
    if is_dask(source):
        if filter is not None or cache is not None:
            raise SchemaError("filter and cache are not for frames of Dask: filter the frame, and its workers keep it")
        return cast(Stream, of_dask(source, client, options))
    if client is not None:
        raise SchemaError(
            "client is for frames of Dask, and the source is none; dask.dataframe.read_parquet makes one of files",
            parameter="client",
        )
    batches = batches_of(source, options, filter)
    how = {"files": batches.stamp(), "options": _as_text(options, filter)}
    if isinstance(cache, str) and cache == "memory":
        return _in_memory(batches, options, how, progress)
    target = None if cache is None else _checked_folder(cache)
    if target is not None and (known := _known(target, how)) is not None:
        return known
    return _on_disk(batches, options, how, target, progress)


def _as_text(options: Options, filter: Any) -> str:  # noqa: A002
    """Return keywords as a text that is the same in every process and tells all that differ apart."""
    schema = None if options.schema is None else [(column.name, variable_fields(column)) for column in options.schema]
    others = replace(options, schema=None, na_values=frozenset())
    return repr((others, schema, sorted(options.na_values), str(filter)))


def _known(folder: Path, how: dict[str, Any]) -> Stream | None:
    """Return the stream of the store in a folder where it is of the same source; warn where the source has changed."""
    found = made_of(folder)
    if found is None:
        return None
    if found == how and how["files"]:
        return Stream._of_stored(opened(folder), folder)
    if how["files"]:
        what = "the source has changed" if found["options"] == how["options"] else "it was made with other keywords"
        message = f"the encoded copy in {str(folder)!r} is stale ({what}); it is made anew"
        warnings.warn(FishernetWarning(message, parameter="cache"), stacklevel=4)
    return None


def _in_memory(batches: Batches, options: Options, how: dict[str, Any], progress: Progress | None) -> Stream:
    spool = Spool(MemoryRoom(), options)
    encoded = _encoded(_read_through(batches, spool, options, how, progress), options, in_memory, progress)
    kept = [c for v, c in zip(encoded.variables, encoded.columns, strict=True) if v.is_continuous]
    numbers = np.array(kept, dtype=np.float64).reshape(len(kept), encoded.n_rows)
    stored = Stored(
        tuple(encoded.variables),
        tuple(encoded.columns),
        numbers,
        encoded.weights,
        encoded.n_rows,
        encoded.decisions,
        how,
    )
    return Stream._of_stored(stored, None)


def _on_disk(
    batches: Batches, options: Options, how: dict[str, Any], target: Path | None, progress: Progress | None
) -> Stream:
    folder = _temporary_name() if target is None else target
    with _new_folder(folder) as new:
        aside = new / "aside"
        aside.mkdir()
        spool = Spool(FileRoom(aside), options)
        with telling_need(new, lambda: _estimate(new, spool.n_rows, batches.n_rows)):
            columns = _read_through(batches, spool, options, how, progress)
            with Writer(new) as writer:
                encoded = _encoded(columns, options, writer.column, progress)
                writer.weights(encoded.weights)
                writer.finish(encoded.variables, encoded.n_rows, encoded.decisions, how)
            shutil.rmtree(aside)
    return Stream._of_temporary(folder) if target is None else Stream._of_stored(opened(folder), folder)


def _read_through(
    batches: Batches, spool: Spool, options: Options, how: dict[str, Any], progress: Progress | None
) -> Columns:
    """Put the source aside to its end and return its columns; raise when a file changed meanwhile."""
    reporter, about = Reporter(progress, "reading"), batches.about() if progress else None
    for batch in ReadAhead(batches.read()):
        spool.add(batch.columns, batch.where)
        reporter.step(spool.n_rows, None if about is None else max(about, spool.n_rows))
    reporter.finish(spool.n_rows)
    for before, after in zip(how["files"], batches.stamp(), strict=True):
        if before != after:
            raise FileFormatError(before[0], "changed while it was read; read it again when nobody writes to it")
    found = spool.columns()
    cells = [tidied(c, options, spaced=False) if c.text else c for c in found.cells]
    return Columns(cells, found.n_rows)


def _encoded(columns: Columns, options: Options, keep: Keep, progress: Progress | None) -> Encoded:
    """Encode the columns; each goes through `keep`."""
    reporter, done = Reporter(progress, "encoding"), itertools.count(1)

    def kept(variable: Column, column: Made, n_rows: int) -> npt.NDArray[Any]:
        reporter.step(next(done), len(columns.cells))
        return keep(variable, column, n_rows)

    found = encode(columns, options, kept)
    reporter.finish(len(found.variables))
    return found


def _estimate(folder: Path, n_read: int, n_rows: int | None) -> int | None:
    """Return how many bytes a store will take while it is made, from what the rows that were read took."""
    taken = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return None if n_rows is None or not n_read else round(2 * taken * n_rows / n_read)


# ------------------------------------------------------------------------------------------------------- folders


def _checked_folder(folder: str | os.PathLike[str]) -> Path:
    """Return a folder that is new, is empty or holds a store; raise FishernetError for any other."""
    path = check.path(folder)
    if path.exists() and not path.is_dir():
        raise FishernetError(f"cache must be a folder, and {str(path)!r} is a file", parameter="cache")
    if path.is_dir() and any(path.iterdir()) and made_of(path) is None:
        raise FishernetError(
            f"the folder {str(path)!r} holds other things; cache takes one of its own", parameter="cache"
        )
    return path


def _temporary_name() -> Path:
    """Return a folder for a store that goes with its stream; it is not made yet."""
    return Path(tempfile.gettempdir()) / f"{PREFIX}{secrets.token_hex(8)}"


@contextlib.contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
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


def _size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())
