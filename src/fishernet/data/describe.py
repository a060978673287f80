"""What the columns of a table are, and why: the first thing to look at."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base.names import cut, several
from fishernet.data.decide import Decision
from fishernet.data.encoding.dates import date_texts
from fishernet.data.encoding.labels import as_text
from fishernet.data.variable import Column

HEADINGS = ("column", "kind", "holds", "missing", "why", "to overrule")
SHOWN = 4  # states
AT_ONCE = 2**20  # cells looked at
LONGEST = 24  # characters of one of them
KINDS = ("categorical", "binned", "continuous", "left out")


@dataclass(frozen=True)
class ColumnDescription:
    """What one column is.

    Attributes
    ----------
    name : str
    kind : str
        "categorical", "continuous" or "left out".
    holds : str
        The first states and their number, or the range of the numbers.
    missing : int
        The number of missing cells.
    why : str
        Why it is of that kind; empty where a schema or a caller said so.
    overrule : tuple of str
        The keywords of `read_table` that make something else of it.
    binned : bool
        Whether its states are bins of numbers.
    order : tuple of str
        Its states, where another order would overrule.
    """

    name: str
    kind: str
    holds: str
    missing: int
    why: str = ""
    overrule: tuple[str, ...] = ()
    binned: bool = False
    order: tuple[str, ...] = ()

    def keywords(self) -> str:
        """Return the keywords that overrule, as they are written in Python."""
        by_column = {"bins": 4, "order": list(self.order)}
        return " or ".join(
            f"{word}={{{self.name!r}: {by_column[word]!r}}}" if word in by_column else f"{word}=[{self.name!r}]"
            for word in self.overrule
        )


@dataclass(frozen=True)
class Description:
    """What the columns of a table are; ``print`` shows a line a column.

    Attributes
    ----------
    n_rows : int
    columns : tuple of ColumnDescription
        Those of the table, then those left out.
    """

    n_rows: int
    columns: tuple[ColumnDescription, ...]

    def to_frame(self) -> pa.Table:
        """Return one row a column as a pyarrow Table."""
        rows = [asdict(c) | {"overrule": c.keywords()} for c in self.columns]
        return pa.Table.from_pylist([{word: row[word] for word in row if word != "order"} for row in rows])

    def by_kind(self) -> dict[str, list[str]]:
        """Return the names of the columns of each kind that there is; those that were cut into bins on their own."""
        found: dict[str, list[str]] = {}
        for kind in KINDS:
            names = [c.name for c in self.columns if kind == ("binned" if c.binned else c.kind)]
            if names:
                found[kind] = names
        return found

    def missing(self) -> dict[str, int]:
        """Return the number of missing cells of each column that has some, by name."""
        return {column.name: column.missing for column in self.columns if column.missing}

    def __repr__(self) -> str:
        return f"Description({several(self.n_rows, 'row')}, {several(len(self.columns), 'column')})"

    def __str__(self) -> str:
        return self.text(ColumnDescription.keywords)

    def text(self, overruling: Callable[[ColumnDescription], str]) -> str:
        """Return a line a column; the function writes what overrules."""
        kept = sum(column.kind != "left out" for column in self.columns)
        rows = [(c.name, c.kind, c.holds, f"{c.missing:,}", c.why, overruling(c)) for c in self.columns]
        widths = [max(map(len, cells)) for cells in zip(HEADINGS, *rows, strict=True)]
        adjusted = [str.rjust if heading == "missing" else str.ljust for heading in HEADINGS]
        lines = ["  ".join(a(c, w) for a, c, w in zip(adjusted, row, widths, strict=True)) for row in (HEADINGS, *rows)]
        return "\n".join(
            [f"{several(self.n_rows, 'row')}, {several(kept, 'column')}", *(line.rstrip() for line in lines)]
        )


@dataclass(frozen=True)
class Held:
    """What a column holds: how many cells are missing, and the least and the largest number of a continuous one."""

    missing: int = 0
    low: float = math.inf
    high: float = -math.inf

    def __add__(self, other: Held) -> Held:
        return Held(self.missing + other.missing, min(self.low, other.low), max(self.high, other.high))


@dataclass(frozen=True)
class Summary:
    """What the columns of some rows hold; that of other rows is added."""

    n_rows: int
    columns: tuple[Held, ...]

    def __add__(self, other: Summary) -> Summary:
        columns = [one + two for one, two in zip(self.columns, other.columns, strict=True)]
        return Summary(self.n_rows + other.n_rows, tuple(columns))


def summarized(variables: Sequence[Column], columns: Sequence[npt.NDArray[Any]], n_rows: int) -> Summary:
    """Return what columns hold."""
    return Summary(n_rows, tuple([_held(*pair) for pair in zip(variables, columns, strict=True)]))


def _held(variable: Column, column: npt.NDArray[Any]) -> Held:
    found = Held()
    for begin in range(0, len(column), AT_ONCE):
        cells = column[begin : begin + AT_ONCE]
        missing = variable.missing(cells)
        part = Held(int(np.count_nonzero(missing)))
        if variable.is_continuous and part.missing < len(cells):
            known = cells[~missing] if part.missing else cells
            part = Held(part.missing, float(known.min()) + 0.0, float(known.max()) + 0.0)  # -0.0 is 0.0, in any order
        found = part if begin == 0 else found + part
    return found


def described(variables: Sequence[Column], summary: Summary, decisions: Sequence[Decision]) -> Description:
    """Return what columns are that hold what the summary says; `decisions` say why."""
    known = {decision.name: decision for decision in decisions}
    found = []
    for variable, held in zip(variables, summary.columns, strict=True):
        decision = known.get(variable.name, Decision(variable.name, ""))
        kind = "continuous" if variable.is_continuous else "categorical"
        holds = _range(variable, held) if variable.is_continuous else _states(variable)
        found.append(
            ColumnDescription(
                variable.name,
                kind,
                holds,
                held.missing,
                decision.why,
                decision.overrule,
                variable.cuts is not None,
                tuple(map(as_text, variable.states)) if "order" in decision.overrule else (),
            )
        )
    left = [ColumnDescription(d.name, "left out", "", 0, d.why, d.overrule) for d in decisions if d.left_out]
    return Description(summary.n_rows, (*found, *left))


def _states(variable: Column) -> str:
    """Return the first states, and how many there are where these are more."""
    n = len(variable.states)
    texts = [repr(state) for state in variable.states[:SHOWN]]
    shown = ", ".join([text if len(text) <= LONGEST else cut(text, LONGEST) for text in texts])
    return shown if n <= SHOWN else f"{shown}, ... ({n:,} states)"


def _range(variable: Column, held: Held) -> str:
    """Return the least and the largest number, or date."""
    if held.low > held.high:
        return "nothing"
    if variable.is_continuous and variable.unit is not None:
        return " to ".join(date_texts([held.low, held.high], variable.unit))
    return f"{held.low:.6g} to {held.high:.6g}"
