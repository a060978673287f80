"""What the columns of a table are, and why: the first thing to look at."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base.display import escaped, page
from fishernet.base.names import cut, several
from fishernet.data.decide import Decision
from fishernet.data.encoding.dates import date_texts
from fishernet.data.encoding.labels import as_text
from fishernet.data.variable import Column

HEADINGS = ("column", "kind", "shape", "typical", "holds", "missing", "why", "to overrule")
MISSING = HEADINGS.index("missing")
LOOK, REASONS = slice(0, 6), (0, 6, 7)  # of these: what is seen, and why
SHOWN = 4  # states
AT_ONCE = 2**20  # cells looked at
LONGEST, LEAST = 24, 12  # characters of one of them, and of all where lines are short
BINS = 12  # equal intervals of the range of numbers, and states, that a shape shows
BARS = " ▁▂▃▄▅▆▇█"
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
    typical : str
        The most frequent state and its share, or the mean of the numbers.
    counts : tuple of int
        The rows in each state, or in each of twelve equal intervals between the least and the largest number.
    """

    name: str
    kind: str
    holds: str
    missing: int
    why: str = ""
    overrule: tuple[str, ...] = ()
    binned: bool = False
    order: tuple[str, ...] = ()
    typical: str = ""
    counts: tuple[int, ...] = ()

    @property
    def shape(self) -> str:
        """A bar for each state or interval, up to twelve, as high as it has rows."""
        most = max(self.counts, default=0)
        if not most:
            return ""
        bars = [BARS[math.ceil(count / most * (len(BARS) - 1))] for count in self.counts[:BINS]]
        return "".join(bars) + ("…" if len(self.counts) > BINS else "")

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
        return pa.Table.from_pylist(
            [{word: row[word] for word in row if word not in ("order", "counts")} for row in rows]
        )

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

    def text(self, overruling: Callable[[ColumnDescription], str], width: int | None = None) -> str:
        """Return a line a column; the function writes what overrules.

        With a width that is too small for that, the reasons stand in lines of their own below.
        """
        kept = sum(column.kind != "left out" for column in self.columns)
        rows = [
            (c.name, c.kind, c.shape, c.typical, c.holds, f"{c.missing:,}", c.why, overruling(c)) for c in self.columns
        ]
        lines = _aligned([HEADINGS, *rows])
        if width is not None and max(map(len, lines)) > width:
            reasons = [tuple(row[place] for place in REASONS) for row in (HEADINGS, *rows)]
            lines = [*_aligned([row[LOOK] for row in (HEADINGS, *rows)], width), "", *_aligned(reasons)]
        lines = [f"{several(self.n_rows, 'row')}, {several(kept, 'column')}", *lines]
        return "\n".join(lines)

    def html(self, title: str = "A table", alerts: Iterable[str] = ()) -> str:
        """Return a page of its own, whose table a click on a heading sorts; `alerts` stand below."""
        style = (
            "body{font:15px/1.5 system-ui,sans-serif;margin:1rem auto;max-width:80rem;padding:0 1rem}"
            "div{overflow-x:auto}table{border-collapse:collapse}th,td{padding:.2rem .6rem;text-align:left;"
            "border-bottom:1px solid #ddd}td:nth-child(3){font-family:monospace;white-space:pre}"
        )
        head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{style}</style>'
        odd = "".join(f"<li>{html.escape(alert)}</li>" for alert in alerts)
        body = f"{self._repr_html_()}{f'<ul>{odd}</ul>' if odd else ''}"
        page = f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>\n'
        return page.encode("utf-8", "backslashreplace").decode("utf-8")  # names may hold what is no Unicode

    def _repr_html_(self) -> str:
        """Return a table that a click on a heading sorts."""
        header = "".join(f'<th style="cursor:pointer" onclick="{SORTING}">{word}</th>' for word in HEADINGS)
        rows = []
        for c in self.columns:
            cells = (c.name, c.kind, c.shape, c.typical, c.holds, f"{c.missing:,}", c.why, c.keywords())
            rows.append(
                "".join(
                    f"<td data-v={c.missing}>{escaped(cell)}</td>" if at == MISSING else f"<td>{escaped(cell)}</td>"
                    for at, cell in enumerate(cells)
                )
            )
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        table = f"<table><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table>"
        return page(repr(self), table)


# a script without a file: a table in a notebook has nowhere to take one from
SORTING = (
    "const b=this.closest('table').tBodies[0],i=this.cellIndex,d=this.d=-(this.d||-1),"
    "k=r=>r.cells[i].dataset.v||r.cells[i].textContent;"
    "[...b.rows].sort((x,y)=>d*k(x).localeCompare(k(y),undefined,{numeric:true})).forEach(r=>b.append(r))"
)


def _aligned(rows: Sequence[Sequence[str]], width: int | None = None) -> list[str]:
    """Return rows of cells, the headings first, as lines; what columns hold is cut where a width asks for it."""
    headings = list(rows[0])
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    if width is not None and "holds" in headings:
        at = headings.index("holds")
        room = width - (sum(widths) - widths[at]) - 2 * (len(widths) - 1)
        widths[at] = max(LEAST, min(widths[at], room))
        rows = [[cut(cell, widths[at]) if place == at else cell for place, cell in enumerate(row)] for row in rows]
    adjusted = [str.rjust if heading == "missing" else str.ljust for heading in headings]
    return ["  ".join(a(c, w) for a, c, w in zip(adjusted, row, widths, strict=True)).rstrip() for row in rows]


