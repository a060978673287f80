"""Rows as a histogram of a number that each has, with the most telling ones named: the oddest, and the strongest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.data.encoding.labels import as_text
from fishernet.explain import Influence
from fishernet.models import BayesianNetwork
from fishernet.plot.style import LETTER, Theme, dress, letters, new_axes, require_matplotlib, theme_of
from fishernet.plot.texts import POINTS, as_written, family_of, label
from fishernet.plot.tooltips import entitle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = npt.NDArray[np.float64]
SIZE = (6.8, 4.4)  # inches of a new figure
LINE = 0.075  # of the height of the axes, between the lines of text
LONGEST = 80  # characters of a line
MOST_BINS = 60


def log_probability(
    net: BayesianNetwork, table: Any, *, most: int = 5, ax: Axes | None = None, font_size: float = 9.0
) -> Axes:
    """Draw how probable the rows of a table are under a network, and name the oddest ones.

    A histogram of their log-probabilities in nats; lines lead from the least probable rows to their position in the
    table, and to the cell of each that is least probable given its parents.

    Parameters
    ----------
    net : BayesianNetwork
    table : Table, data frame, mapping from names to columns, or array
        As for ``net.log_prob``; what is missing is summed out.
    most : int
        How many rows are named, up to 12.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure, for `matplotlib.pyplot.show`.
    font_size : float
        Of all text, in points.

    Returns
    -------
    matplotlib Axes
        Its texts are the rows, the least probable first.

    Raises
    ------
    FishernetError
        When matplotlib is missing, or `most` is out of range.
    SchemaError
        When there is no row, or the table does not fit the network.

    Examples
    --------
    >>> import fishernet as fn
    >>> from matplotlib.figure import Figure
    >>> asia = fn.datasets.load("asia")
    >>> axes = fn.plot.log_probability(asia, asia.sample(1000, seed=1), most=2, ax=Figure().add_subplot())
    >>> len(axes.texts)
    2
    """
    require_matplotlib()
    limit, size = check.integer(most, "most", least=0, most=12), letters(font_size)
    rows = net.rows(table)
    if not rows.n_rows:
        raise SchemaError("there is no row to draw", parameter="table")
    terms = net.log_prob_terms(rows)
    impossible = np.asarray(~np.isfinite(terms).all(axis=1))
    values = np.where(impossible, -np.inf, np.where(impossible[:, None], 0.0, terms).sum(axis=1))
    order = np.argsort(values, kind="stable")[:limit]
    if ax is None:
        ax = new_axes(*SIZE)
    look = theme_of(ax)
    edge = _histogram(ax, look, values, len(order))
    for line, row in enumerate(order):
        _name(ax, look, size, line, max(values[row], edge), f"row {row}: {_oddest(net, rows, terms[row], int(row))}")
    more = f"; {impossible.sum():,} impossible" if impossible.any() else ""
    dress(ax, look, size, x="log-probability of a row, nats", y="rows", title=f"{rows.n_rows:,} rows{more}")
    return ax


def influence(why: Influence, *, most: int = 6, ax: Axes | None = None, font_size: float = 9.0) -> Axes:
    """Draw how much the rows of a table have to do with an answer, and name the strongest.

    A histogram of their influence; lines lead from the rows that raise and lower the answer most to their positions in
    the table and their first cells.

    Parameters
    ----------
    why : Influence
        Made by `fishernet.explain.rows` or `fishernet.explain.arc`.
    most : int
        How many rows are named, up to 12: half of them raise the answer, and half lower it.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure, for `matplotlib.pyplot.show`.
    font_size : float
        Of all text, in points.

    Returns
    -------
    matplotlib Axes
        Its texts are the rows, those that raise the answer first.

    Raises
    ------
    FishernetError
        When matplotlib is missing, or `most` is out of range.

    Examples
    --------
    >>> import fishernet as fn
    >>> from matplotlib.figure import Figure
    >>> table = fn.datasets.load("asia").sample(1000, seed=1)
    >>> why = fn.explain.rows(fn.learn.bayesian_network(table), table, query="lung", state="yes")
    >>> axes = fn.plot.influence(why, most=4, ax=Figure().add_subplot())
    >>> len(axes.texts)
    4
    """
    require_matplotlib()
    limit, size = check.integer(most, "most", least=0, most=12), letters(font_size)
    frame = why.to_frame()
    values = np.asarray(frame["influence"], dtype=np.float64)
    chosen = sorted({*range(min((limit + 1) // 2, len(values))), *range(max(0, len(values) - limit // 2), len(values))})
    if ax is None:
        ax = new_axes(*SIZE)
    look = theme_of(ax)
    _histogram(ax, look, values, len(chosen))
    for line, place in enumerate(chosen):
        row = frame.slice(place, 1).to_pylist()[0]
        cells = ", ".join(f"{name} = {value}" for name, value in row.items() if name not in ("row", "influence"))
        _name(ax, look, size, line, values[place], as_written(f"row {row['row']}: {values[place]:+.3g}; {cells}"))
    title = as_written(label(why.said, LONGEST))
    dress(ax, look, size, x="influence on the answer, for each unit of weight", y="rows", title=title)
    return ax


def _histogram(ax: Axes, look: Theme, values: Array, lines: int) -> float:
    """Draw the bars, with room above for lines of text, and return where impossible rows are put."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (-1.0, 0.0)
    span = max(high - low, 1e-6 * max(1.0, abs(high)))
    bins = int(np.clip(np.ceil(2 * len(finite) ** (1 / 3)), 1, MOST_BINS))
    counts, edges = np.histogram(finite, bins, (low, low + span))
    bars = ax.bar(edges[:-1], counts, np.diff(edges), align="edge", facecolor=look.more, edgecolor=look.background)
    for bar, n, start, stop in zip(bars, counts, edges[:-1], edges[1:], strict=True):
        entitle(bar, [f"{n:,} rows from {start:.4g} to {stop:.4g} nats"])
    room = min(0.8, 0.08 + LINE * lines)
    ax.set_ylim(0, max(1, counts.max(initial=0)) / (1 - room))
    edge = low - 0.04 * span if not np.isfinite(values).all() else low
    ax.set_xlim(edge - 0.02 * span, low + 1.03 * span)
    return edge


