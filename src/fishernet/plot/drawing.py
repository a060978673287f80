"""A graph drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fishernet.plot.drawable import Graph, drawable
from fishernet.plot.picture import Picture, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def graph(graph: Graph, *, ax: Axes | None = None, labels: bool | None = None, font_size: float = 9.0) -> Axes:
    """Draw a graph, or the graph of a model.

    A graph without cycles stands in layers, every arc pointing down; any other spreads so that the distance of two
    variables is near the number of edges between them. The same graph is always drawn the same.

    Parameters
    ----------
    graph : Dag, UndirectedGraph or Cpdag; or a Bayesian or dependency network, or one of Gaussian variables
        Of at most 2,000 variables.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure as large as the graph needs, for `matplotlib.pyplot.show`.
    labels : bool, optional
        Whether the variables' names are drawn; those of up to 150 variables when not said. Long ones are cut.
    font_size : float
        Of the names, in points.

    Returns
    -------
    matplotlib Axes
        Its collections are the edges, the arrow heads where there are some, and the nodes; its texts are the names.

    Raises
    ------
    FishernetError
        When matplotlib is missing, or there are too many variables.
    SchemaError
        When there is no graph to draw.

    See Also
    --------
    fishernet.plot.write_graph : straight to a file.

    Examples
    --------
    >>> import fishernet as fn
    >>> from matplotlib.figure import Figure
    >>> axes = fn.plot.graph(fn.datasets.load("asia"), ax=Figure().add_subplot())
    >>> sorted(text.get_text() for text in axes.texts)
    ['asia', 'bronc', 'dysp', 'either', 'lung', 'smoke', 'tub', 'xray']
    """
    require_matplotlib()
    picture = Picture(drawable(graph), labels=labels, font_size=font_size)
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=picture.inches).add_axes((0.0, 0.0, 1.0, 1.0))
    picture.draw(ax)
    return ax
