"""Rows of long files: as a table of the variables that one asks for, and some of them as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base.progress import Progress
from fishernet.data.arrays import BLOCK_ROWS
from fishernet.data.options import FileKeywords, FrameKeywords, Options
from fishernet.data.reading import Rows
from fishernet.data.streams.batches import Batches, batches_of
from fishernet.data.streams.scanning import scan
from fishernet.data.streams.stream import Stream


class ScannedOriginals:
    """As `fishernet.data.reading.Originals`, of files that are read once for each thing that is asked for.

    Parameters
    ----------
    path : path
        A file, folder or pattern, as `scan` takes it.
    cache, progress
        As `scan` takes them.
    na_values, delimiter, decimal, thousands, encoding
        As there.
    """

    def __init__(
        self, path: Path, cache: Path | None = None, progress: Progress | None = None, **text: Unpack[FileKeywords]
    ) -> None:
        self._path, self._text = path, text
        self._how: dict[str, Any] = {"cache": cache, "progress": progress}
        asked: FileKeywords = {**text, "schema": ()}
        self._options = Options.checked(**asked)
        self._batches: Batches = batches_of(path, self._options, None)
        self._stamp = self._batches.stamp()

    def rows(self, **keywords: Unpack[FrameKeywords]) -> Rows:
        """Return the table that `scan` makes with these keywords, and where its rows stand in the files."""
        drops = keywords.get("missing") == "drop"
        asked: FileKeywords = {**self._text, **keywords}
        if drops:
            asked["missing"] = "keep"
        stream = scan(self._path, **self._how, **asked)
        if not drops or not stream.has_missing:
            return Rows(stream, np.arange(stream.n_rows))
        positions = np.flatnonzero(complete_rows(stream))
        return Rows(stream[positions], positions)

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


def complete_rows(stream: Stream) -> npt.NDArray[np.bool_]:
    """Return which rows of a stream have no missing cell."""
    found = np.ones(stream.n_rows, dtype=bool)
    for begin in range(0, stream.n_rows, BLOCK_ROWS):
        for variable, column in zip(stream.variables, stream.codes, strict=True):
            found[begin : begin + BLOCK_ROWS] &= ~variable.missing(column[begin : begin + BLOCK_ROWS])
    return found
