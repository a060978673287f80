"""Figures in one look, written as SVG files that are the same bytes at every run.

matplotlib is imported when the first figure is drawn, so that a study computes without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#B84C00", "#00755A", "#A0417B", "#7A5C00", "#2F6F94", "#000000")
"""Okabe and Ito's, which people who do not see red or green tell apart, as dark as text needs (4.5 to 1 on white)."""
MARKERS, STYLES = "os^Dv<X", ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (1, 1)))
"""What tells lines apart without colours."""
SVG = "http://www.w3.org/2000/svg"
LOOK: Any = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so it is the same everywhere
    "font.size": 9.0,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#E3E3E3",
    "legend.frameon": False,
    "lines.markersize": 4.0,
    "lines.linewidth": 1.3,
    "svg.fonttype": "path",
    "svg.hashsalt": "fishernet",  # otherwise the names of clip paths are random
}


class Line(NamedTuple):
    """One line of a panel: a cell of results per x, None where there is nothing."""

    name: str
    x: Sequence[float]
    cells: Sequence[Any]
    look: Mapping[str, Any] = {}

    def points(self, key: str = "mean") -> tuple[list[float], list[float]]:
        """Return x and what the cells have by that name; a cell that is a number is its own mean."""
        cells = [cell if isinstance(cell, Mapping) else {"mean": cell} for cell in self.cells]
        pairs = [(x, cell[key]) for x, cell in zip(self.x, cells, strict=True) if cell.get(key) is not None]
        return [x for x, _ in pairs], [y for _, y in pairs]


@contextmanager
def panels_of(
    path: Path, titles: Sequence[str], *, x: str, y: str, log: str = "", tips: Mapping[str, Sequence[str]] = {}
) -> Iterator[list[Axes]]:
    """Hand out axes with these titles, and write them as one SVG when the block ends without an error.

    The legend, one of all panels, is below them, where it hides nothing. What `tips` has by then is shown under the
    pointer.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, NullFormatter

    across = min(3, len(titles))
    down = -(-len(titles) // across)
    with rc_context(LOOK):
        size = (6.4, 4.0) if len(titles) == 1 else (3.4 * across, 2.8 * down)
        drawing = Figure(figsize=size, layout="constrained")
        made = [drawing.add_subplot(down, across, 1 + at) for at in range(len(titles))]
        for at, (axes, title) in enumerate(zip(made, titles, strict=True)):
            axes.set_title(title)
            axes.set_xlabel(x if at >= len(titles) - across else "")
            axes.set_ylabel("" if at % across else y)
            for letter in log:
                getattr(axes, f"set_{letter}scale")("log")
                axis = getattr(axes, f"{letter}axis")
                axis.set_major_formatter(FuncFormatter(plain))
                axis.set_minor_formatter(NullFormatter())
        yield made
        add_legend(drawing, made)
        text = StringIO()
        drawing.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(with_tips(text.getvalue(), tips), encoding="utf-8")


def add_legend(drawing: Figure, made: Sequence[Axes]) -> None:
    """Put one legend of all axes below them, in as few rows as its width allows, as full as each other."""
    pairs = [pair for axes in made for pair in zip(*axes.get_legend_handles_labels(), strict=True)]
    named = {name: handle for handle, name in reversed(pairs)}
    names = list(dict.fromkeys(name for _, name in pairs))
    for rows in range(1, len(names) + 1 if len(names) > 1 else 0):
        columns = -(-len(names) // rows)
        legend = drawing.legend(
            [named[name] for name in names], names, loc="outside lower center", ncols=columns, handlelength=4
        )
        if columns == 1 or legend.get_window_extent().width <= drawing.bbox.width:
            return
        legend.remove()


def with_tips(svg: str, tips: Mapping[str, Sequence[str]]) -> str:
    """Return an SVG in which the markers of a group show a text under the pointer: one marker, one text."""
    for prefix, name in (("", SVG), ("xlink", "http://www.w3.org/1999/xlink")):
        ElementTree.register_namespace(prefix, name)
    root = ElementTree.fromstring(svg)
    for group in root.iter(f"{{{SVG}}}g"):
        markers = list(group.iter(f"{{{SVG}}}use")) if group.get("id") in tips else []
        for marker, tip in zip(markers, tips.get(group.get("id", ""), ()), strict=False):
            ElementTree.SubElement(marker, f"{{{SVG}}}title").text = tip
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def lines(
    path: Path,
    panels: Mapping[str, Sequence[Line]],
    *,
    x: str,
    y: str,
    log: str = "",
    zero: bool = True,
    apart: float = 0.0,
    same: bool = False,
    level: float | None = None,
) -> None:
    """Draw lines with error bars, a panel per title; what is published is thin and has crosses.

    Without `zero` the axis of y begins near the least value: of what has no natural zero. `apart` draws each line so
    much (of a logarithmic x: such a share) to the right of the one before, so that markers do not hide each other.
    `same` gives all panels the same y axis. `level` is marked by a thin dashed line.
    """
    from matplotlib.ticker import LogLocator

    tips: dict[str, list[str]] = {}
    number = count()
    with panels_of(path, list(panels), x=x, y=y, log=log, tips=tips) as made:
        for axes, drawn in zip(made, panels.values(), strict=True):
            for k, line in enumerate(drawn):
                look, aside = {**look_of(k), **line.look}, k - (len(drawn) - 1) / 2

                def placed(at: Iterable[float], aside: float = aside) -> list[float]:
                    return [x * (1 + apart) ** aside if "x" in log else x + apart * aside for x in at]

                there, values = line.points()
                (one,) = axes.plot(placed(there), values, label=line.name, **look)
                one.set_gid(f"tips-{next(number)}")
                means, errors = (dict(zip(*line.points(key), strict=True)) for key in ("mean", "error"))
                tips[str(one.get_gid())] = [tip(line.name, x, at, means[at], errors.get(at)) for at in means]
                thin = {"color": look["color"], "marker": "x", "linewidth": 0.7, "alpha": 0.9}
                axes.plot(*line.points("published"), linestyle=look["linestyle"], **thin)
                middles, bars = [means[at] for at in errors], list(errors.values())
                axes.errorbar(placed(errors), middles, bars, color=look["color"], linestyle="none", capsize=2)
            sizes = sorted({x for line in drawn for x in line.x})
            if len(sizes) < 8:
                shown = sizes[:: 1 + (len(sizes) > 5)]
                axes.set_xticks(shown, [plain(size) for size in shown])
                axes.set_xticks([size for size in sizes if size not in shown], minor=True)
            if level is not None:
                axes.axhline(level, color="black", linewidth=0.8, linestyle="--")
            if "y" not in log and zero:
                axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
        ends = [end for axes in made for end in axes.get_ylim()]
        for axes in made if same else ():
            axes.set_ylim(min(ends), max(ends))
            if "y" in log:
                axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))


def look_of(k: int) -> dict[str, Any]:
    """Return the colour, marker and dashes of a line; from the eighth on they come again."""
    return {"color": COLOURS[k % 7], "marker": MARKERS[k % 7], "linestyle": STYLES[k % 7]}


def tip(name: str, x: str, at: float, value: float, error: float | None) -> str:
    """Return what is shown under the pointer of a marker."""
    return f"{name}, {x} {at:,g}: {value:.4g}" + ("" if error is None else f" ± {error:.2g}")


def paths(path: Path, panels: Mapping[str, Sequence[tuple[str, Sequence[float], Sequence[float], str]]]) -> None:
    """Draw ways in the plane: a name, x, y and the text at each end's marker; axes of one scale."""
    tips: dict[str, list[str]] = {}
    with panels_of(path, list(panels), x="first axis", y="second axis", tips=tips) as made:
        for axes, drawn in zip(made, panels.values(), strict=True):
            for k, (name, x, y, what) in enumerate(drawn):
                (one,) = axes.plot(x, y, label=name, **look_of(k))
                one.set_gid(f"tips-{len(tips)}")
                tips[str(one.get_gid())] = [f"{name}, {what} {t}" for t in range(len(x))]
            axes.set_aspect("equal", adjustable="datalim")


