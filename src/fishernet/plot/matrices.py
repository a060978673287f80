"""The matrix of a kernel, its rows put next to those that they are most like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.random import Seed, generator
from fishernet.kernels import Kernel
from fishernet.kernels.kernel import adapted
from fishernet.plot.style import dress, fitting, letters, new_axes, require_matplotlib, theme_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = npt.NDArray[np.float64]
SIZE = (5.6, 4.6)  # inches of a new figure
MOST_TICKS = 40  # rows with their numbers


def gram(
    kernel: Kernel,
    data: Any,
    *,
    normalize: bool = True,
    n_rows: int = 500,
    seed: Seed = 0,
    ax: Axes | None = None,
    font_size: float = 9.0,
) -> Axes:
    """Draw the matrix of a kernel, with rows that are alike next to each other.

    The order is that of the leaves of an average-linkage clustering of the rows by their distances, turned so that
    neighbours are as near as the tree allows (Bar-Joseph, Gifford and Jaakkola, 2001).

    Parameters
    ----------
    kernel : Kernel
    data : what the kernel takes
        A table, a frame, strings, ...
    normalize : bool
        Whether similarities are cosines, from -1 to 1, in place of the kernel's own numbers, in which rare rows have
        the largest.
    n_rows : int
        How many rows are drawn; of more, a sample.
    seed : None, int or numpy.random.Generator
        For the sample.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure, for `matplotlib.pyplot.show`.
    font_size : float
        Of all text, in points.

    Returns
    -------
    matplotlib Axes
        Its image holds the matrix in the order drawn; with up to 40 rows the ticks say which they are.

    Raises
    ------
    FishernetError
        When matplotlib is missing, or `n_rows` is not positive.
    SchemaError
        When there is no row, or the matrix has numbers that are not finite.

    Examples
    --------
    >>> import fishernet as fn
    >>> from matplotlib.figure import Figure
    >>> asia = fn.datasets.load("asia")
    >>> axes = fn.plot.gram(fn.kernels.FisherKernel(asia), asia.sample(100, seed=1), ax=Figure().add_subplot())
    >>> axes.images[0].get_array().shape
    (100, 100)
    """
    require_matplotlib()
    rows = adapted(kernel, logs=True).rows(data)
    size = letters(font_size)
    limit, cosines = check.integer(n_rows, "n_rows", least=1), check.flag(normalize, "normalize")
    if not len(rows):
        raise SchemaError("there is no row to draw", parameter="data")
    kept = np.arange(len(rows))
    if len(kept) > limit:
        kept = np.sort(generator(seed).choice(kept, limit, replace=False))
    matrix = np.asarray(kernel(rows[kept]), dtype=np.float64)
    if matrix.shape != (len(kept), len(kept)) or not np.isfinite(matrix).all():
        raise SchemaError("the kernel must give a square matrix of finite numbers", parameter="kernel")
    if cosines:
        matrix = as_cosines(matrix)
    order = _leaves(matrix)
    if ax is None:
        ax = new_axes(*SIZE)
    _draw(ax, matrix[np.ix_(order, order)], kept[order], cosines, size)
    return ax


def as_cosines(matrix: Array) -> Array:
    """Return the matrix of features of length 1; a row without features is like none."""
    lengths = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return np.asarray(matrix * inverse[:, None] * inverse)


def _leaves(matrix: Array) -> npt.NDArray[np.int64]:
    """Return the rows in the order of the leaves of a tree of clusters."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(matrix) < 3:
        return np.arange(len(matrix))
    own = np.diagonal(matrix)
    distances = np.sqrt(np.maximum(own[:, None] + own - matrix - matrix.T, 0.0))
    np.fill_diagonal(distances, 0.0)
    tree = linkage(squareform(distances, checks=False), "average", optimal_ordering=True)
    return np.asarray(leaves_list(tree), dtype=np.int64)


def _draw(ax: Axes, matrix: Array, rows: npt.NDArray[np.int64], cosines: bool, size: float) -> None:
    look = theme_of(ax)
    least = min(0.0, float(matrix.min()))
    most = 1.0 if cosines else max(float(matrix.max()), 1e-300)
    signed = least < -1e-9 * most
    how: dict[str, Any] = {"cmap": look.sequential, "vmin": 0.0, "vmax": most}
    if signed:
        far = max(-least, most)
        how = {"cmap": look.diverging, "vmin": -far, "vmax": far}
    image = ax.imshow(matrix, aspect="equal", interpolation="nearest", **how)
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.046, pad=0.03)
    bar.set_label("cosine of the rows' features" if cosines else "kernel", fontsize=size, color=look.ink)
    bar.ax.tick_params(labelsize=size, labelcolor=look.ink, color=look.line)
    bar.outline.set_edgecolor(look.line)
    dress(ax, look, size, x=f"{len(rows):,} rows, those alike next to each other")
    few = len(rows) <= MOST_TICKS
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks(range(len(rows)) if few else [], list(map(str, rows)) if few else [])
        axis.set_tick_params(length=0)
    if few:
        small = fitting(ax, len(rows), 0.8 * size)
        ax.tick_params(axis="x", labelrotation=90, labelsize=small)
        ax.tick_params(axis="y", labelsize=small)
    for spine in ax.spines.values():
        spine.set_visible(False)
