"""How near chosen rows come to their table, by how many they are, beside rows drawn at random."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fishernet.base import check
from fishernet.base.errors import FishernetError
from fishernet.plot.picture import FONT, INK, require_matplotlib
from fishernet.select import DistanceByK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (6.4, 4.4)  # inches of a new figure
RANDOM, BAND = "#555555", "#D9D9D9"
ZERO = 1e-12  # distances up to this share of the spread are rounding
LINES = (("#0072B2", "-", "o"), ("#D55E00", "--", "s"), ("#009E73", "-.", "^"), ("#7A3E6B", ":", "D"))


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
    if not 1 <= len(found) <= len(LINES):
        raise FishernetError(f"distance_by_k draws one to {len(LINES)} results, got {len(found)}", parameter="found")
    for one in found:
        check.made(one, "found", "a DistanceByK, as fn.select.distance_by_k finds it", "as_random", "relative")
    size = check.number(font_size, "font_size", above=0)
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=SIZE, layout="constrained").add_subplot()
    _draw(ax, found, size)
    return ax


def _draw(ax: Axes, found: tuple[DistanceByK, ...], size: float) -> None:
    first = found[0]
    whole = first.spread if first.spread > 0 else 1.0
    levels = (first.low / whole, first.at_random / whole, first.high / whole)
    everything = [*(one.relative for one in found), *levels]
    least = ZERO if any((values > ZERO).any() for values in everything) else -np.inf  # of all equal rows, all is 0
    for one, (colour, style, shape) in zip(found, LINES, strict=False):
        y = np.where(one.relative > least, one.relative, np.nan)
        ax.plot(one.k, y, color=colour, linestyle=style, marker=shape, markersize=4, label=one.method)
    low, mean, high = (np.where(values > least, values, np.nan) for values in levels)
    ax.fill_between(first.k, low, high, color=BAND, linewidth=0, label="at random, 90 % of the subsets", zorder=0)
    ax.plot(first.k, mean, color=RANDOM, linestyle=(0, (1, 1)), linewidth=1.8, label="at random, mean", zorder=1)
    ax.set_xscale("log")
    if least > 0:
        ax.set_yscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.set_xlabel("rows", fontsize=size, color=INK)
    ax.set_ylabel("squared distance, as a share of the spread", fontsize=size, color=INK)
    ax.set_title(first.verdict, fontsize=size, color=INK, fontfamily=FONT, loc="left")
    ax.tick_params(labelsize=size, labelcolor=INK)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.legend(fontsize=size, labelcolor=INK, frameon=False)
