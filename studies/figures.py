"""Figures: one look for all studies, written as SVG files that are the same bytes at every run.

Only this module knows matplotlib; a study draws on the axes it is handed:

    with figure(path, x="rows", y="seconds", log="xy") as axes:
        (line,) = axes.plot(rows, seconds, marker="o")
        name_line(line, "measured")

Lines are named where they end rather than in a legend, which the eye would have to look up colour by colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's, which people who do not see red or green tell apart; the ones that are dark on white come first."""
INK, GRID = "#333333", "#E3E3E3"
WIDTH, HEIGHT = 6.4, 4.0  # inches
APART = 11.0  # points between the names of two lines that end near each other
PLOTTED = 0.78  # of the figure's height, roughly

LOOK: Any = {  # matplotlib types it by its own version's names
    "font.family": "DejaVu Sans",  # comes with matplotlib, so it is the same everywhere
    "font.size": 9.0,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "xtick.color": INK,
    "ytick.color": INK,
    "svg.fonttype": "path",
    "svg.hashsalt": "fishernet",  # else the names of clip paths are random
}


@contextmanager
def figure(
    path: Path, *, x: str, y: str, title: str = "", log: str = "", width: float = WIDTH, height: float = HEIGHT
) -> Iterator[Axes]:
    """Hand out clean axes, and write them as SVG when the block ends without an error.

    Parameters
    ----------
    path : Path
        Where to; its folder is made.
    x, y : str
        What is on the axes, units included.
    title : str
    log : {"", "x", "y", "xy"}
        Which axes are logarithmic; their ticks are plain numbers.
    width, height : float
        In inches.
    """
    with _written(path, width, height) as drawing:
        axes = drawing.add_subplot()
        _dress(axes, x, y, title, log)
        yield axes


@contextmanager
def panels(
    path: Path, titles: Sequence[Sequence[str]], *, x: str, y: str, log: str = "", width: float = 10.0
) -> Iterator[list[list[Axes]]]:
    """Hand out rows of clean axes, a title each, and write them as one SVG when the block ends without an error.

    Parameters
    ----------
    path : Path
    titles : rows of str
    x, y : str
        What is on the axes of all; it is written at the last row and at the first column.
    log : {"", "x", "y", "xy"}
    width : float
        In inches; a row is 2.8 high.
    """
    with _written(path, width, 2.8 * len(titles)) as drawing:
        made = drawing.subplots(len(titles), len(titles[0]), squeeze=False).tolist()
        for r, (row, names) in enumerate(zip(made, titles, strict=True)):
            for c, (axes, name) in enumerate(zip(row, names, strict=True)):
                _dress(axes, x if r == len(titles) - 1 else "", "" if c else y, name, log)
        yield made


@contextmanager
def _written(path: Path, width: float, height: float) -> Iterator[Figure]:
    with rc_context(LOOK):
        drawing = Figure(figsize=(width, height), layout="constrained")
        yield drawing
        path.parent.mkdir(parents=True, exist_ok=True)
        drawing.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def _dress(axes: Axes, x: str, y: str, title: str, log: str) -> None:
    axes.set_prop_cycle(color=COLOURS)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title)
    if "x" in log:
        axes.set_xscale("log")
    if "y" in log:
        axes.set_yscale("log")
    for axis in [getattr(axes, f"{letter}axis") for letter in log]:
        axis.set_major_formatter(FuncFormatter(plain))
        axis.set_minor_formatter(NullFormatter())


def plain(value: float, position: int | None = None) -> str:
    """Return a tick's number as one writes it: 0.01, 1, 5,000."""
    del position
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def name_line(line: Line2D, name: str, *, up: float = 0.0) -> None:
    """Write a name after a line's last point, in its colour; the axes become narrower to make room.

    Parameters
    ----------
    line : Line2D
    name : str
    up : float
        By how many points to move it, where two lines end near each other.
    """
    axes = line.axes
    assert isinstance(axes, Axes)
    at = [float(np.asarray(data, dtype=np.float64)[-1]) for data in (line.get_xdata(), line.get_ydata())]
    colour = line.get_color()
    axes.annotate(name, (at[0], at[1]), xytext=(7, up), textcoords="offset points", va="center", color=colour)


def name_lines(drawn: Sequence[Line2D], names: Sequence[str], *, height: float = HEIGHT) -> None:
    """Name lines where they end, moving names up until none covers another."""
    axes = drawn[0].axes
    assert isinstance(axes, Axes)
    ends = [float(np.asarray(line.get_ydata(), dtype=np.float64)[-1]) for line in drawn]
    for line, name, up in zip(drawn, names, shifts(ends, axes.get_ylim(), height), strict=True):
        name_line(line, name, up=up)


def shifts(ends: Sequence[float], limits: tuple[float, float], height: float = HEIGHT) -> list[float]:
    """Return by how many points to move the name at each height, so that all keep their order and a distance."""
    low, high = limits
    points = 72 * height * PLOTTED / (high - low)
    at = np.array(ends) * points
    order = np.argsort(at, kind="stable")
    placed = at[order]
    for _ in range(len(at)):  # push neighbours that are too near each other apart, half each
        for i in range(len(at) - 1):
            lack = max(0.0, APART - (placed[i + 1] - placed[i]))
            placed[i] -= lack / 2
            placed[i + 1] += lack / 2
    floor = low * points
    for i in range(len(at)):  # what is left, and what fell below the axis, upwards
        placed[i] = floor = max(placed[i], floor)
        floor += APART
    moved = np.empty(len(at))
    moved[order] = placed - at[order]
    return [float(up) for up in moved]
