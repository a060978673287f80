"""How near chosen rows come to their table, by how many they are, beside rows drawn at random."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fishernet.base.errors import FishernetError
from fishernet.plot.style import DASHES, MARKS, dress, legend, letters, new_axes, require_matplotlib, theme_of
from fishernet.select import DistanceByK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (6.4, 4.4)  # inches of a new figure
ZERO = 1e-12  # distances up to this share of the spread are rounding
MOST_RESULTS = 4


def distance_by_k(*found: DistanceByK, ax: Axes | None = None, font_size: float = 9.0) -> Axes:
    """Draw the distance of chosen rows by their number, beside that of rows drawn at random.

    Distances are shares of the table's spread, what one row at random reaches, on logarithmic axes. The line of random
    rows is their mean, the band holds 90 % of the subsets that were sampled. The title says what the most rows are
    worth.

    Parameters
    ----------
    *found : DistanceByK
        One or several, up to four, of one table: of several methods. The random rows are those of the first.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure, for `matplotlib.pyplot.show`.
    font_size : float
        Of all text, in points.

    Returns
    -------
    matplotlib Axes
        Its lines are those of the methods, in order, and last that of random rows.

    Raises
    ------
    FishernetError
        When matplotlib is missing, or there are none or more than four.

    Examples
    --------
    >>> import fishernet as fn
    >>> from matplotlib.figure import Figure
    >>> asia = fn.datasets.load("asia")
    >>> k, table = fn.kernels.FisherKernel(asia), asia.sample(500, seed=1)
    >>> found = fn.select.distance_by_k(k, table, [1, 5, 20], seed=1)
    >>> axes = fn.plot.distance_by_k(found, ax=Figure().add_subplot())
    >>> [line.get_label() for line in axes.lines]
    ['mmd-critic', 'at random, mean']
    """
    require_matplotlib()
    if not 1 <= len(found) <= MOST_RESULTS:
        raise FishernetError(f"distance_by_k draws one to {MOST_RESULTS} results, got {len(found)}", parameter="found")
    size = letters(font_size)
    if ax is None:
        ax = new_axes(*SIZE)
    _draw(ax, found, size)
    return ax


def _draw(ax: Axes, found: tuple[DistanceByK, ...], size: float) -> None:
    first = found[0]
    whole = first.spread if first.spread > 0 else 1.0
    levels = (first.low / whole, first.at_random / whole, first.high / whole)
    everything = [*(one.relative for one in found), *levels]
    least = ZERO if any((values > ZERO).any() for values in everything) else -np.inf  # of all equal rows, all is 0
    look = theme_of(ax)
    for one, colour, style, shape in zip(found, look.series, DASHES, MARKS, strict=False):
        y = np.where(one.relative > least, one.relative, np.nan)
        ax.plot(one.k, y, color=colour, linestyle=style, marker=shape, markersize=4, label=one.method)
    low, mean, high = (np.where(values > least, values, np.nan) for values in levels)
    ax.fill_between(first.k, low, high, color=look.faint, linewidth=0, label="at random, 90 % of the subsets", zorder=0)
    ax.plot(first.k, mean, color=look.muted, linestyle=(0, (1, 1)), linewidth=1.8, label="at random, mean", zorder=1)
    ax.set_xscale("log")
    if least > 0:
        ax.set_yscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_major_formatter("{x:g}")
    dress(ax, look, size, x="rows", y="squared distance, as a share of the spread", title=first.verdict)
    legend(ax, look, size, frameon=False)
