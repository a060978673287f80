"""Where a long source's rows come from: batches of columns, one after the other.

Files, folders and patterns of Parquet, Arrow and text files, a dataset of Arrow, a relation of DuckDB, whatever speaks
Arrow's interface for streams, and any iterable of batches or of frames. A thread reads the next batches while one is
worked on.
"""

from __future__ import annotations

import hashlib
import os
import queue
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import Table as ArrowTable

from fishernet.base import check
from fishernet.base.errors import FileFormatError, FishernetError, SchemaError, warn
from fishernet.base.io import naming_unreadable
from fishernet.base.machine import is_out_of_memory, without_memory
from fishernet.base.names import listed, shown
from fishernet.data.arrow import chosen_names, columns_of, frame_columns, is_text, pandas_index
from fishernet.data.encoding.cells import Columns
from fishernet.data.formats.contents import Contents, read_columns
from fishernet.data.formats.opening import kind_of, opened
from fishernet.data.matching import is_frame
from fishernet.data.options import Options
from fishernet.data.originals import marked
from fishernet.data.streams.checksums import checksum_of
from fishernet.data.streams.sizes import found_files, guessed_rows

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset, Expression

BATCH_ROWS = 2**19
COLUMNAR = ("parquet", "arrow")  # kinds of files whose columns have types
END = 2**16  # bytes at each end of a file, which are looked at to see whether it has changed
MOST_SUMMED = 2**30  # bytes of files that get a checksum
AHEAD = 3  # batches that are read before they are asked for


@dataclass(frozen=True)
class Batch:
    """Some rows of a source, and where they come from, as messages say it."""

    columns: Columns
    where: str


@dataclass(frozen=True)
class Batches:
    """What a source holds.

    Attributes
    ----------
    read : function
        Begins anew and gives the batches; of an iterable it works once.
    files : tuple of Path
        The files, in the order of their rows; none of a source in memory.
    n_rows : int or None
        How many rows there are, where the source knows.
    frames : function or None
        Of files: begins anew and gives their rows as they are (`fishernet.data.originals`), with all columns.
    once : bool
        Whether it can be read once only.
    slow : bool
        Whether reading it takes so long that what was read is better put aside than read again.
    """

    read: Callable[[], Iterator[Batch]]
    files: tuple[Path, ...] = ()
    n_rows: int | None = None
    frames: Callable[[], Iterator[pa.Table]] | None = None
    once: bool = False
    slow: bool = False

    def about(self) -> int | None:
        """Return how many rows there are, or about how many; None where nobody can tell."""
        return guessed_rows(self.files) if self.n_rows is None and self.files else self.n_rows

    def stamp(self) -> list[list[Any]]:
        """Return what tells whether the files have changed: of each its path, its `file_stamp` and its two ends.

        The time of change of a file cannot be set back, and where a file system has none, another content of the same
        length mostly begins or ends otherwise.
        """
        found: list[list[Any]] = []
        for path in self.files:
            ends = hashlib.sha256()
            with suppress(OSError), path.open("rb") as file:
                ends.update(file.read(END))
                file.seek(max(0, path.stat().st_size - END))
                ends.update(file.read(END))
            found.append([str(path.resolve()), *file_stamp(path), ends.hexdigest()])
        return found

    def checksums(self) -> list[str]:
        """Return the checksums of all files; none of long ones, which would be read twice.

        With them files are known again whose rights have changed, or that were copied or restored with their times.
        """
        if sum(file_stamp(path)[0] for path in self.files) > MOST_SUMMED:
            return []
        found = []
        for path in self.files:
            with naming_unreadable(path):
                found.append(checksum_of(path))
        return found

    def refuse_changes(self, stamp: list[list[Any]]) -> None:
        """Raise FileFormatError when a file is not as it was when the stamp was taken."""
        for before, path in zip(stamp, self.files, strict=True):
            if tuple(before[1:3]) != file_stamp(path)[:2]:  # new rights or links are no harm while it is read
                raise FileFormatError(before[0], "changed while it was read; read it again when nobody writes to it")


def file_stamp(path: Path) -> tuple[int, int | None, int]:
    """Return the size of a file and the times of its last write and change, in ns; None for one that is gone."""
    try:
        state = path.stat()
    except OSError:
        return 0, None, 0
    return state.st_size, state.st_mtime_ns, state.st_ctime_ns


