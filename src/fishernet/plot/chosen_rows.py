"""Chosen rows among all, on a plane where rows that are alike under the kernel are near each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.random import Seed, generator
from fishernet.base.vocabulary import word
from fishernet.data.encoding.labels import as_text
from fishernet.data.matching import as_data
from fishernet.kernels import Kernel
from fishernet.kernels.kernel import adapted
from fishernet.kernels.rows import Rows, reweighted
from fishernet.plot.matrices import as_cosines
from fishernet.plot.style import Theme, legend, letters, new_axes, require_matplotlib, theme_of
from fishernet.plot.texts import FONT, family_of, label
from fishernet.select import Selection

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]

SIZE = (6.4, 4.8)  # inches of a new figure
AREA = 14  # square points of the mark of one row
MOST_NUMBERED = 40  # chosen rows and criticisms, each, that have a number
MOST_LETTERS = 24  # of a state
SHAPES = ("o", "^", "s", "v", "p", "<", "h")  # so that states can be told apart without colours
NUMBERS = "cividis"  # the same for the colour-blind
Projection = Literal["ranks", "mds", "pca"]


def row_map(
    kernel: Kernel,
    data: Any,
    *,
    colour: str | None = None,
    chosen: Any = (),
    projection: Projection = "mds",
    n_rows: int = 1000,
    seed: Seed = 0,
    ax: Axes | None = None,
    font_size: float = 9.0,
) -> Axes:
    """Draw rows on a plane on which those that are alike under a kernel are near each other.

    Parameters
    ----------
    kernel : Kernel
    data : what the kernel takes
        A table, a frame, strings, ...
    colour : str, optional
        A column of the table that colours rows: by its states, most often first, or on a scale of numbers.
    chosen : sequence of positions, or Selection
        Rows that are marked as diamonds, with their places among those chosen, from 0, while they are at most 40.
    projection : {"mds", "pca", "ranks"}
        "mds" has distances between features of length 1 (classical scaling, Torgerson, 1952), so that a rare state does
        not push a row far out; "ranks" has the ranks of these. "pca" has the two directions in which the features
        themselves spread most (kernel principal components, Schölkopf, Smola and Müller, 1998).
    n_rows : int
        How many rows are drawn beside the chosen ones; of more, a sample.
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
        When a row, column or projection is unknown.

    See Also
    --------
    fishernet.plot.selection : chosen rows, with criticisms.

    Examples
    --------
    >>> import fishernet as fn
    >>> from matplotlib.figure import Figure
    >>> asia = fn.datasets.load("asia")
    >>> axes = fn.plot.row_map(
    ...     fn.kernels.FisherKernel(asia), asia.sample(300, seed=1), colour="smoke", ax=Figure().add_subplot()
    ... )
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['no', 'yes']
    """
    require_matplotlib()
    how = word(projection, "projection", tuple(PROJECTIONS))
    size = letters(font_size)
    every = adapted(kernel, logs=True).rows(data)
    if not len(every):
        raise SchemaError("there is no row to draw", parameter="data")
    marked = np.asarray(_positions(getattr(chosen, "indices", chosen), len(every)))
    others = _sample(len(every), marked, check.integer(n_rows, "n_rows", least=1), seed)
    values = None if colour is None else _column(as_data(data, "a column that colours rows"), colour, others)
    places, words = _placed(how, kernel, every, [others, marked])
    return _draw(ax, places, words, values, size)


def _positions(chosen: Any, n: int) -> Positions:
    found = [check.integer(row, "each of chosen", least=0, most=n - 1) for row in check.items(chosen, "chosen", "rows")]
    if len(set(found)) < len(found):
        raise SchemaError("chosen has a row twice", parameter="chosen")
    return np.array(found, dtype=np.int64)


def selection(
    chosen: Selection,
    *,
    criticisms: Selection | None = None,
    colour: str | None = None,
    kernel: Kernel | None = None,
    projection: Projection = "ranks",
    n_rows: int = 1000,
    seed: Seed = 0,
    ax: Axes | None = None,
    font_size: float = 9.0,
) -> Axes:
    """Draw chosen rows among all: rows that are alike under the kernel are near each other.

    By default distances on the plane go by the ranks of the distances between the rows' features, these of length 1
    (classical scaling, Torgerson, 1952). Lengths, and distances themselves, are large for rows with a rare state, and
    would leave room for these alone. Of several equal rows there is one larger mark.

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
    projection : {"ranks", "mds", "pca"}
        As for `fishernet.plot.row_map`.
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
        When the rows were chosen without a kernel and none is given, or the column is unknown.

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
    size = letters(font_size)
    how = word(projection, "projection", tuple(PROJECTIONS))
    used = chosen.kernel if kernel is None else kernel
    if used is None:
        raise SchemaError("these rows were chosen without a kernel, so give one to draw them by", parameter="kernel")
    every = adapted(used).rows(chosen.data)
    marked = [chosen.indices]
    if criticisms is not None:
        marked.append(criticisms.indices)
    others = _sample(len(every), np.concatenate(marked), check.integer(n_rows, "n_rows", least=1), seed)
    values = None if colour is None else _column(chosen.table, colour, others)
    places, words = _placed(how, used, every, [others, *marked])
    return _draw(ax, places, words, values, size)