@dataclass(frozen=True)
class Held:
    """What a column holds: how many cells are missing, the rows in each state, or the range and the sum of numbers."""

    missing: int = 0
    low: float = math.inf
    high: float = -math.inf
    total: float = 0.0
    counts: tuple[int, ...] = ()

    def __add__(self, other: Held) -> Held:
        counts = tuple(map(sum, zip(self.counts, other.counts, strict=True)))
        range_of = min(self.low, other.low), max(self.high, other.high)
        return Held(self.missing + other.missing, *range_of, self.total + other.total, counts)


@dataclass(frozen=True)
class Spreads:
    """How the numbers of some rows lie between the least and the largest of all; that of other rows is added."""

    counts: dict[str, tuple[int, ...]]

    def __add__(self, other: Spreads) -> Spreads:
        counts = {name: tuple(map(sum, zip(of, other.counts[name], strict=True))) for name, of in self.counts.items()}
        return Spreads(counts)


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
    found = Held(counts=() if variable.is_continuous else (0,) * variable.cardinality)
    for begin in range(0, len(column), AT_ONCE):
        cells = column[begin : begin + AT_ONCE]
        missing = variable.missing(cells)
        counts: tuple[int, ...] = ()
        if not variable.is_continuous:
            counts = tuple(np.bincount(cells, minlength=variable.cardinality + 1)[: variable.cardinality].tolist())
        part = Held(int(np.count_nonzero(missing)), counts=counts)
        if variable.is_continuous and part.missing < len(cells):
            known = cells[~missing] if part.missing else cells
            range_of = float(known.min()) + 0.0, float(known.max()) + 0.0  # -0.0 is 0.0, in any order
            with np.errstate(invalid="ignore", over="ignore"):  # of infinite numbers
                part = Held(part.missing, *range_of, float(known.sum()))
        found = part if begin == 0 else found + part
    return found


def spreads(
    variables: Sequence[Column], columns: Sequence[npt.NDArray[Any]], ranges: Mapping[str, tuple[float, float]]
) -> Spreads:
    """Return how many numbers are in equal intervals of the ranges, by name."""
    found = {}
    for variable, column in zip(variables, columns, strict=True):
        if variable.name not in ranges:
            continue
        low, high = ranges[variable.name]
        counts = np.zeros(BINS, dtype=np.int64)
        for begin in range(0, len(column), AT_ONCE):
            cells = column[begin : begin + AT_ONCE]
            cells = cells[~variable.missing(cells)]
            places = ((cells - low) / (high - low) * BINS).astype(np.int64)
            counts += np.bincount(np.minimum(places, BINS - 1), minlength=BINS)
        found[variable.name] = tuple(counts.tolist())
    return Spreads(found)


def described(
    variables: Sequence[Column],
    summary: Summary,
    decisions: Sequence[Decision],
    spreads_in: Callable[[Mapping[str, tuple[float, float]]], Spreads],
) -> Description:
    """Return what columns are that hold what the summary says; `decisions` say why."""
    known = {decision.name: decision for decision in decisions}
    pairs = list(zip(variables, summary.columns, strict=True))
    limits = {v.name: (held.low, held.high) for v, held in pairs if v.is_continuous and held.low < held.high}
    ranges = {name: (low, high) for name, (low, high) in limits.items() if math.isfinite(high - low)}
    shapes = spreads_in(ranges).counts if ranges else {}
    found = []
    for variable, held in pairs:
        decision = known.get(variable.name, Decision(variable.name, ""))
        found.append(
            ColumnDescription(
                variable.name,
                "continuous" if variable.is_continuous else "categorical",
                _range(variable, held) if variable.is_continuous else _states(variable),
                held.missing,
                decision.why,
                decision.overrule,
                variable.cuts is not None,
                tuple(map(as_text, variable.states)) if "order" in decision.overrule else (),
                _typical(variable, held, summary.n_rows - held.missing),
                shapes.get(variable.name, held.counts),
            )
        )
    left = [ColumnDescription(d.name, "left out", "", 0, d.why, d.overrule) for d in decisions if d.left_out]
    return Description(summary.n_rows, (*found, *left))


def _typical(variable: Column, held: Held, n_known: int) -> str:
    """Return the most frequent state, or the mean."""
    if variable.is_continuous:
        if not n_known:
            return ""
        mean = held.total / n_known
        if not math.isfinite(mean):
            return "no finite mean"
        return f"mean {date_texts([round(mean)], variable.unit)[0] if variable.unit is not None else f'{mean:.4g}'}"
    total = sum(held.counts)
    if not total:
        return ""
    at = max(range(len(held.counts)), key=held.counts.__getitem__)
    text = repr(variable.states[at])
    return f"{text if len(text) <= LONGEST else cut(text, LONGEST)} {held.counts[at] / total:.0%}"


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
