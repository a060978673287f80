"""How values show themselves: in a line or a few as text, and as small tables and drawings in notebooks.

Everything that comes from a file or a frame, every name and label, is escaped in HTML and cut where it is long.
"""

from __future__ import annotations

import dataclasses
import html
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from types import BuiltinFunctionType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from fishernet.base.names import cut, several

MOST_ITEMS = 6  # of a sequence in a repr
SHORT = 8  # characters of a number that is shown whole
LONGEST = 100  # characters of one item in a repr
MOST_ROWS, MOST_COLUMNS = 10, 12  # of a table in HTML
LONGEST_CELL = 60  # characters of a cell in HTML
MOST_DRAWN = 100  # variables of a graph that is drawn in a notebook
LEAST_P_SAID = 1e-300  # of p-values: what is less, arithmetic hardly tells from 0


def brief(value: object) -> str:
    """Return a value as a repr shows it inside: the first items of what is long, the shape of a large array."""
    if isinstance(value, float | np.floating):
        shown = repr(float(value))
        return shown if len(shown) <= SHORT else f"{value:.6g}"
    if isinstance(value, np.ndarray):
        if value.ndim == 1:
            return f"[{_first(map(brief, value[: MOST_ITEMS + 1].tolist()), len(value))}]"
        return f"<{' x '.join(map(str, value.shape))} array>"
    if type(value) is tuple or isinstance(value, list):
        inside = _first(map(brief, value[: MOST_ITEMS + 1]), len(value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' if len(value) == 1 else ''})"
    if isinstance(value, Mapping):
        pairs = islice(value.items(), MOST_ITEMS + 1)
        return f"{{{_first((f'{brief(key)}: {brief(of)}' for key, of in pairs), len(value))}}}"
    return cut(repr(value), LONGEST if isinstance(value, str) else 4 * LONGEST)


def _first(items: Iterable[str], n: int) -> str:
    shown = list(items)
    return ", ".join(shown) if n <= MOST_ITEMS else f"{', '.join(shown[:MOST_ITEMS])}, ... {n:,} in all"


class Fact(NamedTuple):
    """One thing that a result says."""

    label: str
    value: Any
    unit: str = ""


UNITS = {  # of fields, by their names
    **dict.fromkeys(("score", "log_likelihood", "nats", "gain", "bound", "gap", "bic", "low", "high"), "nats"),
    **dict.fromkeys(("per_row", "log_loss"), "nats per row"),
    "seconds": "s",
}


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: numbers that are none become null; functions are called; the rest by repr."""
    if isinstance(value, FunctionType | BuiltinFunctionType | partial):
        value = value()
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {_key(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: plain(item) for name, item in _public(value)}
    return value if value is None or isinstance(value, str | int) else repr(value)


def _key(name: Any) -> str:
    return name if isinstance(name, str) else ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _public(value: Any) -> list[tuple[str, Any]]:
    """Return the names and values of a dataclass's fields."""
    fields = dataclasses.fields(value)
    return [(field.name, getattr(value, field.name)) for field in fields if not field.name.startswith("_")]


class Brief:
    """A dataclass whose repr fits a screen, and which says what it holds; declared with ``repr=False``."""

    __slots__ = ()

    def facts(self) -> tuple[Fact, ...]:
        """Return what is to be said, in order: each a label, a value and a unit. Arrays and lists are not among it."""
        return tuple(
            Fact(name.replace("_", " "), value, UNITS.get(name, ""))
            for name, value in _public(self)
            if isinstance(value, str | int | float | np.number | np.bool_)
        )

    def to_dict(self) -> dict[Any, Any]:
        """Return the fields by name, as JSON can hold them."""
        return {name: plain(value) for name, value in _public(self)}

    def to_json(self) -> str:
        """Return the fields as JSON; numbers that are none are null."""
        return json.dumps(plain(self.to_dict()), ensure_ascii=False, allow_nan=False)

    def __repr__(self) -> str:
        fields = [field for field in dataclasses.fields(self) if field.repr]  # type: ignore[arg-type]
        said = [(field.name, getattr(self, field.name)) for field in fields]
        return f"{type(self).__name__}({', '.join(f'{name}={brief(of)}' for name, of in said if of is not None)})"


class Framed(Brief):
    """A result with `to_frame`, whose first rows a notebook shows."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        frame = self.to_frame()  # type: ignore[attr-defined]
        return page(repr(self), frame_html(frame))


def aligned(rows: Sequence[Sequence[str]], *, right: bool = False) -> list[str]:
    """Return rows of cells as lines whose columns stand under each other; all but the first to the right if asked."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = ["<", *((">" if right else "<") for _ in widths[1:])]
    return [
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)).rstrip()
        for row in rows
    ]