def _sample(n_rows: int, marked: Positions, most: int, seed: Seed) -> Positions:
    """Return rows to draw beside those that are marked, ascending."""
    free = np.ones(n_rows, dtype=bool)
    free[marked] = False
    others = np.flatnonzero(free)
    if len(others) > most:
        others = np.sort(generator(seed).choice(others, most, replace=False))
    return others.astype(np.int64)


def _placed(projection: str, kernel: Any, rows: Rows, parts: list[Positions]) -> tuple[list[Array], tuple[str, str]]:
    """Return where the rows of each part stand, (n, 2) each, and what the axes say."""
    points, words = PROJECTIONS[projection](kernel, rows, np.concatenate(parts))
    return np.split(points, np.cumsum([len(part) for part in parts])[:-1]), words


def _by_ranks(kernel: Any, rows: Rows, at: Positions) -> tuple[Array, tuple[str, str]]:
    """Return where rows stand, (n, 2): distances go by the ranks of those under the kernel."""
    return _scaled(_ranks(1 - _cosines(kernel, rows[at]))), ("near: alike under the kernel", "")


def _by_distances(kernel: Any, rows: Rows, at: Positions) -> tuple[Array, tuple[str, str]]:
    """Return where rows stand, (n, 2): distances are those of features of length 1."""
    squares = np.maximum(2 - 2 * _cosines(kernel, rows[at]), 0.0)
    np.fill_diagonal(squares, 0.0)
    return _scaled(np.sqrt(squares)), ("near: alike under the kernel", "")


def _by_components(kernel: Any, rows: Rows, at: Positions) -> tuple[Array, tuple[str, str]]:
    """Return the first two kernel principal components of rows, (n, 2), and how much of the spread each has."""
    matrix = np.asarray(kernel(reweighted(rows[at])), dtype=np.float64)
    means = matrix.mean(axis=0)
    centred = matrix - means - means[:, None] + means.mean()
    points, values = _plane((centred + centred.T) / 2)
    whole = max(float(np.trace(centred)), np.finfo(np.float64).tiny)
    first, second = (
        f"component {n + 1}, {100 * max(value, 0.0) / whole:.3g} % of the spread" for n, value in enumerate(values)
    )
    return points, (first, second)


PROJECTIONS: dict[str, Callable[[Any, Rows, Positions], tuple[Array, tuple[str, str]]]] = {
    "pca": _by_components,
    "mds": _by_distances,
    "ranks": _by_ranks,
}


def _cosines(kernel: Any, rows: Rows) -> Array:
    cosines = as_cosines(np.asarray(kernel(reweighted(rows)), dtype=np.float64))
    return np.asarray((cosines + cosines.T) / 2)


def _scaled(distances: Array) -> Array:
    """Return the plane of classical scaling, (n, 2)."""
    squares = distances**2
    means = squares.mean(axis=0)
    return _plane((means + means[:, None] - squares - means.mean()) / 2)[0]


def _plane(centred: Array) -> tuple[Array, Array]:
    """Return the two directions of largest eigenvalues, times their roots, and these, (2,)."""
    from scipy.linalg import eigh  # slow to import, and needed by this picture alone

    n = len(centred)
    values, vectors = eigh(centred, subset_by_index=[max(n - 2, 0), n - 1])
    points, both = np.zeros((n, 2)), np.zeros(2)
    points[:, : len(values)] = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1]
    both[: len(values)] = values[::-1]
    largest = np.abs(points).argmax(axis=0)
    return points * np.where(points[largest, [0, 1]] < 0, -1.0, 1.0), both  # the same way round on every machine


def _ranks(distances: Array) -> Array:
    """Return the share of pairs that are nearer than each, on average of those that are as near; 0 for equal rows."""
    rounded = np.maximum(distances.round(9), 0.0)
    _, inverse, counts = np.unique(rounded, return_inverse=True, return_counts=True)
    shares = (np.cumsum(counts) - counts / 2) / rounded.size
    shares[0] = 0.0 if rounded.min() == 0 else shares[0]
    ranks: Array = shares[inverse].reshape(rounded.shape)
    np.fill_diagonal(ranks, 0.0)
    return ranks


def _column(table: Any, name: str, others: Positions) -> tuple[Any, Array]:
    """Return a column's variable, and its codes or numbers of some rows."""
    (place,) = table.places(name)
    return table.variables[place], np.asarray(table[others].select([name]).column(name))


