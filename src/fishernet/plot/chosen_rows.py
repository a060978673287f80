"""Chosen rows among all, on a plane where rows that are alike under the kernel are near each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import cut, positions
from fishernet.base.random import Seed, generator
from fishernet.data.cells import as_text
from fishernet.kernels import Kernel
from fishernet.kernels.rows import Rows, counted_once, rows_of
from fishernet.plot.picture import FONT, INK, require_matplotlib
from fishernet.select import Selection

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]

SIZE = (6.4, 4.8)  # inches of a new figure
AREA = 14  # square points of the mark of one row
MOST_NUMBERED = 40  # chosen rows and criticisms, each, that have a number
MOST_LETTERS = 24  # of a state
OTHERS, CRITICAL = "#9A9A9A", "#B03A00"
COLOURS = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#0072B2", "#F0E442", "#8A5A00")  # Okabe and Ito, 2008
SHAPES = ("o", "^", "s", "v", "p", "<", "h")  # so that states can be told apart without colours
NUMBERS = "cividis"  # the same for the colour-blind


def selection(
    chosen: Selection,
    *,
    criticisms: Selection | None = None,
    colour: str | None = None,
    kernel: Kernel | None = None,
    n_rows: int = 1000,
    seed: Seed = 0,
    ax: Axes | None = None,
    font_size: float = 9.0,
) -> Axes:
    """Draw chosen rows among all: rows that are alike under the kernel are near each other.

    Distances on the plane go by the ranks of the distances between the rows' features, these of length 1 (classical
    scaling, Torgerson, 1952). Lengths, and distances themselves, are large for rows with a rare state, and would leave
    room for these alone. Of several equal rows there is one larger mark.

    Parameters
    ----------
    chosen : Selection
        Its rows are diamonds, with their places in `indices`, from 0, while they are at most 40.
    criticisms : Selection, optional
        Rows that the chosen ones do not explain, as crosses: c0, c1, ...
    colour : str, optional
        A column of the table that colours the other rows: by its states, most often first, or on a scale of numbers.
    kernel : Kernel, optional
        In place of the kernel that rows were chosen by; needed where there is none.
    n_rows : int
        How many of the other rows are drawn; of more, a sample.
    seed : None, int or numpy.random.Generator
        For the sample.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure, for `matplotlib.pyplot.show`.
    font_size : float
        Of all text, in points.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    FishernetError
        When matplotlib is missing, or a number is not positive.
    SchemaError
        When the rows were chosen without a kernel, and none is given; when there is no such column.

    Examples
    --------
    >>> import fishernet as fn
    >>> from matplotlib.figure import Figure
    >>> asia = fn.datasets.load("asia")
    >>> chosen = fn.select.mmd_critic(fn.kernels.FisherKernel(asia), asia.sample(500, seed=1), 5)
    >>> axes = fn.plot.selection(chosen, colour="smoke", ax=Figure().add_subplot())
    >>> [text.get_text() for text in axes.texts][0]  # rows 0 and 3 are equal
    '0, 3'
    """
    require_matplotlib()
    check.made(chosen, "chosen", "a Selection, as fn.select.mmd_critic finds one", "indices", "kernel", "data")
    size = check.number(font_size, "font_size", above=0)
    used = chosen.kernel if kernel is None else kernel
    if used is None:
        raise SchemaError("these rows were chosen without a kernel, so give one to draw them by", parameter="kernel")
    rows = rows_of(used, chosen.data)
    marked = [chosen.indices]
    if criticisms is not None:
        check.made(criticisms, "criticisms", "a Selection, as fn.select.criticisms finds one", "indices")
        marked.append(criticisms.indices)
    others = _sample(len(rows), np.concatenate(marked), check.integer(n_rows, "n_rows", least=1), seed)
    values = None if colour is None else _column(chosen, colour, others)
    parts = [others, *marked]
    points = _coordinates(used, rows, np.concatenate(parts))
    where = np.split(points, np.cumsum([len(part) for part in parts])[:-1])
    if ax is None:
        ax = _new_axes()
    _draw_others(ax, where[0], values, size)
    _draw_marked(ax, where[1], "D", "white", INK, f"chosen ({len(chosen.indices):,})", "", size)
    if criticisms is not None:
        _draw_marked(ax, where[2], "X", CRITICAL, "white", f"criticism ({len(criticisms.indices):,})", "c", size)
    _finish(ax, None if values is None or values[0].is_continuous else colour, size)
    return ax


def _sample(n_rows: int, marked: Positions, most: int, seed: Seed) -> Positions:
    """Return rows to draw beside those that are marked, ascending."""
    free = np.ones(n_rows, dtype=bool)
    free[marked] = False
    others = np.flatnonzero(free)
    if len(others) > most:
        others = np.sort(generator(seed).choice(others, most, replace=False))
    return others.astype(np.int64)


def _coordinates(kernel: Any, rows: Rows, at: Positions) -> Array:
    """Return where rows stand, (n, 2): distances go by the ranks of those under the kernel (Torgerson, 1952)."""
    from scipy.linalg import eigh  # slow to import, and needed by this picture alone

    few = counted_once(rows[at])
    lengths = np.sqrt(np.maximum(kernel.diag(few), 0.0))
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    cosines = np.asarray(kernel(few), dtype=np.float64) * inverse[:, None] * inverse
    squares = _ranks(1 - (cosines + cosines.T) / 2) ** 2
    means = squares.mean(axis=0)
    centred = (means + means[:, None] - squares - means.mean()) / 2
    n = len(at)
    values, vectors = eigh(centred, subset_by_index=[max(n - 2, 0), n - 1])
    points = np.zeros((n, 2))
    points[:, : len(values)] = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1]
    largest = np.abs(points).argmax(axis=0)
    return points * np.where(points[largest, [0, 1]] < 0, -1.0, 1.0)  # the same way round on every machine


def _ranks(distances: Array) -> Array:
    """Return the share of pairs that are nearer than each, on average of those that are as near; 0 for equal rows."""
    rounded = np.maximum(distances.round(9), 0.0)
    _, inverse, counts = np.unique(rounded, return_inverse=True, return_counts=True)
    shares = (np.cumsum(counts) - counts / 2) / rounded.size
    shares[0] = 0.0 if rounded.min() == 0 else shares[0]
    ranks: Array = shares[inverse].reshape(rounded.shape)
    np.fill_diagonal(ranks, 0.0)
    return ranks


def _column(chosen: Selection, name: str, others: Positions) -> tuple[Any, Array]:
    """Return a column's variable, and its codes or numbers of some rows."""
    table = chosen.table
    (place,) = positions(table.names, [check.text(name, "colour")], "column")
    return table.variables[place], np.asarray(table[others].select([name]).column(name))