def _name(ax: Axes, look: Theme, size: float, line: int, x: float, text: str) -> None:
    """Write one line, the first at the top, and lead a line from it to the axis."""
    top = ax.get_ylim()[1]
    y = (0.96 - LINE * line) * top
    ax.plot([x, x], [0, y], color=look.line, linewidth=0.7)
    ax.plot([x], [0], color=look.less, marker="^", markersize=5, clip_on=False, linestyle="none")
    left, right = ax.get_xlim()
    share = (x - left) / (right - left)
    begins = share < 0.45
    figure = ax.get_figure(root=True)
    assert figure is not None
    inches = float(figure.get_size_inches()[0]) * ax.get_position().width * (1 - share if begins else share)
    written = ax.annotate(
        label(text, max(8, min(LONGEST, int(inches * POINTS / (0.9 * LETTER * size))))),
        (x, y),
        xytext=(4 if begins else -4, 0),
        textcoords="offset points",
        ha="left" if begins else "right",
        va="center",
        fontsize=0.9 * size,
        color=look.ink,
        fontfamily=family_of(text),
        bbox={"facecolor": look.background, "edgecolor": "none", "pad": 0.8},
    )
    written.set_parse_math(False)
    written.set_in_layout(False)
    entitle(written, [text])


def _oddest(net: BayesianNetwork, rows: Any, terms: Array, row: int) -> str:
    """Return the cell of a row that is least probable given its parents."""
    bad = np.where(np.isnan(terms), 0.0, terms)
    place = int(np.argmin(bad))
    names = net.dag.names
    parents = net.dag.parents[place]
    given = ", ".join(f"{names[p]} = {_cell(rows, p, row)}" for p in parents)
    what = f"{names[place]} = {_cell(rows, place, row)}"
    return as_written(f"{what} | {given}" if given else what)


def _cell(rows: Any, place: int, row: int) -> str:
    variable, column = rows.variables[place], rows.column(rows.names[place])
    if variable.is_continuous:
        return f"{float(column[row]):.4g}"
    code = int(column[row])
    return as_text(variable.states[code]) if code < variable.cardinality else "missing"