def _draw(
    ax: Axes | None, places: list[Array], words: tuple[str, str], values: tuple[Any, Array] | None, size: float
) -> Axes:
    """Draw rows that are not marked, those chosen, and criticisms, as far as there are some."""
    if ax is None:
        ax = new_axes(*SIZE)
    look = theme_of(ax)
    others, *marked = places
    _draw_others(ax, look, others, values, size)
    for points, critical in zip(marked, (False, True), strict=False):
        if len(points):
            _draw_marked(ax, look, points, critical, f"{'criticism' if critical else 'chosen'} ({len(points):,})", size)
    _finish(ax, look, None if values is None or values[0].is_continuous else values[0].name, size, words)
    return ax


def _draw_others(ax: Axes, look: Theme, points: Array, values: tuple[Any, Array] | None, size: float) -> None:
    """Draw rows that are not marked: in grey, or by the states or numbers of a column."""
    how: dict[str, Any] = {"linewidths": 0.4, "edgecolors": look.background, "zorder": 1}
    if values is None:
        places, areas = _merged(points)
        ax.scatter(places[:, 0], places[:, 1], c=look.line, s=areas, label=f"other rows ({len(points):,})", **how)
        return
    variable, column = values
    if variable.is_continuous:
        drawn = ax.scatter(
            points[:, 0], points[:, 1], c=column, s=AREA, cmap=NUMBERS, plotnonfinite=True, label="other rows", **how
        )
        bar = ax.figure.colorbar(drawn, ax=ax)
        text = label(variable.name)
        bar.set_label(text, fontsize=size, color=look.ink, parse_math=False, fontfamily=family_of(text))
        bar.ax.tick_params(labelsize=size, labelcolor=look.ink)
        return
    counts = np.bincount(column, minlength=variable.cardinality + 1)
    often = [int(code) for code in np.argsort(-counts[: variable.cardinality], kind="stable") if counts[code]]
    named = often if len(often) <= len(look.dots) else often[: len(look.dots) - 1]
    for code, tint, shape in zip(named, look.dots, SHAPES, strict=False):
        text = label(as_text(variable.states[code]), MOST_LETTERS)
        places, areas = _merged(points[column == code])
        ax.scatter(places[:, 0], places[:, 1], c=tint, s=areas, marker=shape, label=text, **how)
    rest = ~np.isin(column, named)
    if rest.any():
        ax.scatter(points[rest, 0], points[rest, 1], c=look.line, s=AREA, marker=".", label="others, or missing", **how)


def _merged(points: Array) -> tuple[Array, Array]:
    """Return the distinct places of points, and areas that grow with the root of how many there are at each."""
    places, counts = np.unique(points.round(9), axis=0, return_counts=True)
    return places, AREA * np.sqrt(counts)


def _draw_marked(ax: Axes, look: Theme, points: Array, critical: bool, text: str, size: float) -> None:
    """Draw rows that are marked, with their numbers while these can be read."""
    from matplotlib.patheffects import withStroke

    fill, edge = (look.less, look.background) if critical else (look.background, look.ink)
    ax.scatter(
        points[:, 0],
        points[:, 1],
        s=4 * AREA,
        marker="X" if critical else "D",
        c=fill,
        edgecolors=edge,
        linewidths=1.1,
        label=text,
        zorder=3,
    )
    numbers: dict[tuple[float, float], list[str]] = {}
    for number, (x, y) in enumerate(points.round(9).tolist() if len(points) <= MOST_NUMBERED else ()):
        numbers.setdefault((x, y), []).append(f"{'c' if critical else ''}{number}")
    for place, equal in numbers.items():
        ax.annotate(
            ", ".join(equal[:3]) + ("..." if len(equal) > 3 else ""),
            place,
            xytext=(5, 4),
            textcoords="offset points",
            fontsize=size,
            fontfamily=FONT,
            color=look.ink,
            path_effects=[withStroke(linewidth=2.5, foreground=look.background)],
            zorder=4,
        )


def _finish(ax: Axes, look: Theme, colour: str | None, size: float, words: tuple[str, str]) -> None:
    """Say what is drawn; the axes have no unit."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_xlabel(words[0], fontsize=size, color=look.ink, fontfamily=FONT)
    ax.set_ylabel(words[1], fontsize=size, color=look.ink, fontfamily=FONT)
    for spine in ax.spines.values():
        spine.set_color(look.line)
    title = None if colour is None else label(colour)
    if ax.get_legend_handles_labels()[0]:
        legend(ax, look, size, title=title, title_fontsize=size, loc="best", framealpha=0.9)
        ax.get_legend().get_title().set_color(look.ink)  # type: ignore[union-attr]