def dots(
    path: Path,
    panels: Mapping[str, Mapping[str, Mapping[str, Any]]],
    *,
    x: str,
    line: float = np.nan,
    same: bool = False,
) -> None:
    """Draw means with error bars across; by panel, by series (a colour each) and by row.

    `same` gives all panels the same axis, from 0.
    """
    tips: dict[str, list[str]] = {}
    number = count()
    with panels_of(path, list(panels), x=x, y="", tips=tips) as made:
        for axes, series in zip(made, panels.values(), strict=True):
            for k, (name, cells) in enumerate(series.items()):
                lower = 0.16 * (k - (len(series) - 1) / 2)
                there = [(i + lower, row, cell) for i, (row, cell) in enumerate(cells.items()) if cell]
                means, errors = ([cell.get(key, 0.0) for *_, cell in there] for key in ("mean", "error"))
                look: Any = {"color": COLOURS[k], "fmt": MARKERS[k], "label": name, "capsize": 2}
                drawn = axes.errorbar(means, [y for y, *_ in there], xerr=errors, **look)
                drawn.lines[0].set_gid(f"tips-{next(number)}")
                whole = zip(there, means, errors, strict=True)
                tips[str(drawn.lines[0].get_gid())] = [
                    f"{name}, {row}: {m:.4g} ± {e:.2g}" for (_, row, _), m, e in whole
                ]
            axes.axvline(line, color="black", linewidth=0.8, linestyle="--")
            rows = list(next(iter(series.values())))
            axes.set_yticks(range(len(rows)), rows if axes is made[0] else [""] * len(rows))
            axes.set_ylim(len(rows) - 0.5, -0.5)
        if same:
            most = max(axes.get_xlim()[1] for axes in made)
            for axes in made:
                axes.set_xlim(0, most)


def plain(value: float, position: int | None = None) -> str:
    """Return a tick's number as one writes it: 0.01, 1, 5,000."""
    del position
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"
