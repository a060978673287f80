"""Reading a table that need not fit into memory.

One pass over its batches adds their summaries, `fishernet.data.decide` decides by the sum what the columns are, and a
second pass encodes them. Each column is then written to the store, numbers that are cut into bins as they are cut.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError, warn
from fishernet.base.progress import Progress, Reporter
from fishernet.data.arrays import checked_weights
from fishernet.data.arrow import variable_fields
from fishernet.data.blocks import is_dask, of_dask
from fishernet.data.blocks.places import summed
from fishernet.data.column_summary import TableSummary
from fishernet.data.decide import Decision
from fishernet.data.encode import (
    Kept,
    decided_by,
    encode_part,
    refuse_missing,
    summary_of_part,
    told_of_bins,
    with_bins_and_states,
)
from fishernet.data.meeting import Met, met_by, strangers
from fishernet.data.options import FileKeywords, Options, shows_keywords
from fishernet.data.streams.batches import Batches, batches_of
from fishernet.data.streams.folders import checked_folder
from fishernet.data.streams.pieces import of_files
from fishernet.data.streams.spool import FileRoom, MemoryRoom, Rereadable, Room, array_of
from fishernet.data.streams.store import Head, Stored, made_of, new_store, opened
from fishernet.data.streams.stream import Stream
from fishernet.data.variable import Column

if TYPE_CHECKING:
    from pyarrow.dataset import Expression


@shows_keywords(FileKeywords)
def scan(
    source: Any,
    *,
    filter: Expression | None = None,  # noqa: A002 what Arrow calls it
    cache: str | os.PathLike[str] | None = None,
    client: Any = None,
    progress: Progress | None = None,
    **keywords: Unpack[FileKeywords],
) -> Stream:
    """Read a table that need not fit into memory.

    One pass finds what the columns are, a second writes an encoded copy: codes of one byte mostly, so about a tenth of
    the text. A source that can be read once only is put aside meanwhile. All that follows looks at the copy. Kinds,
    states, bins and all else are what `read_table` makes of the same rows, and so is whatever is learned, to the last
    bit.

    Parameters
    ----------
    source : path, sequence of paths, pyarrow Dataset, iterable of record batches, or data frame of Dask
        A Parquet, Arrow or text file (``.csv``, ``.tsv``, ``.txt``, also as ``.csv.gz``); a folder of them, whose
        partitions (``year=2024/``) become columns, or a pattern (``"part-*.parquet"``), in the order of their names; a
        relation of DuckDB; whatever speaks Arrow's interface for streams; or data frames one after the other.
    columns, exclude, categorical, continuous, order, bins, binning, schema, missing, unknown, weights, na_values
        As in `Table.from_frame`. Columns that are not asked for are not read.
    delimiter, decimal, thousands, dates, encoding, skip_rows, header_rows, sheet
        As in `read_table`.
    filter : pyarrow.dataset.Expression, optional
        Which rows are read, as ``pyarrow.dataset.field("age") > 20``; Parquet skips what cannot hold any.
    cache : folder, or "memory"; optional
        Where the copy is kept. A folder keeps it for the next time: the same source and keywords are not read again, a
        source that has changed is, with a warning. Without it the copy lies in the folder for temporary files (of the
        environment variable TMPDIR) and goes with the stream.
    client : dask.distributed.Client, executor, or whatever maps; optional
        A Dask client: the workers of its cluster read Parquet or Arrow files, which all of them see under the same
        path, or hold a frame of Dask, and keep their rows. An executor, as ``ThreadPoolExecutor(4)``, a pool, or a
        function like Python's own ``map`` reads files piece by piece. Without it a frame of Dask is read by the current
        client, or by Dask's threads in this process if no client is connected. `cache` and `progress` do not go with
        it, and `filter` is not for frames of Dask.
    progress : callable or True, optional
        True for a bar, or ``progress("reading", rows, all rows or None)``; of text files it is guessed from the first
        lines how many rows there are. Then ``progress("encoding", rows, all rows or None)``.

    Returns
    -------
    Stream
        A `Table` on the disk. Of a frame of Dask, and with `client`, `fishernet.data.Blocks`: a source of
        statistics, whose rows stay where they were read.

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
    options = Options.checked(**keywords)
    if is_dask(source):
        options.text.refuse("a data frame of Dask")
        for name, given in (("filter", filter), ("cache", cache), ("progress", progress)):
            if given is not None:
                message = f"{name} does not go with a data frame of Dask: filter the frame; its workers keep the rows"
                raise SchemaError(message, parameter=name)
        return cast(Stream, of_dask(source, client, options))
    if client is not None:
        for name, given in (("cache", cache), ("progress", progress)):
            if given is not None:
                message = f"{name} is for files that this process reads; with client= the workers read and keep them"
                raise SchemaError(message, parameter=name)
        return cast(Stream, of_files(source, client, options, filter))
    batches = batches_of(source, options, filter)
    how = {"files": batches.stamp(), "options": _as_text(options, filter)}
    if isinstance(cache, str) and cache == "memory":
        return _in_memory(batches, options, how, progress)
    target = None if cache is None else checked_folder(cache)
    if target is not None and (known := _known(target, batches, how)) is not None:
        return known
    return _on_disk(batches, options, how, target, progress)


def _as_text(options: Options, filter: Expression | None) -> str:  # noqa: A002
    """Return keywords as a text that is the same in every process and tells all that differ apart."""
    schema = None if options.schema is None else [(column.name, variable_fields(column)) for column in options.schema]
    others = replace(options, schema=None, na_values=frozenset())
    wanted = None if filter is None else hashlib.sha256(pickle.dumps(filter, 4)).hexdigest()  # Arrow shortens its text
    return repr((others, schema, sorted(options.na_values), wanted))


