"""Where the tables of a command come from: one file read whole, files of any length, or the workers of a cluster.

What the options of a command say of that is kept in its context, and holds for every table that it opens.
"""

from __future__ import annotations

import glob
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from fishernet.base.errors import FishernetError
from fishernet.base.machine import memory_limit
from fishernet.base.progress import Call
from fishernet.cli.tables.clusters import read_on_cluster
from fishernet.cli.terminal import complain, duration
from fishernet.data import Blocks, Table, read_table, scan
from fishernet.data.streams.originals import Originals, ScannedOriginals
from fishernet.data.streams.sizes import decoded_bytes, found_files, is_streamed

Answer = TypeVar("Answer")
CONTEXT = "fishernet.opening"
BLOCK_ROWS = 2**16  # that are worked on at once
ALWAYS_SHORT = 2**20  # bytes of a file that is read whole on any machine
SHARE = 4  # of the memory; what is likely longer than that part of it is read as a stream


@dataclass(frozen=True)
class Opening:
    """How a command opens tables.

    Attributes
    ----------
    text : mapping
        What is said of text files; keywords of `fishernet.read_table`.
    scan : bool or None
        Whether files are read as streams; None for those alone that are long.
    cache : Path or None
        The folder that keeps what a stream has encoded.
    scheduler : str or None
        The address of a cluster whose workers read the files.
    chooses : bool
        Whether the command lets one choose, so that it may choose by itself.
    """

    text: Mapping[str, Any] = field(default_factory=dict)
    scan: bool | None = None
    cache: Path | None = None
    scheduler: str | None = None
    chooses: bool = False

    def here_only(self, what: str, option: str = "") -> None:
        """Raise FishernetError where a cluster is asked for what needs rows here, by an option that may be left out."""
        if self.scheduler is not None:
            out = f"{option} or --scheduler" if option else "--scheduler"
            raise FishernetError(f"{what} needs the rows, which the workers of a cluster keep; leave {out} out")

    def is_long(self, path: Path) -> bool:
        """Whether a path is read as a stream; says so where nobody asked for that."""
        many = path.is_dir() or (not path.exists() and glob.has_magic(str(path)))
        wanted = self.scan or self.cache is not None
        if self.scan is False:
            if many:
                what = "a folder" if path.is_dir() else "a pattern of files"
                raise FishernetError(f"{path}: {what} is always read as a stream; leave --no-scan out")
            if self.cache is not None:
                raise FishernetError("--cache keeps what a stream has encoded; it does not go with --no-scan")
            return False
        if wanted and (str(path) == "-" or path.is_fifo()):
            raise FishernetError(f"{path}: a pipe is read whole; write it to a file to read that as a stream")
        return many or wanted or (self.chooses and path.is_file() and _is_too_long(path))


def _is_too_long(path: Path) -> bool:
    if path.stat().st_size < ALWAYS_SHORT or not is_streamed(path):
        return False
    size, memory = decoded_bytes(path), memory_limit()
    if size <= memory // SHARE:
        return False
    told = f"about {in_words(size)} of cells, more than a quarter of the memory ({in_words(memory)})"
    complain(f"note: {path}: {told}, so it is read as a stream; --no-scan reads it whole")
    return True


def in_words(n_bytes: float) -> str:
    """Return a number of bytes as people read it."""
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:,.1f} MB"


# ---------------------------------------------------------------------------------------------------- what options say


def opening() -> Opening:
    """Return what the options of the command that runs say."""
    context = click.get_current_context(silent=True)
    found: Opening = context.meta.get(CONTEXT, Opening()) if context else Opening()
    return found


def say_of_text(context: click.Context, name: str, value: Any) -> None:
    """Keep what an option says of text files."""
    before: Opening = context.meta.get(CONTEXT, Opening())
    context.meta[CONTEXT] = replace(before, text={**before.text, name: value})


def _keep(context: click.Context, option: click.Parameter, value: Any) -> None:
    context.meta[CONTEXT] = replace(context.meta.get(CONTEXT, Opening()), chooses=True, **{str(option.name): value})


scheduler_option = click.option(
    "--scheduler",
    metavar="ADDRESS",
    expose_value=False,
    callback=_keep,
    help="Let the workers of this Dask cluster (tcp://host:8786) read the files: Parquet, Arrow or text.",
)
scan_option = click.option(
    "--scan/--no-scan",
    default=None,
    expose_value=False,
    callback=_keep,
    help="Read files as a stream, which needs little memory for files of any length: one pass writes an encoded copy. "
    "Folders and patterns are always read as a stream.  [default: if one file may need more than a quarter of the "
    "memory]",
)
cache_option = click.option(
    "--cache",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    expose_value=False,
    callback=_keep,
    help="Keep the encoded copy in FOLDER, so that the next command does not read the files again.",
)


# ---------------------------------------------------------------------------------------------------------- opening


def read(path: Path, progress: Call | None = None, **options: Any) -> Table:
    """Read a table, of one file or of many; what the workers of a cluster read are parts, which answer as it does."""
    how = opening()
    if how.scheduler is not None:
        if how.scan is not None or how.cache is not None:
            given = "--cache" if how.cache is not None else "--scan" if how.scan else "--no-scan"
            raise FishernetError(f"{given} is for files that are read here; it does not go with --scheduler")
        return cast(Table, read_on_cluster(how.scheduler, path, how.text, **options))
    if not how.is_long(path):
        return read_table(path, **how.text, **options)
    return scan(str(path), cache=how.cache, progress=paced(progress, path), **how.text, **options)


def read_originals(path: Path) -> Originals:
    """Read a file whose rows are all written again as they are."""
    return Originals(path, **opening().text)


def open_rows(path: Path, progress: Call | None = None) -> Originals | ScannedOriginals:
    """Open a table of which some rows are written again as they are."""
    how = opening()
    if not how.is_long(path):
        return read_originals(path)
    return ScannedOriginals(path, how.cache, paced(progress, path), **how.text)


def in_blocks(table: Table, function: Callable[[Table], Answer]) -> Iterator[Answer]:
    """Yield what a function says of each block of rows, in their order; those of a cluster are its parts."""
    if opening().scheduler is not None:
        yield from cast(Blocks, table).each(function)
        return
    for begin in range(0, table.n_rows, BLOCK_ROWS):
        yield function(table[begin : begin + BLOCK_ROWS])


# ---------------------------------------------------------------------------------------------------------- how fast


def paced(progress: Call | None, path: Path) -> Call | None:
    """Return a progress that also tells how fast a stream is read, and how long it takes yet."""
    if progress is None:
        return None
    began, size = time.monotonic(), sum(file.stat().st_size for file in found_files(path))

    def step(what: str, done: int, total: int | None) -> None:
        seconds = time.monotonic() - began
        if what == "reading" and done and seconds:
            what = f"{what}: {pace(done, total, size, seconds)}; rows"
        progress(what, done, total)

    return step


def pace(done: int, total: int | None, n_bytes: int, seconds: float) -> str:
    """Return how fast rows are read, of files of so many bytes, and the time left."""
    speed = f"{done / seconds:,.0f} rows/s"
    if not total:
        return speed
    share = min(1.0, done / total)
    return f"{speed}, {share * n_bytes / 1e6 / seconds:,.1f} MB/s, {duration(seconds / share - seconds)} left"