def batches_of(source: Any, options: Options, wanted: Expression | None, *, tell: bool = True) -> Batches:
    """Return the batches of a source; `wanted` says which of its rows are read.

    With `tell`, what a caller may not expect of files is told when they are read first.

    Raises
    ------
    FileFormatError
        When a file does not exist, is of no known format, is broken, or has other columns than the first.
    SchemaError
        When the source is of no kind that has batches.
    """
    found = paths_of(source)
    if found is not None:
        return _of_files(*found, options, wanted, tell=tell)
    options.text.refuse(f"a source of type {type(source).__name__}")
    if hasattr(type(source), "get_fragments"):
        return _of_dataset(source, options, wanted)
    opened = _record_batches(source)
    if opened is not None:
        return Batches(lambda: _of_arrow(opened(), options, wanted), once=True)
    if is_frame(source):
        if wanted is not None:
            raise SchemaError("filter= needs Arrow record batches; filter the frame itself", parameter="filter")
        return Batches(lambda: iter([Batch(frame_columns(source, options), "the frame")]))
    if isinstance(source, Iterable) and not isinstance(source, str | bytes | Mapping):
        return Batches(lambda: _of_frames(source, options, wanted), once=iter(source) is source)
    raise SchemaError(
        "a stream is read from a path, a folder or pattern of files, an Arrow dataset, or an iterable of record "
        f"batches, not {shown(source)}"
    )


def paths_of(source: Any) -> tuple[list[Path], Path | None] | None:
    """Return the files that a source names, and the folder that it is; None of a source that is no path, nor many."""
    if isinstance(source, str | os.PathLike):
        path = check.path(source, "source")
        return found_files(path), path if path.is_dir() else None
    if isinstance(source, Sequence) and source and all(isinstance(one, str | os.PathLike) for one in source):
        return [path for one in source for path in found_files(check.path(one, "source"))], None
    return None


def _record_batches(source: Any) -> Callable[[], Iterator[pa.RecordBatch]] | None:
    """Return what opens a source that has Arrow's batches; None where it has none."""
    if isinstance(source, pa.RecordBatchReader):
        return lambda: _with_empty(source)
    if isinstance(source, ArrowTable):
        return lambda: _with_empty(source.to_reader(BATCH_ROWS))
    for name in ("to_arrow_reader", "fetch_record_batch", "fetch_arrow_reader"):  # of DuckDB's relations and results
        if hasattr(type(source), name):
            return lambda: _with_empty(getattr(source, name)(BATCH_ROWS))
    if hasattr(type(source), "__arrow_c_stream__") and not hasattr(type(source), "columns"):
        return lambda: _with_empty(pa.RecordBatchReader.from_stream(source))
    return None