def _known(folder: Path, batches: Batches, how: dict[str, Any]) -> Stream | None:
    """Return the stream of the store in a folder where it is of the same source; warn where the source has changed."""
    found = made_of(folder)
    if found is None or not how["files"]:
        return None
    if found.get("options") == how["options"] and _is_same(found, batches, how["files"]):
        stored = opened(folder)
        if stored.head.made_of == found:  # unless somebody has just made another one
            return Stream.of_stored(stored)
    what = "it was made with other keywords" if found.get("options") != how["options"] else "the source has changed"
    message = f"the encoded copy in {str(folder)!r} is stale ({what}); it is made anew"
    warn(message, parameter="cache")
    return None


def _is_same(found: dict[str, Any], batches: Batches, stamp: list[list[Any]]) -> bool:
    """Whether files are those that a store was made of: unchanged, or as old and of the same content."""
    if found.get("files") == stamp:
        return True
    written = [[file[:3] for file in files] for files in (found.get("files", ()), stamp)]
    return written[0] == written[1] and bool(found.get("checksums")) and found["checksums"] == batches.checksums()


def _in_memory(batches: Batches, options: Options, how: dict[str, Any], progress: Progress | None) -> Stream:
    made = _two_passes(batches, options, MemoryRoom(), how, progress)
    columns = [np.concatenate([np.zeros(0, v.dtype), *blocks]) for v, blocks in made.columns]
    variables = [variable for variable, _ in made.columns]
    kept = [column for variable, column in zip(variables, columns, strict=True) if variable.is_continuous]
    numbers = np.array(kept, dtype=np.float64).reshape(len(kept), made.n_rows)
    head = Head(tuple(variables), made.n_rows, told_of_bins(made.decisions, variables), how)
    return Stream.of_stored(Stored(head, tuple(columns), numbers, made.weights))


def _on_disk(
    batches: Batches, options: Options, how: dict[str, Any], target: Path | None, progress: Progress | None
) -> Stream:
    done = [0]

    def needed(work: Path) -> int | None:
        """Return how many bytes the store takes while it is made, from what the rows that were encoded took."""
        taken = sum(path.stat().st_size for path in work.rglob("*") if path.is_file())
        return None if batches.n_rows is None or not done[0] else round(2 * taken * batches.n_rows / done[0])

    if target is not None:
        how = {**how, "checksums": batches.checksums()}
    with new_store(target, needed) as made:
        aside = made.work / "aside"
        aside.mkdir()
        found = _two_passes(batches, options, FileRoom(aside), how, progress, done)
        told = told_of_bins(found.decisions, [variable for variable, _ in found.columns])
        made.write(found.columns, None if found.weights is None else [found.weights], found.n_rows, told, how)
    return Stream.of_stored(made.opened)


@dataclass(frozen=True)
class _Made:
    """The columns of a source: their variables, and their cells in blocks."""

    columns: list[tuple[Column, Iterable[npt.NDArray[Any]]]]
    weights: npt.NDArray[Any] | None
    n_rows: int
    decisions: tuple[Decision, ...]


def _met(batches: Rereadable, options: Options) -> Met:
    """Return how the columns of a schema are written; no pass is needed where the first rows are as the schema is."""
    found = strangers(batches.first().columns, options)
    return met_by(summed(strangers(batch.columns, options) for batch in batches) if found else found, options)


def _two_passes(
    batches: Batches,
    options: Options,
    room: Room,
    how: dict[str, Any],
    progress: Progress | None,
    done: list[int] | None = None,
) -> _Made:
    """Decide what the columns of a source are, and encode them; raise when a file changed meanwhile."""
    reading, about = Reporter(progress, "reading"), batches.about() if progress else None
    again = Rereadable(batches, room, lambda n: reading.step(n, None if about is None else max(about, n)))

    def summary(kept: Kept | None) -> TableSummary:
        found: TableSummary = summed(summary_of_part(batch.columns, options, kept) for batch in again)
        return found

    decided = decided_by(summary, options) if options.schema is None else None
    met = None if decided is not None else _met(again, options)
    encoding, n_read, n_rows = Reporter(progress, "encoding"), 0, 0
    missing: dict[str, int] = {}
    variables: tuple[Column, ...] = ()
    weighted = False
    for batch in again:
        part = encode_part(batch.columns, options, decided, met, first_row=n_read)
        variables, weighted = part.variables, weighted or part.weights is not None
        for i, column in enumerate(part.columns):
            room.add(f"column-{i}", np.ascontiguousarray(column).data)
        if part.weights is not None:
            room.add("weights", np.ascontiguousarray(part.weights.astype(np.float64)).data)
        for name, count in part.missing.items():
            missing[name] = missing.get(name, 0) + count
        n_read, n_rows = n_read + batch.columns.n_rows, n_rows + part.n_rows
        if done is not None:
            done[0] = n_read
        encoding.step(n_read, None if about is None else max(about, n_read))
    batches.refuse_changes(how["files"])
    refuse_missing(missing, variables, options)
    weights = checked_weights(array_of(room, "weights", np.dtype(np.float64)), n_rows) if weighted else None
    held = [array_of(room, f"column-{i}", np.dtype(v.dtype)) for i, v in enumerate(variables)]
    columns = with_bins_and_states(variables, held, weights, options, missing if decided is not None else {})
    reading.finish(n_read)
    encoding.finish(n_read)
    return _Made(columns, weights, n_rows, () if decided is None else decided.decisions)
