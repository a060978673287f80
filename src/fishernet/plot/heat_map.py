"""What marks the clusters of a table, as a heat map: how much likelier than elsewhere a state is in each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.data.encoding.labels import as_text
from fishernet.learn import Clusters
from fishernet.plot.style import dress, fitting, ink_on, letters, new_axes, require_matplotlib, theme_of
from fishernet.plot.texts import labels, name_ticks, text_sizes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = npt.NDArray[np.float64]

CELL = (0.8, 0.28)  # inches of a cell, wide and high
BESIDE, AROUND = 0.5, 1.1  # inches beside the map and its labels, and above and below
MOST_LETTERS = 30  # of a state with its variable
DARKEST = 3.0  # in binary logarithms: a lift of 8 or more, or of an eighth or less
LEGEND = "% of the cluster; red: more than of all rows, blue: less"


def clusters(found: Clusters, *, most: int = 5, ax: Axes | None = None, font_size: float = 9.0) -> Axes:
    """Draw what marks each cluster: a row per state, a column per cluster.

    A cell says how probable the state is in the cluster, in percent. Its colour is the lift, the ratio of that to the
    probability in all rows: red where the state is likelier than in all rows, blue where it is less likely. The states
    are those that tell most of a cluster (`Clusters.markers`), those of the first cluster first.

    Parameters
    ----------
    found : Clusters
        Of two clusters or more.
    most : int
        How many states of each cluster; one that marks several is drawn once.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure as large as the map needs, for `matplotlib.pyplot.show`.
    font_size : float
        Of all text, in points.

    Returns
    -------
    matplotlib Axes
        Its image holds the binary logarithms of the lifts, (n_states, n_clusters); its texts are the probabilities.

    Raises
    ------
    FishernetError
        When matplotlib is missing, or `most` is no positive integer.
    SchemaError
        When there is one cluster only, which nothing marks.

    Examples
    --------
    >>> import fishernet as fn
    >>> from matplotlib.figure import Figure
    >>> rows = {"fever": ["no", "no", "yes", "yes"] * 25, "cough": ["no", "no", "yes", "yes"] * 25}
    >>> found = fn.learn.clusters(rows, seed=1)
    >>> axes = fn.plot.clusters(found, ax=Figure().add_subplot())
    >>> sorted(label.get_text() for label in axes.get_yticklabels())
    ['cough = no', 'cough = yes', 'fever = no', 'fever = yes']
    """
    require_matplotlib()
    marks = found.markers(check.integer(most, "most", least=1)).to_pylist()
    size = letters(font_size)
    if not marks:
        raise SchemaError("nothing marks the clusters: there is one only, or all are alike", parameter="found")
    states = list(dict.fromkeys((mark["variable"], mark["state"]) for mark in marks))
    inside = _inside(found, states)
    called = labels([f"{name} = {state}" for name, state in states], MOST_LETTERS)
    left = float(text_sizes(called, size)[:, 0].max())
    if ax is None:
        n_states, n_clusters = inside.shape
        ax = new_axes(left + n_clusters * CELL[0] + BESIDE, AROUND + n_states * CELL[1])
    _draw(ax, inside, _lifts(inside, found.shares), size, left)
    name_ticks(ax.yaxis, range(len(states)), called)
    shares = [f"{number}\n{100 * share:.3g} %" for number, share in enumerate(found.shares)]
    ax.set_xticks(range(found.n_clusters), shares)
    return ax


def _inside(found: Clusters, states: list[tuple[str, str]]) -> Array:
    """Return the probability of each state in each cluster, (n_states, n_clusters)."""
    where = {variable.name: variable for variable in found.model.variables}
    rows = []
    for name, state in states:
        texts = [as_text(one) for one in where[name].states]
        rows.append(found.profile(name)[:, texts.index(state)])
    return np.array(rows)


def _lifts(inside: Array, shares: Array) -> Array:
    """Return the binary logarithms of the ratios to the probabilities in all rows, within what has a colour."""
    whole = np.maximum(inside @ (shares / shares.sum()), np.finfo(np.float64).tiny)
    least = 2.0 ** -(DARKEST + 1)
    return np.asarray(np.clip(np.log2(np.maximum(inside / whole[:, None], least)), -DARKEST, DARKEST))


def _draw(ax: Axes, inside: Array, lifts: Array, size: float, left: float) -> None:
    """Draw the cells, with their probabilities in percent in ink that stands out from them."""
    look = theme_of(ax)
    image = ax.imshow(lifts, cmap=look.diverging, vmin=-DARKEST, vmax=DARKEST, aspect="auto", interpolation="nearest")
    small = fitting(ax, len(inside), size)
    colours: Array = np.asarray(image.cmap(image.norm(lifts)))
    for (row, column), share in np.ndenumerate(inside):
        ink = ink_on(tuple(colours[row, column]))
        ax.text(column, row, f"{100 * share:.0f}", ha="center", va="center", color=ink, fontsize=small)
    ax.xaxis.tick_top()
    dress(ax, look, size, x=LEGEND, left=left)
    ax.xaxis.set_label_position("bottom")
    ax.tick_params(length=0)
    ax.tick_params(axis="y", labelsize=small)
    for spine in ax.spines.values():
        spine.set_visible(False)