def _plain(text: str) -> str:
    """Return a label that every font can draw."""
    return cut(text if text.isprintable() else repr(text), MOST_LETTERS)


def _new_axes() -> Axes:
    from matplotlib import pyplot

    return pyplot.figure(figsize=SIZE, layout="constrained").add_subplot()


def _draw_others(ax: Axes, points: Array, values: tuple[Any, Array] | None, size: float) -> None:
    """Draw rows that are not marked: in grey, or by the states or numbers of a column."""
    how: dict[str, Any] = {"linewidths": 0.4, "edgecolors": "white", "zorder": 1}
    if values is None:
        places, areas = _merged(points)
        ax.scatter(places[:, 0], places[:, 1], c=OTHERS, s=areas, label=f"other rows ({len(points):,})", **how)
        return
    variable, column = values
    if variable.is_continuous:
        drawn = ax.scatter(
            points[:, 0], points[:, 1], c=column, s=AREA, cmap=NUMBERS, plotnonfinite=True, label="other rows", **how
        )
        bar = ax.figure.colorbar(drawn, ax=ax)
        bar.set_label(_plain(variable.name), fontsize=size, color=INK, parse_math=False)
        bar.ax.tick_params(labelsize=size, labelcolor=INK)
        return
    counts = np.bincount(column, minlength=variable.cardinality + 1)
    often = [int(code) for code in np.argsort(-counts[: variable.cardinality], kind="stable") if counts[code]]
    named = often if len(often) <= len(COLOURS) else often[: len(COLOURS) - 1]
    for code, tint, shape in zip(named, COLOURS, SHAPES, strict=False):
        label = _plain(as_text(variable.states[code]))
        places, areas = _merged(points[column == code])
        ax.scatter(places[:, 0], places[:, 1], c=tint, s=areas, marker=shape, label=label, **how)
    rest = ~np.isin(column, named)
    if rest.any():
        ax.scatter(points[rest, 0], points[rest, 1], c=OTHERS, s=AREA, marker=".", label="others, or missing", **how)


def _merged(points: Array) -> tuple[Array, Array]:
    """Return the distinct places of points, and areas that grow with the root of how many there are at each."""
    places, counts = np.unique(points.round(9), axis=0, return_counts=True)
    return places, AREA * np.sqrt(counts)


def _draw_marked(
    ax: Axes, points: Array, shape: str, fill: str, edge: str, label: str, prefix: str, size: float
) -> None:
    """Draw rows that are marked, with their numbers while these can be read."""
    from matplotlib.patheffects import withStroke

    ax.scatter(
        points[:, 0],
        points[:, 1],
        s=4 * AREA,
        marker=shape,
        c=fill,
        edgecolors=edge,
        linewidths=1.1,
        label=label,
        zorder=3,
    )
    numbers: dict[tuple[float, float], list[str]] = {}
    for number, (x, y) in enumerate(points.round(9).tolist() if len(points) <= MOST_NUMBERED else ()):
        numbers.setdefault((x, y), []).append(f"{prefix}{number}")
    for place, equal in numbers.items():
        ax.annotate(
            ", ".join(equal[:3]) + ("..." if len(equal) > 3 else ""),
            place,
            xytext=(5, 4),
            textcoords="offset points",
            fontsize=size,
            fontfamily=FONT,
            color=INK,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            zorder=4,
        )


def _finish(ax: Axes, colour: str | None, size: float) -> None:
    """Say what is drawn; the axes have no unit."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_xlabel("near: alike under the kernel", fontsize=size, color=INK)
    for spine in ax.spines.values():
        spine.set_color(OTHERS)
    title = None if colour is None else _plain(colour)
    legend = ax.legend(fontsize=size, title=title, title_fontsize=size, labelcolor=INK, loc="best", framealpha=0.9)
    for text in (*legend.get_texts(), legend.get_title()):
        text.set_parse_math(False)
