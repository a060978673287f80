"""Figures in one look, written as SVG files that are the same bytes at every run.

matplotlib is imported when the first figure is drawn, so that a study computes without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's, which people who do not see red or green tell apart."""
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
    "lines.markersize": 3.5,
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
    path: Path, titles: Sequence[str], *, x: str, y: str, log: str = "", legend: str = "inside"
) -> Iterator[list[Axes]]:
    """Hand out axes with these titles, and write them as one SVG when the block ends without an error.

    The legend, that of the last panel, is inside it or "below" all panels.
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
        if legend == "below":
            columns = 5 if across == 3 else 3
            named = made[-1].get_legend_handles_labels()
            drawing.legend(*named, loc="outside lower center", ncols=columns, handlelength=4)
        else:
            made[-1].legend()
        path.parent.mkdir(parents=True, exist_ok=True)
        drawing.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def lines(
    path: Path, panels: Mapping[str, Sequence[Line]], *, x: str, y: str, log: str = "", legend: str = "inside"
) -> None:
    """Draw lines with error bars, a panel per title; what is published is dashed."""
    with panels_of(path, list(panels), x=x, y=y, log=log, legend=legend) as made:
        for axes, drawn in zip(made, panels.values(), strict=True):
            for line, colour in zip(drawn, COLOURS, strict=False):
                look = {"color": colour, "marker": "o", **line.look}
                axes.plot(*line.points(), label=line.name, **look)
                axes.plot(*line.points("published"), color=look["color"], linestyle="--", linewidth=1.0, alpha=0.8)
                at, errors = line.points("error")
                means = dict(zip(*line.points(), strict=True))
                axes.errorbar(at, [means[one] for one in at], errors, color=look["color"], linestyle="none", alpha=0.5)
            sizes = sorted({x for line in drawn for x in line.x})
            if len(sizes) < 8:
                axes.set_xticks(sizes[:: 1 + (len(sizes) > 5)])
            if "y" not in log:
                axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))


def dots(path: Path, panels: Mapping[str, Mapping[str, Mapping[str, Any]]], *, x: str, line: float = np.nan) -> None:
    """Draw means with error bars across; by panel, by series (a colour each) and by row."""
    with panels_of(path, list(panels), x=x, y="") as made:
        for axes, series in zip(made, panels.values(), strict=True):
            for k, (name, cells) in enumerate(series.items()):
                there = [(i + 0.16 * (k - 0.5), cell) for i, cell in enumerate(cells.values()) if cell is not None]
                means, errors = ([cell.get(key, 0.0) for _, cell in there] for key in ("mean", "error"))
                look: Any = {"color": COLOURS[k], "fmt": "os^v"[k], "label": name}
                axes.errorbar(means, [y for y, _ in there], xerr=errors, **look)
            axes.axvline(line, color="black", linewidth=0.8, linestyle="--")
            rows = list(next(iter(series.values())))
            axes.set_yticks(range(len(rows)), rows if axes is made[0] else [""] * len(rows))
            axes.invert_yaxis()


def plain(value: float, position: int | None = None) -> str:
    """Return a tick's number as one writes it: 0.01, 1, 5,000."""
    del position
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"
