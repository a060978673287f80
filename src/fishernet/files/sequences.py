"""FASTA files: a line ``>name description`` and the lines of its sequence, for each sequence.

Stockholm files of multiple alignments, as Pfam and HMMER write them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from fishernet.base.errors import FileFormatError, SchemaError, UnknownStateError
from fishernet.base.io import read_text
from fishernet.base.names import several
from fishernet.models import Alignment, Alphabet
from fishernet.models.sequences.alphabet import ERROR

NO_SYMBOL = re.compile(r"[^A-Za-z*.?~\s-]")


@dataclass(frozen=True)
class NamedStrings(Sequence[str]):
    """Strings with names: a sequence of str, which models and kernels take as it is.

    Attributes
    ----------
    names : tuple of str
        One a string; they may repeat.
    strings : tuple of str
    descriptions : tuple of str
        What stands after the names.
    """

    names: tuple[str, ...]
    strings: tuple[str, ...]
    descriptions: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.strings)

    @overload
    def __getitem__(self, position: int) -> str: ...
    @overload
    def __getitem__(self, position: slice) -> NamedStrings: ...
    def __getitem__(self, position: int | slice) -> str | NamedStrings:
        """Return one string, or several with their names."""
        if isinstance(position, slice):
            return NamedStrings(self.names[position], self.strings[position], self.descriptions[position])
        return self.strings[position]

    def __repr__(self) -> str:
        return f"NamedStrings({several(len(self), 'string')})"


def read_fasta(
    path: str | os.PathLike[str], *, upper: bool = True, alphabet: str | Iterable[str] | Alphabet | None = None
) -> NamedStrings:
    r"""Read a FASTA file.

    Parameters
    ----------
    path : path
        Compressed or not. Sequences may be wrapped, lines may end as on Windows; blank lines, spaces and lines that
        begin with ``;`` are left out.
    upper : bool
        Turn small letters into capitals.
    alphabet : "dna", "rna", "protein", or symbols, optional
        Refuse letters that it does not know; the three know the ambiguous letters of IUPAC (N in DNA, X in proteins).

    Returns
    -------
    NamedStrings
        A sequence of str with `names` and `descriptions`. A sequence may be empty, and a name may come twice.

    Raises
    ------
    FileFormatError
        When there is no such file, text stands before the first name, a name is missing, or a sequence has what is no
        letter and none of ``* - . ? ~``, or a letter that the alphabet does not know; with the line.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import fishernet as fn
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "two.fa").write_text(">a first one\nACGT\nacg\n>b\nTT\n")
    ...     found = fn.read_fasta(Path(folder, "two.fa"))
    >>> found.names, list(found), found.descriptions
    (('a', 'b'), ['ACGTACG', 'TT'], ('first one', ''))
    """
    known = None if alphabet is None else Alphabet.of(alphabet)
    names: list[str] = []
    descriptions: list[str] = []
    parts: list[list[str]] = []
    for number, line in enumerate(lines_of(read_text(path)), 1):
        if line.startswith(">"):
            name, _, description = line[1:].strip().partition(" ")
            if not name or line[1:2].isspace():
                raise FileFormatError(path, "the name is missing after '>'", line=number)
            names.append(name)
            descriptions.append(description.strip())
            parts.append([])
        elif line.strip() and not line.startswith(";"):
            if not parts:
                raise FileFormatError(path, f"a FASTA file begins with '>'{_hint(line)}", line=number)
            wrong = NO_SYMBOL.search(line)
            if wrong:
                raise FileFormatError(path, f"{wrong.group()!r} in the sequence of {names[-1]!r}", line=number)
            if known is not None:
                _require_known(path, number, line.upper() if upper else line, known)
            parts[-1].append(line)
    if not names:
        raise FileFormatError(path, "there are no sequences in the file")
    strings = ["".join("".join(lines).split()) for lines in parts]
    if upper:
        strings = [string.upper() for string in strings]
    return NamedStrings(tuple(names), tuple(strings), tuple(descriptions))


def _require_known(path: object, number: int, line: str, alphabet: Alphabet) -> None:
    """Raise FileFormatError when a line has a letter that the alphabet, whatever it does about others, lacks."""
    try:
        alphabet.taking(ERROR).encode(["".join(line.split())])
    except UnknownStateError as error:
        what = f"{error.label!r} is not in the alphabet, {''.join(map(str, alphabet.symbols))!r}"
        raise FileFormatError(path, what, line=number, parameter="alphabet") from None


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, whatever ends them on any system, and nothing else."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _hint(line: str) -> str:
    if line.startswith("# STOCKHOLM"):
        return "; this is a Stockholm file, which fishernet.read_stockholm reads"
    return ""


GAP_SYMBOLS = re.compile(r"[^A-Za-z*._?~-]")
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
            wrong = GAP_SYMBOLS.search(text)
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