def _with_empty(reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """Yield a batch without rows before the others: there may be none, and it says what the columns are."""
    yield pa.RecordBatch.from_pylist([], schema=reader.schema)
    yield from reader


def _of_arrow(
    found: Iterable[pa.RecordBatch], options: Options, wanted: Expression | None, where: str = "the stream"
) -> Iterator[Batch]:
    for i, batch in enumerate(found):
        at = f"{where}, batch {i}"
        yield Batch(_columns(pa.Table.from_batches([batch]), options, wanted, at), at)


def _of_frames(found: Iterable[Any], options: Options, wanted: Expression | None) -> Iterator[Batch]:
    for i, frame in enumerate(found):
        where = f"the iterable, item {i}"
        if isinstance(frame, pa.RecordBatch | ArrowTable):
            table = pa.Table.from_batches([frame]) if isinstance(frame, pa.RecordBatch) else frame
            yield Batch(_columns(table, options, wanted, where), where)
        elif is_frame(frame):
            if wanted is not None:
                raise SchemaError(f"{where}: filter= needs Arrow record batches; filter the frames", parameter="filter")
            yield Batch(frame_columns(frame, options), where)
        else:
            raise SchemaError(f"{where}: a record batch or a data frame is needed, not {shown(frame)}")


def _columns(table: pa.Table, options: Options, wanted: Expression | None, where: str) -> Columns:
    try:
        if wanted is not None:
            table.validate(full=True)
            table = table.filter(wanted)
        return columns_of(table, options)
    except pa.ArrowInvalid as error:
        raise SchemaError(f"{where}: {str(error).partition(chr(10))[0]}") from None


# -------------------------------------------------------------------------------------------------------- files


def _of_files(
    files: list[Path], folder: Path | None, options: Options, wanted: Expression | None, *, tell: bool
) -> Batches:
    kind = common_kind(files, folder)
    if kind in COLUMNAR:
        options.text.refuse(files[0].name)
        dataset, undeclared = dataset_of(files, kind, folder)
        found = _of_dataset(dataset, options, wanted, undeclared)
        return replace(found, files=tuple(files), frames=lambda: _dataset_frames(dataset))
    if wanted is not None:
        raise SchemaError("filter= is for Parquet and Arrow files", parameter="filter")
    _note_partitions(files, folder)
    rows = _Opened(files, options, tell=tell)
    return Batches(rows.batches, tuple(files), slow=True, frames=rows.frames)


def common_kind(files: Sequence[Path], folder: Path | None) -> str:
    """Return the kind of all files (`kind_of`); raise FileFormatError where they are of several."""
    kinds = {kind_of(path): path for path in files}
    if len(kinds) > 1:
        raise FileFormatError(folder or files[0], f"the files are of several kinds: {listed(map(str, kinds.values()))}")
    return next(iter(kinds))


def _note_partitions(files: list[Path], folder: Path | None) -> None:
    """Warn of folders that say what their files' rows have in common, which text files lack."""
    parts = [part for path in files if folder for part in path.relative_to(folder).parts[:-1] if "=" in part]
    if parts:
        names = dict.fromkeys(part.partition("=")[0] for part in parts)
        what = f"partitions ({listed(names)}) of text files are no columns of the table; those of Parquet files are"
        warn(what)


def _check_schemas(files: list[Path], kind: str) -> list[str]:
    """Return the columns of text; raise where a file is broken, or has other columns or types than the first."""
    first: pa.Schema | None = None
    for path in files:
        schema = _schema(path, kind)
        if first is None:
            first = schema
            continue
        if schema.names != first.names and set(schema.names) != set(first.names):
            apart = sorted(set(schema.names) ^ set(first.names))
            raise FileFormatError(path, f"has other columns than {files[0].name}: only one of them has {listed(apart)}")
        for field in first:
            kind_here = schema.field(field.name).type
            if kind_here != field.type:
                raise FileFormatError(
                    path, f"column {field.name!r} is of type {kind_here} here and of {field.type} in {files[0].name}"
                )
    assert first is not None
    return [field.name for field in first if is_text(field.type)]


def _schema(path: Path, kind: str) -> pa.Schema:
    import pyarrow.parquet as pq

    try:
        if kind == "parquet":
            schema = pq.read_schema(path)
        else:
            with pa.memory_map(str(path)) as file:
                schema = pa.ipc.open_file(file).schema
        len(schema.names)  # damaged ones cannot be told
        return schema
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        what = "Parquet" if kind == "parquet" else "Arrow"
        why = str(error).partition("\n")[0]
        raise FileFormatError(path, f"is no {what} file, or a broken one ({why})") from None


def dataset_of(files: list[Path], kind: str, folder: Path | None) -> tuple[Dataset, frozenset[str]]:
    """Return Parquet or Arrow files as a dataset, and which of its dictionaries are text that declares no states.

    Raises
    ------
    FileFormatError
        When a file is broken, or has other columns or types than the first.
    """
    import pyarrow.dataset as pa_ds  # which loads pandas where it is installed

    texts = _check_schemas(files, kind)
    if kind == "parquet":
        form: Any = pa_ds.ParquetFileFormat(read_options=pa_ds.ParquetReadOptions(dictionary_columns=texts))
    else:
        form = pa_ds.IpcFileFormat()
    base = None if folder is None else str(folder)
    hive = None if folder is None else pa_ds.partitioning(flavor="hive")
    dataset = pa_ds.dataset([str(path) for path in files], format=form, partitioning=hive, partition_base_dir=base)
    return dataset, frozenset(texts) if kind == "parquet" else frozenset()


def _of_dataset(
    dataset: Dataset, options: Options, wanted: Expression | None, undeclared: frozenset[str] = frozenset()
) -> Batches:
    names = list(dataset.schema.names)
    needed = needed_names(names, options)
    options = replace(options, exclude=())  # they are not among those any more
    # Arrow filters rows before they can be checked, and ends the process where an index is beyond its dictionary
    checked_first = wanted is not None and keeps_dictionaries(dataset)

    def batches() -> Iterator[Batch]:
        row = 0
        yield Batch(columns_of(dataset.schema.empty_table().select(needed), options, undeclared), "the dataset")
        try:
            read, kept = (names, None) if checked_first else (needed, wanted)
            scanner = dataset.scanner(
                columns=read, filter=kept, batch_size=BATCH_ROWS, batch_readahead=2, fragment_readahead=1
            )
            for batch in scanner.to_batches():
                table = pa.Table.from_batches([batch]).replace_schema_metadata(dataset.schema.metadata)
                if checked_first:
                    table.validate(full=True)
                    table = table.filter(wanted).select(needed)
                yield Batch(columns_of(table, options, undeclared), f"rows from {row:,} on")
                row += table.num_rows
        except (pa.ArrowException, OSError) as error:
            raise broken(dataset, error) from None

    n_rows = None
    if wanted is None:
        try:
            n_rows = dataset.count_rows(use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise broken(dataset, error) from None
    return Batches(batches, tuple(Path(file) for file in getattr(dataset, "files", ())), n_rows)


def keeps_dictionaries(dataset: Dataset) -> bool:
    """Whether the files of a dataset hold Arrow's own columns, which are mapped as they are."""
    return getattr(getattr(dataset, "format", None), "default_extname", None) in ("arrow", "feather", "ipc")


def broken(dataset: Dataset, error: Exception) -> FishernetError:
    """Return the error that names the file of a dataset that cannot be read: the first that cannot alone."""
    why = str(error).partition("\n")[0]
    if is_out_of_memory(error):  # reading all again could hang
        return without_memory("the files were read", why)
    for fragment in dataset.get_fragments():
        try:
            for batch in fragment.to_batches(batch_size=BATCH_ROWS):
                batch.validate(full=True)
        except (pa.ArrowException, OSError) as own:
            return FileFormatError(fragment.path, f"is broken ({str(own).partition(chr(10))[0]})")
    return FileFormatError(next(iter(getattr(dataset, "files", ["the dataset"]))), f"cannot be read ({why})")


def needed_names(names: list[str], options: Options) -> list[str]:
    """Return the columns that are read at all: those asked for, and the weights."""
    wanted = {*options.choose(names), options.weights}
    return [name for name in names if name in wanted]


def _dataset_frames(dataset: Dataset) -> Iterator[pa.Table]:
    hidden = pandas_index(dataset.schema)
    shown = [name for name in dataset.schema.names if name not in hidden]
    yield dataset.schema.empty_table().select(shown).replace_schema_metadata(None)
    try:
        for batch in dataset.to_batches(columns=shown, batch_size=BATCH_ROWS, batch_readahead=2, fragment_readahead=1):
            batch.validate(full=True)
            yield pa.Table.from_batches([batch]).replace_schema_metadata(None)
    except (pa.ArrowException, OSError) as error:
        raise broken(dataset, error) from None


class _Opened:
    """Files of rows that are opened once, each when it is read first."""

    def __init__(self, files: Sequence[Path], options: Options, *, tell: bool) -> None:
        self._files, self._options, self._tell = files, options, tell
        self._known: dict[Path, Contents] = {}

    def batches(self) -> Iterator[Batch]:
        """Yield the columns that the options ask for, some rows at a time."""
        for path, contents in self._contents():
            with self._naming(path), naming_unreadable(path):
                for columns in read_columns(contents, self._options, whole=False):
                    yield Batch(columns, path.name)

    def frames(self) -> Iterator[pa.Table]:
        """Yield all columns with their cells as they are, some rows at a time."""
        for path, contents in self._contents():
            with naming_unreadable(path):
                for frame in contents.frames(contents.schema.names, False):
                    yield marked(frame, self._options.na_values)

    @contextmanager
    def _naming(self, path: Path) -> Iterator[None]:
        """Name one of several files in what is said about its columns."""
        try:
            yield
        except FileFormatError:  # which names it already
            raise
        except SchemaError as error:
            if len(self._files) == 1:
                raise
            raise SchemaError(f"{path}: {error.fact}", parameter=error.parameter, remedies=error.remedies) from None

    def _contents(self) -> Iterator[tuple[Path, Contents]]:
        """Yield the files as they are opened; raise FileFormatError where one has other columns than the first."""
        first: list[str] | None = None
        for path in self._files:
            with naming_unreadable(path):
                contents = self._known.get(path)
                if contents is None:
                    contents = self._known[path] = opened(path, self._options)
                    if self._tell:
                        contents.tell()
                with self._naming(path):
                    names = chosen_names(contents.schema, self._options)
                first = names if first is None else first
                if names != first:
                    apart = sorted(set(names) ^ set(first)) or names
                    raise FileFormatError(path, f"has other columns than {self._files[0].name}: {listed(apart)}")
                yield path, contents


# -------------------------------------------------------------------------------------------------------- ahead


class ReadAhead:
    """Batches that a thread reads while others are worked on; closing it ends the thread."""

    def __init__(self, batches: Iterator[Batch]) -> None:
        self._queue: queue.Queue[Batch | BaseException | None] = queue.Queue(AHEAD)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._read, args=(batches,), daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:
            raise without_memory("a thread was begun that reads", str(error)) from None

    def _read(self, batches: Iterator[Batch]) -> None:
        try:
            for batch in batches:
                if not self._put(replace(batch, columns=batch.columns.narrow())):
                    return
            self._put(None)
        except BaseException as error:
            self._put(error)

    def _put(self, item: Batch | BaseException | None) -> bool:
        while not self._ended.is_set():
            try:
                self._queue.put(item, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def __iter__(self) -> Generator[Batch]:
        try:
            while (item := self._queue.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:  # the thread is not in Arrow any more when the interpreter ends
            self._ended.set()
            self._thread.join()
