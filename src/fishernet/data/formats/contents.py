"""What a file holds, whatever its format: its columns, and its rows as Arrow tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from fishernet.base.errors import warn
from fishernet.base.remedies import Remedy


@dataclass(frozen=True)
class Note:
    """Something that was found in a file, and what overrules it or silences the note."""

    fact: str
    parameter: str | None = None
    remedies: tuple[Remedy, ...] = ()


@dataclass(frozen=True)
class Contents:
    """A file that is open to be read.

    Attributes
    ----------
    source : str
        Its name.
    kind : str
        Its format, as people call it.
    schema : pyarrow.Schema
        Its columns; the metadata of a field say whether it holds text as it is written (`fishernet.data.originals`).
    frames : function
        Of the names of columns and of whether all rows are wanted at once: these columns, some rows at a time, one
        frame at least. It begins anew each time.
    notes : tuple of Note
        What a caller may not expect of it.
    undeclared : frozenset of str
        Columns that come dictionary-encoded for speed, and so declare no states.
    """

    source: str
    kind: str
    schema: pa.Schema
    frames: Callable[[Sequence[str], bool], Iterator[pa.Table]]
    notes: tuple[Note, ...] = ()
    undeclared: frozenset[str] = frozenset()

    def tell(self) -> None:
        """Warn of what a caller may not expect."""
        for note in self.notes:
            warn(f"{self.source}: {note.fact}", parameter=note.parameter, remedies=note.remedies)
