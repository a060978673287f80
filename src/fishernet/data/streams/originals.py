"""Files whose rows are written again: as a table of the variables that one asks for, and as they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base.progress import Progress
from fishernet.data.arrays import BLOCK_ROWS
from fishernet.data.arrow import columns_of, pandas_index
from fishernet.data.encode import encoded
from fishernet.data.formats.opening import opened
from fishernet.data.options import FileKeywords, FrameKeywords, Options
from fishernet.data.originals import marked, spelled, written_as
from fishernet.data.streams.batches import batches_of
from fishernet.data.streams.scanning import scan
from fishernet.data.streams.stream import Stream
from fishernet.data.table import Table


@dataclass(frozen=True)
class Kept:
    """A table, and where its rows stand in the file that it was made of.

    Attributes
    ----------
    table : Table
    positions : (table.n_rows,) int64 array
        The position of each of its rows in the file, counted from 0.
    """

    table: Table
    positions: npt.NDArray[np.int64]


class Originals:
    """A file, read once.

    Parameters
    ----------
    path : path
        As `read_table` takes it.
    na_values, delimiter, decimal, thousands, encoding, skip_rows, header_rows
        As there.
    """

    def __init__(self, path: Path, **text: Unpack[FileKeywords]) -> None:
        self._text = text
        options = Options.checked(**text)
        self._contents = opened(Path(path), options)
        self._contents.tell()
        options.choose(shown_names(self._contents.schema))
        [self._rows] = self._contents.frames(self._contents.schema.names, True)

    @cached_property
    def frame(self) -> pa.Table:
        """All columns with their cells as they are."""
        self._rows.validate(full=True)
        shown = self._rows.select(shown_names(self._contents.schema))
        frame = marked(shown.replace_schema_metadata(None), Options.checked(**self._text).na_values)
        told = [field.name for field in frame.schema if written_as(field) == "told" and frame[field.name].null_count]
        if told and self._contents.spelled is not None:
            [texts] = self._contents.spelled(told, True)
            frame = spelled(frame, texts)
        return frame

    def rows(self, **keywords: Unpack[FrameKeywords]) -> Kept:
        """Return the table that `read_table` makes with these keywords, and where its rows stand in the file."""
        asked: FileKeywords = {**self._text, **keywords}
        options = Options.checked(**asked)
        found = encoded(columns_of(self._rows, options, self._contents.undeclared), options)
        kept = np.arange(found.n_rows) if found.kept is None else np.flatnonzero(found.kept)
        return Kept(Table.of_encoded(found), kept)

    def take(self, positions: npt.NDArray[np.int64]) -> pa.Table:
        """Return some rows as they are, with all columns, in the order asked for."""
        return self.frame.take(pa.array(positions))


class ScannedOriginals:
    """As `Originals`, of files of any length, which are read once for each thing that is asked for.

    Parameters
    ----------
    path : path
        A file, folder or pattern, as `scan` takes it.
    cache, progress
        As `scan` takes them.
    na_values, delimiter, decimal, thousands, encoding, skip_rows, header_rows
        As there.
    """

    def __init__(
        self, path: Path, cache: Path | None = None, progress: Progress | None = None, **text: Unpack[FileKeywords]
    ) -> None:
        self._text = text
        self._scan: Callable[..., Stream] = lambda **how: scan(path, cache=cache, progress=progress, **how)
        self._batches = batches_of(path, Options.checked(**text), None, tell=False)
        self._stamp = self._batches.stamp()

    def rows(self, **keywords: Unpack[FrameKeywords]) -> Kept:
        """Return the table that `scan` makes with these keywords, and where its rows stand in the files."""
        drops = keywords.get("missing") == "drop"
        asked: dict[str, Any] = {**self._text, **keywords}
        stream = self._scan(**asked | ({"missing": "keep"} if drops else {}))
        if not drops or not stream.has_missing:
            return Kept(stream, np.arange(stream.n_rows))
        positions = np.flatnonzero(complete_rows(stream))
        return Kept(stream[positions], positions)

    def take(self, positions: npt.NDArray[np.int64]) -> pa.Table:
        """Return some rows as they are, with all columns, in the order asked for."""
        order = np.sort(np.unique(positions))
        pieces: list[pa.Table] = []
        begin = 0
        assert self._batches.frames is not None
        for frame in self._batches.frames():
            here = order[np.searchsorted(order, begin) : np.searchsorted(order, begin + frame.num_rows)] - begin
            if len(here) or not pieces:
                pieces.append(frame.take(pa.array(here)))
            begin += frame.num_rows
        self._batches.refuse_changes(self._stamp)
        found = pa.concat_tables(pieces).unify_dictionaries().combine_chunks()
        return found.take(pa.array(np.searchsorted(order, positions)))


def shown_names(schema: pa.Schema) -> list[str]:
    """Return the columns of a file that are written again: all but the index of a pandas frame."""
    hidden = pandas_index(schema)
    return [name for name in schema.names if name not in hidden]


def complete_rows(stream: Stream) -> npt.NDArray[np.bool_]:
    """Return which rows of a stream have no missing cell."""
    found = np.ones(stream.n_rows, dtype=bool)
    for begin in range(0, stream.n_rows, BLOCK_ROWS):
        for variable, column in zip(stream.variables, stream.codes, strict=True):
            found[begin : begin + BLOCK_ROWS] &= ~variable.missing(column[begin : begin + BLOCK_ROWS])
    return found
