"""Sequences written under one another, so that a column holds what belongs together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fishernet.errors import SchemaError

GAPS = "-._~"

_NO_GAPS = str.maketrans("", "", GAPS)


@dataclass(frozen=True)
class Alignment:
    """A multiple alignment.

    Attributes
    ----------
    names : tuple of str
        One a row.
    rows : tuple of str
        Symbols and gaps (``-``, ``.``, ``_`` or ``~``), all of one width.
    columns : mapping from str to str
        Marks of the columns, each as wide as a row: of a Stockholm file the #=GC lines, as "RF" or "SS_cons".
    residues : mapping from str to mapping
        Marks of single rows, ``residues[tag][name]``: of a Stockholm file the #=GR lines.

    Raises
    ------
    SchemaError
        When there is no row, or rows or marks are of several widths.

    Examples
    --------
    >>> from fishernet.models import Alignment
    >>> alignment = Alignment(["one", "two"], ["AC-T", "A-GT"])
    >>> alignment.strings
    ('ACT', 'AGT')
    """

    names: Sequence[str]
    rows: Sequence[str]
    columns: Mapping[str, str] = field(default_factory=dict)
    residues: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "rows", tuple(self.rows))
        if not self.rows:
            raise SchemaError("an alignment needs a row")
        if len(self.names) != len(self.rows):
            raise SchemaError(f"{len(self.names)} names for {len(self.rows)} rows")
        marks = [(f"the line of marks {tag!r}", text) for tag, text in self.columns.items()]
        marks += [
            (f"the line of marks {tag!r} of {n!r}", text) for tag, of in self.residues.items() for n, text in of.items()
        ]
        for what, text in [*((f"the row {n!r}", r) for n, r in zip(self.names, self.rows, strict=True)), *marks]:
            if len(text) != self.width:
                raise SchemaError(
                    f"{what} has {len(text)} columns and the first row has {self.width}; a row may be cut off, or a "
                    "name may stand there twice"
                )

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.rows[0])

    @property
    def strings(self) -> tuple[str, ...]:
        """The rows without their gaps."""
        return tuple(row.translate(_NO_GAPS) for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Alignment({len(self)} rows, {self.width} columns)"
