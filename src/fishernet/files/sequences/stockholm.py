"""Stockholm files of multiple alignments, as Pfam and HMMER write them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from fishernet.errors import FileFormatError, SchemaError
from fishernet.files.reading import read_text
from fishernet.files.sequences.fasta import lines_of
from fishernet.models import Alignment

NO_SYMBOL = re.compile(r"[^A-Za-z*._?~-]")
Lines = list[tuple[int, str]]  # with their numbers


def read_stockholm(path: str | os.PathLike[str], *, index: int | None = None, upper: bool = True) -> Alignment:
    r"""Read a multiple alignment from a Stockholm file.

    Parameters
    ----------
    path : path
        Compressed or not; the rows in one piece or in blocks.
    index : int, optional
        Which alignment, from 0, where the file holds several.
    upper : bool
        Turn small letters of the rows into capitals.

    Returns
    -------
    Alignment
        With the #=GC lines as marks of its columns and the #=GR lines as marks of its rows. What is said of the file
        (#=GF) and of whole sequences (#=GS) is left out.

    Raises
    ------
    FileFormatError
        When there is no such file, it is no Stockholm file, ends early, has rows of several widths, or has several
        alignments and no `index` is given; with the line.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import fishernet as fn
    >>> text = "# STOCKHOLM 1.0\none AC-\ntwo A.G\n\none T\ntwo T\n//\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.sto").write_text(text)
    ...     alignment = fn.read_stockholm(Path(folder, "a.sto"))
    >>> alignment.rows
    ('AC-T', 'A.GT')
    """
    found = list(_alignments(path, lines_of(read_text(path))))
    if not found:
        raise FileFormatError(path, "there is no alignment in the file")
    if index is None:
        if len(found) > 1:
            raise FileFormatError(path, f"there are {len(found)} alignments in the file; say which with index=")
        index = 0
    if not 0 <= index < len(found):
        raise FileFormatError(path, f"there is no alignment {index}; the file has {len(found)}, counted from 0")
    return _read(path, found[index], upper=upper)


def _alignments(path: object, lines: list[str]) -> Iterator[Lines]:
    """Yield the lines of each alignment, without its first and its last."""
    own: Lines | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if own is None:
            if not line.startswith("# STOCKHOLM"):
                hint = "; this looks like FASTA, which fishernet.read_fasta reads" if line.startswith(">") else ""
                raise FileFormatError(path, f"an alignment begins with '# STOCKHOLM 1.0'{hint}", line=number)
            own = []
        elif line.strip() == "//":
            yield own
            own = None
        else:
            own.append((number, line))
    if own is not None:
        raise FileFormatError(path, "the file ends before the '//' that ends an alignment", line=len(lines))


def _read(path: object, lines: Lines, *, upper: bool) -> Alignment:
    rows: dict[str, list[str]] = {}
    columns: dict[str, list[str]] = {}
    residues: dict[str, dict[str, list[str]]] = {}
    for number, line in lines:
        kind, *fields = line.split() if line.startswith("#=") else ("", *line.split())
        if kind == "#=GC":
            tag, text = _fields(path, number, fields, 2, "a tag and the marks of the columns")
            columns.setdefault(tag, []).append(text)
        elif kind == "#=GR":
            name, tag, text = _fields(path, number, fields, 3, "a name, a tag and the marks of the row")
            residues.setdefault(tag, {}).setdefault(name, []).append(text)
        elif not line.startswith("#"):
            name, text = _fields(path, number, fields, 2, "a name and a piece of its row")
            wrong = NO_SYMBOL.search(text)
            if wrong:
                raise FileFormatError(path, f"{wrong.group()!r} in the row of {name!r}", line=number)
            rows.setdefault(name, []).append(text.upper() if upper else text)
    strange = next(((tag, name) for tag, of in residues.items() for name in of if name not in rows), None)
    if strange:
        raise FileFormatError(path, f"there are marks {strange[0]!r} of {strange[1]!r}, which has no row")
    try:
        return Alignment(
            list(rows),
            ["".join(pieces) for pieces in rows.values()],
            {tag: "".join(pieces) for tag, pieces in columns.items()},
            {tag: {name: "".join(pieces) for name, pieces in of.items()} for tag, of in residues.items()},
        )
    except SchemaError as error:
        raise FileFormatError(path, str(error), line=lines[-1][0] if lines else None) from error


def _fields(path: object, number: int, fields: list[str], wanted: int, what: str) -> list[str]:
    if len(fields) != wanted:
        raise FileFormatError(path, f"expected {what}, got {len(fields)} words", line=number)
    return fields