def frame_html(frame: Any) -> str:
    """Return the first rows of a pyarrow Table as an HTML table."""
    names = frame.column_names[:MOST_COLUMNS]
    columns = [frame.column(position).slice(0, MOST_ROWS).to_pylist() for position in range(len(names))]
    return table_html(names, list(zip(*columns, strict=True)), frame.num_rows, len(frame.column_names))


def table_html(header: Sequence[str], rows: Iterable[Sequence[object]], n_rows: int = 0, n_columns: int = 0) -> str:
    """Return an HTML table of the first rows and columns; of so many in all, when there are more."""
    shown = list(islice(rows, MOST_ROWS))
    lines = [_row("th", header[:MOST_COLUMNS]), *(_row("td", row[:MOST_COLUMNS]) for row in shown)]
    left = ((n_rows - len(shown), "row"), (n_columns - len(header), "column"))
    more = [several(n, f"more {what}") for n, what in left if n > 0]
    return f"<table>{''.join(lines)}</table>" + (f"<p>... and {' and '.join(more)}</p>" if more else "")


def _row(tag: str, cells: Iterable[object]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escaped(cell)}</{tag}>' for cell in cells)}</tr>"


def escaped(cell: object) -> str:
    """Return a cell as HTML shows it: numbers with six digits, text without markup, nothing where it is missing."""
    if cell is None:
        return ""
    text = f"{cell:.6g}" if isinstance(cell, float | np.floating) else str(cell)
    return html.escape(cut(text, LONGEST_CELL))


def page(title: str, *parts: str | None) -> str:
    """Return HTML of a title, which is escaped, and of parts that are HTML already."""
    return f"<div><p><b>{html.escape(cut(title, 4 * LONGEST))}</b></p>{''.join(part for part in parts if part)}</div>"


# ------------------------------------------------------------------------------------------------- drawings of graphs

_later: list[Callable[[], object]] = []


def looks_of(load: Callable[[], object]) -> None:
    """Have a function called before the first drawing or page is made, as it imports what makes them."""
    _later[:] = [load]


def _load() -> None:
    while _later:
        _later.pop()()


_drawers: list[Callable[[Any], str | None]] = []


def draws(drawer: Callable[[Any], str | None]) -> Callable[[Any], str | None]:
    """Make a function the one that draws graphs as SVG; `fishernet.plot`, which lies above the graphs, has one."""
    _drawers[:] = [drawer]
    return drawer


_pages: list[Callable[[Any], str | None]] = []


def shows_pages(maker: Callable[[Any], str | None]) -> Callable[[Any], str | None]:
    """Make a function the one that shows models as small pages; `fishernet.reports`, which lies above them, has one."""
    _pages[:] = [maker]
    return maker


class Drawn:
    """Something with a graph of named variables, which notebooks draw where matplotlib is there."""

    __slots__ = ()

    def _repr_svg_(self) -> str | None:
        """Return the drawing; None without matplotlib, and where there are no variables or more than can be read."""
        few = 0 < len(self.names) <= MOST_DRAWN  # type: ignore[attr-defined]
        _load()
        return _drawers[0](self) if few and _drawers else None

    def _repr_html_(self) -> str:
        return page(repr(self), self._page() or self._repr_svg_() or self._plain_html())

    def _page(self) -> str | None:
        """Return a page that answers questions; None where there is none, as of a graph."""
        return None

    def _plain_html(self) -> str:
        """Return what stands in place of the drawing."""
        edges = self.edges  # type: ignore[attr-defined]
        return table_html(("from", "to"), edges, len(edges))


class DrawnModel(Drawn):
    """A model with a graph, which notebooks show as a page that answers questions."""

    __slots__ = ()

    def _page(self) -> str | None:
        _load()
        return _pages[0](self) if _pages else None
