"""FASTA files: a line ``>name description`` and the lines of its sequence, for each sequence."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from fishernet.errors import FileFormatError
from fishernet.files.reading import read_text

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
        return f"NamedStrings({len(self)} strings)"


def read_fasta(path: str | os.PathLike[str], *, upper: bool = True) -> NamedStrings:
    r"""Read a FASTA file.

    Parameters
    ----------
    path : path
        Compressed or not. Sequences may be wrapped, lines may end as on Windows; blank lines, spaces and lines that
        begin with ``;`` are left out.
    upper : bool
        Turn small letters into capitals.

    Returns
    -------
    NamedStrings
        A sequence of str with `names` and `descriptions`. A sequence may be empty, and a name may come twice.

    Raises
    ------
    FileFormatError
        When there is no such file, text stands before the first name, a name is missing, or a sequence has what is no
        letter and none of ``* - . ? ~``; with the line.

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
            parts[-1].append(line)
    if not names:
        raise FileFormatError(path, "there are no sequences in the file")
    strings = ["".join("".join(lines).split()) for lines in parts]
    if upper:
        strings = [string.upper() for string in strings]
    return NamedStrings(tuple(names), tuple(strings), tuple(descriptions))


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, whatever ends them on any system, and nothing else."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _hint(line: str) -> str:
    if line.startswith("# STOCKHOLM"):
        return "; this is a Stockholm file, which fishernet.read_stockholm reads"
    return ""
