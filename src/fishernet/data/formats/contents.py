"""What a file holds, whatever its format: its columns, and its rows as Arrow tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from fishernet.base.errors import FileFormatError, warn
from fishernet.base.remedies import Remedy
from fishernet.data.arrow import chosen_names, columns_of
from fishernet.data.encoding.cells import Columns
from fishernet.data.options import Options


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
    spelled : function, optional
        As `frames`, with the words for missing cells as text; of files in which quotes tell words from labels.
    """

    source: str
    kind: str
    schema: pa.Schema
    frames: Callable[[Sequence[str], bool], Iterator[pa.Table]]
    notes: tuple[Note, ...] = ()
    undeclared: frozenset[str] = frozenset()
    spelled: Callable[[Sequence[str], bool], Iterator[pa.Table]] | None = None

    def tell(self) -> None:
        """Warn of what a caller may not expect."""
        for note in self.notes:
            warn(f"{self.source}: {note.fact}", parameter=note.parameter, remedies=note.remedies)


def read_columns(contents: Contents, options: Options, *, whole: bool) -> Iterator[Columns]:
    """Yield the columns of a file that the options ask for, all rows at once or some at a time."""
    names = chosen_names(contents.schema, options)
    options = replace(options, exclude=())  # they are not read
    for frame in contents.frames(names, whole):
        try:
            columns = columns_of(frame, options, contents.undeclared)
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise broken(Path(contents.source), contents.kind, error) from None
        yield columns


def broken(path: Path, kind: str, error: Exception) -> FileFormatError:
    """Return the error for a file that Arrow cannot read."""
    why = str(error).partition("\n")[0]
    if isinstance(error, UnicodeDecodeError):
        why = f"a text or a name in it is no valid UTF-8: byte {error.object[error.start]:#04x}"
    return FileFormatError(path, f"is no {kind} file, or a broken one ({why})")
