"""Reading a table that need not fit into memory.

One pass reads the source batch by batch and puts its cells aside (`spool`). Then `fishernet.data.encoding`, which makes
every table, decides what the columns are, and each column is written to the store as it is made.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import pickle
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FishernetWarning, SchemaError
from fishernet.base.progress import Progress, Reporter
from fishernet.data.arrow import variable_fields
from fishernet.data.csv import tidied
from fishernet.data.encoding.cells import Columns
from fishernet.data.encoding.encode import Encoded, Keep, Made, encode, in_memory
from fishernet.data.options import FileKeywords, Options, shows_keywords
from fishernet.data.parts import is_dask, of_dask
from fishernet.data.streams.batches import Batches, ReadAhead, batches_of
from fishernet.data.streams.folders import checked_folder
from fishernet.data.streams.pieces import of_files
from fishernet.data.streams.spool import FileRoom, MemoryRoom, Spool
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
        Of the cluster whose workers read Parquet or Arrow files, which all of them see under the same path, and keep
        their rows; or those of a frame of Dask. For such a frame the current client is taken without it, and where
        there is none, Dask's threads in this process. `cache` and `progress` are not for a cluster, and `filter` is not
        for frames of Dask.
    progress : callable or True, optional
        True for a bar, or ``progress("reading", rows, all rows or None)``; of text files it is guessed from the first
        lines how many rows there are. Then ``progress("encoding", columns, all columns or None)``.

    Returns
    -------
    Stream
        A `Table` on the disk. Of a frame of Dask, and with `client`, `fishernet.data.Parts`: a source of statistics,
        whose rows stay with the workers.

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
    warnings.warn(FishernetWarning(message, parameter="cache"), stacklevel=4)
    return None


def _is_same(found: dict[str, Any], batches: Batches, stamp: list[list[Any]]) -> bool:
    """Whether files are those that a store was made of: unchanged, or as old and of the same content."""
    if found.get("files") == stamp:
        return True
    written = [[file[:3] for file in files] for files in (found.get("files", ()), stamp)]
    return written[0] == written[1] and bool(found.get("checksums")) and found["checksums"] == batches.checksums()


def _in_memory(batches: Batches, options: Options, how: dict[str, Any], progress: Progress | None) -> Stream:
    spool = Spool(MemoryRoom(), options)
    encoded = _encoded(_read_through(batches, spool, options, how, progress), options, in_memory, progress)
    kept = [c for v, c in zip(encoded.variables, encoded.columns, strict=True) if v.is_continuous]
    numbers = np.array(kept, dtype=np.float64).reshape(len(kept), encoded.n_rows)
    head = Head(tuple(encoded.variables), encoded.n_rows, encoded.decisions, {}, how)
    return Stream.of_stored(Stored(head, tuple(encoded.columns), numbers, encoded.weights))


def _on_disk(
    batches: Batches, options: Options, how: dict[str, Any], target: Path | None, progress: Progress | None
) -> Stream:
    def needed(work: Path) -> int | None:
        """Return how many bytes the store takes while it is made, from what the rows that were read took."""
        taken = sum(path.stat().st_size for path in work.rglob("*") if path.is_file())
        n_rows = batches.n_rows
        return None if n_rows is None or not spool.n_rows else round(2 * taken * n_rows / spool.n_rows)

    if target is not None:
        how = {**how, "checksums": batches.checksums()}
    with new_store(target, needed) as made:
        aside = made.work / "aside"
        aside.mkdir()
        spool = Spool(FileRoom(aside), options)
        encoded = _encoded(_read_through(batches, spool, options, how, progress), options, made.writer.column, progress)
        made.writer.weights(encoded.weights)
        made.writer.finish(encoded.variables, encoded.n_rows, encoded.decisions, how)
    return Stream.of_stored(made.opened)


def _read_through(
    batches: Batches, spool: Spool, options: Options, how: dict[str, Any], progress: Progress | None
) -> Columns:
    """Put the source aside to its end and return its columns; raise when a file changed meanwhile."""
    reporter, about = Reporter(progress, "reading"), batches.about() if progress else None
    for batch in ReadAhead(batches.read()):
        spool.add(batch.columns, batch.where)
        reporter.step(spool.n_rows, None if about is None else max(about, spool.n_rows))
    reporter.finish(spool.n_rows)
    batches.refuse_changes(how["files"])
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
